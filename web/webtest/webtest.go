// Package webtest asks a handler for pages as a browser without scripts does, and reads them.
// Only tests import it.
package webtest

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/alexedwards/scs/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
)

// Base is the base URL of the installation.
const Base = "https://loyalty.example"

// Names returns the host names of the installation.
func Names(t testing.TB) host.Names {
	t.Helper()
	names, err := host.Parse(Base)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Config returns what the pages of a panel need, with the tenants of a database.
func Config(t testing.TB, d *db.DB) page.Config {
	t.Helper()
	names := Names(t)
	return page.Config{
		Panel:    links.Panel,
		Sessions: auth.NewStore(d),
		Tenant:   func(ctx context.Context, slug string) (core.Tenant, error) { return tenant.BySlug(ctx, d, slug) },
		Start:    Base,
		Slug:     func(h string) string { slug, _ := names.Slug(h); return slug },
		Address:  host.ClientAddress(nil),
		Now:      d.Now,
		Log:      slog.New(slog.DiscardHandler),
	}
}

// Browser asks one host for pages and keeps its cookies.
type Browser struct {
	T       testing.TB
	Handler http.Handler
	Origin  string // https://cafe.loyalty.example
	Address string // of the client, with its port; by default not on this machine
	Cookies map[string]*http.Cookie
	Person  core.Actor // who is signed in
}

// New makes a browser without cookies at the host of a tenant, or at the base host.
func New(t testing.TB, handler http.Handler, at core.Tenant) *Browser {
	t.Helper()
	origin := Base
	if at.Slug != "" {
		origin = "https://" + at.Slug + ".loyalty.example"
	}
	return &Browser{T: t, Handler: handler, Origin: origin, Cookies: map[string]*http.Cookie{}}
}

// Clone makes a browser with the same cookies, which may be used at the same time.
func (b Browser) Clone() *Browser {
	b.Cookies = maps.Clone(b.Cookies)
	return &b
}

// SetCookie gives the browser a cookie.
func (b *Browser) SetCookie(name, value string) {
	b.Cookies[name] = &http.Cookie{Name: name, Value: value}
}

// SignIn starts a person's session, as their password and authentication code would.
func (b *Browser) SignIn(d *db.DB, person core.Actor) {
	b.T.Helper()
	token, ends := core.NewID(d.Now()).String(), d.Now().Add(auth.SessionLifetime)
	visit := &auth.Visit{Slug: person.Tenant.Slug, Address: "192.0.2.1", UserAgent: "test"}
	ctx := auth.WithProof(auth.WithVisit(context.WithoutCancel(b.T.Context()), visit), auth.Proof{StaffID: person.StaffID, At: d.Now(), Code: true})
	data, err := scs.GobCodec{}.Encode(ends, map[string]any{})
	if err == nil {
		err = auth.NewStore(d).CommitCtx(ctx, token, data, ends)
	}
	if err != nil {
		b.T.Fatal(err)
	}
	b.SetCookie(auth.SessionCookie, token)
	b.Person = person
}

// Request makes a request. Headers are pairs of name and value.
func (b *Browser) Request(method, path string, body io.Reader, header ...string) *http.Request {
	r := httptest.NewRequestWithContext(b.T.Context(), method, b.Origin+path, body)
	if b.Address != "" {
		r.RemoteAddr = b.Address
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// Do sends a request with the cookies, and keeps those of the response.
func (b *Browser) Do(r *http.Request) Page {
	b.T.Helper()
	for _, c := range b.Cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	b.Handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		b.Cookies[c.Name] = c
	}
	document, err := goquery.NewDocumentFromReader(strings.NewReader(w.Body.String()))
	if err != nil {
		b.T.Fatal(err)
	}
	p := Page{w, document}
	for _, wrong := range p.Misplaced() {
		b.T.Errorf("%s %s: %s", r.Method, r.URL.Path, wrong)
	}
	return p
}

// general matches the message of any field that is missing or unknown.
var general = regexp.MustCompile(`^((Enter|Choose) an? \S+( \S+){0,2}|Tick this box to continue)$`)

// Misplaced returns what is wrong with the messages of a refused form: one that asks to fill in a field, but not at
// a field, which the page doesn't have; and a link to such a field.
func (p Page) Misplaced() (wrong []string) {
	for _, message := range p.Texts(".refusal-words, p.problem, .empty-subtitle, main.notice > p, .alert") {
		if general.MatchString(message) {
			wrong = append(wrong, strconv.Quote(message)+" is apart from a field")
		}
	}
	if text := strings.TrimSpace(p.Body.String()); general.MatchString(text) {
		wrong = append(wrong, strconv.Quote(text)+" is apart from a field")
	}
	if p.Find("main").Length() == 0 { // a part, whose fields may be in the rest of the page
		return wrong
	}
	for _, link := range p.Links(".refusal-fields a") {
		if p.Find(link).Length() == 0 {
			wrong = append(wrong, "a link leads to "+link+", which the page doesn't have")
		}
	}
	return wrong
}

// Ask sends a request of a method. Headers are pairs of name and value.
func (b *Browser) Ask(method, path string, header ...string) Page {
	b.T.Helper()
	return b.Do(b.Request(method, path, nil, header...))
}

// Get opens a page, which must exist.
func (b *Browser) Get(path string, header ...string) Page {
	b.T.Helper()
	p := b.Ask(http.MethodGet, path, header...)
	if p.Code != http.StatusOK {
		b.T.Fatalf("GET %s = %d %s", path, p.Code, p.Text("body"))
	}
	return p
}

// Post sends a form.
func (b *Browser) Post(path string, form url.Values, header ...string) Page {
	b.T.Helper()
	header = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}, header...)
	return b.Do(b.Request(http.MethodPost, path, strings.NewReader(form.Encode()), header...))
}

// Submit sends a form, which must be accepted, and opens the page that it leads to.
func (b *Browser) Submit(path string, form url.Values) Page {
	b.T.Helper()
	return b.Get(b.Submitted(path, form))
}

// Submitted sends a form, which must be accepted, and returns where it leads.
func (b *Browser) Submitted(path string, form url.Values) (to string) {
	b.T.Helper()
	p := b.Post(path, form)
	if p.Code != http.StatusSeeOther {
		b.T.Fatalf("POST %s = %d %s", path, p.Code, p.Text("[role=alert], .alert, .invalid-feedback, .wrong"))
	}
	return p.Header().Get("Location")
}

// Refused sends a form, which must be refused, and returns the page with the reasons.
func (b *Browser) Refused(path string, form url.Values) Page {
	b.T.Helper()
	p := b.Post(path, form)
	if p.Code != http.StatusUnprocessableEntity {
		b.T.Fatalf("POST %s = %d to %q, want a refusal", path, p.Code, p.Header().Get("Location"))
	}
	return p
}

// Page is a response, read as a page.
type Page struct {
	*httptest.ResponseRecorder
	*goquery.Document
}

// Text returns the text of the elements that a selector finds, with one space between words.
func (p Page) Text(selector string) string { return Text(p.Find(selector)) }

// Texts returns the text of each element that a selector finds, with one space between words.
func (p Page) Texts(selector string) []string { return p.Find(selector).Map(eachText) }

// Text returns the text of elements, with one space between words.
func Text(elements *goquery.Selection) string {
	return strings.Join(strings.Fields(strings.Join(elements.Map(eachText), " ")), " ")
}

// eachText returns the text of an element, for goquery's Map. Where a line may break is no space.
func eachText(_ int, element *goquery.Selection) string {
	var words []string
	for n := range element.Nodes[0].Descendants() {
		if n.Type != html.TextNode {
			continue
		}
		found := strings.Fields(n.Data)
		if at := n.PrevSibling; len(found) > 0 && at != nil && at.DataAtom == atom.Wbr && at.PrevSibling != nil && len(words) > 0 {
			words[len(words)-1] += found[0]
			found = found[1:]
		}
		words = append(words, found...)
	}
	return strings.Join(words, " ")
}

// Attr returns an attribute of the first element that a selector finds, or "".
func (p Page) Attr(selector, name string) string { return p.Find(selector).AttrOr(name, "") }

// Value returns the value of the first field that a selector finds, or "".
func (p Page) Value(selector string) string { return p.Attr(selector, "value") }

// Links returns where each link that a selector finds leads.
func (p Page) Links(selector string) []string {
	return p.Find(selector).Map(func(_ int, link *goquery.Selection) string { return link.AttrOr("href", "") })
}

// Flashed reports whether the page shows a message of a kind about a record.
func (p Page) Flashed(kind ui.FlashKind, record string) bool {
	message := p.Text("#flashes .alert-" + string(kind))
	return message != "" && strings.Contains(message, record)
}

// Fields returns what a browser sends of the fields in a form, as they are shown.
func (p Page) Fields(selector string) url.Values {
	form, values := p.Find(selector), url.Values{}
	elsewhere := p.Find(`input[name][form="` + form.AttrOr("id", "none") + `"]`)
	form.Find("input[name], textarea[name], select[name]").AddSelection(elsewhere).Each(func(_ int, field *goquery.Selection) {
		name, value := field.AttrOr("name", ""), field.AttrOr("value", "")
		_, checked := field.Attr("checked")
		switch kind := field.AttrOr("type", ""); {
		case goquery.NodeName(field) == "textarea":
			value = field.Text()
		case goquery.NodeName(field) == "select":
			chosen := field.Find("option[selected]")
			if chosen.Length() == 0 {
				chosen = field.Find("option")
			}
			value = chosen.First().AttrOr("value", "")
		case kind == "file", (kind == "checkbox" || kind == "radio") && !checked:
			return
		}
		values.Add(name, value)
	})
	return values
}

// Form makes a form of pairs of name and value.
func Form(pairs ...string) url.Values {
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return form
}

// With sets fields of a form, which are pairs of name and value.
func With(form url.Values, pairs ...string) url.Values {
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

// Message returns what a page says of a violation beside the field with a label.
func Message(label string, v core.Violation) string { return MessageOf("", label, v) }

// MessageApart returns what a page says of a violation of a field that it doesn't have.
func MessageApart(field string, v core.Violation) string {
	return forms.MessageApart(field, v, format.Number)
}

// MessageOf is Message for a field that has messages of its own.
func MessageOf(field, label string, v core.Violation) string {
	return forms.Message(field, label, v, format.Number)
}
