package portal_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/transaction"
)

// onDay is the counter at noon of a day. Its pages know the rules of now.
func (s counter) onDay(day string) counter {
	s.T.Helper()
	at, err := time.ParseInLocation(time.DateOnly, day, s.By.Tenant.TimeZone)
	s.Check(err)
	return counter{s.at(at.Add(12 * time.Hour)), s.cashier, s.kind}
}

// The card says what expires within 60 days, and leads to the history: every change in words, what expires when, and the rule.
func TestHistoryOfACard(t *testing.T) {
	t.Parallel()
	s := newCounter(t).onDay("2027-01-10")
	branch, err := core.Result(s.Locations.Add(t.Context(), s.By, location.New{Name: "Söder <i>"}, nil))
	s.Check(err)
	anna := s.anna()
	s.Shop = s.ExpireAfter(ledger.Points, 1, core.ToMonth)
	there, err := core.Result(s.Sales.Record(t.Context(), s.By, transaction.Sale{
		CustomerID: anna.ID, TransactionTypeID: s.kind.ID, SpendAmountCents: 4000, LocationID: &branch.ID, Source: transaction.POS,
	}, nil, nil))
	s.Check(err)
	s.Shop = s.ExpireAfter(ledger.Points, 12, core.ToMonth)
	s.Sale(anna.ID, s.kind, 500)
	s.Must(core.Result(s.Customers.Adjust(t.Context(), s.By, anna.ID, customer.Adjustment{Unit: "points", Amount: 3, Reason: "Sorry <b>", Lasts: true}, nil)))
	s.Sale(anna.ID, s.Stamps(), 100)

	s = s.onDay("2027-01-12")
	card := s.browser().Get(s.card(anna))
	wellFormed(t, card)
	if got := card.Text(".wallet-ends"); got != "40 points expire on 28 Feb" {
		t.Errorf("the card says %q", got)
	}
	if to := card.Attr(".wallet-ends a", "href"); to != s.card(anna)+"/history" || card.Attr(".row-alone", "href") != to {
		t.Errorf("the card leads to %q", to)
	}
	history := s.browser().Get(s.card(anna) + "/history")
	wellFormed(t, history)
	if got := history.Text(".expiring h2"); got != "Points that expire" {
		t.Errorf("the heading is %q", got)
	}
	for selector, want := range map[string][]string{
		".ends > div":      {"28 Feb 2027 40 points", "31 Jan 2028 5 points", "Doesn't expire 3 points"},
		".expiring .quiet": {"Points can be spent for 12 months after you earn them, until the end of that month."},
		".change-what b":   {"Earned", "Balance adjusted", "Earned", "Earned"},
		".change-amount b": {"+1 stamp", "+3 points", "+5 points", "+40 points"},
	} {
		if got := history.Texts(selector); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", selector, got, want)
		}
	}
	notes := history.Texts(".change-what > span")
	if len(notes) != 4 || notes[1] != "10 Jan 2027 · Sorry <b>" || notes[3] != "10 Jan 2027 · Sale of € 40.00 · Söder <i>" {
		t.Errorf("the notes are %q", notes)
	}

	// When the day has passed, a void returns what had expired.
	s = s.onDay("2027-03-02")
	s.VoidSale(there.ID)
	after := s.browser().Get(s.card(anna) + "/history")
	if got := after.Texts(".changes li"); len(got) != 6 || !strings.HasPrefix(got[0], "Sale voided 2 Mar 2027 · Sale of € 40.00 · 40 of its 40 points had expired · Söder <i>") ||
		!strings.HasPrefix(got[1], "Expired 2 Mar 2027 · Last day 28 Feb 2027 −40 points") {
		t.Errorf("after the void: %q", got)
	}
	if card := s.browser().Get(s.card(anna)); card.Find(".wallet-ends").Length() != 0 {
		t.Errorf("nothing expires soon, and the card says %q", card.Text(".wallet-ends"))
	}
}

// A history is read page by page, and an address that was cut or changed is no page.
func TestPagesOfAHistory(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	for cents := range int64(30) {
		s.Sale(anna.ID, s.kind, 100+100*cents)
	}
	path := s.card(anna) + "/history"
	first := s.browser().Get(path)
	older := s.browser().Get(first.Attr("a[rel=next]", "href"))
	if a, b := len(first.Texts(".changes li")), len(older.Texts(".changes li")); a != 25 || b != 5 || older.Find("a[rel=next]").Length() != 0 {
		t.Errorf("pages of %d and %d", a, b)
	}
	if back := s.browser().Get(older.Attr("a[rel=prev]", "href")); len(back.Texts(".changes li")) != 25 || first.Find("a[rel=prev]").Length() != 0 {
		t.Error("the way back is another page")
	}
	if got := s.browser().Ask(http.MethodGet, path+"?cursor=x"); got.Code != http.StatusNotFound {
		t.Errorf("a wrong cursor: %d", got.Code)
	}
	if got := first.Header(); got.Get("Cache-Control") != "no-store" || !strings.Contains(got.Get("X-Robots-Tag"), "noindex") {
		t.Errorf("headers: %v", got)
	}
	if rules := first.Texts(".expiring .quiet"); len(rules) != 1 || rules[0] != "Points don't expire." || first.Find(".ends").Length() != 0 {
		t.Errorf("where nothing expires: %q", rules)
	}
	empty := s.browser().Get(s.card(s.anna()) + "/history")
	if empty.Find(".changes").Length() != 0 || !strings.Contains(empty.Text("main"), "Nothing here yet") {
		t.Errorf("without an entry: %q", empty.Text("main"))
	}
}

// An erased customer's card has no history, and no history has names.
func TestAHistoryHasNoNames(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna, twin := s.anna(), s.anna()
	s.Sale(twin.ID, s.kind, 500)
	s.Must(core.Result(s.Merging.Merge(t.Context(), s.By, anna.ID, twin.ID, nil, nil)))
	path := s.card(anna) + "/history"
	got := s.browser().Get(path)
	if !strings.Contains(got.Text(".changes"), "Moved from another card") {
		t.Errorf("the merge is %q", got.Text(".changes"))
	}
	for _, secret := range []string{"Anna", "qvist", s.By.Name} {
		if strings.Contains(got.Text("main"), secret) {
			t.Errorf("the history tells %q", secret)
		}
	}
	s.Must(s.Privacy.Erase(t.Context(), s.By, anna.ID))
	if got := s.browser().Ask(http.MethodGet, path); got.Code != http.StatusNotFound {
		t.Errorf("of an erased customer: %d", got.Code)
	}
}
