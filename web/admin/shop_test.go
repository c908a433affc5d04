package admin_test

import (
	"log/slog"
	"net/http"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/merging"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/privacy"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/admin/people"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/webtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business and its panel.
type shop struct {
	shoptest.Shop
	services admin.Services
	panel    http.Handler

	signInViews *limit.Window // nil: no limit
}

func newShop(t *testing.T) *shop {
	t.Helper()
	return newShopOn(t, dbtest.DB(t))
}

func newShopOn(t *testing.T, d *db.DB) *shop {
	t.Helper()
	s := &shop{Shop: shoptest.In(t, d)}
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	mails := shoptest.NewMails(d, jobs)
	signIns := dbtest.Auth(d, jobs, mails)
	s.Coupons = coupon.NewService(d, jobs, mails, dbtest.Links(), log)
	s.services = admin.Services{
		Staff: staff.NewService(d, mails, signIns), Auth: signIns,
		Customers: s.Customers, Privacy: privacy.NewService(d), Merging: merging.NewService(d), Imports: importing.NewService(d, jobs), Transactions: s.Sales, Rewards: s.Rewards,
		Walkins: walkin.NewService(d, jobs, mails, dbtest.Keys(), s.Sales, host.LimitKey),
		Coupons: s.Coupons, Locations: location.NewService(d), Notifications: notification.NewService(d), Reports: report.NewService(d), Billing: billing.NewService(d, jobs, mails, log), Usage: usage.NewMeter(d), Audit: audit.NewService(d),
		Tenants: tenant.NewService(d, mails), Tokens: token.NewService(d, jobs, mails),
		API: people.API{Base: webtest.Base, Authority: "/var/lib/loyalty's/ca.pem", RecordScope: token.TransactionsWrite},
	}
	s.open()
	return s
}

// open builds the panel from the shop's services.
func (s *shop) open() {
	s.T.Helper()
	config := webtest.Config(s.T, s.DB)
	config.SignInViews, config.AddressKey = s.signInViews, host.LimitKey
	config.Suspension = s.services.Tenants.FindSuspension
	s.panel = admin.New(page.New(config), s.services)
}

// ServeHTTP serves the panel as it was last opened.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.panel.ServeHTTP(w, r) }

// because is the form that voids a record.
var because = webtest.Form("reason", "Wrong amount")

// origin is the origin of the shop's panel.
func (s *shop) origin() string { return s.stranger().Origin }

// browser sends requests to the panel of a shop, signed in or not.
type browser struct {
	*webtest.Browser
	shop *shop
}

func (s *shop) stranger() *browser {
	s.T.Helper()
	return &browser{webtest.New(s.T, s, s.By.Tenant), s}
}

// signedIn adds Bo Ek to the shop, a person with a role, and signs them in.
func (s *shop) signedIn(role core.Role) *browser {
	s.T.Helper()
	bo := s.As(role).By
	bo.Name = "Bo Ek"
	s.Exec("update loyalty.staff set name = $2 where id = $1", bo.StaffID, bo.Name)
	b := s.stranger()
	b.SignIn(s.DB, bo)
	return b
}
