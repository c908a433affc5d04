package till_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/web/webtest"
)

// "panel shows a plain notice": so does the till, to people who were signed in, and nothing is
// recorded any more.
func TestTillOfASuspendedBusiness(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	cashier.Get("/till")
	if _, err := s.Tenants.Suspend(t.Context(), core.System(core.Tenant{}, "test"), s.By.Tenant.ID, "Unpaid"); err != nil {
		t.Fatal(err)
	}
	for what, a := range map[string]webtest.Page{
		"the till": cashier.Ask(http.MethodGet, "/till"), "a sale": cashier.Post("/till/sale", webtest.Form("spend_amount_cents", "5")),
	} {
		if words := a.Text("main"); a.Code != http.StatusForbidden || !strings.Contains(words, "This business is suspended.") || a.Find("main a").Length() != 0 {
			t.Errorf("%s = %d %q", what, a.Code, words)
		}
	}
}
