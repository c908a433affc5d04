package portal_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/webtest"
)

// offers has the till show a sale.
func (s counter) offers(cents int64) walkin.Shown {
	s.T.Helper()
	places, err := s.Locations.List(s.T.Context(), s.By)
	if err != nil {
		s.T.Fatal(err)
	}
	o := walkin.Offer{TransactionTypeID: s.kind.ID, SpendAmountCents: cents}
	if len(places) > 0 {
		o.LocationID = &places[0].ID
	}
	shown, err := s.config.Walkins.ShowSale(s.T.Context(), s.cashier, till, o, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	return shown
}

// state is how far a sale has come that the till shows.
func (s counter) state(shown walkin.Shown) walkin.State {
	s.T.Helper()
	progress, err := s.config.Walkins.TillProgress(s.T.Context(), s.cashier, till, shown.ID)
	if err != nil {
		s.T.Fatal(err)
	}
	return progress.State
}

// sales are the customers of the sales, each once a sale.
func (s counter) sales() (customers []core.ID) {
	s.T.Helper()
	l, err := s.Sales.List(s.T.Context(), s.By, transaction.Filter{}, core.Newest, core.Page{Size: 100})
	if err != nil {
		s.T.Fatal(err)
	}
	for _, sale := range l.Items {
		customers = append(customers, sale.CustomerID)
	}
	return customers
}

// claimCookie binds a sale to a browser.
const claimCookie = "__Host-claim"

// took is a browser in which the digits of a sale were typed.
func (s counter) took(shown walkin.Shown) *webtest.Browser {
	s.T.Helper()
	phone := s.browser()
	if to := phone.Submitted("/w", webtest.Form("pin", shown.Digits[:3]+" "+shown.Digits[3:])); to != "/w/claim" || phone.Cookies[claimCookie] == nil {
		s.T.Fatalf("led to %q with %v", to, phone.Cookies)
	}
	return phone
}

// "The customer … opens `/w` and types the PIN, gives phone (and name when new, consent text
// of the tenant shown), and the sale is recorded for them; the till announces it by itself."
func TestClaimByTypedPIN(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.AddReward(reward.New{Name: "Filter coffee", PointsCost: new(int64(80))})
	if _, err := core.Result(s.Locations.Add(t.Context(), s.By, location.New{Name: "Nybrogatan"}, nil)); err != nil {
		t.Fatal(err)
	}
	shown := s.offers(2450)
	typed := s.browser().Get("/w")
	if field := typed.Find("form[action='/w'] input[name=pin]"); field.AttrOr("inputmode", "") != "numeric" {
		t.Error("there is no field for the PIN")
	}
	phone := s.browser()
	to := phone.Submitted("/w", webtest.Form("pin", shown.Digits))
	c := phone.Cookies[claimCookie]
	if to != "/w/claim" || c == nil || len(c.Value) != 26 || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 600 {
		t.Fatalf("%q with %+v", to, c)
	}
	if got := s.state(shown); got != walkin.Taken {
		t.Errorf("the till reads %s", got)
	}
	page := phone.Get("/w/claim")
	wellFormed(t, page)
	if page.Text(".hero-amount") != "Collect 24 points" || page.Text(".hero-spend") != "€ 24.50 at Nybrogatan" || page.Text(".form-end button") != "Collect 24 points" || page.Find("input[checked]").Length() != 0 {
		t.Errorf("it asks %q %q", page.Text(".hero-amount"), page.Text(".hero-spend"))
	}
	body := filled(page, "phone", shoptest.Phone(), "name", "Elsa Berg", "agreed", "1")
	if got := phone.Post("/w/claim", body); got.Header().Get("Location") != "/w/claimed" {
		t.Fatalf("%d %s", got.Code, got.Text("main"))
	}
	got := phone.Get("/w/claimed")
	for selector, want := range map[string]string{
		".hero-amount": "+24 points collected", ".claimed .hero-words": "Thanks, Elsa. See you soon.", ".claimed-balance b": "24 points 56 points",
		".claimed-next": "56 points to Filter coffee",
	} {
		if words := got.Text(selector); words != want {
			t.Errorf("%s: %q, want %q", selector, words, want)
		}
	}
	if card := s.browser().Get(got.Attr(".button-light", "href")); card.Text(".wallet-name") != "Elsa Berg" || card.Text(".wallet-balance") != "24 points" {
		t.Errorf("her card: %q", card.Text(".wallet"))
	}
	if got := s.state(shown); got != walkin.Completed {
		t.Errorf("the till reads %s", got)
	}
}

// "Opening its URL takes nothing (cameras and previews open URLs)": a button takes it.
func TestOpeningACodeTakesNothing(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	shown := s.offers(2450)
	for range 3 {
		page := s.browser().Get("/w/" + shown.Code)
		if page.Text(".hero-amount") != "Collect 24 points" || page.Text(".hero-spend") != "€ 24.50" || len(page.Header().Values("Set-Cookie")) != 0 {
			t.Errorf("%q %q, %v", page.Text(".hero-amount"), page.Text(".hero-spend"), page.Header())
		}
		if form := page.Find("form[method=post]"); form.AttrOr("action", "") != "/w/"+shown.Code {
			t.Errorf("the button posts to %q", form.AttrOr("action", ""))
		}
		s.browser().Ask(http.MethodHead, "/w/"+shown.Code)
	}
	if got := s.state(shown); got != walkin.Waiting {
		t.Fatalf("opened, it is %s", got)
	}
	phone := s.browser()
	if to := phone.Submitted("/w/"+shown.Code, nil); to != "/w/claim" || phone.Cookies[claimCookie] == nil {
		t.Fatalf("led to %q with %v", to, phone.Cookies)
	}
	if got := s.state(shown); got != walkin.Taken {
		t.Errorf("taken, it is %s", got)
	}
	// The customer goes back, and opens it again; others are late.
	if again := phone.Ask(http.MethodGet, "/w/"+shown.Code); again.Header().Get("Location") != "/w/claim" {
		t.Errorf("its taker: %d", again.Code)
	}
	for name, late := range map[string]webtest.Page{
		"to open": s.browser().Ask(http.MethodGet, "/w/"+shown.Code), "to take": s.browser().Post("/w/"+shown.Code, nil), "nonsense": s.browser().Ask(http.MethodGet, "/w/nonsense"),
	} {
		if late.Code != http.StatusUnprocessableEntity || !strings.HasSuffix(late.Text(".card p"), walkin.ErrPIN.Message+" Enter a PIN") || len(late.Header().Values("Set-Cookie")) != 0 {
			t.Errorf("%s: %d %q", name, late.Code, late.Text(".card p"))
		}
	}
}

// "The claim page shows the points earned and nothing else of an existing account."
func TestClaimForAnExistingCustomer(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	s.Sale(anna.ID, s.kind, 12_400)
	phone := s.took(s.offers(2450))
	page := phone.Get("/w/claim")
	if got := phone.Post("/w/claim", filled(page, "phone", anna.Phone, "name", "Eve Evil", "agreed", "1")); got.Header().Get("Location") != "/w/claimed" {
		t.Fatalf("%d %s", got.Code, got.Text("main"))
	}
	got := phone.Get("/w/claimed")
	if got.Text(".hero-amount") != "+24 points collected" || got.Text(".claimed .hero-words") != "Thanks. See you soon." {
		t.Errorf("%q", got.Text(".claimed"))
	}
	for _, secret := range []string{"Anna", "148", "/card/", "Balance"} {
		if strings.Contains(got.Body.String(), secret) {
			t.Errorf("the page tells %q", secret)
		}
	}
	if sold := s.sales(); len(sold) != 2 || sold[0] != anna.ID {
		t.Errorf("sales of %v", sold)
	}
}

// After a claim, an existing customer can have the link to their card e-mailed. The answer is the same without an
// e-mail address, shows nothing of the account, and needs a claim.
func TestAfterAClaimTheCardIsMailed(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	silent := s.AddCustomer(customer.New{FirstName: "Sigrid", LastName: "Ek", Phone: shoptest.Phone()})
	var answers []string
	for _, c := range []customer.Customer{anna, silent} {
		phone := s.took(s.offers(2450))
		phone.Submit("/w/claim", filled(phone.Get("/w/claim"), "phone", c.Phone, "name", "Eve Evil", "agreed", "1"))
		claimed := phone.Get("/w/claimed")
		action := claimed.Attr(".claimed form", "action")
		if got := claimed.Text(".claimed button"); got != "E-mail me the link to my card" {
			t.Fatalf("the page offers %q", got)
		}
		answer := phone.Post(action, nil)
		if answer.Code != http.StatusOK || strings.Contains(answer.Body.String(), c.FirstName) || strings.Contains(answer.Text("body"), "@") {
			t.Errorf("%d %s", answer.Code, answer.Text("main"))
		}
		answers = append(answers, answer.Text("main"))
	}
	if answers[0] != answers[1] || !strings.Contains(answers[0], "Check your e-mail") {
		t.Errorf("the answers differ: %q", answers)
	}
	sent := s.mailed(*anna.Email)
	if len(sent) != 1 || !strings.Contains(sent[0], "New:false") {
		t.Errorf("mailed: %q", sent)
	}
	if got := s.browser().Post("/w/claimed", nil); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("without a claim: %d %s", got.Code, got.Text("main"))
	}
	stranger := s.took(s.offers(100))
	stranger.Submit("/w/claim", filled(stranger.Get("/w/claim"), "phone", shoptest.Phone(), "name", "Elsa Berg", "agreed", "1"))
	if got := stranger.Get("/w/claimed"); got.Find(".claimed form").Length() != 0 || len(got.Links(".claimed a[href^='/card/']")) != 1 {
		t.Errorf("a new customer: %q", got.Text(".claimed"))
	}
}

// The phone number of an inactive customer says so, and the sale waits. A location or a type that was closed
// meanwhile isn't asked of the customer.
func TestClaimsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	if _, err := s.Customers.Edit(t.Context(), s.By, anna.ID, customer.Edit{Status: core.Set("inactive")}); err != nil {
		t.Fatal(err)
	}
	phone := s.took(s.offers(2450))
	page := phone.Get("/w/claim")
	inactive := phone.Refused("/w/claim", filled(page, "phone", anna.Phone, "name", "Anna Lind", "agreed", "1"))
	if got := inactive.Text(".problem"); got != "This card isn't active. Ask at the till." || inactive.Value("#field-phone") != anna.Phone {
		t.Errorf("an inactive customer: %q", got)
	}
	if _, err := s.Sales.SetTypeActive(t.Context(), s.By, s.kind.ID, false); err != nil {
		t.Fatal(err)
	}
	closed := phone.Refused("/w/claim", filled(page, "phone", shoptest.Phone(), "name", "Elsa Berg", "agreed", "1"))
	if got := closed.Text(".problem"); got != walkin.ErrSaleChanged.Message {
		t.Errorf("a closed type: %q", got)
	}
	if sold := s.sales(); len(sold) != 0 {
		t.Errorf("sales of %v", sold)
	}
}

// "A refused sale can be corrected and completed."
func TestAClaimIsCorrected(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	phone := s.took(s.offers(2450))
	page := phone.Get("/w/claim")
	number := shoptest.Phone()
	refused := phone.Post("/w/claim", filled(page, "phone", number))
	if refused.Code != http.StatusUnprocessableEntity || refused.Text("#field-name-error") != "Enter your first and last name" ||
		refused.Text("#field-agreed-error") != "Tick this box to continue" || refused.Text(".hero-amount") != "Collect 24 points" || refused.Value("#field-phone") != number {
		t.Errorf("%d %s", refused.Code, refused.Text("main"))
	}
	turned := phone.Post("/w/claim", filled(refused, "phone", number, "name", "Elsa \u202egreB", "agreed", "1"))
	if turned.Code != http.StatusUnprocessableEntity || turned.Text("#field-name-error") != "This has hidden characters. Type it instead of pasting it" {
		t.Errorf("a name with a direction mark: %d %s", turned.Code, turned.Text("main"))
	}
	if got := phone.Post("/w/claim", filled(refused, "phone", number, "name", "Elsa Berg", "agreed", "1")); got.Header().Get("Location") != "/w/claimed" {
		t.Errorf("%d %s", got.Code, got.Text("main"))
	}
	if len(s.sales()) != 1 {
		t.Errorf("sales of %v", s.sales())
	}
}

// "A double press of the claim button must record one sale", and both lead on.
func TestPressedTwiceOneSaleIsClaimed(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	phone := s.took(s.offers(2450))
	body := filled(phone.Get("/w/claim"), "phone", shoptest.Phone(), "name", "Elsa Berg", "agreed", "1")
	answers := make(chan webtest.Page, 5)
	for range 5 {
		again := phone.Clone()
		go func() { answers <- again.Post("/w/claim", body) }()
	}
	for range 5 {
		if got := <-answers; got.Header().Get("Location") != "/w/claimed" {
			t.Errorf("%d %s", got.Code, got.Text("main"))
		}
	}
	if len(s.sales()) != 1 {
		t.Errorf("sales of %v", s.sales())
	}
	// Another form for the same sale finds it gone.
	if got := phone.Post("/w/claim", webtest.Form("phone", shoptest.Phone(), "name", "Bo Ek", "agreed", "1")); got.Code != http.StatusUnprocessableEntity || len(s.sales()) != 1 {
		t.Errorf("%d, sales of %v", got.Code, s.sales())
	}
}

// "Wrong, used and expired PINs give one and the same message", also to a browser whose five
// minutes are over, and to one without the cookie.
func TestPINsThatCanNotBeClaimed(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	used := s.offers(100)
	phone := s.took(used)
	expired := s.offers(200)
	late := s.later(91 * time.Second)
	for name, got := range map[string]webtest.Page{
		"wrong": s.browser().Post("/w", webtest.Form("pin", "000000")), "used": s.browser().Post("/w", webtest.Form("pin", used.Digits)), "expired": late.browser().Post("/w", webtest.Form("pin", expired.Digits)),
	} {
		if got.Code != http.StatusUnprocessableEntity || got.Text("#field-pin-error") != "Incorrect or expired PIN" || len(got.Header().Values("Set-Cookie")) != 0 {
			t.Errorf("%s: %d %q", name, got.Code, got.Text(".wrong"))
		}
	}
	for _, typed := range []string{"", "12", "1234567", "7350053850019"} {
		for range 12 { // more than the guesses of an address
			got := s.browser().Post("/w", webtest.Form("pin", typed))
			if got.Code != http.StatusUnprocessableEntity || got.Text("#field-pin-error") != "Enter the 6 digits of the PIN" {
				t.Fatalf("%q: %d %q", typed, got.Code, got.Text("main"))
			}
		}
	}
	late = s.later(5*time.Minute + time.Second)
	slow, another, nonsense := phone.Clone(), s.browser(), s.browser()
	slow.Handler = late.pages
	another.SetCookie(claimCookie, walkin.NewBrowser())
	nonsense.SetCookie(claimCookie, "x")
	for name, got := range map[string]webtest.Page{
		"the form, too late": slow.Ask(http.MethodGet, "/w/claim"), "sent, too late": slow.Post("/w/claim", webtest.Form("phone", shoptest.Phone())),
		"without a cookie": s.browser().Ask(http.MethodGet, "/w/claim"), "sent without": s.browser().Post("/w/claim", webtest.Form("phone", shoptest.Phone())),
		"with another": another.Ask(http.MethodGet, "/w/claim"), "with nonsense": nonsense.Ask(http.MethodGet, "/w/claim"),
		"nothing claimed": phone.Ask(http.MethodGet, "/w/claimed"),
	} {
		if got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.Text(".card p"), walkin.ErrPIN.Message) {
			t.Errorf("%s: %d %q", name, got.Code, got.Text("main"))
		}
	}
	if len(s.sales()) != 0 {
		t.Error("a sale was recorded")
	}
}

// "Guesses are limited by session and address, and on `/w` also by tenant."
func TestGuessingIsLimited(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	shown := s.offers(2450)
	var got webtest.Page
	for range 30 {
		if got = s.browser().Post("/w", webtest.Form("pin", "000000")); got.Code == http.StatusTooManyRequests {
			break
		}
	}
	if got.Code != http.StatusTooManyRequests || !strings.HasPrefix(got.Text(".problem"), "Too many wrong PINs.") || got.Header().Get("Retry-After") == "" {
		t.Fatalf("%d %q, retry after %q", got.Code, got.Text("main"), got.Header().Get("Retry-After"))
	}
	if got := s.browser().Post("/w", webtest.Form("pin", shown.Digits)); got.Code != http.StatusTooManyRequests {
		t.Errorf("the right one: %d", got.Code)
	}
	if got := s.browser().Post("/w/"+shown.Code, nil); got.Code != http.StatusSeeOther {
		t.Errorf("a customer with a camera is held up by others who type: %d", got.Code)
	}
}

// "One cross-tenant test per resource."
func TestASaleOfAnotherBusiness(t *testing.T) {
	t.Parallel()
	s, other := newCounter(t), newCounter(t)
	shown := s.offers(2450)
	for name, got := range map[string]webtest.Page{
		"to open": other.browser().Ask(http.MethodGet, "/w/"+shown.Code), "to take": other.browser().Post("/w/"+shown.Code, nil), "to type": other.browser().Post("/w", webtest.Form("pin", shown.Digits)),
	} {
		if got.Code != http.StatusUnprocessableEntity || strings.Contains(got.Text("main"), "24 points") {
			t.Errorf("%s: %d %q", name, got.Code, got.Text("main"))
		}
	}
	phone := s.took(shown)
	there := other.browser()
	there.Cookies = phone.Cookies
	if got := there.Ask(http.MethodGet, "/w/claim"); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("with the cookie of its taker: %d", got.Code)
	}
	if got := there.Post("/w/claim", webtest.Form("phone", shoptest.Phone(), "name", "Bo Ek", "agreed", "1")); got.Code != http.StatusUnprocessableEntity || len(other.sales()) != 0 {
		t.Errorf("claimed there: %d", got.Code)
	}
}
