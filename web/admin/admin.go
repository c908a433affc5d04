// Package admin serves a business's panel, at /admin on its own host, to owners, managers and cashiers. It mounts the
// features, which are packages of their own, and the pages for signing in.
package admin

import (
	"errors"
	"net/http"
	"path"
	"slices"

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
	authviews "example.com/loyalty/views/auth"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/web/admin/coupons"
	"example.com/loyalty/web/admin/customers"
	"example.com/loyalty/web/admin/people"
	"example.com/loyalty/web/admin/reports"
	"example.com/loyalty/web/admin/rewards"
	"example.com/loyalty/web/admin/sales"
	"example.com/loyalty/web/admin/settings"
	"example.com/loyalty/web/admin/setup"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
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

	API people.API
}

// Admin serves the panel.
type Admin struct {
	*panel.Business
	Services

	settings *settings.Handlers
}

// New returns the handler for the tenants' hosts.
func New(kit *page.Kit, services Services) http.Handler {
	a := newAdmin(kit, services)
	e := echo.New()
	e.HTTPErrorHandler = a.showError
	e.Use(page.Security{Policy: page.PanelPolicy}.Headers, page.Private, page.Compressed(), page.SameOrigin(), a.Session)
	page.Mount(e, a.routes(), kit.Guard())
	return e
}

func newAdmin(kit *page.Kit, s Services) *Admin {
	b := &panel.Business{Panel: panel.Panel{Kit: kit}, Customers: s.Customers, Coupons: s.Coupons, Notifications: s.Notifications, Usage: s.Usage}
	return &Admin{Business: b, Services: s, settings: &settings.Handlers{
		Business: b, Tenants: s.Tenants, Locations: s.Locations, Transactions: s.Transactions, Rewards: s.Rewards, Billing: s.Billing,
		Usage: s.Usage, Notifications: s.Notifications,
	}}
}

// routes lists the panel's routes: its own, and those of each feature.
func (a *Admin) routes() []route.Route {
	b, s := a.Business, a.Services
	guide := &setup.Handlers{Business: b, Tenants: s.Tenants, Customers: s.Customers, Transactions: s.Transactions, Rewards: s.Rewards}
	routes := slices.Concat(a.FrameRoutes(), a.SettingsRoutes(), a.signInPages().Routes())
	for _, feature := range []interface{ Routes() []route.Route }{
		&customers.Handlers{
			Business: b, Customers: s.Customers, Imports: s.Imports, Merging: s.Merging, Privacy: s.Privacy,
			Transactions: s.Transactions, Rewards: s.Rewards, Coupons: s.Coupons, Walkins: s.Walkins,
		},
		&sales.Handlers{Business: b, Transactions: s.Transactions, Customers: s.Customers, Locations: s.Locations, Walkins: s.Walkins},
		&rewards.Handlers{Business: b, Rewards: s.Rewards, Customers: s.Customers},
		&coupons.Handlers{Business: b, Coupons: s.Coupons, Customers: s.Customers, Rewards: s.Rewards, Reports: s.Reports},
		&reports.Handlers{Business: b, Reports: s.Reports, Locations: s.Locations, Guide: guide},
		&people.Handlers{Business: b, Staff: s.Staff, Auth: s.Auth, Tokens: s.Tokens, Audit: s.Audit, API: s.API},
		a.settings,
		guide,
	} {
		routes = append(routes, feature.Routes()...)
	}
	return routes
}

// Routes lists the panel's routes, for tools that visit them all.
func Routes() []route.Route { return newAdmin(nil, Services{}).routes() }

// showError answers an error with a page or, to htmx, with its message alone.
func (a *Admin) showError(err error, c echo.Context) {
	a.ShowError(c, err, path.Dir(c.Request().URL.Path), func(f page.Failure) error {
		n := authviews.Notice{Icon: "alert-triangle", Words: f.Message, Request: f.Request, Back: links.Panel, BackLabel: "Go to dashboard"}
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
			return a.Render(c, f.Status, panelviews.NoticePage(a.Frame(c, f.Title, ""), n), nil)
		}
		if errors.Is(err, auth.ErrLink) {
			f.Title = "Link expired"
		}
		return a.Render(c, f.Status, authviews.NoticePage(a.signInPages().Bare(c, f.Title, page.Visit(c).Tenant.Name), n), nil)
	})
}
