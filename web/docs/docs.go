// Package docs serves the base host's pages for people who write clients of the API:
// the start page, the reference, the guides beside it, and a page for each rule of the
// business, which is where the "type" of such a problem document leads.
//
// The words about rules are in problems.go. A rule without words there fails a test.
package docs

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/static"
	views "example.com/loyalty/views/docs"
)

// Pages are the pages of one installation. They never change while it runs, so
// they are put together once.
type Pages struct {
	guides
	home      views.Home
	reference views.Reference
	list      views.ProblemList
	problems  map[string]views.Problem // by slug
}

// New makes the pages for an installation's base URL.
func New(baseURL string) *Pages {
	baseURL = strings.TrimSuffix(baseURL, "/")
	p := &Pages{
		guides:    newGuides(baseURL),
		reference: newReference(),
		home: views.Home{
			Frame: frame("Loyalty", "Points and stamps for shops: the address of the API, and its references.", views.HomeSection),
			API:   baseURL + "/api/v1",
			Example: "curl " + baseURL + "/api/v1/customers \\\n" +
				"  --header \"Authorization: Bearer $TOKEN\"",
		},
		list: views.ProblemList{
			Frame: frame("Problems · Loyalty", "The rules of the business that can refuse a request to the API.", views.ProblemsSection),
		},
		problems: map[string]views.Problem{},
	}
	for _, g := range groups {
		group := views.ProblemGroup{ID: strings.ReplaceAll(strings.ToLower(g.title), " ", "-"), Title: g.title}
		for _, r := range g.rules {
			group.Problems = append(group.Problems, views.ProblemLink{Slug: r.slug, Detail: r.detail})
			p.problems[r.slug] = r.view(g.title, baseURL)
		}
		p.list.Groups = append(p.list.Groups, group)
	}
	return p
}

// Mount registers the pages on the base host.
func (p *Pages) Mount(e *echo.Echo) {
	for path, handler := range map[string]echo.HandlerFunc{
		"/":                p.showHome,
		"/docs":            p.showReference,
		"/docs/retries":    p.showRetries,
		"/docs/versioning": p.showVersioning,
		"/docs/changelog":  p.showChangelog,
		"/problems":        p.showProblems,
		"/problems/:slug":  p.showProblem,
	} {
		// Echo answers HEAD with 405 unless told; link checkers ask that way.
		e.Match([]string{http.MethodGet, http.MethodHead}, path, handler)
	}
}

// NotFound answers a browser that asked for a page that does not exist.
func NotFound(c echo.Context) error {
	return render(c, http.StatusNotFound, views.NotFoundPage(views.NotFound{
		Frame: frame("Not found · Loyalty", "", views.NoSection),
	}))
}

func (p *Pages) showHome(c echo.Context) error {
	return render(c, http.StatusOK, views.HomePage(p.home))
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

// render finishes the page before the first byte leaves, so that one that fails
// can still be answered with an error.
func render(c echo.Context, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("render %s: %w", c.Path(), err)
	}
	return c.HTMLBlob(status, b.Bytes())
}

func frame(title, description string, section views.Section) views.Frame {
	return views.Frame{
		Title: title, Description: description, Section: section,
		Stylesheets: []string{static.Path("css/frame.css"), static.Path("css/docs.css")}, Icon: static.Path("img/icon.svg"),
	}
}

func (r rule) view(group, baseURL string) views.Problem {
	v := views.Problem{
		Frame:   frame(r.title+" · Loyalty", r.detail, views.ProblemsSection),
		Slug:    r.slug,
		Heading: r.title,
		Detail:  r.detail,
		Group:   group, Requests: r.requests,
		Retry:   text(r.retry),
		Example: r.document(baseURL),
	}
	for _, paragraph := range r.happened {
		v.Happened = append(v.Happened, text(paragraph))
	}
	for _, step := range r.next {
		v.Next = append(v.Next, text(step))
	}
	return v
}

// document is what the API answers, laid out for reading. The words have no
// character that Go and JSON would quote differently.
func (r rule) document(baseURL string) string {
	return fmt.Sprintf(`{
  "type": %q,
  "title": "Unprocessable Entity",
  "status": 422,
  "detail": %q,
  "code": %q
}`, baseURL+"/problems/"+r.slug, r.detail, r.slug)
}

// text splits words at backticks: every second piece is code.
func text(s string) views.Text {
	var t views.Text
	for i, piece := range strings.Split(s, "`") {
		if piece != "" {
			t = append(t, views.Span{Text: piece, Code: i%2 == 1})
		}
	}
	return t
}
