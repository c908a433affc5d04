package till_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/webtest"
)

var digitsShown = regexp.MustCompile(`\d{3} \d{3}`)

// shows a sale's code, and returns the screen and the path of its PIN.
func (b browser) shows(cents string) (screen webtest.Page, path string) {
	b.T.Helper()
	screen = b.script("/till/show", saleForm(b.Get("/till"), "spend_amount_cents", cents))
	if screen.Code != http.StatusOK {
		b.T.Fatalf("showing = %d %s", screen.Code, screen.Text("main"))
	}
	return screen, screen.Attr("[data-pin]", "data-refresh")
}

// phone takes what a till shows, as a customer's browser does.
func (s *shop) phone(screen webtest.Page, browser string) core.Actor {
	s.T.Helper()
	by := core.Actor{Kind: core.ByCustomer, Tenant: s.By.Tenant, Address: "192.0.2.9"}
	if err := s.Walkins.TakeSale(s.T.Context(), by, browser, walkin.Key{Digits: screen.Text(".show-digits")}); err != nil {
		s.T.Fatal(err)
	}
	return by
}

// "Till shows, customer scans": amount first, then a code; "the till announces it by itself".
func TestTheCustomerScans(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	screen, path := cashier.shows("2450")
	if got := screen.Text(".show-body"); !strings.Contains(got, "Scan to collect +24 points For your purchase of € 24.50") || !digitsShown.MatchString(got) {
		t.Errorf("the screen says %q", got)
	}
	if a := cashier.Ask(http.MethodGet, path, "Hx-Request", "true", "X-Poll", "1"); a.Code != http.StatusNoContent {
		t.Errorf("while it waits, the screen is answered %d", a.Code)
	}
	browser := walkin.NewBrowser()
	by := s.phone(screen, browser)
	if got := cashier.Get(path, "Hx-Request", "true").Text("h1"); got != "Customer is entering their details" {
		t.Errorf("taken: %q", got)
	}
	details := walkin.Details{FirstName: "Elsa", LastName: "Berg", Phone: "+46 8 465 004 12", Agreed: true, Terms: "Yes"}
	if _, err := core.Result(s.Walkins.Claim(t.Context(), by, browser, details, nil)); err != nil {
		t.Fatal(err)
	}
	receipt := cashier.Get(path, "Hx-Request", "true")
	if got := receipt.Text("h1"); got != "Elsa collected 24 points" {
		t.Errorf("the till announces %q", got)
	}
	// Who typed a number may not be its owner, and sees the screen.
	if got := receipt.Text(".receipt"); strings.Contains(got, "Berg") || strings.Contains(got, "balance 24") {
		t.Errorf("the screen tells %q", got)
	}
	undo := receipt.Attr(".receipt-foot form", "action")
	if a := cashier.script(undo, nil); a.Text("h1") != "Sale undone" {
		t.Errorf("undo: %d %s", a.Code, a.Text("main"))
	}
}

// "Cancel and renew at the till": a new code replaces the old one, and nothing is asked twice.
func TestRenewingAndCancellingACode(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	first, path := cashier.shows("2450")
	second := cashier.script(path+"/renew", nil)
	renewed := second.Attr("[data-pin]", "data-refresh")
	if second.Code != http.StatusOK || renewed == path || second.Text(".show-spend") != "For your purchase of € 24.50" {
		t.Fatalf("renewed: %d %s", second.Code, second.Text("main"))
	}
	by := core.Actor{Kind: core.ByCustomer, Tenant: s.By.Tenant, Address: "192.0.2.9"}
	if err := s.Walkins.TakeSale(t.Context(), by, walkin.NewBrowser(), walkin.Key{Digits: first.Text(".show-digits")}); err == nil && first.Text(".show-digits") != second.Text(".show-digits") {
		t.Error("the replaced code can still be taken")
	}
	back := cashier.script(renewed+"/cancel", nil)
	if back.Text("[data-digits]") != "24.50" || back.Find("#sale").Length() != 1 {
		t.Errorf("cancelled: %d %s", back.Code, back.Text("main"))
	}
	if got := cashier.Get(renewed).Text("h1"); got != "Cancelled" {
		t.Errorf("the cancelled code's page says %q", got)
	}
	if a := cashier.script("/till/show", saleForm(cashier.Get("/till"))); a.Code != http.StatusUnprocessableEntity || a.Text(".pad .wrong") != "Enter an amount" {
		t.Errorf("without an amount: %d %q", a.Code, a.Text(".wrong"))
	}
}

// A customer who has taken a code goes on with it: it is not renewed under their hands, unless
// the cashier asks for another.
func TestATakenCodeIsNotRenewedByItself(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	screen, path := cashier.shows("2450")
	s.phone(screen, walkin.NewBrowser())
	taken := cashier.script(path+"/renew", nil)
	if got := taken.Attr("[data-pin]", "data-state"); got != "taken" {
		t.Errorf("renewed by itself: %q %s", got, taken.Text("main"))
	}
	again := cashier.script(path+"/renew", webtest.Form("again", taken.Value("[name=again]")))
	if got := again.Attr("[data-pin]", "data-state"); got != "waiting" {
		t.Errorf("asked for another: %q %s", got, again.Text("main"))
	}
}

// A till's code is that till's: another cashier's session doesn't see it.
func TestACodeBelongsToItsTill(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, path := s.signedIn(core.Cashier).shows("2450")
	if a := s.signedIn(core.Cashier).Ask(http.MethodGet, path); a.Code != http.StatusNotFound {
		t.Errorf("another till is answered %d", a.Code)
	}
}
