package till_test

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
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/alexedwards/scs/v2"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/till"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business with a point of sale, where a sale earns a point for every euro.
type shop struct {
	db *db.DB
	by core.Actor // the owner
	till.Services
	customers *customer.Service
	rewards   *reward.Service
	kind      transaction.Type
	handler   http.Handler
}

func newShop(t *testing.T) *shop {
	t.Helper()
	d := dbtest.DB(t)
	s := &shop{by: dbtest.Tenant(t, d)}
	s.open(t, d)
	kind, err := s.Transactions.AddType(t.Context(), s.by, transaction.NewType{
		Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.kind = kind
	return s
}

// open serves the shop on a database, or with another clock.
func (s *shop) open(t *testing.T, d *db.DB) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	mails, sales := dbtest.Mails(d, jobs), transaction.NewService(d)
	names, err := host.Parse("https://loyalty.example")
	if err != nil {
		t.Fatal(err)
	}
	s.db, s.customers, s.rewards = d, customer.NewService(d), reward.NewService(d)
	s.Services = till.Services{
		Walkins:      walkin.NewService(d, jobs, mails, dbtest.Keys(), sales, func(address string) string { return address }),
		Transactions: sales, Coupons: coupon.NewService(d, jobs, mails, link.New(dbtest.Keys()), log),
		Locations: location.NewService(d), Tenants: tenant.NewService(d, mails), Live: live.NewHub(log),
	}
	s.handler = till.New(page.New(page.Config{
		Panel: page.PanelPath, Sessions: auth.NewStore(d),
		Tenant:  func(ctx context.Context, slug string) (core.Tenant, error) { return tenant.BySlug(ctx, d, slug) },
		Slug:    func(h string) string { slug, _ := names.Slug(h); return slug },
		Address: host.ClientAddress(nil), Now: d.Now, Log: log,
	}), s.Services)
}

// later moves the clock of the shop.
func (s *shop) later(t *testing.T, d time.Duration) {
	t.Helper()
	s.open(t, s.db.At(s.db.Now().Add(d)))
}

var phones atomic.Int64

// customer adds a customer with that many points.
func (s *shop) customer(t *testing.T, first string, points int64) customer.Customer {
	t.Helper()
	made, err := s.customers.Upsert(t.Context(), s.by, customer.New{
		FirstName: &first, LastName: new("Lindqvist"), Phone: new(fmt.Sprintf("+46 70 %07d", 1000000+phones.Add(1))),
	})
	if err != nil {
		t.Fatal(err)
	}
	if points > 0 {
		_, err := s.Transactions.Record(t.Context(), s.by, transaction.New{
			CustomerID: new(made.ID.String()), TransactionTypeID: &s.kind.ID, SpendAmountCents: new(points * 100), Source: transaction.Panel,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return made.Customer
}

func (s *shop) balance(t *testing.T, c customer.Customer) int64 {
	t.Helper()
	now, err := s.customers.Find(t.Context(), s.by, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	return now.PointsBalance
}

// card is the PIN that a customer's card shows.
func (s *shop) card(t *testing.T, c customer.Customer) walkin.Shown {
	t.Helper()
	shown, err := s.Walkins.ShowCard(t.Context(), walkin.Card{Customer: c}.Actor(s.by.Tenant, "192.0.2.7", ""), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

func (s *shop) reward(t *testing.T, name string, points int64) reward.Reward {
	t.Helper()
	r, err := s.rewards.Add(t.Context(), s.by, reward.New{Name: &name, PointsCost: &points})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// voucher sends a customer a voucher for an amount off, and returns its link's token too.
func (s *shop) voucher(t *testing.T, c customer.Customer, cents int64) (id core.ID, token string) {
	t.Helper()
	made, err := s.Coupons.Add(t.Context(), s.by, coupon.New{
		Name: new("Thank you"), BenefitType: new(string(coupon.Amount)), BenefitValue: &cents, MaxPerCustomer: new(int64(1)), VoucherValidDays: new(int64(30)),
	})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := s.Coupons.Send(t.Context(), s.by, made.ID, coupon.Send{Segment: coupon.All, FormKey: core.NewID(s.db.Now()).String()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Coupons.Evaluate(t.Context(), s.by, sent.ID); err != nil {
		t.Fatal(err)
	}
	held, err := s.Coupons.ListByCustomer(t.Context(), s.by, c.ID, core.Page{Size: 1})
	if err != nil || len(held.Items) != 1 {
		t.Fatalf("%v %v", held.Items, err)
	}
	shown, err := s.Coupons.FindVoucher(t.Context(), s.by, held.Items[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if token, err = s.Coupons.VoucherToken(s.by.Tenant.ID, shown); err != nil {
		t.Fatal(err)
	}
	return shown.ID, token
}

// browser is a device at the point of sale: of a stranger, or of a person who is signed in.
type browser struct {
	t       testing.TB
	shop    *shop
	cookies map[string]*http.Cookie
	person  core.Actor
}

func (s *shop) stranger(t testing.TB) *browser {
	t.Helper()
	return &browser{t: t, shop: s, cookies: map[string]*http.Cookie{}}
}

// signedIn is a new person of the shop with that role, signed in.
func (s *shop) signedIn(t testing.TB, role core.Role) *browser {
	t.Helper()
	b := s.stranger(t)
	b.person = dbtest.Person(t, s.db, s.by, role)
	token := core.NewID(s.db.Now()).String()
	visit := &auth.Visit{Slug: s.by.Tenant.Slug, Address: "192.0.2.1", UserAgent: "test"}
	visit.SignIn(auth.Proof{StaffID: b.person.StaffID, At: s.db.Now()})
	ends := s.db.Now().Add(auth.SessionLifetime)
	data, err := scs.GobCodec{}.Encode(ends, map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	if err := auth.NewStore(s.db).CommitCtx(auth.WithVisit(context.WithoutCancel(t.Context()), visit), token, data, ends); err != nil {
		t.Fatal(err)
	}
	b.cookies[auth.SessionCookie] = &http.Cookie{Name: auth.SessionCookie, Value: token}
	return b
}

// answer is what was answered, read as a page.
type answer struct {
	*httptest.ResponseRecorder
	*goquery.Document
}

// words is the text of what a selector finds, with one space between words.
func (a answer) words(selector string) string {
	var texts []string
	a.Find(selector).Each(func(_ int, found *goquery.Selection) {
		found.Contents().Each(func(_ int, part *goquery.Selection) { texts = append(texts, strings.Fields(spaced(part))...) })
	})
	return strings.ReplaceAll(strings.Join(texts, " "), "\u00a0", " ")
}

// spaced is the text of an element, with spaces where its parts meet.
func spaced(part *goquery.Selection) string {
	if goquery.NodeName(part) == "#text" {
		return part.Text()
	}
	var texts []string
	part.Contents().Each(func(_ int, inner *goquery.Selection) { texts = append(texts, spaced(inner)) })
	return strings.Join(texts, " ")
}

func (b *browser) ask(method, path string, body io.Reader, header ...string) answer {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, "https://"+b.shop.by.Tenant.Slug+".loyalty.example"+path, body)
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.shop.handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		b.cookies[c.Name] = c
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.Body.String()))
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{w, doc}
}

// get opens a page that is there.
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

// script sends a form as the page's script does.
func (b *browser) script(path string, form url.Values) answer {
	b.t.Helper()
	return b.post(path, form, "Hx-Request", "true")
}

// entered is what the form of the page sends, as a browser with the script has it. The pairs
// are entered into it.
func (a answer) entered(pairs ...string) url.Values {
	v := url.Values{}
	a.Find("#sale input[name], input[form=sale]").Each(func(_ int, field *goquery.Selection) {
		_, checked := field.Attr("checked")
		if kind := field.AttrOr("type", "text"); (kind == "radio" || kind == "checkbox") && !checked {
			return
		}
		v.Add(field.AttrOr("name", ""), field.AttrOr("value", ""))
	})
	v.Del("amount")
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

// serve opens the point of sale at a customer.
func (b *browser) serve(c customer.Customer) answer {
	b.t.Helper()
	return b.get("/till/customers/" + c.ID.String())
}

func form(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
