package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/web/admin"
)

// suspend suspends the business as a super-admin does.
func (s *shop) suspend(t *testing.T) {
	t.Helper()
	if _, err := s.Tenants.Suspend(t.Context(), core.System(core.Tenant{}, "test"), s.by.Tenant.ID, new("Three invoices are unpaid")); err != nil {
		t.Fatal(err)
	}
}

// "suspend with reason (tokens 401 at once, panel shows a plain notice, customer pages stay
// readable)": every page of the panel is that notice at once, also for people who were signed in.
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
		words := a.words("body")
		for _, want := range []string{"Business suspended", "This business is suspended.", "its data is safe", "The owner got an e-mail with the reason."} {
			if !strings.Contains(words, want) {
				t.Errorf("%s: %q does not say %q", who, words, want)
			}
		}
		if strings.Contains(words, "unpaid") {
			t.Errorf("%s: the reason is told to everyone", who)
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
		if a := owner.try(r); a.Code != http.StatusForbidden {
			t.Errorf("%s %s = %d", r.Method, r.Path, a.Code)
		}
	}
	if s.everything(t) != before {
		t.Error("something became of it")
	}
	if _, err := s.Tenants.Reactivate(t.Context(), core.System(core.Tenant{}, "test"), s.by.Tenant.ID); err != nil {
		t.Fatal(err)
	}
	owner.get("/admin") // still signed in
}

// A person who is signed in waits for the database as often as before.
func TestSuspensionCostsNothing(t *testing.T) {
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
		t.Errorf("%d round trips for the notice, want 2: the session and whom to ask", got)
	}
}
