package platform

import (
	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/platform"
)

// confirm asks on a page, or in the dialog.
func (p *Platform) confirm(c echo.Context, status int, v views.Confirm) error {
	return p.Render(c, status, views.ConfirmPage(v), views.ConfirmDialog(v))
}
