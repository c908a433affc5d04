package docs

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/docs"
)

const (
	searchPath = "/docs/search"
	maxResults = 20
	maxTerm    = 100
)

// entry is a place that a search can find.
type entry struct {
	views.Result
	kind         string // the heading of its group
	title, words string // in lower case; words also has the title
}

// Kinds of results.
const (
	guideKind     = "Guides"
	referenceKind = "Reference"
	problemKind   = "Problems"
)

// index is every place in the documentation, in the order of the navigation. It is small: a few
// hundred entries, searched in well under a millisecond.
type index []entry

func (x *index) add(kind, path, title, place string, texts ...string) {
	e := entry{kind: kind, title: strings.ToLower(title), words: strings.ToLower(title + " " + place + " " + strings.Join(texts, " "))}
	e.Result = views.Result{Path: path, Title: title, Text: texts[0]}
	if kind == referenceKind {
		e.Place = place // results of other kinds are below a heading that says where they are
	}
	*x = append(*x, e)
}

func newIndex(p *Pages) (x index) {
	frames := []views.Frame{p.quickStart.Frame, p.clients.Frame}
	for _, g := range p.topics {
		frames = append(frames, g.Frame)
	}
	for _, f := range append(frames, p.list.Frame, p.versioning.Frame, p.changelog.Frame) {
		title, _, _ := strings.Cut(f.Title, " · ")
		x.add(guideKind, f.Path, title, "Guide", f.Description)
	}
	for _, s := range p.reference.overview.Sections {
		var texts []string
		for _, t := range s.Prose {
			texts = append(texts, plain(t))
		}
		x.add(referenceKind, "/docs#"+s.ID, s.Title, "API documentation", strings.Join(texts, " "))
	}
	for _, g := range p.reference.overview.Groups {
		for _, o := range g.Operations {
			var texts []string
			for _, t := range o.Prose {
				texts = append(texts, plain(t))
			}
			for _, f := range append(o.Parameters, o.Body...) {
				texts = append(texts, f.Name)
			}
			x.add(referenceKind, o.Link, o.Summary, o.Method+" "+o.Path, texts...)
		}
		for _, r := range g.Records {
			for _, f := range r.Fields {
				x.add(referenceKind, g.Path+"#"+r.ID, f.Name, "Field of "+r.Name, plain(f.Text))
			}
		}
	}
	for _, g := range p.list.Groups {
		for _, l := range g.Problems {
			x.add(problemKind, "/problems/"+l.Slug, l.Slug, "Problem", l.Detail)
		}
	}
	return x
}

func plain(t views.Text) string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.Text)
	}
	return b.String()
}

// find returns the places that have every word of a term, by kind. Those with all words in their titles are first,
// and so is the kind of the first.
func (x index) find(term string) (groups []views.ResultGroup, more bool) {
	words := strings.Fields(strings.ToLower(term))
	if len(words) == 0 {
		return nil, false
	}
	var results, others []entry
	seen := map[string]bool{} // a field is in several records
	for _, e := range x {
		key := e.title + e.Place
		switch {
		case seen[key]:
		case hasAll(e.title, words):
			results, seen[key] = append(results, e), true
		case hasAll(e.words, words):
			others, seen[key] = append(others, e), true
		}
	}
	results = append(results, others...)
	if more = len(results) > maxResults; more {
		results = results[:maxResults]
	}
	for _, r := range results {
		at := slices.IndexFunc(groups, func(g views.ResultGroup) bool { return g.Kind == r.kind })
		if at < 0 {
			at, groups = len(groups), append(groups, views.ResultGroup{Kind: r.kind})
		}
		groups[at].Results = append(groups[at].Results, r.Result)
	}
	return groups, more
}

func hasAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

func (p *Pages) showSearch(c echo.Context) error {
	v := views.Search{Frame: p.frame("Search · Loyalty", "", searchPath)}
	v.Term = strings.ToValidUTF8(strings.TrimSpace(c.QueryParam("q")), "")
	if runes := []rune(v.Term); len(runes) > maxTerm {
		v.Term = string(runes[:maxTerm])
	}
	v.Groups, v.More = p.index.find(v.Term)
	return render(c, http.StatusOK, views.SearchPage(v))
}
