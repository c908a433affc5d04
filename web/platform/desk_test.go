package platform_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/platform"
	"example.com/loyalty/web/webtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// desk is the panel of an installation in the browser of a super-admin.
type desk struct {
	*webtest.Browser
	platform.Config
	pages   *echo.Echo
	shop    shoptest.Shop // a tenant
	trouble *string       // of the mail server
	redis   *string       // its trouble
}

func newDesk(t *testing.T) desk {
	t.Helper()
	return newDeskOn(t, dbtest.OwnDB(t))
}

func newDeskOn(t *testing.T, d *db.DB) desk {
	t.Helper()
	config := webtest.Config(t, d)
	config.Panel = links.Platform
	config.Tenant = func(context.Context, string) (core.Tenant, error) { return core.Tenant{}, core.ErrNotFound }
	shop, trouble, redis := shoptest.In(t, d), new(""), new("")
	k := desk{shop: shop, trouble: trouble, redis: redis, Config: platform.Config{
		Services: shop.Services, Jobs: shop.Jobs, Names: webtest.Names(t),
		Requests: []string{"GET /api/v1/customers", "POST /api/v1/customers"}, Version: "v0-test",
		MailTrouble: func() string { return *trouble }, LimitTrouble: func() string { return *redis },
		Sandbox: sandbox.Maker{
			Services: shop.Services, DB: d, Keys: dbtest.Keys(), BaseURL: webtest.Base, TenantURL: webtest.Names(t).Tenant, PostScope: token.TransactionsWrite,
		},
	}}
	k.pages = platform.New(page.New(config), k.Config)
	k.Browser = webtest.New(t, k.private(), core.Tenant{})
	k.Browser = k.superAdmin()
	return k
}

// private serves the pages, and fails the test if one may be stored or shows the arguments of a job.
func (k desk) private() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.pages.ServeHTTP(w, r)
		shown := w.(*httptest.ResponseRecorder)
		if shown.Code == http.StatusOK && shown.Header().Get("Cache-Control") != "no-store" {
			k.shop.T.Errorf("%s %s may be stored: %v", r.Method, r.URL.Path, shown.Header())
		}
		if strings.Contains(shown.Body.String(), "hush") {
			k.shop.T.Errorf("%s %s shows the arguments of a job", r.Method, r.URL.Path)
		}
	})
}

// signedIn is the browser of a person who is signed in.
func (k desk) signedIn(person core.Actor) *webtest.Browser {
	b := webtest.New(k.T, k.Handler, core.Tenant{})
	b.SignIn(k.shop.DB, person)
	return b
}

// superAdmin is the browser of a new super-admin who has set up two-step verification.
func (k desk) superAdmin() *webtest.Browser {
	admin := dbtest.Admin(k.T, k.shop.DB)
	k.shop.Exec("update loyalty.credential set totp_secret = 'sealed' where staff_id = $1", admin.StaffID)
	return k.signedIn(admin)
}
