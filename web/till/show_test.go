package till_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/walkin"
)

var digitsShown = regexp.MustCompile(`\d{3} \d{3}`)

// shows a sale's code, and returns the screen and the path of its PIN.
func (b *browser) shows(cents string) (screen answer, path string) {
	b.t.Helper()
	screen = b.script("/till/show", b.get("/till").entered("spend_amount_cents", cents))
	if screen.Code != http.StatusOK {
		b.t.Fatalf("showing = %d %s", screen.Code, screen.words("main"))
	}
	return screen, screen.Find("[data-pin]").AttrOr("data-refresh", "")
}

// phone takes what a till shows, as a customer's browser does.
func (s *shop) phone(t *testing.T, screen answer, browser string) core.Actor {
	t.Helper()
	by := core.Actor{Kind: core.ByCustomer, Tenant: s.by.Tenant, Address: "192.0.2.9"}
	if err := s.Walkins.TakeSale(t.Context(), by, browser, walkin.Key{Digits: screen.words(".show-digits")}); err != nil {
		t.Fatal(err)
	}
	return by
}

// "Till shows, customer scans": amount first, then a code; "the till announces it by itself".
func TestTheCustomerScans(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(t, core.Cashier)
	screen, path := cashier.shows("2450")
	if got := screen.words(".show-body"); !strings.Contains(got, "Scan to collect +24 points For your purchase of € 24.50") || !digitsShown.MatchString(got) {
		t.Errorf("the screen says %q", got)
	}
	if a := cashier.ask(http.MethodGet, path, nil, "Hx-Request", "true", "X-Poll", "1"); a.Code != http.StatusNoContent {
		t.Errorf("while it waits, the screen is answered %d", a.Code)
	}
	browser := walkin.NewBrowser()
	by := s.phone(t, screen, browser)
	if got := cashier.get(path, "Hx-Request", "true").words("h1"); got != "Customer is entering their details" {
		t.Errorf("taken: %q", got)
	}
	details := walkin.Details{FirstName: new("Elsa"), LastName: new("Berg"), Phone: new("+46 8 465 004 12"), Agreed: true, Terms: "Yes"}
	if _, err := s.Walkins.Claim(t.Context(), by, browser, details); err != nil {
		t.Fatal(err)
	}
	receipt := cashier.get(path, "Hx-Request", "true")
	if got := receipt.words("h1"); got != "Elsa collected 24 points" {
		t.Errorf("the till announces %q", got)
	}
	// Who typed a number may not be its owner, and sees the screen.
	if got := receipt.words(".receipt"); strings.Contains(got, "Berg") || strings.Contains(got, "balance 24") {
		t.Errorf("the screen tells %q", got)
	}
	undo := receipt.Find(".receipt-foot form").AttrOr("action", "")
	if a := cashier.script(undo, nil); a.words("h1") != "Sale undone" {
		t.Errorf("undo: %d %s", a.Code, a.words("main"))
	}
}

// "Cancel and renew at the till": a new code replaces the old one, and nothing is asked twice.
func TestRenewingAndCancellingACode(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(t, core.Cashier)
	first, path := cashier.shows("2450")
	second := cashier.script(path+"/renew", nil)
	renewed := second.Find("[data-pin]").AttrOr("data-refresh", "")
	if second.Code != http.StatusOK || renewed == path || second.words(".show-spend") != "For your purchase of € 24.50" {
		t.Fatalf("renewed: %d %s", second.Code, second.words("main"))
	}
	by := core.Actor{Kind: core.ByCustomer, Tenant: s.by.Tenant, Address: "192.0.2.9"}
	if err := s.Walkins.TakeSale(t.Context(), by, walkin.NewBrowser(), walkin.Key{Digits: first.words(".show-digits")}); err == nil && first.words(".show-digits") != second.words(".show-digits") {
		t.Error("the replaced code can still be taken")
	}
	back := cashier.script(renewed+"/cancel", nil)
	if back.words("[data-digits]") != "24.50" || back.Find("#sale").Length() != 1 {
		t.Errorf("cancelled: %d %s", back.Code, back.words("main"))
	}
	if got := cashier.get(renewed).words("h1"); got != "Cancelled" {
		t.Errorf("the cancelled code's page says %q", got)
	}
	if a := cashier.script("/till/show", cashier.get("/till").entered()); a.Code != http.StatusUnprocessableEntity || a.words(".pad .wrong") != "Enter an amount" {
		t.Errorf("without an amount: %d %q", a.Code, a.words(".wrong"))
	}
}

// A customer who has taken a code goes on with it: it is not renewed under their hands, unless
// the cashier asks for another.
func TestATakenCodeIsNotRenewedByItself(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(t, core.Cashier)
	screen, path := cashier.shows("2450")
	s.phone(t, screen, walkin.NewBrowser())
	taken := cashier.script(path+"/renew", nil)
	if got := taken.Find("[data-pin]").AttrOr("data-state", ""); got != "taken" {
		t.Errorf("renewed by itself: %q %s", got, taken.words("main"))
	}
	again := cashier.script(path+"/renew", form("again", taken.Find("[name=again]").AttrOr("value", "")))
	if got := again.Find("[data-pin]").AttrOr("data-state", ""); got != "waiting" {
		t.Errorf("asked for another: %q %s", got, again.words("main"))
	}
}

// A till's code is that till's: another cashier's session doesn't see it.
func TestACodeBelongsToItsTill(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, path := s.signedIn(t, core.Cashier).shows("2450")
	if a := s.signedIn(t, core.Cashier).ask(http.MethodGet, path, nil); a.Code != http.StatusNotFound {
		t.Errorf("another till is answered %d", a.Code)
	}
}
