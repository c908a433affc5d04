package docs_test

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/web/webtest"
)

// The feed has the entries of the changelog, with what RFC 4287 requires: an id, a title and a date each, all ids
// different, the newest first. Each entry leads to its place in the page.
func TestChangelogFeed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	got := s.Ask(http.MethodGet, "/docs/changelog.atom")
	if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "application/atom+xml; charset=utf-8" {
		t.Fatalf("%d %v", got.Code, got.Header())
	}
	type link struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	}
	var feed struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string   `xml:"id"`
		Title   string   `xml:"title"`
		Updated string   `xml:"updated"`
		Author  string   `xml:"author>name"`
		Links   []link   `xml:"link"`
		Entries []struct {
			ID      string `xml:"id"`
			Title   string `xml:"title"`
			Updated string `xml:"updated"`
			Link    link   `xml:"link"`
			Content string `xml:"content"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal(got.Body.Bytes(), &feed); err != nil {
		t.Fatal(err)
	}
	const self = webtest.Base + "/docs/changelog.atom"
	if feed.ID != self || feed.Title == "" || feed.Author == "" || !slices.Contains(feed.Links, link{"self", self}) ||
		!slices.Contains(feed.Links, link{"alternate", webtest.Base + "/docs/changelog"}) {
		t.Errorf("the feed is %+v", feed)
	}
	page := s.Get("/docs/changelog")
	additions := page.Texts(".terms dt")
	if len(feed.Entries) != len(additions)+1 {
		t.Errorf("%d entries, want one for each of %d additions and one for the launch", len(feed.Entries), len(additions))
	}
	html := htmlOf(s, "/docs/changelog", http.StatusOK)
	var ids []string
	newest := feed.Updated
	for _, e := range feed.Entries {
		day, err := time.Parse(time.RFC3339, e.Updated)
		if err != nil || day.IsZero() || e.Updated > newest {
			t.Errorf("%s is of %s, which is no day, or newer than what is above: give it one in changelog.go", e.Title, e.Updated)
		}
		newest = e.Updated
		_, fragment, _ := strings.Cut(e.Link.Href, "#")
		if e.Title == "" || e.Content == "" || slices.Contains(ids, e.ID) || !strings.Contains(html, ` id="`+fragment+`"`) {
			t.Errorf("the entry %+v is incomplete, or its place isn't in the page", e)
		}
		ids = append(ids, e.ID)
	}
}
