// Package platform serves the panel of super-admins at /platform on the base host. It has one file a
// noun. A handler reads the form, calls one use case of core and builds the page's view model.
//
// Its surprising rule: a super-admin without two-step verification gets only the pages to set it up,
// and core refuses them everything.
package platform

import (
	"net/http"
	"path"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/operation"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/verify"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
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
	Requests     []string         // that can be deprecated: "GET /api/v1/customers"
	Version      string           // of the build
	MailTrouble  func() string    // the last error of the mail server, or ""
	LimitTrouble func() string    // the last error of Redis, or ""
	Invoices     *billing.Service // also plans and settings

	Names host.Names
}

// Platform is the panel.
type Platform struct {
	*page.Kit
	Services
}

// zone is the time zone of the platform.
var zone = time.UTC

// New returns the handler of the paths below /platform.
func New(kit *page.Kit, services Services) *echo.Echo {
	p := &Platform{Kit: kit, Services: services}
	e := echo.New()
	e.HTTPErrorHandler = p.showError
	e.Use(page.Security{Policy: page.PanelPolicy}.Headers, page.Private, page.Compressed(), p.baseHost, page.SameOrigin(), p.Session)
	page.Mount(e, p.routes(), p.guard())
	return e
}

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
		n := views.Notice{Words: f.Message, Request: f.Request}
		if page.Actor(c).RequireAdmin() == nil {
			n.Back = firstPage
		}
		return p.Render(c, f.Status, views.NoticePage(p.frame(c, f.Title, ""), n), nil)
	})
}

var assets = ui.Assets{
	Icon:        static.Path("img/icon.svg"),
	Font:        static.Path("vendor/inter/inter-latin.woff2"),
	Stylesheets: []string{static.Path("vendor/tabler/tabler.css"), static.Path("css/panel.css"), static.Path("css/platform.css")},
	Theme:       static.Path("js/theme.js"),
	Scripts:     []string{static.Path("vendor/htmx/htmx.js"), static.Path("js/form.js"), static.Path("js/panel.js")},
}
