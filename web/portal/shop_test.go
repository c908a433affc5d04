package portal_test

import (
	"log/slog"
	"net/http"
	"regexp"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/views/viewtest"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/portal"
	"example.com/loyalty/web/webtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business and its customers' pages.
type shop struct {
	shoptest.Shop
	config portal.Config
	pages  http.Handler
}

// manyJoins is more than a test tries.
const manyJoins = 1000

func newShop(t *testing.T) *shop {
	t.Helper()
	return open(shoptest.New(t))
}

// open serves the pages of a business at its time.
func open(of shoptest.Shop) *shop {
	d, log := of.DB, slog.New(slog.DiscardHandler)
	of.T.Helper()
	panel := webtest.Config(of.T, d)
	limits := portal.NewLimits(d.Now, nil)
	limits.PerAddress = limit.NewWindow(manyJoins, 10*time.Minute, d.Now)
	s := &shop{Shop: of, config: portal.Config{
		Services: of.Services,
		Limits:   limits, AddressKey: host.LimitKey,
		Names: webtest.Names(of.T), Tenant: panel.Tenant, Address: panel.Address, Now: d.Now, Log: log,
	}}
	s.pages = portal.New(s.config)
	return s
}

// at is the shop when its clock shows an instant.
func (s *shop) at(instant time.Time) *shop {
	s.T.Helper()
	return open(s.At(instant))
}

// anna is a new customer, each with a phone number and an address of her own.
func (s *shop) anna() customer.Customer {
	s.T.Helper()
	phone := shoptest.Phone()
	return s.AddCustomer(customer.New{
		FirstName: "Anna", LastName: "Lind<b>qvist", Phone: phone, Email: "anna-" + phone[4:] + "@example.com",
	})
}

// off describes a coupon of five euros off.
func off() coupon.New {
	return coupon.New{
		Name: "Autumn <b>", Description: "For one order of € 10.00 or more.\nNot on Sundays.",
		BenefitType: "amount", BenefitValue: new(int64(500)), VoucherValidDays: new(int64(39)),
	}
}

// held is a voucher that a customer was sent.
type held struct {
	coupon.ShownVoucher
	token string
}

// sent makes a coupon and sends it to a new customer.
func (s *shop) sent(n coupon.New) held {
	s.T.Helper()
	return s.sentTo(s.Coupon(n).ID, s.anna().ID)
}

func (s *shop) sentTo(made, who core.ID) held {
	s.T.Helper()
	v, err := s.Coupons.FindVoucher(s.T.Context(), s.By, s.Voucher(made, who))
	if err != nil {
		s.T.Fatal(err)
	}
	token, err := s.Coupons.VoucherToken(s.By.Tenant.ID, v)
	if err != nil {
		s.T.Fatal(err)
	}
	return held{v, token}
}

// unsubscribing is the link of a customer's e-mails.
func (s *shop) unsubscribing(who core.ID) string {
	s.T.Helper()
	token, err := s.config.Links.Token(link.Unsubscribe, s.By.Tenant.ID, who, 0)
	if err != nil {
		s.T.Fatal(err)
	}
	return "/unsubscribe/" + token
}

// browser is a new browser at the host of the shop.
func (s *shop) browser() *webtest.Browser {
	s.T.Helper()
	return webtest.New(s.T, s.pages, s.By.Tenant)
}

var drawings = regexp.MustCompile(`(?s)<svg.*?</svg>`)

// wellFormed checks the page without its drawings, where elements close themselves.
func wellFormed(t *testing.T, a webtest.Page) {
	t.Helper()
	viewtest.WellFormed(t, drawings.ReplaceAllString(a.Body.String(), ""))
}
