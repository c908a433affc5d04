package admin_test

import (
	"net/http"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/token"
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
	api   people.API
	panel http.Handler

	signInViews *limit.Window // nil: no limit
}

func newShop(t *testing.T) *shop {
	t.Helper()
	return newShopOn(t, dbtest.DB(t))
}

func newShopOn(t *testing.T, d *db.DB) *shop {
	t.Helper()
	s := &shop{Shop: shoptest.In(t, d), api: people.API{Base: webtest.Base, Authority: "/var/lib/loyalty's/ca.pem", RecordScope: token.TransactionsWrite}}
	s.open()
	return s
}

// open builds the panel from the shop's services.
func (s *shop) open() {
	s.T.Helper()
	config := webtest.Config(s.T, s.DB)
	config.SignInViews, config.AddressKey = s.signInViews, host.LimitKey
	config.Suspension = s.Tenants.FindSuspension
	s.panel = admin.New(page.New(config), s.Services, s.api)
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
