// Package platform serves the panel of super-admins at /platform on the base host. It mounts the features, which are
// packages of their own, and the pages for signing in.
//
// Its surprising rule: a super-admin without two-step verification gets only the pages to set it up,
// and core refuses them everything.
package platform

import (
	"net/http"
	"path"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	corebilling "example.com/loyalty/core/billing"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/operation"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/verify"
	authviews "example.com/loyalty/views/auth"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/platform/billing"
	"example.com/loyalty/web/platform/operations"
	"example.com/loyalty/web/platform/tenants"
	"example.com/loyalty/web/route"
)

// Services are the use cases that the panel calls.
type Services struct {
	Auth         *auth.Service
	Staff        *staff.Service
	Tokens       *token.Service
	Jobs         *job.Queue
	Operations   *operation.Service
	Tenants      *tenant.Service
	Checks       *verify.Service
	Audit        *audit.Service
	Deprecations *deprecation.Service
	Requests     []string             // that can be deprecated: "GET /api/v1/customers"
	Version      string               // of the build
	MailTrouble  func() string        // the last error of the mail server, or ""
	LimitTrouble func() string        // the last error of Redis, or ""
	Invoices     *corebilling.Service // also plans and settings

	Names host.Names
}

// Platform is the panel.
type Platform struct {
	*panel.Platform
	Services
}

// New returns the handler of the paths below /platform.
func New(kit *page.Kit, services Services) *echo.Echo {
	p := newPlatform(kit, services)
	e := echo.New()
	e.HTTPErrorHandler = p.showError
	e.Use(page.Security{Policy: page.PanelPolicy}.Headers, page.Private, page.Compressed(), p.baseHost, page.SameOrigin(), p.Session)
	page.Mount(e, p.routes(), p.guard())
	return e
}

func newPlatform(kit *page.Kit, services Services) *Platform {
	return &Platform{Platform: &panel.Platform{Panel: panel.Panel{Kit: kit}}, Services: services}
}

// routes lists the panel's routes: its own, and those of each feature.
func (p *Platform) routes() []route.Route {
	s := p.Services
	routes := slices.Concat(p.FrameRoutes(), p.signInPages().Routes())
	for _, feature := range []interface{ Routes() []route.Route }{
		&tenants.Handlers{Platform: p.Platform, Tenants: s.Tenants, Invoices: s.Invoices, Audit: s.Audit, Names: s.Names},
		&billing.Handlers{Platform: p.Platform, Invoices: s.Invoices, Names: s.Names},
		&operations.Handlers{
			Platform: p.Platform, Operations: s.Operations, Checks: s.Checks, Jobs: s.Jobs, Audit: s.Audit, Tokens: s.Tokens,
			Deprecations: s.Deprecations, Invoices: s.Invoices, Tenants: s.Tenants,
			Requests: s.Requests, Version: s.Version, MailTrouble: s.MailTrouble, LimitTrouble: s.LimitTrouble,
		},
	} {
		routes = append(routes, feature.Routes()...)
	}
	return routes
}

// Routes lists the panel's routes, for tools that visit them all.
func Routes() []route.Route { return newPlatform(nil, Services{}).routes() }

// baseHost refuses all hosts except the platform's own: sessions of other hosts are of tenants.
func (p *Platform) baseHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if slug, known := p.Names.Slug(c.Request().Host); !known || slug != "" {
			return echo.ErrNotFound
		}
		return next(c)
	}
}

// guard admits super-admins who have set up two-step verification, and the others to that setup.
func (p *Platform) guard() route.Guard {
	g := p.Guard()
	g.Refusal, g.MustSetUp, g.SetUp = core.ErrAdmin, p.signInPages().MustSetUp, p.signInPages().ToSetup
	return g
}

// showError answers an error with a page.
func (p *Platform) showError(err error, c echo.Context) {
	p.ShowError(c, err, path.Dir(c.Request().URL.Path), func(f page.Failure) error {
		if page.FromScript(c) && f.Request == "" && f.Status != http.StatusNotFound {
			return c.String(f.Status, f.Message) // a script shows it on the current page
		}
		n := authviews.Notice{Icon: "alert-triangle", Words: f.Message, Request: f.Request, BackLabel: "Go to tenants"}
		if page.Actor(c).RequireAdmin() == nil {
			n.Back = panel.FirstPlatformPage
		}
		return p.Render(c, f.Status, panelviews.NoticePage(p.Frame(c, f.Title, ""), n), nil)
	})
}
