// Package panel is what the features of a panel share: the frame of a page, the way a list, a form, a confirmation and
// an export work, and how the records that several features show are called.
//
// A feature is a package with a type Handlers, which embeds Panel and has the use cases it calls. Features don't import
// each other: what two of them need is here.
package panel

import (
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/static"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/web/page"
)

// Panel is what the features of both panels share.
type Panel struct{ *page.Kit }

// Reader is the person who reads the page.
func (p *Panel) Reader(c echo.Context) format.Reader {
	return format.Reader{By: page.Actor(c), Now: p.Now()}
}

// Confirm asks for confirmation on a page or, for htmx, in the dialog.
func (p *Panel) Confirm(c echo.Context, status int, v views.Confirm) error {
	return p.Render(c, status, views.ConfirmPage(v), views.ConfirmDialog(v))
}

// LoadCharts has a page load what draws its charts.
func LoadCharts(f *views.Frame) {
	f.Chart = true
	f.Assets.Stylesheets = append(slices.Clone(f.Assets.Stylesheets), static.Path("css/chart.css"))
}

// CannotUndo warns in confirmations.
const CannotUndo = "This can't be undone."

// PathID reads the ULID of a path. Anything else is not found.
func PathID(c echo.Context) (core.ID, error) { return core.ParseID(c.Param("ulid")) }

func PathNumber(c echo.Context) (int64, error) { return page.PathNumber(c, "id") }

// SetCacheControl lets browsers cache an answer, which doesn't depend on the session.
func SetCacheControl(c echo.Context, control string) {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, control)
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
}
