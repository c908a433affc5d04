package api

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/token"
)

// Endpoint is a route, for tests.
type Endpoint struct {
	Method, Path string
	Guarded      bool // it declares who may call it
	Allows       func(token.Caller) bool
}

// Endpoints lists the declared routes.
func (a *API) Endpoints() []Endpoint {
	var list []Endpoint
	for _, r := range a.routes() {
		list = append(list, Endpoint{r.method, Prefix + r.path, r.access != nil, r.access})
	}
	return list
}

// Router lists the routes of the router.
func (a *API) Router() []*echo.Route { return a.echo.Routes() }

// MaxBody is the size of the largest accepted body.
const MaxBody = maxBody

// RetryAfter returns the value of the Retry-After header.
func RetryAfter(err error) string { return retryAfter(err) }
