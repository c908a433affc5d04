package docs

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/static"
	views "example.com/loyalty/views/docs"
)

// referencePolicy is looser than that of the other pages, and for this page alone: it is
// drawn by a script (script-src), which reads the description and sends the requests that
// readers try (connect-src), carries its icons with it (img-src data:), and writes style
// elements and attributes as it draws, most without a nonce (style-src). All of that is
// ours or inside the page: nothing may come from another host or go to one.
const referencePolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func newReference() views.Reference {
	v := views.Reference{
		Frame:       frame("API reference · Loyalty", "Every request of the API, with its fields, answers and examples.", views.ReferenceSection),
		Description: "/api/v1/openapi.json",
		Scalar:      static.Path("vendor/scalar/standalone.js"),
		Script:      static.Path("js/reference.js"),
		Licence:     static.Path("vendor/scalar/LICENSE"),
	}
	// Rules for other pages would reach into what Scalar draws.
	v.Stylesheets = []string{static.Path("css/frame.css"), static.Path("css/reference.css")}
	return v
}

// showReference shows the API's description, drawn by Scalar.
func (p *Pages) showReference(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderContentSecurityPolicy, referencePolicy)
	return render(c, http.StatusOK, views.ReferencePage(p.reference))
}
