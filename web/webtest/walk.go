package webtest

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// Offer is something that a page offers to its reader: a link, a form, or a part that a script loads.
type Offer struct {
	On     string // the page's path
	Method string
	Path   string     // with its query
	Form   url.Values // as the page fills it in
	Status int        // of the response
	To     string     // where the response leads, if elsewhere
	Body   string     // of the response
}

// id matches the part of a path that names one record.
var id = regexp.MustCompile(`/([0-9]+|[0-9A-Z]{26}(-[0-9A-Z]+)?|[0-9a-f]{16,}|[0-9A-Za-z_-]{20,})(/|\.|$)`)

// Kind returns the offer without the records that it names, and without the values of its query.
func (o Offer) Kind() string {
	u, err := url.Parse(o.Path)
	if err != nil {
		return o.Path
	}
	var names []string
	for name := range u.Query() {
		names = append(names, name)
	}
	slices.Sort(names)
	path := u.Path
	for id.MatchString(path) {
		path = id.ReplaceAllString(path, "/:id$3")
	}
	return o.Method + " " + path + "?" + strings.Join(names, "&")
}

// perKind is how many offers of a kind are taken: records of a kind differ in what their pages offer.
const perKind = 3

// Walk opens pages and takes what they offer, on one host, each kind a few times: all pages that can be reached, then the
// forms as the pages fill them in, and what their responses offer. What ends the session comes last.
func (b *Browser) Walk(from ...string) (taken []Offer) {
	b.T.Helper()
	seen, kinds := map[string]bool{}, map[string]int{}
	var queue []Offer
	add := func(o Offer) {
		if key := o.Method + o.Path; o.Path != "" && !seen[key] && kinds[o.Kind()] < perKind {
			seen[key] = true
			kinds[o.Kind()]++
			queue = append(queue, o)
		}
	}
	for _, path := range from {
		add(Offer{On: "the test", Method: http.MethodGet, Path: path})
	}
	for len(queue) > 0 {
		next := slices.MinFunc(queue, func(a, b Offer) int { return cmp.Compare(a.turn(), b.turn()) })
		queue = slices.DeleteFunc(queue, func(o Offer) bool { return o.Method == next.Method && o.Path == next.Path })
		var p Page
		if next.Method == http.MethodGet {
			p = b.Ask(http.MethodGet, next.Path)
		} else {
			p = b.Post(next.Path, next.Form)
		}
		next.Status, next.To, next.Body = p.Code, p.Header().Get("Location"), p.Body.String()
		taken = append(taken, next)
		if next.To != "" {
			add(Offer{On: next.Path, Method: http.MethodGet, Path: b.local(next.Path, next.To)})
		}
		if strings.HasPrefix(p.Header().Get("Content-Type"), "text/html") {
			for _, o := range b.offersOf(p, next.Path) {
				add(o)
			}
		}
	}
	return taken
}

// turn is when an offer is taken: pages, then forms, then those that may end the session.
func (o Offer) turn() int {
	switch {
	case o.Method == http.MethodGet:
		return 0
	case strings.Contains(o.Path, "sign-out"):
		return 3
	case strings.Contains(o.Path, "/security/") || strings.Contains(o.Path, "/account"):
		return 2
	}
	return 1
}

// local returns where a link of a page leads on this host, or "" for another host, a static file, a stream and the API.
func (b *Browser) local(on, to string) string {
	page, err := url.Parse(b.Origin + on)
	if err != nil {
		return ""
	}
	u, err := page.Parse(to)
	if err != nil || u.Scheme+"://"+u.Host != b.Origin || strings.HasPrefix(u.Path, "/static/") ||
		strings.HasPrefix(u.Path, "/api/") || strings.HasSuffix(u.Path, "/events") {
		return ""
	}
	return u.RequestURI()
}

// offersOf returns what a page offers.
func (b *Browser) offersOf(p Page, on string) (offers []Offer) {
	add := func(method, to string, form *goquery.Selection) {
		if to = b.local(on, to); to != "" {
			fields, _ := fieldsOf(form)
			offers = append(offers, Offer{On: on, Method: strings.ToUpper(method), Path: to, Form: fields})
		}
	}
	none := p.Find("none")
	p.Find("[href], [src], [hx-get], [hx-post]").Each(func(_ int, e *goquery.Selection) {
		for _, name := range []string{"href", "src", "hx-get"} {
			if to := e.AttrOr(name, ""); to != "" && !strings.HasPrefix(to, "#") {
				add(http.MethodGet, to, none)
			}
		}
		if to, found := e.Attr("hx-post"); found {
			add(http.MethodPost, to, e.Closest("form"))
		}
	})
	p.Find("*").Each(func(_ int, e *goquery.Selection) { // what scripts load
		for _, a := range e.Nodes[0].Attr {
			if strings.HasPrefix(a.Key, "data-") && strings.HasPrefix(a.Val, "/") {
				add(http.MethodGet, a.Val, none)
			}
		}
	})
	p.Find("form").Each(func(_ int, form *goquery.Selection) {
		method, action := cmp.Or(form.AttrOr("method", ""), http.MethodGet), form.AttrOr("action", on)
		add(method, action, form)
		form.Find("[formaction]").Each(func(_ int, button *goquery.Selection) {
			add(cmp.Or(button.AttrOr("formmethod", ""), method), button.AttrOr("formaction", ""), form)
		})
	})
	return offers
}
