package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/web/admin"
)

// suspend suspends the business.
func (s *shop) suspend(t *testing.T) {
	t.Helper()
	if _, err := s.Tenants.Suspend(t.Context(), core.System(core.Tenant{}, "test"), s.by.Tenant.ID, new("Three invoices are unpaid")); err != nil {
		t.Fatal(err)
	}
}

// "suspend with reason (tokens 401 at once, panel shows a plain notice, customer pages stay
// readable)": from the next request, every page of the panel is that notice.
func TestSuspendedBusiness(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner, cashier := s.signedIn(t, core.Owner), s.signedIn(t, core.Cashier)
	owner.get("/admin")
	s.suspend(t)
	notice := func(who string, a answer) {
		t.Helper()
		if a.Code != http.StatusForbidden {
			t.Errorf("%s = %d", who, a.Code)
		}
		if words := a.words("body"); !strings.Contains(words, "suspended") || strings.Contains(words, "unpaid") {
			t.Errorf("%s: %q, want that it is suspended, but not why", who, words)
		}
	}
	notice("the owner's dashboard", owner.ask(http.MethodGet, "/admin", nil))
	notice("the cashier's customers", cashier.ask(http.MethodGet, "/admin/customers", nil))
	stranger := s.stranger(t)
	notice("the sign-in", stranger.ask(http.MethodGet, "/admin/sign-in", nil))
	notice("signing in", stranger.post("/admin/sign-in", form("email", "maja@example.com", "password", "whatever it is")))
	before := s.everything(t)
	for _, r := range admin.Routes() {
		if r.Least == "" {
			continue
		}
		if a := owner.request(r); a.Code != http.StatusForbidden {
			t.Errorf("%s %s = %d", r.Method, r.Path, a.Code)
		}
	}
	if s.everything(t) != before {
		t.Error("a request to a suspended business changed something")
	}
	if _, err := s.Tenants.Reactivate(t.Context(), core.System(core.Tenant{}, "test"), s.by.Tenant.ID); err != nil {
		t.Fatal(err)
	}
	owner.get("/admin") // still signed in
}

// The check for a suspension needs no round trip of its own.
func TestRoundTripsWithSuspension(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := newShopOn(t, d)
	owner := s.signedIn(t, core.Owner)
	owner.get("/admin/locations")
	before := count()
	owner.get("/admin/locations")
	if got := count() - before; got != 2 {
		t.Errorf("%d round trips, want 2: the session and the locations", got)
	}
	s.suspend(t)
	owner.ask(http.MethodGet, "/admin/locations", nil)
	before = count()
	owner.ask(http.MethodGet, "/admin/locations", nil)
	if got := count() - before; got != 2 {
		t.Errorf("%d round trips for the notice, want 2: the session and the contact", got)
	}
}
