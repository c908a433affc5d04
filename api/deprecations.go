package api

import (
	"net/http"
	"regexp"

	"github.com/labstack/echo/v4"
)

var parameter = regexp.MustCompile(`:(\w+)`)

// documented is a path as the documents write it: /customers/{ulid}.
func documented(path string) string { return parameter.ReplaceAllString(path, "{$1}") }

// announce says in every answer of a deprecated request, whatever it is, that it is to
// end (decisions §10).
func (a *API) announce(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		path, known := a.paths[c.Path()]
		if !known {
			return next(c)
		}
		r := c.Request()
		if d, found := a.Deprecations.Find(r.Context(), r.Method, path); found {
			h := c.Response().Header()
			h.Set("Deprecation", "true")
			h.Set("Sunset", d.Sunset.Format(http.TimeFormat))
			h.Add("Link", "<"+d.Link+`>; rel="deprecation"`)
		}
		return next(c)
	}
}
