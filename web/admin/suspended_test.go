package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/webtest"
)

// suspend suspends the business.
func (s *shop) suspend() {
	s.T.Helper()
	if _, err := s.services.Tenants.Suspend(s.T.Context(), core.System(core.Tenant{}, "test"), s.By.Tenant.ID, new("Three invoices are unpaid")); err != nil {
		s.T.Fatal(err)
	}
}

// "suspend with reason (tokens 401 at once, panel shows a plain notice, customer pages stay
// readable)": from the next request, every page of the panel is that notice.
func TestSuspendedBusiness(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner, cashier := s.signedIn(core.Owner), s.signedIn(core.Cashier)
	owner.Get("/admin")
	s.suspend()
	notice := func(who string, a webtest.Page) {
		t.Helper()
		if a.Code != http.StatusForbidden {
			t.Errorf("%s = %d", who, a.Code)
		}
		if words := a.Text("body"); !strings.Contains(words, "suspended") || strings.Contains(words, "unpaid") {
			t.Errorf("%s: %q, want that it is suspended, but not why", who, words)
		}
	}
	notice("the owner's dashboard", owner.Ask(http.MethodGet, "/admin"))
	notice("the cashier's customers", cashier.Ask(http.MethodGet, "/admin/customers"))
	stranger := s.stranger()
	notice("the sign-in", stranger.Ask(http.MethodGet, "/admin/sign-in"))
	notice("signing in", stranger.Post("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", "whatever it is")))
	before := s.everything()
	for _, r := range admin.Routes() {
		if r.Least == "" {
			continue
		}
		if a := owner.request(r); a.Code != http.StatusForbidden {
			t.Errorf("%s %s = %d", r.Method, r.Path, a.Code)
		}
	}
	if s.everything() != before {
		t.Error("a request to a suspended business changed something")
	}
	if _, err := s.services.Tenants.Reactivate(t.Context(), core.System(core.Tenant{}, "test"), s.By.Tenant.ID); err != nil {
		t.Fatal(err)
	}
	owner.Get("/admin") // still signed in
}

// The check for a suspension needs no round trip of its own.
func TestRoundTripsWithSuspension(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := newShopOn(t, d)
	owner := s.signedIn(core.Owner)
	owner.Get("/admin/locations")
	before := count()
	owner.Get("/admin/locations")
	if got := count() - before; got != 3 {
		t.Errorf("%d round trips, want 3: the session, the locations and the figures of the navigation", got)
	}
	s.suspend()
	owner.Ask(http.MethodGet, "/admin/locations")
	before = count()
	owner.Ask(http.MethodGet, "/admin/locations")
	if got := count() - before; got != 2 {
		t.Errorf("%d round trips for the notice, want 2: the session and the contact", got)
	}
}
