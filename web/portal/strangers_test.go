package portal_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/webtest"
)

// replace replaces a customer's links, as a cashier does.
func (s *shop) replace(who customer.Customer) customer.Customer {
	s.T.Helper()
	replaced, err := s.Customers.ReplaceLinks(s.T.Context(), s.By, who.ID)
	s.Check(err)
	return replaced
}

// wantReplaced fails the test unless a page of an old link says so, and nothing else.
func (s *shop) wantReplaced(what, method, path string) {
	s.T.Helper()
	got := s.browser().Ask(method, path)
	if got.Code != http.StatusGone || got.Text("main p") != s.By.Tenant.Name+" This card was replaced. Ask at the till." {
		s.T.Errorf("%s: %d %q", what, got.Code, got.Text("main"))
	}
	for _, secret := range []string{"Anna", "Lind", "points"} {
		if strings.Contains(got.Body.String(), secret) {
			s.T.Errorf("%s tells %q", what, secret)
		}
	}
}

// A replaced link shows nothing, wherever it leads, and so do the links of merged duplicates. The new one works, and who
// unsubscribes still can.
func TestAReplacedCardLink(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna, twin := s.anna(), s.anna()
	old, twins := s.card(anna), s.card(twin)
	voucher := s.sentTo(s.Coupon(off()).ID, anna.ID)
	s.Must(core.Result(s.Merging.Merge(t.Context(), s.By, anna.ID, twin.ID, nil, nil)))
	s.browser().Get(twins)
	fresh := s.card(s.replace(anna))
	for _, below := range []string{"", "/history", "/print", "/picture.png", "/manifest.webmanifest", "/pin/01JZZZZZZZZZZZZZZZZZZZZZZZ", "/pin/01JZZZZZZZZZZZZZZZZZZZZZZZ/events"} {
		s.wantReplaced("GET "+below, http.MethodGet, old+below)
	}
	s.wantReplaced("a PIN", http.MethodPost, old+"/pin")
	s.wantReplaced("the duplicate's", http.MethodGet, twins)
	if got := s.browser().Ask(http.MethodGet, "/v/"+voucher.token); got.Code != http.StatusGone || !strings.Contains(got.Text("main"), "This link was replaced.") || strings.Contains(got.Text("main"), "Anna") {
		t.Errorf("a voucher: %d %q", got.Code, got.Text("main"))
	}
	forged := old[:len(old)-4] + "0000"
	if got := s.browser().Ask(http.MethodGet, forged); got.Code != http.StatusNotFound || got.Text("h1") != "This link doesn't work" {
		t.Errorf("a forged one: %d %q", got.Code, got.Text("main"))
	}
	card := s.browser().Get(fresh)
	if card.Text(".wallet-name") != "Anna Lind<b>qvist" {
		t.Errorf("the new one: %q", card.Text("main"))
	}
	for _, path := range card.Links(".offers a") {
		s.browser().Get(path)
	}
	if got := s.browser().Post(s.unsubscribing(anna.ID), nil); got.Code != http.StatusOK || s.subscribed(anna.ID) {
		t.Errorf("unsubscribing: %d", got.Code)
	}
}

// "Played through: a stranger joins with another person's number and their own e-mail." What the stranger keeps (the link, the
// form that made it) shows nothing once the staff have corrected the address, and the owner is never mailed to the stranger
// by their own e-mail address.
func TestAStrangerWhoJoinedWithANumber(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	const stranger, owner = "eve@strangers.example", "anna@owners.example"
	number := shoptest.Phone()
	form := filled(s.browser().Get("/join"), "name", "Eve Evil", "phone", number, "email", stranger, "agreed", "1")
	path := s.browser().Submitted("/join", form)
	joined := s.browser().Post("/join", filled(s.browser().Get("/join"), "name", "Anna Berg", "phone", number, "email", owner, "agreed", "1"))
	if joined.Text(".card h1") != "You already have a card" || len(s.mailed(owner)) != 0 || len(s.mailed(stranger)) != 1 {
		t.Errorf("the owner joins: %q; %d mails, and %d to the stranger", joined.Text(".card"), len(s.mailed(owner)), len(s.mailed(stranger)))
	}
	id, err := core.ParseID(strings.TrimPrefix(path, "/card/")[:26])
	s.Check(err)
	edited, err := s.Customers.Edit(t.Context(), s.By, id, customer.Edit{FirstName: core.Set("Anna"), LastName: core.Set("Lind"), Email: core.Set(owner)})
	s.Check(err)
	s.wantReplaced("the stranger's link", http.MethodGet, path)
	if again := s.browser().Submitted("/join", form); again == s.card(edited) {
		t.Error("the stranger's form leads to the new card")
	}
	s.browser().Get(s.card(edited))
}

// Changes that replace the link, and others that don't.
func TestWhatReplacesACardLink(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	for _, c := range []struct {
		what     string
		edit     customer.Edit
		replaces bool
	}{
		{"the name", customer.Edit{FirstName: core.Set("Annika")}, false},
		{"the number, written otherwise", customer.Edit{Phone: core.Set(strings.ReplaceAll(anna.Phone, " ", "-"))}, false},
		{"the address, in capitals", customer.Edit{Email: core.Set(strings.ToUpper(*anna.Email))}, false},
		{"another number", customer.Edit{Phone: core.Set(shoptest.Phone())}, true},
		{"another address", customer.Edit{Email: core.Set("new-" + *anna.Email)}, true},
		{"no address", customer.Edit{Email: core.Optional[string]{Set: true}}, true},
		{"an address again", customer.Edit{Email: core.Set(*anna.Email)}, true},
	} {
		before, err := s.Customers.Find(t.Context(), s.By, anna.ID)
		s.Check(err)
		s.Must(s.Customers.Edit(t.Context(), s.By, anna.ID, c.edit))
		want := http.StatusOK
		if c.replaces {
			want = http.StatusGone
		}
		if got := s.browser().Ask(http.MethodGet, s.card(before)); got.Code != want {
			t.Errorf("%s: %d, want %d", c.what, got.Code, want)
		}
	}
}

// A card that was opened online and never checked is merged with a known customer's: the link of the
// stranger who opened it stops working, whichever of the two is kept.
func TestAnUncheckedCardIsMerged(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	known := func() customer.Customer {
		anna := s.anna()
		s.Sale(anna.ID, s.kind, 12_400)
		return anna
	}
	joined := func() (core.ID, string) {
		path := s.browser().Submitted("/join", filled(s.browser().Get("/join"), "name", "Eve Evil", "phone", shoptest.Phone(), "agreed", "1"))
		id, err := core.ParseID(strings.TrimPrefix(path, "/card/")[:26])
		s.Check(err)
		return id, path
	}
	merge := func(kept, merged core.ID) {
		s.Must(core.Result(s.Merging.Merge(t.Context(), s.By, kept, merged, nil, nil)))
	}

	anna := known()
	eve, evesCard := joined()
	merge(anna.ID, eve)
	s.wantReplaced("merged into a known customer", http.MethodGet, evesCard)
	s.browser().Get(s.card(anna))

	anna = known()
	eve, evesCard = joined()
	merge(eve, anna.ID)
	s.wantReplaced("kept", http.MethodGet, evesCard)
	s.browser().Get(s.card(anna))

	first, firstCard := joined()
	second, secondCard := joined()
	merge(first, second)
	s.browser().Get(firstCard)
	s.browser().Get(secondCard)
}

// A deactivated customer's card and vouchers show neither name nor balance.
func TestADeactivatedCardShowsNothing(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	s.Sale(anna.ID, s.kind, 12_400)
	voucher := s.sentTo(s.Coupon(off()).ID, anna.ID)
	s.Must(s.Customers.Edit(t.Context(), s.By, anna.ID, customer.Edit{Status: core.Set("inactive")}))
	for _, path := range []string{s.card(anna), s.card(anna) + "/print", s.card(anna) + "/history", s.card(anna) + "/picture.png", "/v/" + voucher.token} {
		got := s.browser().Ask(http.MethodGet, path).Body.String()
		for _, secret := range []string{"Anna", "qvist", "124"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s tells %q", path, secret)
			}
		}
	}
}

var unseen = regexp.MustCompile(`(value|name)="[^"]*"`)

// Consent and name are checked before any look-up, so that a refusal is the same for a known number and an unknown one; and
// attempts are counted.
func TestARefusalDoesNotTellWhetherANumberIsKnown(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	known := s.anna().Phone
	for what, c := range map[string]struct {
		browser *webtest.Browser
		path    string
		fields  []string
	}{
		"joining without consent":    {s.browser(), "/join", []string{"name", "Elsa Berg"}},
		"joining without a name":     {s.browser(), "/join", []string{"agreed", "1"}},
		"joining with a bad address": {s.browser(), "/join", []string{"name", "Elsa Berg", "agreed", "1", "email", "x"}},
		"claiming without a name":    {s.took(s.offers(2450)), "/w/claim", []string{"agreed", "1"}},
		"claiming without consent":   {s.took(s.offers(2450)), "/w/claim", []string{"name", "Elsa Berg"}},
	} {
		var answers []string
		for _, number := range []string{known, shoptest.Phone()} {
			got := c.browser.Refused(c.path, filled(c.browser.Get(c.path), append(c.fields, "phone", number)...))
			answers = append(answers, unseen.ReplaceAllString(got.Body.String(), ""))
		}
		if answers[0] != answers[1] {
			t.Errorf("%s: a known number is answered differently", what)
		}
	}
	phone := s.took(s.offers(2450))
	form, last := filled(phone.Get("/w/claim"), "agreed", "1"), webtest.Page{}
	for range 11 {
		last = phone.Post("/w/claim", webtest.With(form, "phone", shoptest.Phone()))
	}
	if last.Code != http.StatusTooManyRequests || last.Header().Get("Retry-After") == "" || !strings.Contains(last.Text(".problem"), "Too many attempts") {
		t.Errorf("the eleventh attempt of a browser: %d %q", last.Code, last.Text(".problem"))
	}
	if got := s.took(s.offers(2450)); got.Post("/w/claim", filled(got.Get("/w/claim"), "phone", known, "name", "Anna L", "agreed", "1")).Header().Get("Location") != "/w/claimed" {
		t.Error("another browser can't collect its sale")
	}
}

// A card shows twenty PINs in five minutes, with or without a page that renews them; then the page says when to go on.
func TestACardShowsTwentyPINs(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.card(s.anna())
	for i := range 20 {
		if got := s.browser().Post(path+"/pin", nil); got.Code != http.StatusOK {
			t.Fatalf("PIN %d: %d", i+1, got.Code)
		}
	}
	got := s.browser().Post(path+"/pin", nil)
	if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" || !strings.HasPrefix(got.Text(".wallet-code"), "Too many codes. Wait 5 minutes") {
		t.Errorf("%d %q", got.Code, got.Text(".wallet-code"))
	}
	if got.Find("[data-renew]").Length() != 0 {
		t.Error("the page goes on by itself")
	}
	if other := s.browser().Post(s.card(s.anna())+"/pin", nil); other.Code != http.StatusOK {
		t.Errorf("another card: %d", other.Code)
	}
}

// A link changes a subscription ten times an hour at most, the last time off: unsubscribing is never refused.
func TestALinkChangesTenTimes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	who := s.anna()
	link, throttled := s.unsubscribing(who.ID), 0
	for i := range 30 {
		body := url.Values{}
		if i%2 == 1 {
			body.Set("subscribe", "1")
		}
		if got := s.browser().Post(link, body); got.Code == http.StatusTooManyRequests {
			throttled++
			if i%2 == 0 || got.Header().Get("Retry-After") == "" {
				t.Errorf("%d: unsubscribing is refused: %q", i, got.Text("main"))
			}
		}
	}
	if n := len(s.noted(who.ID)); n > 10 || throttled == 0 || s.subscribed(who.ID) {
		t.Errorf("%d changes, %d refused, subscribed: %t", n, throttled, s.subscribed(who.ID))
	}
}

// Strangers' names are made of what names are made of. Whose they are isn't known, so no mail says them.
func TestVisitorsNames(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	for name, want := range map[string]string{
		"Anna-Karin O'Neil": "", "J.R.R. Tolkien": "", "Łucja D’Arc": "", "José María de la Cruz": "", "Ольга Иванова": "", "नेहा शर्मा": "", "山田 太郎": "", "Dr. Bo Ek": "",
		"Anna Lindqvist " + strings.Repeat("a", 35): "",
		"Anna Lindqvist " + strings.Repeat("a", 36): "Use at most 50 characters",
		"You won EUR 500 at https://evil.example/x": visitorName,
		"Visit www.evil":        visitorName,
		"Visit evil.com":        visitorName,
		"Anna eve@evil.example": visitorName,
		"Anna 2":                visitorName,
		"Anna <b>Lind</b>":      visitorName,
		"Anna ٣":                visitorName,
		"Anna Lind; call us":    visitorName,
	} {
		email := core.NewID(s.DB.Now()).String() + "@names.example"
		got := s.browser().Post("/join", filled(s.browser().Get("/join"), "name", name, "phone", shoptest.Phone(), "email", email, "agreed", "1"))
		if words := got.Text("#field-name-error"); words != want || (want == "") != strings.HasPrefix(got.Header().Get("Location"), "/card/") {
			t.Errorf("%q: %d %q", name, got.Code, words)
		}
	}
	number, email := shoptest.Phone(), "nameless@join.example"
	s.browser().Submitted("/join", filled(s.browser().Get("/join"), "name", "Visit Us", "phone", number, "email", email, "agreed", "1"))
	s.browser().Post("/join/find", webtest.Form("contact", email))
	for i, text := range s.mailed(email) {
		if strings.Contains(text, "Visit") {
			t.Errorf("mail %d says the name: %s", i, text)
		}
	}
	if n := len(s.mailed(email)); n != 2 {
		t.Errorf("%d mails", n)
	}
}

const visitorName = "Use only letters, spaces, hyphens, apostrophes and full stops"
