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
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/loyalty"
	authviews "example.com/loyalty/views/auth"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/web/admin/coupons"
	"example.com/loyalty/web/admin/customers"
	"example.com/loyalty/web/admin/earning"
	"example.com/loyalty/web/admin/levels"
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

// Admin serves the panel.
type Admin struct {
	*panel.Business
	api people.API

	settings *settings.Handlers
}

// New returns the handler for the tenants' hosts.
func New(kit *page.Kit, services *loyalty.Services, api people.API) http.Handler {
	a := newAdmin(kit, services, api)
	e := echo.New()
	e.HTTPErrorHandler = a.showError
	e.Use(page.Security{Policy: page.PanelPolicy}.Headers, page.Private, page.Compressed(), page.SameOrigin(), a.Session)
	page.Mount(e, a.routes(), kit.Guard())
	return e
}

func newAdmin(kit *page.Kit, s *loyalty.Services, api people.API) *Admin {
	b := &panel.Business{Panel: panel.Panel{Kit: kit}, Services: s}
	return &Admin{Business: b, api: api, settings: &settings.Handlers{Business: b}}
}

// routes lists the panel's routes: its own, and those of each feature.
func (a *Admin) routes() []route.Route {
	b := a.Business
	guide := &setup.Handlers{Business: b}
	routes := slices.Concat(a.FrameRoutes(), a.SettingsRoutes(), a.signInPages().Routes())
	for _, feature := range []interface{ Routes() []route.Route }{
		&customers.Handlers{Business: b},
		&sales.Handlers{Business: b},
		&earning.Handlers{Business: b},
		&rewards.Handlers{Business: b},
		&coupons.Handlers{Business: b},
		&reports.Handlers{Business: b, Guide: guide},
		&levels.Handlers{Business: b},
		&people.Handlers{Business: b, API: a.api},
		a.settings,
		guide,
	} {
		routes = append(routes, feature.Routes()...)
	}
	return routes
}

// Routes lists the panel's routes, for tools that visit them all.
func Routes() []route.Route { return newAdmin(nil, &loyalty.Services{}, people.API{}).routes() }

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
