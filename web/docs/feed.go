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

// days are when the additions were made. They are not beside their texts, so that an addition without a day is a line of its
// own, which a test asks for.
var days = map[string][]string{
	"2026-11-23": {
		"post-api-v1-transactions", "idempotency-key", "external-reference", "code-in-problems", "more-customer-fields", "expires-at-of-tokens",
		"tokens-from-the-panel", "x-ratelimit-headers", "get-api-v1-openapi-json",
	},
	"2026-11-25": {"decimals-of-iso-4217"},
	"2026-11-26": {
		"printed-codes-and-links-of-vouchers", "phone-numbers-as-they-are-copied", "merged-customers", "points-that-expire",
		"more-transaction-fields", "post-api-v1-transactions-ulid-refunds",
	},
	"2026-11-27": {
		"sales-that-are-recorded-later", "location-id-and-metadata-of-a-sale", "post-api-v1-transactions-batch-post-api-v1-customers-batch",
		"post-api-v1-transactions-preview", "get-api-v1-changes", "get-api-v1-transactions", "balance-changed-at-of-customers",
		"get-api-v1-vouchers-ulid", "post-api-v1-vouchers-ulid-restore", "get-api-v1-redemptions-post-api-v1-redemptions-ulid-void",
		"one-reward-one-coupon", "transaction-types-and-locations", "customers-of-web-shops", "reference-taken", "pages-of-1-000", "etag",
		"filters-that-are-empty-or-misspelled", "http-as-strict-clients-read-it", "get-api-v1-openapi-yaml-and-a-collection-for-postman",
		"clients-through-proxies",
	},
}

// dayOf returns the day of an addition, or the zero time if it has none.
func dayOf(id string) (day time.Time) {
	for text, ids := range days {
		if slices.Contains(ids, id) {
			day, _ = time.Parse(time.DateOnly, text) // a test reads each
		}
	}
	return day
}

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
