package page

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
	"example.com/loyalty/web/route"
)

// requestTime limits how long a page or an action may take. Files and streams have no limit.
const requestTime = 15 * time.Second

// Mount adds the routes of an area to its router, each behind the guard and within its time.
func Mount(e *echo.Echo, routes []route.Route, guard route.Guard) {
	limited := WithTimeout(requestTime)
	for _, r := range routes {
		handle := guard.Handler(r)
		if r.Kind == route.Page {
			handle = limited(handle)
		}
		e.Add(r.Method, r.Path, handle)
	}
}

// WithHead adds a HEAD route for each GET route. The server leaves the body out.
func WithHead(routes []route.Route) (all []route.Route) {
	for _, r := range routes {
		all = append(all, r)
		if r.Method == http.MethodGet && r.Kind != route.Stream {
			r.Method = http.MethodHead
			all = append(all, r)
		}
	}
	return all
}

// Guard is the guard of the pages that people of a business sign in to.
func (k *Kit) Guard() route.Guard {
	return route.Guard{Caller: signedInCaller, Stranger: k.ToSignIn, Refusal: core.ErrRole}
}

// signedInCaller returns the person who is signed in.
func signedInCaller(c echo.Context) (token.Caller, bool) {
	return token.Caller{Actor: Actor(c)}, Person(c) != nil
}
