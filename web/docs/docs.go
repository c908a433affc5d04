// Package docs serves the base host's pages for developers of API clients: the start
// page, the reference, the guides, and a page for each business rule that can refuse an
// API request, which the "type" of a problem document links to.
//
// The texts about rules are in problems.md. A rule of openapi.json without a text fails a test.
package docs

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/api/description"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/docs"
	"example.com/loyalty/web/host"
)

// Config describes the installation.
type Config struct {
	Names       host.Names
	OwnCA       bool   // clients need the installation's certificate authority
	Description []byte // openapi.json of the installation
	// Exists reports whether a business has this slug.
	Exists func(ctx context.Context, slug string) (bool, error)
	// Ready reports why requests can't be answered.
	Ready func(context.Context) (notice string, err error)
}

// Pages are the pages of one installation. They never change while it runs, so they are
// built once.
type Pages struct {
	Config
	site
	guides
	quickStart views.QuickStart
	programs   map[string]string // of the quick start, by file name
	clients    views.Clients
	plugin     []byte // for WooCommerce
	reference  reference
	feed       []byte // the changelog
	postman    []byte
	list       views.ProblemList
	problems   map[string]views.Problem // by slug
	index      index
}

// site is what all pages of an installation share.
type site struct {
	base string // its URL, without a final slash
	nav  []views.NavGroup
}

// New builds the pages. It panics if the description can't be read, since that is a mistake in
// an embedded file.
func New(c Config) *Pages {
	api, err := description.Parse(c.Description)
	if err != nil {
		panic(err)
	}
	s := site{base: c.Names.Base(), nav: navigation(api)}
	p := &Pages{
		Config:    c,
		site:      s,
		guides:    newGuides(s),
		reference: newReference(s, api),
		clients:   newClients(s),
		plugin:    newPlugin(),
	}
	p.quickStart, p.programs = newQuickStart(s, c.Names.Tenant("yourbusiness"), c.OwnCA)
	p.list, p.problems = newProblems(s)
	p.feed, p.postman = newFeed(s, p.changelog), newPostman(s, api)
	p.index = newIndex(p)
	return p
}

// navigation lists the pages of the documentation.
func navigation(api description.Document) []views.NavGroup {
	groups := views.NavGroup{Title: "Reference"}
	for _, tag := range api.Tags {
		groups.Links = append(groups.Links, views.NavLink{Path: groupPath(tag.Name), Label: tag.Name})
	}
	var guides []views.NavLink
	for _, t := range topics {
		guides = append(guides, views.NavLink{Path: t.path, Label: t.label})
	}
	return []views.NavGroup{
		{Title: "Get started", Links: []views.NavLink{
			{Path: quickStartPath, Label: "Quick start"},
			{Path: "/docs", Label: "Overview"},
			{Path: clientsPath, Label: "Clients"},
		}},
		groups,
		{Title: "Guides", Links: append(
			guides,
			views.NavLink{Path: "/problems", Label: "Problems"},
			views.NavLink{Path: "/docs/versioning", Label: "Versioning"},
			views.NavLink{Path: changelogPath, Label: "Changelog"},
		)},
	}
}

// Mount registers the pages on the base host.
func (p *Pages) Mount(e *echo.Echo) {
	handlers := map[string]echo.HandlerFunc{
		"/":                              p.showHome,
		"/docs":                          p.showOverview,
		referencePath + ":group":         p.showGroup,
		searchPath:                       p.showSearch,
		quickStartPath:                   p.showQuickStart,
		quickStartPath + "/:file":        p.showProgram,
		clientsPath:                      p.showClients,
		clientsPath + "/:language/:file": p.showClientFile,
		pluginPath:                       p.showPlugin,
		"/docs/versioning":               p.showVersioning,
		changelogPath:                    p.showChangelog,
		feedPath:                         p.showFeed,
		postmanPath:                      p.showPostman,
		"/problems":                      p.showProblems,
		"/problems/:slug":                p.showProblem,
	}
	maps.Copy(handlers, p.showTopics())
	for path, handler := range handlers {
		// Echo refuses HEAD with 405 by default, but link checkers use it.
		e.Match([]string{http.MethodGet, http.MethodHead}, path, handler)
		if path != "/" { // a page's address has no slash at its end
			e.Match([]string{http.MethodGet, http.MethodHead}, path+"/", withoutSlash)
		}
	}
}

// withoutSlash leads from an address with a slash at its end to the page.
func withoutSlash(c echo.Context) error {
	u := c.Request().URL
	to := url.URL{Path: strings.TrimSuffix(u.Path, "/"), RawQuery: u.RawQuery}
	return c.Redirect(http.StatusPermanentRedirect, to.String())
}

// NotFound responds to a browser with the page for an unknown address.
func NotFound(c echo.Context) error {
	return render(c, http.StatusNotFound, views.NotFoundPage(views.NotFound{
		Frame: site{}.frame("Page not found · Loyalty", "", ""),
	}))
}

func (p *Pages) showProblems(c echo.Context) error {
	return render(c, http.StatusOK, views.ProblemListPage(p.list))
}

func (p *Pages) showProblem(c echo.Context) error {
	problem, ok := p.problems[c.Param("slug")]
	if !ok {
		return NotFound(c)
	}
	return render(c, http.StatusOK, views.ProblemPage(problem))
}

// render renders the whole page before it sends the first byte, so that a failure can
// still be answered with an error.
func render(c echo.Context, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("render %s: %w", c.Path(), err)
	}
	return c.HTMLBlob(status, b.Bytes())
}

func (s site) frame(title, description, path string) views.Frame {
	return views.Frame{
		Title: title, Description: description, Path: path, Guides: s.nav,
		Stylesheets: []string{static.Path("css/frame.css"), static.Path("css/docs.css")},
		Scripts:     []string{static.Path("js/docs.js")}, Icon: static.Path("img/icon.svg"),
	}
}

// text splits prose at backticks: every second piece is code.
func text(s string) views.Text {
	var t views.Text
	for i, piece := range strings.Split(s, "`") {
		if piece != "" {
			t = append(t, views.Span{Text: piece, Code: i%2 == 1})
		}
	}
	return t
}
