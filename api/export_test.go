package api

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/web/route"
)

// Endpoints lists the declared routes.
func (a *API) Endpoints() []route.Route { return a.routes() }

// Router lists the routes of the router.
func (a *API) Router() []*echo.Route { return a.echo.Routes() }

// MaxBody is the size of the largest accepted body.
const MaxBody = maxBody

// RetryAfter returns the value of the Retry-After header.
func RetryAfter(err error) string { return retryAfter(err) }

// Document returns the problem document of a refusal.
func (a *API) Document(refusal *core.Error) string {
	body, _ := a.refusal(refusal).text()
	return string(body)
}
