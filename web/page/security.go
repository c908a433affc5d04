package page

import (
	"cmp"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

// Security is what the pages of an area may load, use and reveal.
type Security struct {
	Policy      string // the Content-Security-Policy
	Permissions string // the Permissions-Policy; "": neither camera, location nor microphone
	Referrer    string // the Referrer-Policy; "": only links within the host tell where they are from
}

// PanelPolicy is the Content-Security-Policy of the panels: their pages load nothing from other sites.
const PanelPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Headers is the middleware that sets the security headers, and the route in the request log.
func (s Security) Headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		core.SetLogRoute(c.Request().Context(), c.Path())
		s.Set(c.Response().Header())
		return next(c)
	}
}

// Set sets the headers.
func (s Security) Set(h http.Header) {
	h.Set("Content-Security-Policy", s.Policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", cmp.Or(s.Referrer, "same-origin"))
	h.Set("Permissions-Policy", cmp.Or(s.Permissions, "camera=(), geolocation=(), microphone=()"))
}
