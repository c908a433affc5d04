// Package platform serves the pages of those who run the platform, at /platform on the
// base host. So far that is the job queue.
//
// Its surprising rule: until super-admins can sign in here, there are no such pages but for
// a browser on the machine itself (page.Local), also where the product serves the world:
// operators come through an SSH tunnel.
package platform

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/job"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/platform"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
)

// Pages are the pages of one installation.
type Pages struct {
	jobs    *job.Queue
	names   host.Names
	address func(*http.Request) string // of the client
	now     func() time.Time
	zone    *time.Location // of the machine, which is the reader's
}

// New makes the pages.
func New(jobs *job.Queue, names host.Names, address func(*http.Request) string, now func() time.Time, zone *time.Location) *Pages {
	return &Pages{jobs, names, address, now, zone}
}

// Mount registers the pages on the base host.
func (p *Pages) Mount(e *echo.Echo) {
	g := e.Group("/platform", page.Local(p.names.Slug, p.address), headers, refusals, page.SameOrigin())
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		g.Add(method, "", func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, jobsPath) })
		g.Add(method, "/jobs", p.listJobs)
	}
	g.POST("/jobs/:id/retry", p.retryJob)
	g.POST("/jobs/:id/cancel", p.cancelJob)
}

// headers allow a page what it brings itself: unlike the other pages of the base host,
// these have a font, and a script that tells light from dark.
func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderContentSecurityPolicy, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "+
			"base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		return next(c)
	}
}

// refusals say why a form was not taken. What does not exist is answered like elsewhere on
// the base host.
func refusals(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		var fault *echo.HTTPError
		if !errors.As(err, &fault) || fault.Code != http.StatusForbidden {
			return err
		}
		return render(c, fault.Code, views.NoticePage(views.Notice{Frame: frame("Not allowed"), Words: fmt.Sprint(fault.Message)}))
	}
}

func frame(title string) views.Frame {
	return views.Frame{Title: title, Assets: views.Assets{
		Icon: static.Path("img/icon.svg"),
		Font: static.Path("vendor/inter/inter-latin.woff2"),
		Stylesheets: []string{
			static.Path("vendor/tabler/tabler.css"), static.Path("css/panel.css"), static.Path("css/platform.css"),
		},
		Theme: static.Path("js/theme.js"),
	}}
}

// render finishes the page before the first byte leaves, so that one that fails can
// still be answered with an error.
func render(c echo.Context, status int, whole templ.Component) error {
	var b bytes.Buffer
	if err := whole.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("render %s: %w", c.Path(), err)
	}
	return c.HTMLBlob(status, b.Bytes())
}
