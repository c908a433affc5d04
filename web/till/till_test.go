package till_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"example.com/loyalty/core"
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
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/till"
	"example.com/loyalty/web/webtest"
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
	s.db, s.customers, s.rewards = d, customer.NewService(d), reward.NewService(d)
	s.Services = till.Services{
		Walkins:      walkin.NewService(d, jobs, mails, dbtest.Keys(), sales, func(address string) string { return address }),
		Transactions: sales, Coupons: coupon.NewService(d, jobs, mails, link.New(dbtest.Keys()), log),
		Locations: location.NewService(d), Tenants: tenant.NewService(d, mails), Live: live.NewHub(log),
	}
	s.handler = till.New(page.New(webtest.Config(t, d)), s.Services)
}

// ServeHTTP serves the pages as they were last opened.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

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

// browser is a device at the point of sale.
type browser struct{ *webtest.Browser }

// stranger is a device that no one has signed in at.
func (s *shop) stranger(t testing.TB) browser {
	t.Helper()
	return browser{webtest.New(t, s, s.by.Tenant)}
}

// signedIn is the device of a new person with a role.
func (s *shop) signedIn(t testing.TB, role core.Role) browser {
	t.Helper()
	b := s.stranger(t)
	b.SignIn(s.db, dbtest.Person(t, s.db, s.by, role))
	return b
}

// script sends a form as the page's script does.
func (b browser) script(path string, form url.Values) webtest.Page {
	b.T.Helper()
	return b.Post(path, form, "Hx-Request", "true")
}

// saleForm is what a browser with the page's script sends, with pairs of name and value entered.
func saleForm(a webtest.Page, pairs ...string) url.Values {
	v := a.Fields("#sale")
	v.Del("amount")
	return webtest.With(v, pairs...)
}

// serve opens the point of sale at a customer.
func (b browser) serve(c customer.Customer) webtest.Page {
	b.T.Helper()
	return b.Get("/till/customers/" + c.ID.String())
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
