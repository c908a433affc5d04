package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/webtest"
)

// suspend suspends the business.
func (s *shop) suspend() {
	s.T.Helper()
	if _, err := s.Tenants.Suspend(s.T.Context(), core.System(core.Tenant{}, "test"), s.By.Tenant.ID, "Three invoices are unpaid"); err != nil {
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
		if r.Who.Everyone {
			continue
		}
		if a := owner.request(r); a.Code != http.StatusForbidden {
			t.Errorf("%s %s = %d", r.Method, r.Path, a.Code)
		}
	}
	if s.everything() != before {
		t.Error("a request to a suspended business changed something")
	}
	if _, err := s.Tenants.Reactivate(t.Context(), core.System(core.Tenant{}, "test"), s.By.Tenant.ID); err != nil {
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

// A send that was due during a suspension says why it waits, and offers to continue or cancel it.
func TestTheSendOfABusinessThatWasSuspended(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sent, path := s.sentTo(1)
	hold := func(send core.ID) {
		t.Helper()
		s.change("update loyalty.coupon_send set held_at = now() where tenant_id = $1 and id = $2", send)
	}
	hold(sent.ID)
	mailing := s.manager.Get(path)
	if words := mailing.Text(".send-notice"); !strings.Contains(words, "suspended while this send was mailed") || mailing.Find("#continue-send").Length() != 1 || mailing.Find("#stop-mails").Length() != 1 {
		t.Errorf("e-mails on hold: %q", words)
	}
	if to := s.manager.Submitted(path+"/continue", nil); to != path {
		t.Errorf("led to %q", to)
	}
	if after := s.manager.Get(path); after.Find("#continue-send").Length() != 0 || after.Find("#stop-mails").Length() != 1 {
		t.Errorf("continued: %q", after.Text("#send-actions"))
	}

	confirmed, err := s.Coupons.Send(t.Context(), s.By, sent.CouponID, coupon.Send{Segment: coupon.All, FormKey: "later"})
	s.Check(err)
	hold(confirmed.ID)
	path = s.path + "/sends/" + confirmed.ID.String()
	waiting := s.manager.Get(path)
	if words := waiting.Text(".send-notice"); !strings.Contains(words, "suspended when this send was due") || waiting.Find("#continue-send").Length() != 1 || waiting.Find("#cancel-send").Length() != 1 {
		t.Errorf("a send on hold: %q", words)
	}
	if status := s.manager.Get(s.path).Text(".send-table"); !strings.Contains(status, "On hold") {
		t.Errorf("the coupon's sends: %q", status)
	}
	if to := s.manager.Submitted(path+"/cancel", nil); to != path {
		t.Errorf("led to %q", to)
	}
	if after := s.manager.Get(path).Text(".send-notice"); !strings.HasPrefix(after, "Cancelled.") {
		t.Errorf("cancelled: %q", after)
	}
}

// An import that was at work when its business was suspended says why it waits, and offers to continue or stop it.
func TestTheImportOfABusinessThatWasSuspended(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	path := owner.uploaded("first name,last name,phone\nAnna,Berg,0701740605\n")
	s.Exec("update loyalty.customer_import set status = 'running', held_at = now() where tenant_id = $1", s.By.Tenant.ID)
	held := owner.Get(path)
	if words := held.Text("main"); !strings.Contains(words, "On hold The business was suspended after 0 of 1 row") || !strings.Contains(words, "Stop import") {
		t.Errorf("on hold: %q", words)
	}
	if list := owner.Get("/admin/customers/import").Text("main table"); !strings.Contains(list, "On hold") {
		t.Errorf("the list: %q", list)
	}
	if to := owner.Submitted(held.Attr("form:has(#continue-import)", "action"), nil); to != path {
		t.Errorf("led to %q", to)
	}
	if after := owner.Get(path); after.Find("#continue-import").Length() != 0 || after.Find("#import-progress").Length() != 1 {
		t.Errorf("continued: %q", after.Text("main"))
	}
}
