// Package api answers /api/v1: bearer tokens, abilities, limits, JSON and problem
// documents, one file for each resource. A handler is a translation: it reads the
// input, calls one use case of core, and writes the answer.
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
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
)

// policy keeps a browser that shows an answer as a page from doing anything with it.
const policy = "default-src 'none'; frame-ancestors 'none'"

// Prefix is where the API lives, on every host.
const Prefix = "/api/v1"

// Config is what the API is made of.
type Config struct {
	Tokens       *token.Service
	Auth         *auth.Service
	Customers    *customer.Service
	Transactions *transaction.Service
	Rewards      *reward.Service
	Coupons      *coupon.Service
	Reports      *report.Service
	Tenants      *tenant.Service
	Invoices     *billing.Service
	Deprecations *deprecation.Service

	BaseURL string // of the references in problems, without a slash at its end
	// Slug names the tenant whose host was called, "" for the base host. A host that is not
	// known is not answered, so no link leads to it.
	Slug func(host string) (slug string, known bool)
	// Address is the client's, as far as proxies can be believed.
	Address func(*http.Request) string
	// AddressKey is what an address is limited by.
	AddressKey func(address string) string

	PerToken   *limit.Window // requests with a valid token, or an owner's session
	PerAddress *limit.Window // all others
	// Failures limits how often an address may have tokens and sessions looked up in vain. Past
	// it only those that were valid lately are looked up at all.
	Failures *limit.Window

	TransactionCreateScope token.Ability
	Timeout                time.Duration // of a request
	Log                    *slog.Logger
}

// API is the handler of everything under /api/.
type API struct {
	Config
	echo        *echo.Echo
	lately      *recentTokens
	paths       map[string]string // of the routes: the router's, and as documented
	description description
}

// New makes the API.
func New(c Config) *API {
	a := &API{Config: c, echo: echo.New(), lately: newRecentTokens(), paths: map[string]string{}}
	a.echo.HTTPErrorHandler = a.problem
	a.echo.Use(a.withLimits, a.onOurHost, a.announce, a.identify, otherMethod)
	for _, r := range a.routes() {
		a.echo.Add(r.method, Prefix+r.path, r.guarded())
		a.paths[Prefix+r.path] = documented(Prefix + r.path)
	}
	a.description = describe(c.BaseURL)
	return a
}

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", policy)
	if r.URL.Path == Prefix+"/openapi.json" {
		if _, known := a.Slug(r.Host); known {
			a.description.ServeHTTP(w, r)
			return
		}
	}
	a.echo.ServeHTTP(w, r)
}

// Requests are those that the API answers, as the documents write them: "GET /api/v1/customers".
func (a *API) Requests() (list []string) {
	for _, r := range a.routes() {
		list = append(list, r.method+" "+documented(Prefix+r.path))
	}
	return list
}

// route is the template of the request's route, or "" where there is none.
func (a *API) route(c echo.Context) string {
	if _, known := a.paths[c.Path()]; known {
		return c.Path()
	}
	return ""
}

// onOurHost answers only on the hosts of the base URL: answers link to the host that was
// called, which must not be another's.
func (a *API) onOurHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if _, known := a.Slug(c.Request().Host); !known {
			return echo.ErrNotFound
		}
		return next(c)
	}
}

// withLimits gives a request its headers and its time, and keeps a panic to itself.
func (a *API) withLimits(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		core.SetLogRoute(c.Request().Context(), a.route(c))
		// Answers hold personal data.
		c.Response().Header().Set("Cache-Control", "no-store")
		ctx, cancel := context.WithTimeout(c.Request().Context(), a.Timeout)
		defer cancel()
		// Before the context ends: that would look like a client that went away.
		defer func() {
			if cause := recover(); cause != nil {
				c.Error(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
			}
		}()
		c.SetRequest(c.Request().WithContext(ctx))
		// Answered here, while the time still runs and whoever logs can see the status.
		if err := next(c); err != nil {
			c.Error(err)
		}
		return nil
	}
}
