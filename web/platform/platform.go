// Package platform serves the panel of those who run the platform, at /platform on the
// base host. One file a noun; a handler takes who acts, reads the form, calls one use case
// of core and builds the page's view model.
//
// Its surprising rule: a super-admin who has not set up two-step verification gets no page but
// its set-up, and core refuses them like a stranger.
package platform

import (
	"log/slog"
	"net/http"
	"path"
	"time"

	"github.com/labstack/echo/v4"

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
	Requests     []string         // of the API that can be deprecated: "GET /api/v1/customers"
	Version      string           // of the build
	MailTrouble  func() string    // why the mail server couldn't be used lately, or ""
	Invoices     *billing.Service // and plans and settings

	Names host.Names // of the hosts
}

// Platform is the panel.
type Platform struct {
	*page.Kit
	Services
}

// requestTime is how long a page may take. Downloads have no such end.
const requestTime = 15 * time.Second

// zone is what times are written in: the platform is nowhere in particular.
var zone = time.UTC

// New makes the handler of everything under /platform on the base host.
func New(kit *page.Kit, services Services) *echo.Echo {
	p := &Platform{Kit: kit, Services: services}
	e := echo.New()
	e.HTTPErrorHandler = p.failed
	e.Use(headers, page.Private, page.Compressed(), p.baseHost, page.SameOrigin(), p.Session)
	for _, r := range p.routes() {
		e.Add(r.method, r.path, p.guarded(r))
	}
	return e
}

const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// headers allow a page what it brings itself, and nothing from other sites.
func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		return next(c)
	}
}

// baseHost refuses every host but the platform's own: on others a session means something else.
func (p *Platform) baseHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if slug, known := p.Names.Slug(c.Request().Host); !known || slug != "" {
			return echo.ErrNotFound
		}
		return next(c)
	}
}

// guarded is the handler behind the sign-in.
func (p *Platform) guarded(r route) echo.HandlerFunc {
	handle := r.handle
	if !r.slow {
		handle = page.WithTimeout(requestTime)(handle)
	}
	return func(c echo.Context) error {
		if r.public {
			return handle(c)
		}
		switch {
		case page.Person(c) == nil:
			return p.ToSignIn(c)
		case p.signInPages().MustSetUp(c):
			if r.setup {
				return handle(c)
			}
			return p.signInPages().ToSetup(c)
		}
		if err := actor(c).RequireAdmin(); err != nil {
			return err
		}
		return handle(c)
	}
}

// failed answers an error with a page that says so in words, and leads back.
func (p *Platform) failed(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	f := p.Explain(c, err)
	if r := c.Request(); f.Status == http.StatusMethodNotAllowed && r.Method == http.MethodGet {
		// Where a form was refused, the address is that of its action: loaded again, it leads
		// to the page that has the form, which is the one above.
		if err := p.Redirect(c, path.Dir(r.URL.Path)); err == nil {
			return
		}
	}
	if page.IsFragment(c) && f.Request == "" && f.Status != http.StatusNotFound {
		err = c.String(f.Status, f.Message) // the page that asked stays as it is, and says it
	} else {
		n := views.Notice{Words: f.Message, Request: f.Request}
		if actor(c).RequireAdmin() == nil {
			n.Back = firstPage
		}
		err = p.Render(c, f.Status, views.NoticePage(p.frame(c, f.Title, ""), n), nil)
	}
	if err != nil {
		p.Log.ErrorContext(c.Request().Context(), "error page failed", slog.Any("error", err))
		_ = c.String(http.StatusInternalServerError, "Something went wrong on our side. Please try again in a moment.")
	}
}

// assets are the same on every page.
var assets = ui.Assets{
	Icon:        static.Path("img/icon.svg"),
	Font:        static.Path("vendor/inter/inter-latin.woff2"),
	Stylesheets: []string{static.Path("vendor/tabler/tabler.css"), static.Path("css/panel.css"), static.Path("css/platform.css")},
	Theme:       static.Path("js/theme.js"),
	Scripts:     []string{static.Path("vendor/htmx/htmx.js"), static.Path("js/panel.js")},
}
