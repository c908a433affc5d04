package api

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/web/route"
)

// Endpoints lists the declared routes.
func (a *API) Endpoints() []route.Route { return a.routes() }

// Router lists the routes of the router, except those of HEAD.
func (a *API) Router() []*echo.Route {
	return slices.DeleteFunc(a.echo.Routes(), func(r *echo.Route) bool { return r.Method == http.MethodHead })
}

// MaxBody is the size of the largest accepted body.
const MaxBody = maxBody

// RetryAfter returns the value of the Retry-After header.
func RetryAfter(err error) string { return retryAfter(err) }

// Document returns the problem document of a refusal.
func (a *API) Document(refusal *core.Error) string {
	body, _ := a.refusal(refusal).text()
	return string(body)
}
