package docs

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/static"
	views "example.com/loyalty/views/docs"
)

// referencePolicy is the Content-Security-Policy of this page alone. A script draws it
// (script-src), reads the API's description and sends the requests that readers try
// (connect-src), has its icons inside (img-src data:), and writes style elements without a
// nonce (style-src). Nothing is loaded from another host or sent to one.
const referencePolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func newReference(s site) views.Reference {
	v := views.Reference{
		Frame:       s.frame("API reference · Loyalty", "Every API request, with its fields, responses and examples.", "/docs"),
		Description: "/api/v1/openapi.json",
		Scalar:      static.Path("vendor/scalar/standalone.js"),
		Script:      static.Path("js/reference.js"),
		Licence:     static.Path("vendor/scalar/LICENSE"),
	}
	// The style sheet of the other pages would affect what Scalar draws.
	v.Stylesheets = []string{static.Path("css/frame.css"), static.Path("css/reference.css")}
	return v
}

// showReference shows the API's description, which Scalar draws.
func (p *Pages) showReference(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderContentSecurityPolicy, referencePolicy)
	return render(c, http.StatusOK, views.ReferencePage(p.reference))
}
