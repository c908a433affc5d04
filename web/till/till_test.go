package till_test

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/till"
	"example.com/loyalty/web/webtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business with a point of sale, where a sale earns a point for every euro.
type shop struct {
	shoptest.Shop
	kind    transaction.Type
	handler http.Handler
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{Shop: shoptest.New(t)}
	s.open()
	s.kind = s.Points(100)
	return s
}

// open serves the shop at its time.
func (s *shop) open() {
	s.T.Helper()
	s.handler = till.New(page.New(webtest.Config(s.T, s.DB)), s.Services)
}

// ServeHTTP serves the pages as they were last opened.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// later moves the clock of the shop.
func (s *shop) later(d time.Duration) {
	s.T.Helper()
	s.Shop = s.Later(d)
	s.open()
}

// customer adds a customer with points.
func (s *shop) customer(first string, points int64) customer.Customer {
	s.T.Helper()
	added := s.AddCustomer(customer.New{FirstName: first, LastName: "Lindqvist", Phone: shoptest.Phone()})
	if points > 0 {
		s.Sale(added.ID, s.kind, points*100)
	}
	return added
}

func (s *shop) inactive(c customer.Customer) {
	s.T.Helper()
	if _, err := s.Customers.Edit(s.T.Context(), s.By, c.ID, customer.Edit{Status: core.Set(string(customer.Inactive))}); err != nil {
		s.T.Fatal(err)
	}
}

func (s *shop) balance(c customer.Customer) int64 {
	s.T.Helper()
	return shoptest.Query[int64](s.Shop, "select points from loyalty.account where customer_id = $1", c.ID)
}

// card is the PIN that a customer's card shows.
func (s *shop) card(c customer.Customer) walkin.Shown {
	s.T.Helper()
	shown, err := s.Walkins.ShowCard(s.T.Context(), walkin.Card{Customer: c}.Actor(s.By.Tenant, "192.0.2.7", ""), c.ID)
	if err != nil {
		s.T.Fatal(err)
	}
	return shown
}

// reward adds a reward and returns its id.
func (s *shop) reward(name string, points int64) core.ID {
	s.T.Helper()
	return s.AddReward(reward.New{Name: name, PointsCost: &points})
}

// voucher sends a customer a voucher for an amount off, and returns its link's token too.
func (s *shop) voucher(c customer.Customer, cents int64) (id core.ID, token string) {
	s.T.Helper()
	made := s.Coupon(coupon.New{
		Name: "Thank you", BenefitType: string(coupon.Amount), BenefitValue: &cents, MaxPerCustomer: new(int64(1)), VoucherValidDays: new(int64(30)),
	})
	id = s.Voucher(made.ID, c.ID)
	shown, err := s.Coupons.FindVoucher(s.T.Context(), s.By, id)
	if err != nil {
		s.T.Fatal(err)
	}
	if token, err = s.Coupons.VoucherToken(s.By.Tenant.ID, shown); err != nil {
		s.T.Fatal(err)
	}
	return id, token
}

// discount sends a customer a voucher for a discount that is valid for some days.
func (s *shop) discount(c customer.Customer, kind coupon.BenefitType, value, days int64) core.ID {
	s.T.Helper()
	made := s.Coupon(coupon.New{
		Name: "Thank you", BenefitType: string(kind), BenefitValue: &value, MaxPerCustomer: new(int64(1)), VoucherValidDays: &days,
	})
	return s.Voucher(made.ID, c.ID)
}

// browser is a device at the point of sale.
type browser struct{ *webtest.Browser }

// stranger is a device that no one has signed in at.
func (s *shop) stranger() browser {
	s.T.Helper()
	return browser{webtest.New(s.T, s, s.By.Tenant)}
}

// signedIn is the device of a new person with a role.
func (s *shop) signedIn(role core.Role) browser {
	s.T.Helper()
	b := s.stranger()
	b.SignIn(s.DB, dbtest.Person(s.T, s.DB, s.By, role))
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

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
