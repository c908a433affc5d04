package docs

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/docs"
)

const (
	changelogPath = "/docs/changelog"
	feedPath      = "/docs/changelog.atom"
	launched      = "2026-05-01T00:00:00Z" // v1 (specification §9)
)

// The changelog as a feed (Atom, RFC 4287).
type (
	feed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string      `xml:"id"`
		Title   string      `xml:"title"`
		Updated string      `xml:"updated"`
		Author  string      `xml:"author>name"`
		Links   []feedLink  `xml:"link"`
		Entries []feedEntry `xml:"entry"`
	}
	feedLink struct {
		Rel  string `xml:"rel,attr"`
		Type string `xml:"type,attr"`
		Href string `xml:"href,attr"`
	}
	feedEntry struct {
		ID      string   `xml:"id"`
		Title   string   `xml:"title"`
		Updated string   `xml:"updated"`
		Link    feedLink `xml:"link"`
		Content string   `xml:"content"` // plain text, the default
	}
)

// newFeed returns the feed of an installation. Entries never change their ids: readers show each once.
func newFeed(s site, c views.Changelog) []byte {
	page := func(fragment string) feedLink {
		return feedLink{"alternate", "text/html", s.base + changelogPath + fragment}
	}
	f := feed{
		ID: s.base + feedPath, Title: "Loyalty API changelog", Author: "Loyalty", Updated: launched,
		Links: []feedLink{{"self", "application/atom+xml", s.base + feedPath}, page("")},
	}
	for _, a := range c.Added {
		updated := a.On.Format(time.RFC3339)
		f.Updated = max(f.Updated, updated)
		f.Entries = append(f.Entries, feedEntry{s.base + changelogPath + "#" + a.ID, plain(a.What), updated, page("#" + a.ID), plain(a.Why)})
	}
	slices.SortStableFunc(f.Entries, func(a, b feedEntry) int { return strings.Compare(b.Updated, a.Updated) })
	f.Entries = append(f.Entries, feedEntry{s.base + changelogPath + "#v1", "v1", launched, page("#v1"), "Launch."})
	content, err := xml.MarshalIndent(f, "", "  ")
	if err != nil {
		panic(err) // it has only texts
	}
	return append([]byte(xml.Header), content...)
}

// anchor returns a fragment for a text: get-api-v1-openapi-json.
func anchor(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r) })
	return strings.Join(words, "-")
}

func (p *Pages) showFeed(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/atom+xml; charset=utf-8", p.feed)
}
