package portal_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/vault"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/viewtest"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/portal"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business and its customers' pages.
type shop struct {
	portal.Config
	db      *db.DB
	by      core.Actor // the owner
	rewards *reward.Service
	pages   http.Handler
}

// manyJoins is more than a test tries.
const manyJoins = 1000

func newShop(t *testing.T) *shop {
	t.Helper()
	return newShopOn(t, dbtest.DB(t))
}

func newShopOn(t *testing.T, d *db.DB) *shop {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := vault.New([]string{"a secret of thirty-two characters"})
	if err != nil {
		t.Fatal(err)
	}
	names, err := host.Parse("https://loyalty.example")
	if err != nil {
		t.Fatal(err)
	}
	sales, rewards := transaction.NewService(d), reward.NewService(d)
	s := &shop{db: d, by: dbtest.Tenant(t, d), rewards: rewards, Config: portal.Config{
		Walkins: walkin.NewService(d, jobs, dbtest.Mails(d, jobs), keys, sales, host.LimitKey), Sales: sales, Rewards: rewards, Live: live.NewHub(log),
		PerAddress: limit.NewWindow(manyJoins, 10*time.Minute, d.Now), AddressKey: host.LimitKey,
		Tenants: tenant.NewService(d, nil), Customers: customer.NewService(d), Auth: dbtest.Auth(d, jobs, nil),
		Coupons: coupon.NewService(d, jobs, nil, link.New(keys), log), Links: link.New(keys),
		Names: names, Tenant: func(ctx context.Context, slug string) (core.Tenant, error) { return tenant.BySlug(ctx, d, slug) },
		Address: host.ClientAddress(nil), Now: d.Now, Log: log,
	}}
	s.pages = portal.New(s.Config)
	return s
}

// at is the shop when its clock shows that instant.
func (s *shop) at(t *testing.T, instant time.Time) *shop {
	t.Helper()
	later := newShopOn(t, s.db.At(instant))
	later.by = s.by
	return later
}

func (s *shop) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

var phones atomic.Int64

// anna is a new customer, each with a phone number of her own.
func (s *shop) anna(t *testing.T) customer.Customer {
	t.Helper()
	made, err := s.Customers.Upsert(t.Context(), s.by, customer.New{
		FirstName: new("Anna"), LastName: new("Lind<b>qvist"), Phone: new(fmt.Sprintf("+46 8 465 %05d", phones.Add(1))),
		Email: new(fmt.Sprintf("anna-%d@example.com", phones.Add(1))),
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.Customer
}

// off describes a coupon of five euros off.
func off() coupon.New {
	return coupon.New{
		Name: new("Autumn <b>"), Description: new("For one order of € 10.00 or more.\nNot on Sundays."),
		BenefitType: new("amount"), BenefitValue: new(int64(500)), VoucherValidDays: new(int64(39)),
	}
}

// held is a voucher that a customer was sent.
type held struct {
	coupon.ShownVoucher
	token string
}

// sent makes a coupon and sends it to a new customer.
func (s *shop) sent(t *testing.T, n coupon.New) held {
	t.Helper()
	made, err := s.Coupons.Add(t.Context(), s.by, n)
	if err != nil {
		t.Fatal(err)
	}
	return s.sentTo(t, made.ID, s.anna(t).ID)
}

func (s *shop) sentTo(t *testing.T, made, who core.ID) held {
	t.Helper()
	send, err := s.Coupons.Send(t.Context(), s.by, made, coupon.Send{
		Segment: coupon.Manual, Customers: []string{who.String()}, FormKey: core.NewID(s.db.Now()).String(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Coupons.Evaluate(t.Context(), s.by, send.ID); err != nil {
		t.Fatal(err)
	}
	l, err := s.Coupons.ListSent(t.Context(), s.by, send.ID, core.Page{Size: 1})
	if err != nil || len(l.Items) != 1 {
		t.Fatalf("%v %v", l.Items, err)
	}
	v, err := s.Coupons.FindVoucher(t.Context(), s.by, l.Items[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.Coupons.VoucherToken(s.by.Tenant.ID, v)
	if err != nil {
		t.Fatal(err)
	}
	return held{v, token}
}

// unsubscribing is the link of a customer's e-mails.
func (s *shop) unsubscribing(t *testing.T, who core.ID) string {
	t.Helper()
	token, err := s.Links.Token(link.Unsubscribe, s.by.Tenant.ID, who, 0)
	if err != nil {
		t.Fatal(err)
	}
	return "/unsubscribe/" + token
}

func (s *shop) origin() string { return "https://" + s.by.Tenant.Slug + ".loyalty.example" }

// answer is what was answered, read as a page.
type answer struct {
	*httptest.ResponseRecorder
	*goquery.Document
}

// words is the text of what a selector finds, with one space between words.
func (a answer) words(selector string) string {
	var words []string
	for _, found := range a.Find(selector).Nodes {
		for n := range found.Descendants() {
			if n.Type == html.TextNode {
				words = append(words, strings.Fields(n.Data)...)
			}
		}
	}
	return strings.Join(words, " ")
}

var drawings = regexp.MustCompile(`(?s)<svg.*?</svg>`)

// wellFormed checks the page without its drawings, where elements close themselves.
func (a answer) wellFormed(t *testing.T) {
	t.Helper()
	viewtest.WellFormed(t, drawings.ReplaceAllString(a.Body.String(), ""))
}

// ask sends a request to the host of the shop.
func (s *shop) ask(t *testing.T, method, path, body string, header ...string) answer {
	t.Helper()
	r := httptest.NewRequest(method, s.origin()+path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.pages.ServeHTTP(w, r)
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	return answer{w, doc}
}

// get opens a page that is there.
func (s *shop) get(t *testing.T, path string, header ...string) answer {
	t.Helper()
	a := s.ask(t, http.MethodGet, path, "", header...)
	if a.Code != http.StatusOK {
		t.Fatalf("GET %s = %d %s", path, a.Code, a.words("main"))
	}
	return a
}
