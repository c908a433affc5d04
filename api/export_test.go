package api

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/token"
)

// Endpoint is a route as tests see it.
type Endpoint struct {
	Method, Path string
	Guarded      bool // it says who may call
	Allows       func(token.Caller) bool
}

// Endpoints are the declared routes.
func (a *API) Endpoints() []Endpoint {
	var list []Endpoint
	for _, r := range a.routes() {
		list = append(list, Endpoint{r.method, Prefix + r.path, r.access != nil, r.access})
	}
	return list
}

// Router is what the router really answers.
func (a *API) Router() []*echo.Route { return a.echo.Routes() }

// MaxBody is the largest body that is read.
const MaxBody = maxBody

// RetryAfter is after how many seconds a client is told to try again.
func RetryAfter(err error) string { return retryAfter(err) }
