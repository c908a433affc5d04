package portal_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/portal"
	"example.com/loyalty/web/webtest"
)

// filled is the page's form as a customer sends it: what it carries unseen, and what was typed.
func filled(a webtest.Page, pairs ...string) url.Values {
	v := url.Values{}
	for _, hidden := range a.Find("form input[type=hidden]").EachIter() {
		v.Set(hidden.AttrOr("name", ""), hidden.AttrOr("value", ""))
	}
	return webtest.With(v, pairs...)
}

// mailed are the texts that were e-mailed to an address.
func (s *shop) mailed(to string) []string {
	s.T.Helper()
	return shoptest.QueryAll[string](s.Shop, "select text from loyalty.mail where recipient = $1 order by id", to)
}

func (s *shop) customers() int {
	s.T.Helper()
	return shoptest.Query[int](s.Shop, "select count(*) from loyalty.customer where tenant_id = $1", s.By.Tenant.ID)
}

// A business's address leads customers to joining and to their card, and staff to their pages.
func TestStartPage(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	page := s.browser().Get("/")
	wellFormed(t, page)
	if !strings.Contains(page.Text(".hero"), s.By.Tenant.Name) || page.Text(".hero-words") != "1 point for every € 1.00." {
		t.Errorf("it says %q", page.Text(".hero"))
	}
	if got, want := page.Links("main a"), []string{"/join", "/join/find", "/w", "/admin"}; !slices.Equal(got, want) {
		t.Errorf("it leads to %q, want %q", got, want)
	}
	for role, want := range map[core.Role]string{core.Owner: "/admin", core.Manager: "/admin", core.Cashier: "/till"} {
		if got := s.signedIn(role).Ask(http.MethodGet, "/"); got.Header().Get("Location") != want {
			t.Errorf("a signed-in %s is led to %q, want %q", role, got.Header().Get("Location"), want)
		}
	}
	s.By.Tenant.Slug = "no-such-business"
	if got := s.browser().Ask(http.MethodGet, "/"); got.Code != http.StatusNotFound || got.Attr("main a", "href") != webtest.Base {
		t.Errorf("at no business: %d, %s", got.Code, got.Text("main"))
	}
}

// "`/join` …: name, phone, e-mail, consent; lands on the card page"; "two fields, no box
// ticked beforehand".
func TestJoin(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.AddReward(reward.New{Name: "Filter coffee", PointsCost: new(int64(80))})
	page := s.browser().Get("/join")
	wellFormed(t, page)
	if page.Text(".hero h1") != "Collect points with every visit" || page.Text(".hero-words") != "1 point for every € 1.00. Filter coffee for 80 points." {
		t.Errorf("it offers %q, %q", page.Text(".hero h1"), page.Text(".hero-words"))
	}
	if page.Find("input[checked]").Length() != 0 || page.Find("input[type=checkbox]").Length() != 2 {
		t.Error("a box is ticked beforehand, or missing")
	}
	if got := page.Text(".agreement"); got != tenant.DefaultConsent(s.By.Tenant.Name) {
		t.Errorf("customers agree to %q", got)
	}
	const email = "elsa@join.example"
	number := shoptest.Phone()
	joined := s.browser().Post("/join", filled(page, "name", " Elsa Maria  Berg ", "phone", number, "email", email, "agreed", "1"))
	card := joined.Header().Get("Location")
	if joined.Code != http.StatusSeeOther || !strings.HasPrefix(card, "/card/") {
		t.Fatalf("%d to %q: %s", joined.Code, card, joined.Text("main"))
	}
	if got := s.browser().Get(card).Text(".wallet-name"); got != "Elsa Maria Berg" {
		t.Errorf("the card is %q's", got)
	}
	if sent := s.mailed(email); len(sent) != 1 || !strings.Contains(sent[0], strings.TrimPrefix(card, "/card/")) || !strings.Contains(sent[0], "New:true") {
		t.Errorf("mailed: %q", sent)
	}
	found, err := core.Result(s.Customers.Upsert(t.Context(), s.By, customer.New{FirstName: "Elsa", LastName: "Berg", Phone: number}, nil))
	if err != nil || found.Created || found.FirstName != "Elsa Maria" || found.LastName != "Berg" || found.UnsubscribedAt == nil {
		t.Errorf("made %+v (%v); without the box she gets no offers", found, err)
	}
}

// Customers who ask for offers get them.
func TestJoinWithOffers(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	page, number := s.browser().Get("/join"), shoptest.Phone()
	refused := s.browser().Post("/join", filled(page, "name", "Bo Ek", "phone", number, "agreed", "1", "offers", "1"))
	if refused.Code != http.StatusUnprocessableEntity || refused.Text("#field-email-error") != "Enter an e-mail address" || refused.Find("#field-offers[checked]").Length() != 1 {
		t.Errorf("offers without an address: %d %q", refused.Code, refused.Text(".wrong"))
	}
	if got := s.browser().Post("/join", filled(refused, "name", "Bo Ek", "phone", number, "email", "bo@offers.example", "agreed", "1", "offers", "1")); got.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", got.Code, got.Text(".wrong"))
	}
	found, err := core.Result(s.Customers.Upsert(t.Context(), s.By, customer.New{FirstName: "Bo", LastName: "Ek", Phone: number}, nil))
	if err != nil || found.Created || !s.subscribed(found.ID) {
		t.Errorf("%+v %v", found, err)
	}
}

// What is missing or wrong is said beside its field, and what was typed is kept.
func TestJoinIsRefused(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	page := s.browser().Get("/join")
	for name, c := range map[string]struct {
		fields []string
		want   map[string]string
	}{
		"nothing": {nil, map[string]string{
			"name": "Enter your first and last name", "phone": "Enter a phone number", "agreed": "Tick this box to continue",
		}},
		"a single name":     {[]string{"name", "Elsa", "phone", shoptest.Phone(), "agreed", "1"}, map[string]string{"name": "Enter your first and last name"}},
		"no number":         {[]string{"name", "Elsa Berg", "phone", "soon", "agreed", "1"}, map[string]string{"phone": "Enter a valid phone number"}},
		"no address":        {[]string{"name", "Elsa Berg", "phone", shoptest.Phone(), "email", "elsa", "agreed", "1"}, map[string]string{"email": "Enter a valid e-mail address"}},
		"no consent":        {[]string{"name", "Elsa Berg", "phone", shoptest.Phone()}, map[string]string{"agreed": "Tick this box to continue"}},
		"other words":       {[]string{"name", "Elsa Berg", "phone", shoptest.Phone(), "agreed", "1", "terms", "0"}, map[string]string{"agreed": "Tick this box to continue"}},
		"a long name":       {[]string{"name", strings.Repeat("x", 101) + " Berg", "phone", shoptest.Phone(), "agreed", "1"}, map[string]string{"name": "Use at most 100 characters"}},
		"turned":            {[]string{"name", "Elsa \u202egreB", "phone", shoptest.Phone(), "agreed", "1"}, map[string]string{"name": "This has hidden characters. Type it instead of pasting it"}},
		"isolated":          {[]string{"name", "\u2067Elsa Berg\u2069", "phone", shoptest.Phone(), "agreed", "1"}, map[string]string{"name": "This has hidden characters. Type it instead of pasting it"}},
		"a mark at the end": {[]string{"name", "Elsa Berg\u200f", "phone", shoptest.Phone(), "agreed", "1"}, map[string]string{"name": "This has hidden characters. Type it instead of pasting it"}},
		"no mailbox":        {[]string{"name", "Elsa Berg", "phone", shoptest.Phone(), "email", "x@[127.0.0.1]", "agreed", "1"}, map[string]string{"email": "Enter a valid e-mail address"}},
		"more than a man":   {[]string{"name", "<b>Elsa</b>", "phone", shoptest.Phone(), "agreed", "1"}, map[string]string{"name": "Enter your first and last name"}},
	} {
		got := s.browser().Post("/join", filled(page, c.fields...))
		if got.Code != http.StatusUnprocessableEntity || got.Find(".wrong").Length() != len(c.want) {
			t.Errorf("%s: %d %q", name, got.Code, got.Text(".wrong"))
		}
		for field, want := range c.want {
			if words := got.Text("#field-" + field + "-error"); words != want {
				t.Errorf("%s: %s says %q, want %q", name, field, words, want)
			}
			if got.Find(".problem a[href='#field-"+field+"']").Length() != 1 {
				t.Errorf("%s: the head doesn't lead to %s", name, field)
			}
		}
		for i := 0; i+1 < len(c.fields); i += 2 {
			if kept := got.Find("input[type!=checkbox][type!=hidden][name=" + c.fields[i] + "]"); kept.Length() == 1 && kept.AttrOr("value", "") != c.fields[i+1] {
				t.Errorf("%s: %s is kept as %q", name, c.fields[i], kept.AttrOr("value", ""))
			}
		}
	}
	if n := s.customers(); n != 0 {
		t.Errorf("%d customers were made", n)
	}
}

// "Existing customers are found, and learn nothing about the account of anyone else (the card
// link goes to the e-mail on file when contact details alone were given)."
func TestJoiningTwiceShowsNothing(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	s.Sale(anna.ID, s.kind, 12_400)
	page := s.browser().Get("/join")
	others := s.browser().Post("/join", filled(page, "name", "Eve Evil", "phone", anna.Phone, "email", "eve@evil.example", "agreed", "1"))
	if sent := s.mailed(*anna.Email); len(sent) != 0 {
		t.Errorf("mailed, although another's address was typed: %q", sent)
	}
	own := s.browser().Post("/join", filled(s.browser().Get("/join"), "name", "Anna L", "phone", anna.Phone, "email", strings.ToUpper(*anna.Email), "agreed", "1"))
	if own.Text(".card") != others.Text(".card") || own.Text(".card p") != s.By.Tenant.Name+" "+portal.CardPerhapsMailed {
		t.Errorf("the page tells whose address it is: %q, %q", own.Text(".card"), others.Text(".card"))
	}
	mailed := s.browser().Post("/join", filled(s.browser().Get("/join"), "name", "Eve Evil", "phone", anna.Phone, "agreed", "1"))
	if mailed.Text(".card h1") != "You already have a card" || mailed.Text(".card p") != s.By.Tenant.Name+" "+portal.CardMailed {
		t.Errorf("with an address on file: %d %q", mailed.Code, mailed.Text(".card"))
	}
	without := s.AddCustomer(customer.New{FirstName: "Nils", LastName: "Holm", Phone: shoptest.Phone()})
	ask := s.browser().Post("/join", filled(s.browser().Get("/join"), "name", "Eve Evil", "phone", without.Phone, "agreed", "1"))
	if ask.Text(".card p") != s.By.Tenant.Name+" Ask at the till to open it." {
		t.Errorf("without one: %d %q", ask.Code, ask.Text(".card"))
	}
	for _, got := range []webtest.Page{mailed, ask, others} {
		for _, secret := range []string{"Anna", "Nils", "124", "/card/", *anna.Email} {
			if strings.Contains(got.Body.String(), secret) {
				t.Errorf("the page tells %q", secret)
			}
		}
	}
	if len(s.mailed("eve@evil.example")) != 0 {
		t.Error("the link went to an address that was typed")
	}
	if sent := s.mailed(*anna.Email); len(sent) != 2 || !strings.Contains(sent[0], "New:false") {
		t.Errorf("mailed to the address on file: %q", sent)
	}
}

// A double press of the button leads to the card, as a single one does.
func TestPressedTwiceOneCustomerJoins(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	body := filled(s.browser().Get("/join"), "name", "Elsa Berg", "phone", shoptest.Phone(), "email", "twice@join.example", "agreed", "1")
	answers := make(chan webtest.Page, 2)
	for range 2 {
		go func() { answers <- s.browser().Post("/join", body) }()
	}
	first, second := <-answers, <-answers
	if to := first.Header().Get("Location"); !strings.HasPrefix(to, "/card/") || second.Header().Get("Location") != to {
		t.Errorf("led to %q and %q", to, second.Header().Get("Location"))
	}
	if n, sent := s.customers(), s.mailed("twice@join.example"); n != 1 || len(sent) != 1 {
		t.Errorf("%d customers, %d mails", n, len(sent))
	}
	if kept := shoptest.Query[int](s.Shop, "select count(*) from loyalty.idempotency where tenant_id = $1 and position('-'::bytea in body) > 0", s.By.Tenant.ID); kept != 0 {
		t.Errorf("%d stored responses hold a link, want none", kept)
	}
}

// "Find my card: phone or e-mail → always the same neutral answer."
func TestFindMyCard(t *testing.T) {
	t.Parallel()
	s, other := newCounter(t), newCounter(t)
	anna, theirs := s.anna(), other.anna()
	want := s.browser().Post("/join/find", webtest.Form("contact", "unknown@example.com"))
	if want.Code != http.StatusOK || want.Text(".card h1") != "Check your e-mail" {
		t.Fatalf("%d %s", want.Code, want.Text("main"))
	}
	for name, contact := range map[string]string{
		"her phone": anna.Phone, "her e-mail": strings.ToUpper(*anna.Email), "an unknown phone": shoptest.Phone(), "another business's customer": theirs.Phone,
	} {
		if got := s.browser().Post("/join/find", webtest.Form("contact", contact)); got.Code != want.Code || got.Body.String() != want.Body.String() {
			t.Errorf("%s: answered differently", name)
		}
	}
	sent := s.mailed(*anna.Email)
	if len(sent) != 2 || !strings.Contains(sent[0], strings.TrimPrefix(s.card(anna), "/card/")) {
		t.Errorf("mailed: %q", sent)
	}
	if len(s.mailed(*theirs.Email)) != 0 {
		t.Error("another business's customer got a mail")
	}
	if got := s.browser().Post("/join/find", webtest.Form("contact", "hello")); got.Code != http.StatusUnprocessableEntity || got.Text("#field-contact-error") != "Enter a valid phone number or e-mail address" {
		t.Errorf("%d %q", got.Code, got.Text(".wrong"))
	}
}

// "Joining and finding 20 per 10 minutes an address."
func TestJoiningIsLimitedByAddress(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.config.PerAddress = limit.NewWindow(20, 10*time.Minute, s.DB.Now)
	s.pages = portal.New(s.config)
	for i := range 20 {
		if got := s.browser().Post([]string{"/join", "/join/find"}[i%2], nil); got.Code != http.StatusUnprocessableEntity {
			t.Fatalf("attempt %d: %d", i+1, got.Code)
		}
	}
	for _, path := range []string{"/join", "/join/find"} {
		got := s.browser().Post(path, webtest.Form("name", "Elsa Berg", "contact", "Elsa Berg"))
		if kept := got.Find("input[value='Elsa Berg']").Length(); kept != 1 {
			t.Errorf("%s: what was typed is lost", path)
		}
		if got.Code != http.StatusTooManyRequests || got.Text(".problem") != "Too many attempts from your network. Try again in 10 minutes." || got.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %q, retry after %q", path, got.Code, got.Text(".problem"), got.Header().Get("Retry-After"))
		}
		s.browser().Get(path)
	}
}

// "Consent text of the tenant shown."
func TestTheConsentOfABusiness(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	if _, err := s.config.Tenants.EditSettings(t.Context(), s.By, tenant.SettingsEdit{
		ConsentText: core.Set("I agree to the <b>rules</b>."), PrivacyURL: core.Set("https://example.com/privacy"),
	}); err != nil {
		t.Fatal(err)
	}
	page := s.browser().Get("/join")
	if page.Text(".agreement") != "I agree to the <b>rules</b>." || page.Attr(".privacy a", "href") != "https://example.com/privacy" {
		t.Errorf("%q, %q", page.Text(".agreement"), page.Attr(".privacy a", "href"))
	}
	number := shoptest.Phone()
	s.browser().Post("/join", filled(page, "name", "Elsa Berg", "phone", number, "agreed", "1"))
	if text := shoptest.Query[string](s.Shop, "select text from loyalty.consent where tenant_id = $1 and kind = 'terms'", s.By.Tenant.ID); text != "I agree to the <b>rules</b>." {
		t.Errorf("she agreed to %q", text)
	}
}

// Before a business has chosen its country, phone numbers are compared as they are written: customers whose number has
// its country code are found, and new ones are refused, whatever their number, with nothing written.
func TestWithoutACountry(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	const email = "ida@country.example"
	ida := s.AddCustomer(customer.New{FirstName: "Ida", LastName: "Lund", Phone: "+46 70 174 06 05", Email: email})
	s.Exec("update loyalty.tenant set country = null where id = $1", s.By.Tenant.ID)
	const national, international, unknown = "070-174 06 05", "+46 (0)70 174 06 05", "+47 912 34 567"
	written := func() int {
		return shoptest.Query[int](s.Shop, `
			select (select count(*) from loyalty.customer where tenant_id = $1) + (select count(*) from loyalty.consent where tenant_id = $1)
				+ (select count(*) from loyalty.transaction where tenant_id = $1) + (select count(*) from loyalty.mail where tenant_id = $1)
				+ (select count(*) from loyalty.audit_entry where tenant_id = $1 and action <> 'pin.take')`, s.By.Tenant.ID)
	}

	shown := s.offers(2450)
	phone := s.took(shown)
	before := written()
	for _, number := range []string{national, unknown} {
		for path, browser := range map[string]*webtest.Browser{"/join": s.browser(), "/w/claim": phone} {
			got := browser.Post(path, filled(browser.Get(path), "name", "Ida Lund", "phone", number, "agreed", "1"))
			if got.Code != http.StatusUnprocessableEntity || got.Text(".problem") != walkin.ErrFull.Message || got.Value("#field-phone") != number {
				t.Errorf("%s of %s: %d %q", path, number, got.Code, got.Text("main"))
			}
		}
	}
	if n := written(); n != before || s.state(shown) != walkin.Taken {
		t.Errorf("the refused ones wrote %d records; the sale is %s", n-before, s.state(shown))
	}

	if got := phone.Post("/w/claim", filled(phone.Get("/w/claim"), "phone", international, "name", "Ida Lund", "agreed", "1")); got.Header().Get("Location") != "/w/claimed" {
		t.Errorf("a known number claims: %d %s", got.Code, got.Text("main"))
	}
	if sold := s.sales(); len(sold) != 1 || sold[0] != ida.ID {
		t.Errorf("sales of %v", sold)
	}
	again := s.browser()
	if got := again.Post("/join", filled(again.Get("/join"), "name", "Ida Lund", "phone", international, "agreed", "1")); got.Text(".card h1") != "You already have a card" {
		t.Errorf("a known number joins: %d %s", got.Code, got.Text("main"))
	}
	if sent := s.mailed(email); len(sent) != 1 {
		t.Errorf("mailed: %q", sent)
	}
	if card := s.browser().Get(s.card(ida)); !strings.Contains(card.Text("main"), "24") {
		t.Errorf("the card shows %q", card.Text("main"))
	}
}
