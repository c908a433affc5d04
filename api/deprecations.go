package api

import (
	"net/http"
	"regexp"

	"github.com/labstack/echo/v4"
)

var parameter = regexp.MustCompile(`:(\w+)`)

// documented returns a path in the form of the documentation: /customers/{ulid}.
func documented(path string) string { return parameter.ReplaceAllString(path, "{$1}") }

// announce adds the headers of a deprecated request to every response, of any status
// (decisions §10).
func (a *API) announce(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		path, known := a.paths[c.Path()]
		if !known {
			return next(c)
		}
		r := c.Request()
		if d, found := a.Deprecations.Find(r.Context(), routed(r), path); found {
			h := c.Response().Header()
			h.Set("Deprecation", "true")
			h.Set("Sunset", d.Sunset.Format(http.TimeFormat))
			addLinks(h, relation{"deprecation", &d.Link}, relation{"sunset", new(a.BaseURL + "/docs/versioning")})
		}
		return next(c)
	}
}
