package customer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// browse reads the whole list, page by page, and back.
func (s shop) browse(f customer.Filter, sort core.Sort, size int) []customer.Row {
	s.T.Helper()
	return shoptest.Walk(s.T, size, func(p core.Page) (core.List[customer.Row], error) {
		return s.Customers.Browse(s.T.Context(), s.By, f, sort, p)
	})
}

func lastNames(rows []customer.Row) (names []string) {
	for _, r := range rows {
		names = append(names, r.LastName+", "+r.FirstName)
	}
	return names
}

// The list by last name, then first name, has each customer once, forward and back.
func TestBrowseByName(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	want := []string{
		"Åberg, Bo", "Andersson, Anna", "Andersson, Anna", "Andersson, Åsa", "Andersson, Bo", "de Boer, Cees", "De Boer, Dirk",
		"Öberg, Anna", "Zander, Anna",
	}
	for i, name := range want {
		last, first, _ := strings.Cut(name, ", ")
		// Not ordered by name.
		s.born(first, last, fmt.Sprintf("070 174 06 %02d", i), nil, at.Add(time.Duration(i*5%9)*time.Hour))
	}
	gone := s.born("Gone", "Abel", "070 174 07 00", nil, at)
	s.edit(gone.ID, customer.Edit{Status: core.Set("inactive")})
	for size := 1; size <= len(want)+1; size++ {
		got := lastNames(s.browse(customer.Filter{Status: new("active")}, customer.ByName, size))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %d (-want +got):\n%s", size, diff)
		}
	}
	newest := s.browse(customer.Filter{}, core.Newest, 3)
	for i := range newest[1:] {
		if newest[i].CreatedAt.Before(newest[i+1].CreatedAt) {
			t.Errorf("newest first has %s before %s", newest[i].CreatedAt, newest[i+1].CreatedAt)
		}
	}
	// A search has its own order.
	found := lastNames(s.browse(customer.Filter{Search: new("anders")}, customer.ByName, 2))
	if diff := cmp.Diff(lastNames(s.browse(customer.Filter{Search: new("anders")}, core.Newest, 3)), found); diff != "" || len(found) != 4 {
		t.Errorf("a search by name (-newest first +got):\n%s", diff)
	}
}

// An unknown order is reported with the other violations.
func TestBrowseRefuses(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, err := s.Customers.Browse(t.Context(), s.By, customer.Filter{Status: new("erased")}, "points", core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})
	shoptest.WantFields(t, err, core.Fields{
		"sort": {core.InvalidChoice}, "status": {core.InvalidChoice}, "cursor": {core.InvalidChoice},
	})
	for _, search := range []*string{nil, new("anna")} {
		_, err = s.Customers.Browse(t.Context(), s.By, customer.Filter{Search: search}, "points", core.Page{Size: 2, Counted: true, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})
		shoptest.WantFields(t, err, core.Fields{"sort": {core.InvalidChoice}, "cursor": {core.InvalidChoice}})
	}
}

// The last visit is the newest completed sale.
func TestBrowseTellsTheLastVisit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	kind := s.Points(100)
	never, once, often := s.made("070 174 06 05", nil), s.made("070 174 06 06", nil), s.made("070 174 06 07", nil)
	first := s.Sale(once.ID, kind, 100)
	s.VoidSale(s.Sale(never.ID, kind, 100).ID)
	s.Sale(often.ID, kind, 100)
	second := s.Sale(often.ID, kind, 100)
	s.VoidSale(s.Sale(often.ID, kind, 100).ID)
	want := map[core.ID]*time.Time{never.ID: nil, once.ID: &first.CreatedAt, often.ID: &second.CreatedAt}
	for name, f := range map[string]customer.Filter{"list": {}, "search": {Search: new("anna")}} {
		got := map[core.ID]*time.Time{}
		for _, r := range s.browse(f, core.Newest, 2) {
			got[r.ID] = r.LastVisit
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// "1–25 of 397": counts are exact up to a thousand, with each filter alone and combined.
func TestPlace(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for i := range 5 {
		s.born("Anna", "Lindqvist", fmt.Sprintf("070 174 06 %02d", i), new(fmt.Sprintf("anna%d@example.com", i)), at.AddDate(0, 0, i))
	}
	s.edit(s.upsert("070 174 06 00", nil).ID, customer.Edit{Status: core.Set("inactive")})
	day := func(n int) *time.Time { return new(time.Date(2026, 3, 10+n, 0, 0, 0, 0, time.UTC)) }
	for _, c := range []struct {
		name string
		f    customer.Filter
		want int64
	}{
		{"all", customer.Filter{}, 5},
		{"active", customer.Filter{Status: new("active")}, 4},
		{"phone", customer.Filter{Phone: new("+46701740603")}, 1},
		{"e-mail", customer.Filter{Email: new("ANNA3@example.com")}, 1},
		{"days", customer.Filter{CreatedFrom: day(1), CreatedTo: day(2)}, 2},
		{"search", customer.Filter{Search: new("lindq")}, 5},
		{"search of two letters", customer.Filter{Search: new("qv")}, 5},
		{"search and all else", customer.Filter{Search: new("lindq"), Status: new("active"), CreatedFrom: day(0), CreatedTo: day(2)}, 2},
		{"no match", customer.Filter{Search: new("zzz")}, 0},
	} {
		s.counted(c.name, c.f, c.want, false)
	}
	s.crowd(1_000)
	s.counted("1,005", customer.Filter{}, 1_000, true)
	s.counted("1,004 active", customer.Filter{Status: new("active")}, 1_000, true)
	s.counted("1,000 exactly", customer.Filter{Search: new("crowd")}, 1_000, false)
	s.counted("1,005 by search", customer.Filter{Search: new("070")}, 1_000, true)
}

// counted compares counted pages with plain ones: the first, the second and the first again, of several
// sizes and in each order.
func (s shop) counted(name string, f customer.Filter, total int64, more bool) {
	s.T.Helper()
	for _, sort := range []core.Sort{core.Newest, customer.ByName} {
		for _, size := range []int{1, 2, 5, 100} {
			page, first := core.Page{Size: size}, int64(1)
			for n := range 3 {
				page.Counted = false
				want, err := s.Customers.Browse(s.T.Context(), s.By, f, sort, page)
				if err != nil {
					s.T.Fatal(err)
				}
				if len(want.Items) > 0 {
					want.Place = &core.Place{First: first, Total: total, More: more}
				}
				page.Counted = true
				got, err := s.Customers.Browse(s.T.Context(), s.By, f, sort, page)
				if err != nil {
					s.T.Fatal(err)
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					s.T.Errorf("%s by %s, page %d of %d (-plain +counted):\n%s", name, sort, n, size, diff)
				}
				page.Cursor = got.Next
				first += int64(size)
				if got.Next == nil {
					page.Cursor = got.Prev
					first = max(first-2*int64(size), 1)
				}
			}
		}
	}
}

// crowd creates many customers, Nomen Crowd, one second after another.
func (s shop) crowd(n int) {
	s.T.Helper()
	const some = 3_000
	for from := 1; from <= n; from += some {
		_, err := dbtest.Owner(s.DB).Exec(s.T.Context(), `
		with made as (
			insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
			select $1, loyalty.new_ulid(now()), 'Nomen', 'Crowd', '0709' || lpad(n::text, 6, '0'), '+46709' || lpad(n::text, 6, '0'),
				now() + n * interval '1 second', now()
			from generate_series($2::int, $3) n
			returning tenant_id, id
		)
		insert into loyalty.account (tenant_id, customer_id)
		select tenant_id, id
		from made`, s.By.Tenant.ID, from, min(n, from+some-1))
		s.Check(err)
	}
}

// A search finds matches behind thousands of other customers, with search terms of any length.
func TestSearchFindsRareMatches(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	first := s.made("08-123 456 78", new("zoë%x@example.com"))
	s.edit(first.ID, customer.Edit{FirstName: core.Set("Wolfgang"), LastName: core.Set("Ł Kvzq-李")})
	s.crowd(11_000) // page and reach of the search
	for _, needle := range []string{
		"z", "zq", "Ł", "李", "-李", "%", "%x", "ë", "wolf", "lfgang Ł kv", "08-123 4", "08 1234", "+46 8 123", "0046 8-12 34", "wolfgang",
	} {
		for name, f := range map[string]customer.Filter{
			"search": {Search: &needle}, "active": {Search: &needle, Status: new("active")}, "e-mail": {Search: &needle, Email: new("zoë%x@example.com")},
		} {
			if got := s.names(f); !slices.Equal(got, []string{"Wolfgang"}) {
				t.Errorf("%s %q finds %d: %.3q", name, needle, len(got), got)
			}
		}
	}
}

// A search finds phone numbers in any notation.
func TestASearchComparesDigits(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	s.born("Anna", "Abroad", "+46 70 112 34 56", nil, at)
	s.born("Bo", "Home", "070-999 11 22", new("1985-04@example.com"), at.Add(time.Hour))
	s.born("Cees", "Dutch", "0031 6 1234 5678", nil, at.Add(2*time.Hour))
	for needle, want := range map[string][]string{
		"070-112":         {"Anna"},
		"０７０１１２":          {"Anna"},
		"070112":          {"Anna"},
		"0 70 11 23":      {"Anna"},
		"(070) 112 34 56": {"Anna"},
		"+4670112":        {"Anna"},
		"+46 70-112":      {"Anna"},
		"0046 70 112":     {"Anna"},
		"70 112":          {"Anna"},
		"112-34":          {"Anna"},
		"112.34.56":       {"Anna"},
		"070":             {"Bo", "Anna"},
		"070 999 1122":    {"Bo"},
		"+46 70 99":       {"Bo"},
		"9911":            {"Bo"},
		"1985-04":         {"Bo"},
		"198504":          nil, // digits are compared with phone numbers
		"+31 6":           {"Cees"},
		"00316":           {"Cees"},
		"61234":           {"Cees"},
		"070-113":         nil,
		"+":               {"Cees", "Bo", "Anna"}, // as every number is compared
	} {
		if diff := cmp.Diff(want, s.names(customer.Filter{Search: &needle})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", needle, diff)
		}
	}
	nowhere := newShop(t).in("")
	nowhere.born("Dan", "Nowhere", "070-112 34 56", nil, at)
	for _, needle := range []string{"070 112", "07011", "112 34"} {
		if diff := cmp.Diff([]string{"Dan"}, nowhere.names(customer.Filter{Search: &needle})); diff != "" {
			t.Errorf("of no country, %q (-want +got):\n%s", needle, diff)
		}
	}
}

// No tenant sees another's customers, and cashiers can look customers up.
func TestBrowseIsOfOneTenant(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	s.made("070 174 06 05", new("anna@example.com"))
	for _, f := range []customer.Filter{{}, {Search: new("anna")}, {Search: new("qv")}, {Search: new("070-174")}, {Phone: new("070 174 06 05")}} {
		for _, sort := range []core.Sort{core.Newest, customer.ByName} {
			if got := stranger.browse(f, sort, 2); got != nil {
				t.Errorf("a stranger finds %v", got)
			}
			if got := s.as(core.Cashier).browse(f, sort, 2); len(got) != 1 {
				t.Errorf("a cashier finds %v", got)
			}
		}
		if l, err := stranger.Customers.Browse(t.Context(), stranger.By, f, core.Newest, core.Page{Size: 2, Counted: true}); err != nil || l.Place != nil || len(l.Items) != 0 {
			t.Errorf("a stranger finds %v of %v, %v", l.Items, l.Place, err)
		}
	}
}

// Cashiers add customers; managers do the rest.
func TestRolesOfCustomers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	known := s.made("070 174 06 05", nil)
	cashier, manager := s.as(core.Cashier), s.as(core.Manager)
	if _, err := core.Result(cashier.Customers.Upsert(t.Context(), cashier.By, described("070 174 06 06", nil), nil)); err != nil {
		t.Errorf("a cashier adds a customer: %v", err)
	}
	edit := customer.Edit{Status: core.Set("inactive")}
	if _, err := cashier.Customers.Edit(t.Context(), cashier.By, known.ID, edit); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier's edit = %v, want ErrRole", err)
	}
	if _, err := manager.Customers.Edit(t.Context(), manager.By, known.ID, edit); err != nil {
		t.Errorf("a manager's edit: %v", err)
	}
	token := s.By
	token.Kind, token.Role = core.ByToken, core.Cashier
	if _, err := s.Customers.Edit(t.Context(), token, known.ID, edit); err != nil {
		t.Errorf("a token's edit, which its abilities allow: %v", err)
	}
}
