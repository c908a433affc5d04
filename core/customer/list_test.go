package customer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// born creates a customer at an exact instant.
func (s shop) born(first, last, phone string, email *string, at time.Time) customer.Customer {
	s.T.Helper()
	c, err := core.Result(s.Customers.Upsert(s.T.Context(), s.By, customer.New{FirstName: first, LastName: last, Phone: phone, Email: core.OrZero(email)}, nil))
	s.Check(err)
	s.Exec("update loyalty.customer set created_at = $3 where tenant_id = $1 and id = $2", s.By.Tenant.ID, c.ID, at)
	return s.find(c.ID)
}

// names returns the first names of the customers that match a filter.
func (s shop) names(f customer.Filter) []string {
	s.T.Helper()
	all := shoptest.Walk(s.T, 2, func(p core.Page) (core.List[customer.Customer], error) {
		return s.Customers.List(s.T.Context(), s.By, f, p)
	})
	return shoptest.Keys(all, func(c customer.Customer) string { return c.FirstName })
}

// Each filter, alone and combined.
func TestFilters(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
	local := func(month time.Month, d int) *time.Time {
		return new(time.Date(2026, month, d, 0, 0, 0, 0, time.UTC))
	}
	s.born("Åsa", "Öberg", "070 174 06 01", new("asa@example.com"), day(0))
	s.born("ANDERS", "Ångström", "+46 70 174 06 02", new("Anders_50%@Example.com"), day(1))
	s.born("Bo", `Back\slash`, "08-123 456", nil, day(2))
	s.born("Cecilia", "von Åkern", "0045 32 12 34 56", new("cecilia@example.dk"), day(3))
	gone := s.born("Dan", "Berg", "070 174 06 05", new("dan@example.com"), day(4))
	s.edit(gone.ID, customer.Edit{Status: core.Set("inactive")})
	stranger := newShop(t)
	stranger.born("Stranger", "Öberg", "070 174 06 01", new("asa@example.com"), day(0))

	everybody := []string{"Dan", "Cecilia", "Bo", "ANDERS", "Åsa"}
	for _, c := range []struct {
		name string
		f    customer.Filter
		want []string
	}{
		{"all", customer.Filter{}, everybody},
		{"blank filters pick all", customer.Filter{Phone: new(""), Email: new(" "), Search: new("")}, everybody},

		{"phone", customer.Filter{Phone: new("070 174 06 01")}, []string{"Åsa"}},
		{"phone, otherwise written", customer.Filter{Phone: new("+46701740601")}, []string{"Åsa"}},
		{"unknown phone", customer.Filter{Phone: new("070 174 06 09")}, nil},
		{"e-mail", customer.Filter{Email: new("dan@example.com")}, []string{"Dan"}},
		{"e-mail in capitals", customer.Filter{Email: new("ANDERS_50%@EXAMPLE.COM")}, []string{"ANDERS"}},
		{"part of an e-mail is none", customer.Filter{Email: new("dan@example")}, nil},
		{"active", customer.Filter{Status: new("active")}, everybody[1:]},
		{"inactive", customer.Filter{Status: new("inactive")}, []string{"Dan"}},
		{"from", customer.Filter{CreatedFrom: local(3, 12)}, []string{"Dan", "Cecilia", "Bo"}},
		{"to", customer.Filter{CreatedTo: local(3, 12)}, []string{"Bo", "ANDERS", "Åsa"}},
		{"one day", customer.Filter{CreatedFrom: local(3, 12), CreatedTo: local(3, 12)}, []string{"Bo"}},
		{"no day", customer.Filter{CreatedFrom: local(4, 1)}, nil},

		{"part of a first name", customer.Filter{Search: new("ders")}, []string{"ANDERS"}},
		{"part of a last name", customer.Filter{Search: new("berg")}, []string{"Dan", "Åsa"}},
		{"across both names", customer.Filter{Search: new("sa öb")}, []string{"Åsa"}},
		{"lower for upper", customer.Filter{Search: new("å")}, []string{"Cecilia", "ANDERS", "Åsa"}},
		{"upper for lower", customer.Filter{Search: new("ÅSA ÖBERG")}, []string{"Åsa"}},
		{"names in any order", customer.Filter{Search: new("öberg  ås")}, []string{"Åsa"}},
		{"name and e-mail", customer.Filter{Search: new("example öberg")}, []string{"Åsa"}},
		{"every word", customer.Filter{Search: new("öberg anders")}, nil},
		{"phone as written", customer.Filter{Search: new("174 06 0")}, []string{"Dan", "ANDERS", "Åsa"}},
		{"phone as dialled", customer.Filter{Search: new("+4532123456")}, []string{"Cecilia"}},
		{"part of an e-mail", customer.Filter{Search: new("@EXAMPLE.c")}, []string{"Dan", "ANDERS", "Åsa"}},
		{"a letter", customer.Filter{Search: new("o")}, []string{"Dan", "Cecilia", "Bo", "ANDERS", "Åsa"}},
		{"percent is a character", customer.Filter{Search: new("%")}, []string{"ANDERS"}},
		{"and so is underscore", customer.Filter{Search: new("_")}, []string{"ANDERS"}},
		{"both", customer.Filter{Search: new("_50%@")}, []string{"ANDERS"}},
		{"and backslash", customer.Filter{Search: new(`\`)}, []string{"Bo"}},
		{"backslash within", customer.Filter{Search: new(`k\S`)}, []string{"Bo"}},
		{"quotes", customer.Filter{Search: new(`'; drop table loyalty.customer; --`)}, nil},
		{"no match", customer.Filter{Search: new("zzz")}, nil},

		{"search and status", customer.Filter{Search: new("berg"), Status: new("active")}, []string{"Åsa"}},
		{"search and phone", customer.Filter{Search: new("berg"), Phone: new("070 174 06 05")}, []string{"Dan"}},
		{"search and e-mail", customer.Filter{Search: new("berg"), Email: new("ASA@example.com")}, []string{"Åsa"}},
		{"search and days", customer.Filter{Search: new("å"), CreatedFrom: local(3, 11), CreatedTo: local(3, 12)}, []string{"ANDERS"}},
		{"search, contradicted", customer.Filter{Search: new("berg"), Phone: new("08-123 456")}, nil},
		{"all but search", customer.Filter{
			Phone: new("070 174 06 05"), Email: new("dan@example.com"), Status: new("inactive"), CreatedFrom: local(3, 14), CreatedTo: local(3, 14),
		}, []string{"Dan"}},
		{"all", customer.Filter{
			Phone: new("070 174 06 05"), Email: new("dan@example.com"), Status: new("inactive"), CreatedFrom: local(3, 14), CreatedTo: local(3, 14),
			Search: new("n b"),
		}, []string{"Dan"}},
	} {
		if diff := cmp.Diff(c.want, s.names(c.f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// All invalid filters are reported at once.
func TestFiltersRefuse(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	may, june := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	_, err := s.Customers.List(t.Context(), s.By, customer.Filter{
		Phone: new("1"), Email: new(strings.Repeat("a", 256)), Search: new("a\x00b"), Status: new("erased"), CreatedFrom: &june, CreatedTo: &may,
	}, core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})
	shoptest.WantFields(t, err, core.Fields{
		"phone":      {core.MustBePhone},
		"email":      {core.MaxLength(255)},
		"search":     {core.NoNUL},
		"status":     {core.InvalidChoice},
		"created_to": {core.AfterOrEqual("created_from")},
		"cursor":     {core.InvalidChoice},
	})
}

// A range is of whole days in the tenant's time zone, also with 23 or 25 hours.
func TestDaysAreInTheTenantsZone(t *testing.T) {
	t.Parallel()
	const stockholm = "Europe/Stockholm" // one hour ahead of UTC in winter, two in summer
	for i, c := range []struct {
		name        string
		zone        string
		year        int
		month       time.Month
		day         int
		first, next string // the day's first instant, and the next one's
	}{
		{"into summer, 23 hours", stockholm, 2026, 3, 29, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		{"into winter, 25 hours", stockholm, 2026, 10, 25, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},
		{"an ordinary day", stockholm, 2026, 6, 10, "2026-06-09T22:00:00Z", "2026-06-10T22:00:00Z"},
		{"a day without midnight", "America/Santiago", 2026, 9, 6, "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"},
	} {
		s := newShop(t)
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		s.By.Tenant.TimeZone = zone
		first, err := time.Parse(time.RFC3339, c.first)
		if err != nil {
			t.Fatal(err)
		}
		next, err := time.Parse(time.RFC3339, c.next)
		if err != nil {
			t.Fatal(err)
		}
		for j, at := range []struct {
			name string
			at   time.Time
		}{{"before", first.Add(-time.Millisecond)}, {"first", first}, {"last", next.Add(-time.Millisecond)}, {"after", next}} {
			s.born(at.name, "Day", fmt.Sprintf("070 17%d 00 0%d", i, j), nil, at.at)
		}
		day := time.Date(c.year, c.month, c.day, 0, 0, 0, 0, time.UTC)
		for _, f := range []customer.Filter{
			{CreatedFrom: &day, CreatedTo: &day},
			{CreatedFrom: &day, CreatedTo: &day, Search: new("day")},
		} {
			if diff := cmp.Diff([]string{"last", "first"}, s.names(f)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		}
	}
}

// Pages have each customer once, forward and back, also with many created at one instant.
func TestListInPages(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	instant := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	var made []customer.Customer
	for i := range 11 {
		// Several in one millisecond, not ordered by id.
		made = append(made, s.born(fmt.Sprint("C", i), "Walk", fmt.Sprintf("070 174 06 %02d", i), nil, instant.Add(time.Duration(i*7%4)*time.Millisecond)))
	}
	slices.SortFunc(made, func(a, b customer.Customer) int {
		if c := b.CreatedAt.Compare(a.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(b.ID.String(), a.ID.String())
	})
	var want []core.ID
	for _, c := range made {
		want = append(want, c.ID)
	}
	for name, f := range map[string]customer.Filter{"list": {}, "filtered": {Status: new("active")}, "search": {Search: new("walk")}} {
		for size := 1; size <= 12; size++ {
			got := shoptest.Walk(t, size, func(p core.Page) (core.List[customer.Customer], error) {
				return s.Customers.List(t.Context(), s.By, f, p)
			})
			if diff := cmp.Diff(want, shoptest.Keys(got, func(c customer.Customer) core.ID { return c.ID })); diff != "" {
				t.Errorf("%s in pages of %d (-want +got):\n%s", name, size, diff)
			}
		}
	}
}

// A new customer shifts no page.
func TestAPageStaysWhereItWas(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for i := range 4 {
		s.made(fmt.Sprintf("070 174 06 0%d", i), nil)
		dbtest.Tick(s.DB)
	}
	first, err := s.Customers.List(t.Context(), s.By, customer.Filter{}, core.Page{Size: 2})
	s.Check(err)
	s.made("070 174 06 09", nil)
	second, err := s.Customers.List(t.Context(), s.By, customer.Filter{}, core.Page{Size: 2, Cursor: first.Next})
	s.Check(err)
	got := []string{first.Items[0].Phone, first.Items[1].Phone, second.Items[0].Phone, second.Items[1].Phone}
	want := []string{"070 174 06 03", "070 174 06 02", "070 174 06 01", "070 174 06 00"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

// A search finds no customers of other tenants.
func TestSearchIsOfOneTenant(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	s.made("070 174 06 05", new("anna@example.com"))
	for _, f := range []customer.Filter{{}, {Search: new("anna")}, {Phone: new("070 174 06 05")}, {Email: new("anna@example.com")}} {
		if got := stranger.names(f); got != nil {
			t.Errorf("a stranger finds %v", got)
		}
	}
}
