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
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/sandbox"
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

// Config is what the panel needs.
type Config struct {
	*loyalty.Services
	Jobs         *job.Queue
	Requests     []string      // that can be deprecated: "GET /api/v1/customers"
	Version      string        // of the build
	MailTrouble  func() string // the last error of the mail server, or ""
	LimitTrouble func() string // the last error of Redis, or ""

	Names   host.Names
	Sandbox sandbox.Maker // makes test businesses
}

// Platform is the panel.
type Platform struct {
	*panel.Platform
	config Config
}

// New returns the handler of the paths below /platform.
func New(kit *page.Kit, c Config) *echo.Echo {
	p := newPlatform(kit, c)
	e := echo.New()
	e.HTTPErrorHandler = p.showError
	e.Use(page.Security{Policy: page.PanelPolicy}.Headers, page.Private, page.Compressed(), p.baseHost, page.SameOrigin(), p.Session)
	page.Mount(e, p.routes(), p.guard())
	return e
}

func newPlatform(kit *page.Kit, c Config) *Platform {
	return &Platform{Platform: &panel.Platform{Panel: panel.Panel{Kit: kit}, Services: c.Services}, config: c}
}

// routes lists the panel's routes: its own, and those of each feature.
func (p *Platform) routes() []route.Route {
	c := p.config
	routes := slices.Concat(p.FrameRoutes(), p.signInPages().Routes())
	for _, feature := range []interface{ Routes() []route.Route }{
		&tenants.Handlers{Platform: p.Platform, Invoices: c.Billing, Names: c.Names, Sandbox: c.Sandbox},
		&billing.Handlers{Platform: p.Platform, Invoices: c.Billing, Names: c.Names},
		&operations.Handlers{
			Platform: p.Platform, Jobs: c.Jobs, Invoices: c.Billing,
			Requests: c.Requests, Version: c.Version, MailTrouble: c.MailTrouble, LimitTrouble: c.LimitTrouble,
		},
	} {
		routes = append(routes, feature.Routes()...)
	}
	return routes
}

// Routes lists the panel's routes, for tools that visit them all.
func Routes() []route.Route { return newPlatform(nil, Config{Services: &loyalty.Services{}}).routes() }

// baseHost refuses all hosts except the platform's own: sessions of other hosts are of tenants.
func (p *Platform) baseHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if slug, known := p.config.Names.Slug(c.Request().Host); !known || slug != "" {
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
