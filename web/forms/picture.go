package forms

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/picture"
)

// Picture answers with an uploaded picture. Its Content-Security-Policy keeps it from running scripts.
func Picture(c echo.Context, p picture.Picture) error {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	h.Set(echo.HeaderXContentTypeOptions, "nosniff")
	return c.Blob(http.StatusOK, p.Type, p.Bytes)
}
