package admin_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/alexedwards/scs/v2"
	"golang.org/x/net/html"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/privacy"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/core/vault"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business and its panel.
type shop struct {
	db *db.DB
	by core.Actor // the owner
	admin.Services
	panel http.Handler

	signInViews *limit.Window // nil: no limit
}

func newShop(t *testing.T) *shop {
	t.Helper()
	d := dbtest.DB(t)
	return newShopOn(t, d)
}

func newShopOn(t *testing.T, d *db.DB) *shop {
	t.Helper()
	s := &shop{db: d, by: dbtest.Tenant(t, d)}
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := vault.New([]string{"a secret of thirty-two characters"})
	if err != nil {
		t.Fatal(err)
	}
	render := func(_ context.Context, _ string, l mail.Email) (mail.Rendered, error) {
		return mail.Rendered{Subject: "An e-mail", Text: fmt.Sprintf("%+v", l), HTML: "<html><head></head><body>" + html.EscapeString(fmt.Sprintf("%+v", l)) + "</body></html>"}, nil
	}
	mails := mail.New(d, jobs, render, nil, log)
	signIns := dbtest.Auth(d, jobs, mails)
	s.Services = admin.Services{
		Staff: staff.NewService(d, mails, signIns), Auth: signIns,
		Customers: customer.NewService(d), Privacy: privacy.NewService(d), Imports: importing.NewService(d, jobs), Transactions: transaction.NewService(d), Rewards: reward.NewService(d),
		Coupons: coupon.NewService(d, jobs, mails, link.New(keys), log), Locations: location.NewService(d), Reports: report.NewService(d), Billing: billing.NewService(d, jobs, mails, log), Usage: usage.NewMeter(d), Audit: audit.NewService(d),
		Tenants: tenant.NewService(d, mails), Tokens: token.NewService(d, jobs, mails),
		API: admin.API{Base: "https://loyalty.example", Authority: "/var/lib/loyalty's/ca.pem", RecordScope: token.TransactionsWrite},
	}
	s.open(t)
	return s
}

// open builds the panel from the shop's services.
func (s *shop) open(t *testing.T) {
	t.Helper()
	names, err := host.Parse("https://loyalty.example")
	if err != nil {
		t.Fatal(err)
	}
	s.panel = admin.New(page.New(page.Config{
		Panel:    page.PanelPath,
		Sessions: auth.NewStore(s.db),
		Tenant:   func(ctx context.Context, slug string) (core.Tenant, error) { return tenant.BySlug(ctx, s.db, slug) },
		Slug:     func(h string) string { slug, _ := names.Slug(h); return slug },
		Address:  host.ClientAddress(nil),
		Now:      s.db.Now,

		SignInViews: s.signInViews, AddressKey: host.LimitKey,

		Suspension: s.Tenants.FindSuspension,
		Log:        slog.New(slog.DiscardHandler),
	}), s.Services)
}

// origin is the origin of the shop's panel.
func (s *shop) origin() string { return "https://" + s.by.Tenant.Slug + ".loyalty.example" }

// browser sends requests to the panel, signed in or not.
type browser struct {
	t      testing.TB
	shop   *shop
	cookie *http.Cookie
	device *http.Cookie // set at the first sign-in
	person core.Actor
}

func (s *shop) stranger(t testing.TB) *browser {
	t.Helper()
	return &browser{t: t, shop: s}
}

var people atomic.Int64

// signedIn adds a person with that role to the shop, and signs them in.
func (s *shop) signedIn(t testing.TB, role core.Role) *browser {
	t.Helper()
	p, err := db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (staff.Person, error) {
		return staff.Add(t.Context(), tx, s.by, staff.New{
			Role: role, Name: "Bo Ek", Email: fmt.Sprintf("%s-%d@example.com", role, people.Add(1)),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, shop: s, person: core.Actor{
		Kind: core.ByStaff, ID: strconv.FormatInt(p.ID, 10), Name: p.Name, StaffID: p.ID, Role: role, Tenant: s.by.Tenant,
	}}
	b.cookie = &http.Cookie{Name: auth.SessionCookie, Value: core.NewID(s.db.Now()).String()}
	visit := &auth.Visit{Slug: s.by.Tenant.Slug, Address: "192.0.2.1", UserAgent: "test"}
	visit.SignIn(auth.Proof{StaffID: p.ID, At: s.db.Now()})
	ends := s.db.Now().Add(auth.SessionLifetime)
	data, err := scs.GobCodec{}.Encode(ends, map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	if err := auth.NewStore(s.db).CommitCtx(auth.WithVisit(context.WithoutCancel(t.Context()), visit), b.cookie.Value, data, ends); err != nil {
		t.Fatal(err)
	}
	return b
}

// answer is the panel's response, parsed as HTML.
type answer struct {
	*httptest.ResponseRecorder
	*goquery.Document
}

// words is the text of the elements that match a selector, with one space between words.
func (a answer) words(selector string) string {
	return strings.Join(strings.Fields(strings.Join(a.each(selector), " ")), " ")
}

// each is the text of each element that matches a selector.
func (a answer) each(selector string) (texts []string) {
	for _, found := range a.Find(selector).Nodes {
		var words []string
		for n := range found.Descendants() {
			if n.Type == html.TextNode {
				words = append(words, strings.Fields(n.Data)...)
			}
		}
		texts = append(texts, strings.Join(words, " "))
	}
	return texts
}

// flashed reports whether the page shows a message of that kind about a record.
func (a answer) flashed(kind ui.FlashKind, name string) bool {
	return strings.Contains(a.words("#flashes .alert-"+string(kind)), name)
}

func (b *browser) ask(method, path string, body io.Reader, header ...string) answer {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, b.shop.origin()+path, body)
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	if b.device != nil {
		r.AddCookie(b.device)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.shop.panel.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		switch c.Name {
		case auth.SessionCookie:
			b.cookie = c
		case auth.DeviceCookie:
			b.device = c
		}
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.Body.String()))
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{w, doc}
}

// get opens a page and requires status 200.
func (b *browser) get(path string, header ...string) answer {
	b.t.Helper()
	a := b.ask(http.MethodGet, path, nil, header...)
	if a.Code != http.StatusOK {
		b.t.Fatalf("GET %s = %d %s", path, a.Code, a.words("body"))
	}
	return a
}

// post sends a form.
func (b *browser) post(path string, form url.Values, header ...string) answer {
	b.t.Helper()
	header = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}, header...)
	return b.ask(http.MethodPost, path, strings.NewReader(form.Encode()), header...)
}

// posted sends a form, requires a redirect, and follows it.
func (b *browser) posted(path string, form url.Values) answer {
	b.t.Helper()
	a := b.post(path, form)
	if a.Code != http.StatusSeeOther {
		b.t.Fatalf("POST %s = %d %s", path, a.Code, a.words(".alert, .invalid-feedback"))
	}
	return b.get(a.Header().Get("Location"))
}

// sends returns the values that a browser submits for a form as it is shown.
func (a answer) sends(selector string) url.Values {
	v := url.Values{}
	a.Find(selector).Find("input[name], textarea[name], select[name]").Each(func(_ int, field *goquery.Selection) {
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
		v.Add(name, value)
	})
	return v
}

func form(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}
