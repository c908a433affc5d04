package portal_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
)

// offers has the till show a sale.
func (s counter) offers(t *testing.T, cents int64) walkin.Shown {
	t.Helper()
	places, err := location.NewService(s.db).List(t.Context(), s.by)
	if err != nil {
		t.Fatal(err)
	}
	o := walkin.Offer{TransactionTypeID: &s.kind, SpendAmountCents: &cents}
	if len(places) > 0 {
		o.LocationID = &places[0].ID
	}
	shown, err := s.Walkins.ShowSale(t.Context(), s.cashier, till, o)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// state is how far a sale has come that the till shows.
func (s counter) state(t *testing.T, shown walkin.Shown) walkin.State {
	t.Helper()
	progress, err := s.Walkins.TillProgress(t.Context(), s.cashier, till, shown.ID)
	if err != nil {
		t.Fatal(err)
	}
	return progress.State
}

// sales are the customers of the sales, each once a sale.
func (s counter) sales(t *testing.T) (customers []core.ID) {
	t.Helper()
	l, err := s.Sales.List(t.Context(), s.by, transaction.Filter{}, core.Page{Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, sale := range l.Items {
		customers = append(customers, sale.CustomerID)
	}
	return customers
}

// claim is the cookie that binds a sale to a browser.
func claim(t *testing.T, a answer) *http.Cookie {
	t.Helper()
	for _, c := range a.Result().Cookies() {
		if c.Name == "__Host-claim" {
			return c
		}
	}
	t.Fatalf("%d without a cookie: %s", a.Code, a.words("main"))
	return nil
}

// took has a browser type the digits of a sale, and returns its cookie.
func (s counter) took(t *testing.T, shown walkin.Shown) string {
	t.Helper()
	a := s.post(t, "/w", "pin="+shown.Digits[:3]+"+"+shown.Digits[3:])
	if to := a.Header().Get("Location"); a.Code != http.StatusSeeOther || to != "/w/claim" {
		t.Fatalf("%d to %q: %s", a.Code, to, a.words(".wrong"))
	}
	c := claim(t, a)
	return c.Name + "=" + c.Value
}

// "The customer … opens `/w` and types the PIN, gives phone (and name when new, consent text
// of the tenant shown), and the sale is recorded for them; the till announces it by itself."
func TestClaimByTypedPIN(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.reward(t, reward.New{Name: new("Filter coffee"), PointsCost: new(int64(80))})
	if _, err := location.NewService(s.db).Add(t.Context(), s.by, location.New{Name: new("Nybrogatan")}); err != nil {
		t.Fatal(err)
	}
	shown := s.offers(t, 2450)
	typed := s.get(t, "/w")
	if field := typed.Find("form[action='/w'] input[name=pin]"); field.AttrOr("inputmode", "") != "numeric" {
		t.Error("there is no field for the PIN")
	}
	a := s.post(t, "/w", "pin="+shown.Digits)
	c := claim(t, a)
	if a.Header().Get("Location") != "/w/claim" || len(c.Value) != 26 || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 600 {
		t.Errorf("%q with %+v", a.Header().Get("Location"), c)
	}
	if got := s.state(t, shown); got != walkin.Taken {
		t.Errorf("the till reads %s", got)
	}
	cookie := c.Name + "=" + c.Value
	page := s.get(t, "/w/claim", "Cookie", cookie)
	page.wellFormed(t)
	if page.words(".hero-amount") != "Collect 24 points" || page.words(".hero-spend") != "€ 24.50 at Nybrogatan" || page.words(".form-end button") != "Collect 24 points" || page.Find("input[checked]").Length() != 0 {
		t.Errorf("it asks %q %q", page.words(".hero-amount"), page.words(".hero-spend"))
	}
	body := filled(page, "phone", mobile(), "name", "Elsa Berg", "agreed", "1")
	if got := s.post(t, "/w/claim", body, "Cookie", cookie); got.Header().Get("Location") != "/w/claimed" {
		t.Fatalf("%d %s", got.Code, got.words("main"))
	}
	got := s.get(t, "/w/claimed", "Cookie", cookie)
	for selector, want := range map[string]string{
		".hero-amount": "+24 points collected", ".claimed .hero-words": "Thanks, Elsa. See you soon.", ".claimed-balance b": "24 points 56 points",
		".claimed-next": "56 points to Filter coffee",
	} {
		if words := got.words(selector); words != want {
			t.Errorf("%s: %q, want %q", selector, words, want)
		}
	}
	if card := s.get(t, got.Find(".button-light").AttrOr("href", "")); card.words(".wallet-name") != "Elsa Berg" || card.words(".wallet-balance") != "24 points" {
		t.Errorf("her card: %q", card.words(".wallet"))
	}
	if got := s.state(t, shown); got != walkin.Completed {
		t.Errorf("the till reads %s", got)
	}
}

// "Opening its URL takes nothing (cameras and previews open URLs)": a button takes it.
func TestOpeningACodeTakesNothing(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	shown := s.offers(t, 2450)
	for range 3 {
		page := s.get(t, "/w/"+shown.Code)
		if page.words(".hero-amount") != "Collect 24 points" || page.words(".hero-spend") != "€ 24.50" || len(page.Header().Values("Set-Cookie")) != 0 {
			t.Errorf("%q %q, %v", page.words(".hero-amount"), page.words(".hero-spend"), page.Header())
		}
		if form := page.Find("form[method=post]"); form.AttrOr("action", "") != "/w/"+shown.Code {
			t.Errorf("the button posts to %q", form.AttrOr("action", ""))
		}
		s.ask(t, http.MethodHead, "/w/"+shown.Code, "")
	}
	if got := s.state(t, shown); got != walkin.Waiting {
		t.Fatalf("opened, it is %s", got)
	}
	taken := s.post(t, "/w/"+shown.Code, "")
	if taken.Header().Get("Location") != "/w/claim" {
		t.Fatalf("%d %s", taken.Code, taken.words("main"))
	}
	c := claim(t, taken)
	if got := s.state(t, shown); got != walkin.Taken {
		t.Errorf("taken, it is %s", got)
	}
	// The customer goes back, and opens it again; others are late.
	if again := s.ask(t, http.MethodGet, "/w/"+shown.Code, "", "Cookie", c.Name+"="+c.Value); again.Header().Get("Location") != "/w/claim" {
		t.Errorf("its taker: %d", again.Code)
	}
	for name, late := range map[string]answer{
		"to open": s.ask(t, http.MethodGet, "/w/"+shown.Code, ""), "to take": s.post(t, "/w/"+shown.Code, ""), "nonsense": s.ask(t, http.MethodGet, "/w/nonsense", ""),
	} {
		if late.Code != http.StatusUnprocessableEntity || !strings.HasSuffix(late.words(".card p"), walkin.ErrPIN.Message+" Enter a PIN") || len(late.Header().Values("Set-Cookie")) != 0 {
			t.Errorf("%s: %d %q", name, late.Code, late.words(".card p"))
		}
	}
}

// "The claim page shows the points earned and nothing else of an existing account."
func TestClaimForAnExistingCustomer(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna(t)
	s.sell(t, anna.ID, 12_400)
	cookie := s.took(t, s.offers(t, 2450))
	page := s.get(t, "/w/claim", "Cookie", cookie)
	if got := s.post(t, "/w/claim", filled(page, "phone", anna.Phone), "Cookie", cookie); got.Header().Get("Location") != "/w/claimed" {
		t.Fatalf("%d %s", got.Code, got.words("main"))
	}
	got := s.get(t, "/w/claimed", "Cookie", cookie)
	if got.words(".hero-amount") != "+24 points collected" || got.words(".claimed .hero-words") != "Thanks. See you soon." {
		t.Errorf("%q", got.words(".claimed"))
	}
	for _, secret := range []string{"Anna", "148", "/card/", "Balance"} {
		if strings.Contains(got.Body.String(), secret) {
			t.Errorf("the page tells %q", secret)
		}
	}
	if sold := s.sales(t); len(sold) != 2 || sold[0] != anna.ID {
		t.Errorf("sales of %v", sold)
	}
}

// "A refused sale can be corrected and completed."
func TestAClaimIsCorrected(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	cookie := s.took(t, s.offers(t, 2450))
	page := s.get(t, "/w/claim", "Cookie", cookie)
	number := mobile()
	refused := s.post(t, "/w/claim", filled(page, "phone", number), "Cookie", cookie)
	if refused.Code != http.StatusUnprocessableEntity || refused.words("#field-name-error") != "Enter your first and last name" ||
		refused.words("#field-agreed-error") != "Tick this box to continue" || refused.words(".hero-amount") != "Collect 24 points" || refused.Find("#field-phone").AttrOr("value", "") != number {
		t.Errorf("%d %s", refused.Code, refused.words("main"))
	}
	if got := s.post(t, "/w/claim", filled(refused, "phone", number, "name", "Elsa Berg", "agreed", "1"), "Cookie", cookie); got.Header().Get("Location") != "/w/claimed" {
		t.Errorf("%d %s", got.Code, got.words("main"))
	}
	if len(s.sales(t)) != 1 {
		t.Errorf("sales of %v", s.sales(t))
	}
}

// "A double press of the claim button must record one sale", and both lead on.
func TestPressedTwiceOneSaleIsClaimed(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	cookie := s.took(t, s.offers(t, 2450))
	body := filled(s.get(t, "/w/claim", "Cookie", cookie), "phone", mobile(), "name", "Elsa Berg", "agreed", "1")
	answers := make(chan answer, 5)
	for range 5 {
		go func() { answers <- s.post(t, "/w/claim", body, "Cookie", cookie) }()
	}
	for range 5 {
		if got := <-answers; got.Header().Get("Location") != "/w/claimed" {
			t.Errorf("%d %s", got.Code, got.words("main"))
		}
	}
	if len(s.sales(t)) != 1 {
		t.Errorf("sales of %v", s.sales(t))
	}
	// Another form for the same sale finds it gone.
	if got := s.post(t, "/w/claim", "phone="+mobile()+"&name=Bo+Ek&agreed=1", "Cookie", cookie); got.Code != http.StatusUnprocessableEntity || len(s.sales(t)) != 1 {
		t.Errorf("%d, sales of %v", got.Code, s.sales(t))
	}
}

// "Wrong, used and expired PINs give one and the same message", also to a browser whose five
// minutes are over, and to one without the cookie.
func TestPINsThatCanNotBeClaimed(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	used := s.offers(t, 100)
	cookie := s.took(t, used)
	expired := s.offers(t, 200)
	late := s.later(t, 91*time.Second)
	for name, got := range map[string]answer{
		"wrong": s.post(t, "/w", "pin=12"), "used": s.post(t, "/w", "pin="+used.Digits), "expired": late.post(t, "/w", "pin="+expired.Digits), "nothing": s.post(t, "/w", ""),
	} {
		if got.Code != http.StatusUnprocessableEntity || got.words("#field-pin-error") != "Incorrect or expired PIN" || len(got.Header().Values("Set-Cookie")) != 0 {
			t.Errorf("%s: %d %q", name, got.Code, got.words(".wrong"))
		}
	}
	late = s.later(t, 5*time.Minute+time.Second)
	for name, got := range map[string]answer{
		"the form, too late": late.ask(t, http.MethodGet, "/w/claim", "", "Cookie", cookie), "sent, too late": late.post(t, "/w/claim", "phone="+mobile(), "Cookie", cookie),
		"without a cookie": s.ask(t, http.MethodGet, "/w/claim", ""), "sent without": s.post(t, "/w/claim", "phone="+mobile()),
		"with another": s.ask(t, http.MethodGet, "/w/claim", "", "Cookie", "__Host-claim="+walkin.NewBrowser()), "with nonsense": s.ask(t, http.MethodGet, "/w/claim", "", "Cookie", "__Host-claim=x"),
		"nothing claimed": s.ask(t, http.MethodGet, "/w/claimed", "", "Cookie", cookie),
	} {
		if got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.words(".card p"), walkin.ErrPIN.Message) {
			t.Errorf("%s: %d %q", name, got.Code, got.words("main"))
		}
	}
	if len(s.sales(t)) != 0 {
		t.Error("a sale was recorded")
	}
}

// "Guesses are limited by session and address, and on `/w` also by tenant."
func TestGuessingIsLimited(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	shown := s.offers(t, 2450)
	var got answer
	for range 30 {
		if got = s.post(t, "/w", "pin=0"); got.Code == http.StatusTooManyRequests {
			break
		}
	}
	if got.Code != http.StatusTooManyRequests || !strings.HasPrefix(got.words(".problem"), "Too many wrong PINs.") || got.Header().Get("Retry-After") == "" {
		t.Fatalf("%d %q, retry after %q", got.Code, got.words("main"), got.Header().Get("Retry-After"))
	}
	if got := s.post(t, "/w", "pin="+shown.Digits); got.Code != http.StatusTooManyRequests {
		t.Errorf("the right one: %d", got.Code)
	}
	if got := s.post(t, "/w/"+shown.Code, ""); got.Code != http.StatusSeeOther {
		t.Errorf("a customer with a camera is held up by others who type: %d", got.Code)
	}
}

// "One cross-tenant test per resource."
func TestASaleOfAnotherBusiness(t *testing.T) {
	t.Parallel()
	s, other := newCounter(t), newCounter(t)
	shown := s.offers(t, 2450)
	for name, got := range map[string]answer{
		"to open": other.ask(t, http.MethodGet, "/w/"+shown.Code, ""), "to take": other.post(t, "/w/"+shown.Code, ""), "to type": other.post(t, "/w", "pin="+shown.Digits),
	} {
		if got.Code != http.StatusUnprocessableEntity || strings.Contains(got.words("main"), "24 points") {
			t.Errorf("%s: %d %q", name, got.Code, got.words("main"))
		}
	}
	cookie := s.took(t, shown)
	if got := other.ask(t, http.MethodGet, "/w/claim", "", "Cookie", cookie); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("with the cookie of its taker: %d", got.Code)
	}
	if got := other.post(t, "/w/claim", "phone="+mobile()+"&name=Bo+Ek&agreed=1", "Cookie", cookie); got.Code != http.StatusUnprocessableEntity || len(other.sales(t)) != 0 {
		t.Errorf("claimed there: %d", got.Code)
	}
}
