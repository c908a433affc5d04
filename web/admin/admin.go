// Package admin serves a business's panel, at /admin on its own host, to owners, managers and
// cashiers. There is one file per noun. A handler reads the form, calls one use case of core and
// builds the page's view model.
package admin

import (
	"errors"
	"net/http"
	"path"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/merging"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/privacy"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/admin"
	authviews "example.com/loyalty/views/auth"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// Services provides the use cases that the panel calls.
type Services struct {
	Staff         *staff.Service
	Auth          *auth.Service
	Tokens        *token.Service
	Tenants       *tenant.Service
	Privacy       *privacy.Service
	Merging       *merging.Service
	Customers     *customer.Service
	Imports       *importing.Service
	Transactions  *transaction.Service
	Walkins       *walkin.Service
	Rewards       *reward.Service
	Coupons       *coupon.Service
	Locations     *location.Service
	Notifications *notification.Service
	Reports       *report.Service
	Billing       *billing.Service
	Usage         *usage.Meter
	Audit         *audit.Service

	API   API
	Guide Guide
}

// Admin serves the panel.
type Admin struct {
	*page.Kit
	Services
}

// New returns the handler for the tenants' hosts.
func New(kit *page.Kit, services Services) http.Handler {
	a := &Admin{Kit: kit, Services: services}
	e := echo.New()
	e.HTTPErrorHandler = a.showError
	e.Use(page.Security{Policy: page.PanelPolicy}.Headers, page.Private, page.Compressed(), page.SameOrigin(), a.Session)
	page.Mount(e, a.routes(), kit.Guard())
	return e
}

// showError answers an error with a page or, to htmx, with its message alone.
func (a *Admin) showError(err error, c echo.Context) {
	a.ShowError(c, err, path.Dir(c.Request().URL.Path), func(f page.Failure) error {
		n := authviews.Notice{Icon: "alert-triangle", Words: f.Message, Request: f.Request, Back: page.PanelPath, BackLabel: "Go to dashboard"}
		if page.Person(c) == nil {
			n.BackLabel = "Go to sign-in"
		}
		switch {
		case errors.Is(err, core.ErrSuspended):
			n.Icon, n.Back = "lock", ""
		case errors.Is(err, page.ErrNoBusiness):
			n.Back, n.BackLabel = a.Start, "Go to start page"
		}
		switch {
		case page.FromScript(c) && (f.Request != "" || f.Status == http.StatusNotFound):
			return c.NoContent(f.Status) // the page shows a message of its own
		case page.FromScript(c):
			return c.String(f.Status, f.Message)
		case page.Person(c) != nil:
			return a.Render(c, f.Status, views.NoticePage(a.frame(c, f.Title, ""), n), nil)
		}
		if errors.Is(err, auth.ErrLink) {
			f.Title = "Link expired"
		}
		return a.Render(c, f.Status, authviews.NoticePage(a.signInPages().Bare(c, f.Title, page.Visit(c).Tenant.Name), n), nil)
	})
}

// assets are the files that every page loads.
var assets = ui.Assets{
	Icon:         static.Path("img/icon.svg"),
	Font:         static.Path("vendor/inter/inter-latin.woff2"),
	Stylesheets:  []string{static.Path("vendor/tabler/tabler.css"), static.Path("css/panel.css")},
	Theme:        static.Path("js/theme.js"),
	Scripts:      []string{static.Path("vendor/htmx/htmx.js"), static.Path("js/form.js"), static.Path("js/panel.js"), static.Path("js/search.js")},
	ChartStyle:   static.Path("vendor/uplot/uplot.css"),
	ChartScripts: []string{static.Path("vendor/uplot/uplot.js"), static.Path("js/chart.js")},
}
