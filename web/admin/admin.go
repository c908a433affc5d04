// Package admin serves the panel of a business, at /admin on its own host: pages for
// owners, managers and cashiers. One file a noun; a handler takes who acts, reads the
// form, calls one use case of core and builds the page's view model.
package admin

import (
	"errors"
	"log/slog"
	"net/http"
	"path"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/privacy"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/admin"
	authviews "example.com/loyalty/views/auth"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// Services are the use cases that the panel calls.
type Services struct {
	Staff        *staff.Service
	Auth         *auth.Service
	Tokens       *token.Service
	Tenants      *tenant.Service
	Privacy      *privacy.Service
	Customers    *customer.Service
	Imports      *importing.Service
	Transactions *transaction.Service
	Rewards      *reward.Service
	Coupons      *coupon.Service
	Locations    *location.Service
	Reports      *report.Service
	Billing      *billing.Service
	Usage        *usage.Meter
	Audit        *audit.Service

	API API
}

// Admin is the panel.
type Admin struct {
	*page.Kit
	Services
}

// requestTime is how long a page may take. Downloads have no such end.
const requestTime = 15 * time.Second

// New makes the handler of the hosts of tenants.
func New(kit *page.Kit, services Services) http.Handler {
	a := &Admin{Kit: kit, Services: services}
	e := echo.New()
	e.HTTPErrorHandler = a.failed
	e.Use(headers, page.Private, page.Compressed(), page.SameOrigin(), a.Session)
	e.GET("/", func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, firstPage(page.Actor(c).Role)) })
	for _, r := range a.routes() {
		e.Add(r.method, r.path, a.guarded(r))
	}
	return e
}

const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// headers allow a page what it brings itself, and nothing of others.
func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		core.SetLogRoute(c.Request().Context(), c.Path())
		h := c.Response().Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		return next(c)
	}
}

// route is a page or an action, and who may have it, side by side.
type route struct {
	method string
	path   string
	least  core.Role // "": also strangers
	handle echo.HandlerFunc
	slow   bool // a download, an upload: takes what it takes
}

// guarded is the handler behind its role.
func (a *Admin) guarded(r route) echo.HandlerFunc {
	handle := r.handle
	if !r.slow {
		handle = page.WithTimeout(requestTime)(handle)
	}
	return func(c echo.Context) error {
		if r.least == "" {
			return handle(c)
		}
		person := page.Person(c)
		if person == nil {
			return a.ToSignIn(c)
		}
		if err := person.Require(r.least); err != nil {
			return err
		}
		return handle(c)
	}
}

// failed answers an error with a page that says so in words, and leads back.
func (a *Admin) failed(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	f := a.Explain(c, err)
	if r := c.Request(); f.Status == http.StatusMethodNotAllowed && r.Method == http.MethodGet {
		// Where a form was refused, the address is that of its action: loaded again, it leads
		// to the page that has the form, which is the one above.
		if err := a.Redirect(c, path.Dir(r.URL.Path)); err == nil {
			return
		}
	}
	if page.IsFragment(c) {
		a.failedPart(c, f)
		return
	}
	n := authviews.Notice{Icon: "alert-triangle", Words: f.Message, Request: f.Request, Back: page.PanelPath, BackLabel: "Go to dashboard"}
	if errors.Is(err, page.ErrSuspended) {
		n.Icon, n.Back = "lock", ""
	}
	if page.Person(c) != nil {
		frame := a.frame(c, f.Title, "")
		err = a.Render(c, f.Status, views.NoticePage(frame, n), nil)
	} else {
		err = a.Render(c, f.Status, authviews.NoticePage(a.signInPages().Bare(c, f.Title, page.Visit(c).Tenant.Name), n), nil)
	}
	if err != nil {
		a.Log.ErrorContext(c.Request().Context(), "error page failed", slog.Any("error", err))
		_ = c.String(http.StatusInternalServerError, "Something went wrong on our side. Please try again in a moment.")
	}
}

// failedPart answers with a sentence alone: the page that asked stays as it is, and says it.
// Without a sentence, it has one of its own.
func (a *Admin) failedPart(c echo.Context, f page.Failure) {
	var err error
	if f.Request != "" || f.Status == http.StatusNotFound {
		err = c.NoContent(f.Status)
	} else {
		err = c.String(f.Status, f.Message)
	}
	if err != nil {
		a.Log.ErrorContext(c.Request().Context(), "error not answered", slog.Any("error", err))
	}
}

// assets are the same on every page.
var assets = ui.Assets{
	Icon:         static.Path("img/icon.svg"),
	Font:         static.Path("vendor/inter/inter-latin.woff2"),
	Stylesheets:  []string{static.Path("vendor/tabler/tabler.css"), static.Path("css/panel.css")},
	Branding:     page.BrandingPath,
	Theme:        static.Path("js/theme.js"),
	Scripts:      []string{static.Path("vendor/htmx/htmx.js"), static.Path("js/panel.js")},
	ChartStyle:   static.Path("vendor/uplot/uplot.css"),
	ChartScripts: []string{static.Path("vendor/uplot/uplot.js"), static.Path("js/chart.js")},
}
