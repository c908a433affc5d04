// Package api serves /api/v1: bearer tokens, abilities, rate limits, JSON and problem
// documents, one file for each resource. A handler reads the input, calls one use case
// of core, and writes the response.
package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/token"
	"example.com/loyalty/web/route"
)

// policy is the Content-Security-Policy of all responses: a browser must not run them.
const policy = "default-src 'none'; frame-ancestors 'none'"

// Prefix is the path of the API, on every host.
const Prefix = "/api/v1"

// Config has the services and the settings of the API.
type Config struct {
	*loyalty.Services

	BaseURL string // for links in problem documents, without a trailing slash
	// Slug returns the tenant of a host, "" for the base host. Unknown hosts get 404, because
	// responses link to the requested host.
	Slug func(host string) (slug string, known bool)
	// Address returns the client's IP address, from trusted proxies' headers if there are any.
	Address func(*http.Request) string
	// AddressKey returns the rate limit key of an address.
	AddressKey func(address string) string

	PerToken   *limit.Window // requests with a valid token, or an owner's session
	PerAddress *limit.Window // all others
	// Failures limits failed look-ups of tokens and sessions, by address. Above the limit only
	// recently valid ones are looked up.
	Failures *limit.Window

	TransactionCreateScope token.Ability
	Timeout                time.Duration // of a request
	Log                    *slog.Logger
}

// API is the handler of everything under /api/.
type API struct {
	Config
	echo         *echo.Echo
	recent       *recentTokens
	paths        map[string]string       // documented paths, by the router's
	scopes       map[string]string       // that a request needs, by its method and the router's path
	descriptions map[string]*description // by path
}

// New creates the API.
func New(c Config) *API {
	a := &API{Config: c, echo: echo.New(), recent: newRecentTokens(), paths: map[string]string{}, scopes: map[string]string{}}
	a.echo.HTTPErrorHandler = a.problem
	a.echo.Use(a.count, a.protect, applyPreference, a.requireKnownHost, a.announce, a.identify, otherMethod)
	for _, r := range a.routes() {
		a.paths[r.Path] = documented(r.Path)
	}
	for _, r := range a.routes() {
		a.echo.Add(r.Method, r.Path, a.handler(r))
		a.scopes[r.Method+" "+r.Path] = r.Who.Scopes()
		if r.Method == http.MethodGet {
			a.echo.Add(http.MethodHead, r.Path, a.handler(r))
		}
	}
	plain := Description(c.BaseURL)
	a.descriptions = map[string]*description{
		Prefix + "/openapi.json": {kind: jsonType, plain: plain},
		Prefix + "/openapi.yaml": {kind: "application/yaml", plain: plain, convert: inYAML},
	}
	return a
}

// handler returns the handler of a route, behind its guard.
func (a *API) handler(r route.Route) echo.HandlerFunc {
	handle, hasRecords := r.Handle, a.paths[r.Path+"/:ulid"] != "" || a.paths[r.Path+"/:id"] != ""
	r.Handle = func(c echo.Context) error {
		if hasRecords {
			c.Set(hasRecordsKey, true)
		}
		if !isReading(c.Request()) { // takes no parameters, and is refused before it changes something
			if err := refuseUnknown(c); err != nil {
				return err
			}
		}
		return handle(c)
	}
	return guard.Handler(r)
}

// ServeHTTP handles a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = unescaped(r)
	w.Header().Set("Content-Security-Policy", policy)
	if description, found := a.descriptions[r.URL.Path]; found {
		if _, known := a.Slug(r.Host); known {
			a.describe(w, r, description)
			return
		}
	}
	a.echo.ServeHTTP(w, r)
}

// Requests lists all requests in the form of the documentation: "GET /api/v1/customers".
func (a *API) Requests() (list []string) {
	for _, r := range a.routes() {
		list = append(list, r.Method+" "+documented(r.Path))
	}
	return list
}

// route returns the template of the request's route, or "" if there is none.
func (a *API) route(c echo.Context) string {
	if _, known := a.paths[c.Path()]; known {
		return c.Path()
	}
	return ""
}

// requireKnownHost refuses hosts outside the base URL, because responses link to the
// requested host.
func (a *API) requireKnownHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if _, known := a.Slug(c.Request().Host); !known {
			return echo.ErrNotFound
		}
		return next(c)
	}
}

// protect sets a request's headers and timeout, and recovers from panics.
func (a *API) protect(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		core.SetLogRoute(c.Request().Context(), a.route(c))
		h := c.Response().Header()
		h.Set(echo.HeaderCacheControl, dontStore)
		h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
		ctx, cancel := context.WithTimeout(c.Request().Context(), a.Timeout)
		defer cancel()
		// Before the context is cancelled, which would look like a disconnected client.
		defer func() {
			if cause := recover(); cause != nil {
				c.Error(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
			}
		}()
		c.SetRequest(c.Request().WithContext(ctx))
		c.Response().Before(func() { readRest(c, ctx) })
		// Written here, before the timeout is cancelled, so that the log has the status.
		if err := next(c); err != nil {
			c.Error(err)
		}
		return nil
	}
}
