package portal_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/web/portal"
)

// filled is the page's form as a customer sends it: what it carries unseen, and what was typed.
func filled(a answer, pairs ...string) string {
	v := url.Values{}
	for _, hidden := range a.Find("form input[type=hidden]").EachIter() {
		v.Set(hidden.AttrOr("name", ""), hidden.AttrOr("value", ""))
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v.Encode()
}

func mobile() string { return fmt.Sprintf("070 %07d", phones.Add(1)) }

// letters are what was mailed to an address.
func (s *shop) letters(t *testing.T, to string) (texts []string) {
	t.Helper()
	rows, err := dbtest.Owner(s.db).Query(t.Context(), "select text from loyalty.mail where recipient = $1 order by id", to)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	return texts
}

func (s *shop) customers(t *testing.T) (n int) {
	t.Helper()
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from loyalty.customer where tenant_id = $1", s.by.Tenant.ID).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// "`/join` …: name, phone, e-mail, consent; lands on the card page"; "two fields, no box
// ticked beforehand".
func TestJoin(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.reward(t, reward.New{Name: new("Filter coffee"), PointsCost: new(int64(80))})
	page := s.get(t, "/join")
	page.wellFormed(t)
	if page.words(".hero h1") != "Collect points with every visit" || page.words(".hero-words") != "1 point for every € 1.00. Filter coffee for 80 points." {
		t.Errorf("it offers %q, %q", page.words(".hero h1"), page.words(".hero-words"))
	}
	if page.Find("input[checked]").Length() != 0 || page.Find("input[type=checkbox]").Length() != 2 {
		t.Error("a box is ticked beforehand, or missing")
	}
	if got := page.words(".agreement"); got != tenant.DefaultConsent(s.by.Tenant.Name) {
		t.Errorf("customers agree to %q", got)
	}
	const email = "elsa@join.example"
	number := mobile()
	joined := s.post(t, "/join", filled(page, "name", " Elsa Maria  Berg ", "phone", number, "email", email, "agreed", "1"))
	card := joined.Header().Get("Location")
	if joined.Code != http.StatusSeeOther || !strings.HasPrefix(card, "/card/") {
		t.Fatalf("%d to %q: %s", joined.Code, card, joined.words("main"))
	}
	if got := s.get(t, card).words(".wallet-name"); got != "Elsa Maria Berg" {
		t.Errorf("the card is %q's", got)
	}
	if sent := s.letters(t, email); len(sent) != 1 || !strings.Contains(sent[0], strings.TrimPrefix(card, "/card/")) || !strings.Contains(sent[0], "New:true") {
		t.Errorf("mailed: %q", sent)
	}
	found, err := s.Customers.Upsert(t.Context(), s.by, customer.New{FirstName: new("Elsa"), LastName: new("Berg"), Phone: &number})
	if err != nil || found.Created || found.FirstName != "Elsa Maria" || found.LastName != "Berg" || found.UnsubscribedAt == nil {
		t.Errorf("made %+v (%v); without the box she gets no offers", found, err)
	}
}

// Customers who ask for offers get them.
func TestJoinWithOffers(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	page, number := s.get(t, "/join"), mobile()
	refused := s.post(t, "/join", filled(page, "name", "Bo Ek", "phone", number, "agreed", "1", "offers", "1"))
	if refused.Code != http.StatusUnprocessableEntity || refused.words("#field-email-error") != "Enter an e-mail address" || refused.Find("#field-offers[checked]").Length() != 1 {
		t.Errorf("offers without an address: %d %q", refused.Code, refused.words(".wrong"))
	}
	if got := s.post(t, "/join", filled(refused, "name", "Bo Ek", "phone", number, "email", "bo@offers.example", "agreed", "1", "offers", "1")); got.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", got.Code, got.words(".wrong"))
	}
	found, err := s.Customers.Upsert(t.Context(), s.by, customer.New{FirstName: new("Bo"), LastName: new("Ek"), Phone: &number})
	if err != nil || found.Created || !s.subscribed(t, found.ID) {
		t.Errorf("%+v %v", found, err)
	}
}

// What is missing or wrong is said beside its field, and what was typed is kept.
func TestJoinIsRefused(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	page := s.get(t, "/join")
	for name, c := range map[string]struct {
		fields []string
		want   map[string]string
	}{
		"nothing": {nil, map[string]string{
			"name": "Enter your first and last name", "phone": "Enter a phone number", "agreed": "Tick this box to continue",
		}},
		"a single name":   {[]string{"name", "Elsa", "phone", mobile(), "agreed", "1"}, map[string]string{"name": "Enter your first and last name"}},
		"no number":       {[]string{"name", "Elsa Berg", "phone", "soon", "agreed", "1"}, map[string]string{"phone": "Enter a valid phone number"}},
		"no address":      {[]string{"name", "Elsa Berg", "phone", mobile(), "email", "elsa", "agreed", "1"}, map[string]string{"email": "Enter a valid e-mail address"}},
		"no consent":      {[]string{"name", "Elsa Berg", "phone", mobile()}, map[string]string{"agreed": "Tick this box to continue"}},
		"other words":     {[]string{"name", "Elsa Berg", "phone", mobile(), "agreed", "1", "terms", "0"}, map[string]string{"agreed": "Tick this box to continue"}},
		"a long name":     {[]string{"name", strings.Repeat("x", 101) + " Berg", "phone", mobile(), "agreed", "1"}, map[string]string{"name": "Use at most 100 characters"}},
		"more than a man": {[]string{"name", "<b>Elsa</b>", "phone", mobile(), "agreed", "1"}, map[string]string{"name": "Enter your first and last name"}},
	} {
		got := s.post(t, "/join", filled(page, c.fields...))
		if got.Code != http.StatusUnprocessableEntity || got.Find(".wrong").Length() != len(c.want) {
			t.Errorf("%s: %d %q", name, got.Code, got.words(".wrong"))
		}
		for field, want := range c.want {
			if words := got.words("#field-" + field + "-error"); words != want {
				t.Errorf("%s: %s says %q, want %q", name, field, words, want)
			}
			if got.words(".problem a[href='#field-"+field+"']") != want {
				t.Errorf("%s: the head doesn't lead to %s", name, field)
			}
		}
		for i := 0; i+1 < len(c.fields); i += 2 {
			if kept := got.Find("input[type!=checkbox][type!=hidden][name=" + c.fields[i] + "]"); kept.Length() == 1 && kept.AttrOr("value", "") != c.fields[i+1] {
				t.Errorf("%s: %s is kept as %q", name, c.fields[i], kept.AttrOr("value", ""))
			}
		}
	}
	if n := s.customers(t); n != 0 {
		t.Errorf("%d customers were made", n)
	}
}

// "Existing customers are found, and learn nothing about the account of anyone else (the card
// link goes to the e-mail on file when contact details alone were given)."
func TestJoiningTwiceShowsNothing(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna(t)
	s.sell(t, anna.ID, 12_400)
	page := s.get(t, "/join")
	mailed := s.post(t, "/join", filled(page, "name", "Eve Evil", "phone", anna.Phone, "email", "eve@evil.example", "agreed", "1"))
	if mailed.words(".card h1") != "You already have a card" || mailed.words(".card p") != s.by.Tenant.Name+" "+portal.CardMailed {
		t.Errorf("with an address on file: %d %q", mailed.Code, mailed.words(".card"))
	}
	without, err := s.Customers.Upsert(t.Context(), s.by, customer.New{FirstName: new("Nils"), LastName: new("Holm"), Phone: new(mobile())})
	if err != nil {
		t.Fatal(err)
	}
	ask := s.post(t, "/join", filled(s.get(t, "/join"), "name", "Eve Evil", "phone", without.Phone, "agreed", "1"))
	if ask.words(".card p") != s.by.Tenant.Name+" Ask at the till to open it." {
		t.Errorf("without one: %d %q", ask.Code, ask.words(".card"))
	}
	for _, got := range []answer{mailed, ask} {
		for _, secret := range []string{"Anna", "Nils", "124", "/card/", *anna.Email} {
			if strings.Contains(got.Body.String(), secret) {
				t.Errorf("the page tells %q", secret)
			}
		}
	}
	if len(s.letters(t, "eve@evil.example")) != 0 {
		t.Error("the link went to an address that was typed")
	}
	if sent := s.letters(t, *anna.Email); len(sent) != 1 || !strings.Contains(sent[0], "New:false") {
		t.Errorf("mailed to the address on file: %q", sent)
	}
}

// A double press of the button leads to the card, as a single one does.
func TestPressedTwiceOneCustomerJoins(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	body := filled(s.get(t, "/join"), "name", "Elsa Berg", "phone", mobile(), "email", "twice@join.example", "agreed", "1")
	answers := make(chan answer, 2)
	for range 2 {
		go func() { answers <- s.post(t, "/join", body) }()
	}
	first, second := <-answers, <-answers
	if to := first.Header().Get("Location"); !strings.HasPrefix(to, "/card/") || second.Header().Get("Location") != to {
		t.Errorf("led to %q and %q", to, second.Header().Get("Location"))
	}
	if n, sent := s.customers(t), s.letters(t, "twice@join.example"); n != 1 || len(sent) != 1 {
		t.Errorf("%d customers, %d mails", n, len(sent))
	}
	var kept int
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from loyalty.idempotency where tenant_id = $1 and position('-'::bytea in body) > 0", s.by.Tenant.ID).Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d answers hold a link (%v), which is stored nowhere", kept, err)
	}
}

// "Find my card: phone or e-mail → always the same neutral answer."
func TestFindMyCard(t *testing.T) {
	t.Parallel()
	s, other := newCounter(t), newCounter(t)
	anna, theirs := s.anna(t), other.anna(t)
	want := s.post(t, "/join/find", "contact=unknown%40example.com")
	if want.Code != http.StatusOK || want.words(".card h1") != "Check your e-mail" {
		t.Fatalf("%d %s", want.Code, want.words("main"))
	}
	for name, contact := range map[string]string{
		"her phone": anna.Phone, "her e-mail": strings.ToUpper(*anna.Email), "an unknown phone": mobile(), "another business's customer": theirs.Phone,
	} {
		if got := s.post(t, "/join/find", url.Values{"contact": {contact}}.Encode()); got.Code != want.Code || got.Body.String() != want.Body.String() {
			t.Errorf("%s: answered differently", name)
		}
	}
	sent := s.letters(t, *anna.Email)
	if len(sent) != 2 || !strings.Contains(sent[0], strings.TrimPrefix(s.card(t, anna), "/card/")) {
		t.Errorf("mailed: %q", sent)
	}
	if len(s.letters(t, *theirs.Email)) != 0 {
		t.Error("another business's customer got a mail")
	}
	if got := s.post(t, "/join/find", "contact=hello"); got.Code != http.StatusUnprocessableEntity || got.words("#field-contact-error") != "Enter a valid phone number or e-mail address" {
		t.Errorf("%d %q", got.Code, got.words(".wrong"))
	}
}

// "Joining and finding 20 per 10 minutes an address."
func TestJoiningIsLimitedByAddress(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.PerAddress = limit.NewWindow(20, 10*time.Minute, s.db.Now)
	s.pages = portal.New(s.Config)
	for i := range 20 {
		if got := s.post(t, []string{"/join", "/join/find"}[i%2], ""); got.Code != http.StatusUnprocessableEntity {
			t.Fatalf("attempt %d: %d", i+1, got.Code)
		}
	}
	for _, path := range []string{"/join", "/join/find"} {
		got := s.post(t, path, "name=Elsa+Berg&contact=Elsa+Berg")
		if kept := got.Find("input[value='Elsa Berg']").Length(); kept != 1 {
			t.Errorf("%s: what was typed is lost", path)
		}
		if got.Code != http.StatusTooManyRequests || got.words(".problem") != "Too many attempts from your network. Try again in 10 minutes." || got.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %q, retry after %q", path, got.Code, got.words(".problem"), got.Header().Get("Retry-After"))
		}
		s.get(t, path)
	}
}

// "Consent text of the tenant shown."
func TestTheConsentOfABusiness(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	if _, err := s.Tenants.EditSettings(t.Context(), s.by, tenant.SettingsEdit{
		ConsentText: core.Set("I agree to the <b>rules</b>."), PrivacyURL: core.Set("https://example.com/privacy"),
	}); err != nil {
		t.Fatal(err)
	}
	page := s.get(t, "/join")
	if page.words(".agreement") != "I agree to the <b>rules</b>." || page.Find(".privacy a").AttrOr("href", "") != "https://example.com/privacy" {
		t.Errorf("%q, %q", page.words(".agreement"), page.Find(".privacy a").AttrOr("href", ""))
	}
	number := mobile()
	s.post(t, "/join", filled(page, "name", "Elsa Berg", "phone", number, "agreed", "1"))
	var text string
	err := dbtest.Owner(s.db).QueryRow(t.Context(), "select text from loyalty.consent where tenant_id = $1 and kind = 'terms'", s.by.Tenant.ID).Scan(&text)
	if err != nil || text != "I agree to the <b>rules</b>." {
		t.Errorf("she agreed to %q (%v)", text, err)
	}
}
