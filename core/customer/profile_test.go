package customer_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/migrations"
)

func (s shop) profile(id core.ID) customer.Profile {
	s.T.Helper()
	p, err := s.Customers.Profile(s.T.Context(), s.By, id)
	s.Check(err)
	return p
}

func (s shop) wantFigures(id core.ID, visits, spent, average int64) {
	s.T.Helper()
	if p := s.profile(id); p.Visits != visits || p.SpentCents != spent || p.AverageCents() != average {
		s.T.Errorf("%d visits, %d spent, %d on average; want %d, %d, %d", p.Visits, p.SpentCents, p.AverageCents(), visits, spent, average)
	}
}

// Lifetime spend and visits are of completed sales, whether or not they earned anything.
func TestAProfileHasTheFiguresOfCompletedSales(t *testing.T) {
	t.Parallel()
	s := shop{shoptest.In(t, dbtest.OwnDB(t))}
	kind := s.Points(100)
	anna, bo := s.made("070 174 06 05", nil), s.made("070 174 06 06", nil)
	s.wantFigures(anna.ID, 0, 0, 0)
	s.Sale(bo.ID, kind, 700)
	s.Sale(anna.ID, kind, 99) // earns nothing
	last := s.Later(time.Minute).Sale(anna.ID, kind, 2000)
	wrong := s.Later(2*time.Minute).Sale(anna.ID, kind, 500)
	s.wantFigures(anna.ID, 3, 2599, 866)
	s.Later(3 * time.Minute).VoidSale(wrong.ID)
	s.wantFigures(anna.ID, 2, 2099, 1050)
	p := s.profile(anna.ID)
	if p.LastVisit == nil || !p.LastVisit.Equal(last.CreatedAt) || p.Sales != 3 || p.Redemptions != 0 || p.Vouchers != 0 {
		t.Errorf("profile: %+v", p)
	}
	if _, err := s.Customers.Profile(t.Context(), shoptest.New(t).By, anna.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("another tenant's profile: %v", err)
	}
	s.Verify()
}

// Sales of one customer at several tills at once are all counted.
func TestFiguresOfSalesAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	kind, anna := s.Points(100), s.made("070 174 06 05", nil)
	var sales sync.WaitGroup
	for range 20 {
		sales.Go(func() { s.Sale(anna.ID, kind, 150) })
	}
	sales.Wait()
	s.wantFigures(anna.ID, 20, 3000, 150)
}

// The step that counts earlier sales can run while sales go on, and again after it was stopped.
func TestEarlierSalesAreCountedWhileSalesGoOn(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "it runs a migration's statement again")
	s := shop{shoptest.In(t, dbtest.OwnDB(t))}
	kind := s.Points(100)
	anna, bo := s.made("070 174 06 05", nil), s.made("070 174 06 06", nil)
	for range 5 {
		s.Sale(anna.ID, kind, 100)
	}
	s.VoidSale(s.Sale(anna.ID, kind, 900).ID)
	s.Exec("update loyalty.account set visits = null, spent_cents = null")
	step, err := fs.ReadFile(migrations.SQL, "0124_customer_figures_count.sql")
	s.Check(err)
	var sales sync.WaitGroup
	sales.Go(func() {
		for range 20 {
			s.Sale(bo.ID, kind, 100)
		}
	})
	sales.Go(func() { s.Exec(string(step)) })
	sales.Wait()
	s.Exec(string(step))
	s.wantFigures(anna.ID, 5, 500, 100)
	s.wantFigures(bo.ID, 20, 2000, 100)
	s.Verify()
}

func (s shop) tag(id core.ID, tags ...string) {
	s.T.Helper()
	for _, tag := range tags {
		s.Check(s.Customers.AddTag(s.T.Context(), s.By, id, tag))
	}
}

// "Tags: at most 20 a customer, of at most 30 characters, unique in a tenant whatever their capitals."
func TestTagsOfACustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	anna, bo := s.made("070 174 06 05", nil), s.made("070 174 06 06", nil)
	s.tag(anna.ID, "Regular", " Oat  milk ", "regular")
	s.tag(bo.ID, "OAT MILK")
	if got := s.profile(anna.ID).Tags; !slices.Equal(got, []string{"Oat milk", "Regular"}) {
		t.Errorf("tags = %q", got)
	}
	if got := s.profile(bo.ID).Tags; !slices.Equal(got, []string{"Oat milk"}) {
		t.Errorf("another spelling = %q", got)
	}
	used, err := s.Customers.Tags(ctx, s.By)
	if s.Check(err); !slices.Equal(used, []string{"Oat milk", "Regular"}) {
		t.Errorf("tags in use = %q", used)
	}
	s.Check(s.Customers.RemoveTag(ctx, s.By, anna.ID, "OAT milk"))
	s.Check(s.Customers.RemoveTag(ctx, s.By, anna.ID, "Nothing"))
	if got := s.profile(anna.ID).Tags; !slices.Equal(got, []string{"Regular"}) {
		t.Errorf("after removing: %q", got)
	}
	shoptest.WantFields(t, s.Customers.AddTag(ctx, s.By, anna.ID, " "), core.Fields{"tag": {core.Required}})
	shoptest.WantFields(t, s.Customers.AddTag(ctx, s.By, anna.ID, strings.Repeat("x", 31)), core.Fields{"tag": {core.MaxLength(30)}})
	for i := range 19 {
		s.tag(anna.ID, strings.Repeat("x", i+1))
	}
	shoptest.WantFields(t, s.Customers.AddTag(ctx, s.By, anna.ID, "one more"), core.Fields{"tag": {core.MaxItems(20)}})
	s.tag(anna.ID, "REGULAR") // has it already
	if got := s.Log("customer", bo.ID); !strings.HasPrefix(got[len(got)-1], `customer.tag {"tags": ""} {"tags": "Oat milk"} by`) {
		t.Errorf("log = %q", got)
	}
}

// Twenty tags at once leave at most 20.
func TestTagsAtOnceKeepTheLimit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.made("070 174 06 05", nil)
	var tags sync.WaitGroup
	for i := range 25 {
		tags.Go(func() { _ = s.Customers.AddTag(t.Context(), s.By, anna.ID, strings.Repeat("x", i+1)) })
	}
	tags.Wait()
	if got := s.profile(anna.ID).Tags; len(got) != 20 {
		t.Errorf("%d tags: %q", len(got), got)
	}
}

// The list of a tag's customers takes the other filters, and a search in it.
func TestCustomersOfATag(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	first, second, other := s.made("070 174 06 05", nil), s.made("070 174 06 06", new("bo@example.com")), s.made("070 174 06 07", nil)
	s.tag(first.ID, "Regular")
	s.tag(second.ID, "Regular", "Oat milk")
	s.tag(other.ID, "Oat milk")
	s.Must(s.Customers.Edit(t.Context(), s.By, first.ID, customer.Edit{Status: core.Set("inactive")}))
	for name, c := range map[string]struct {
		filter customer.Filter
		want   []core.ID
	}{
		"the tag":            {customer.Filter{Tag: new("regular")}, []core.ID{second.ID, first.ID}},
		"active":             {customer.Filter{Tag: new("Regular"), Status: new("active")}, []core.ID{second.ID}},
		"by e-mail":          {customer.Filter{Tag: new("Oat milk"), Search: new("BO@")}, []core.ID{second.ID}},
		"by number":          {customer.Filter{Tag: new("Oat milk"), Search: new("070 174 06 07")}, []core.ID{other.ID}},
		"not a pattern":      {customer.Filter{Tag: new("Oat milk"), Search: new("%")}, nil},
		"a tag of no one":    {customer.Filter{Tag: new("Unknown")}, nil},
		"before they joined": {customer.Filter{Tag: new("Regular"), CreatedTo: new(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))}, nil},
	} {
		rows := shoptest.Walk(t, 1, func(p core.Page) (core.List[customer.Row], error) {
			return s.Customers.Browse(t.Context(), s.By, c.filter, core.Newest, p)
		})
		if got := shoptest.Keys(rows, func(r customer.Row) core.ID { return r.ID }); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A note and tags are the staff's words about a person: they are erased with them, also in the audit log.
func TestNotesAndTagsAreErased(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx, anna := t.Context(), s.made("070 174 06 05", nil)
	s.tag(anna.ID, "Allergic")
	s.Check(s.Customers.SetNote(ctx, s.By, anna.ID, " Likes the window. "))
	s.Check(s.Customers.SetNote(ctx, s.By, anna.ID, "Likes the window."))
	if got := s.profile(anna.ID).Note; got == nil || *got != "Likes the window." {
		t.Errorf("note = %v", got)
	}
	shoptest.WantFields(t, s.Customers.SetNote(ctx, s.By, anna.ID, strings.Repeat("x", 1001)), core.Fields{"note": {core.MaxLength(1000)}})
	notes := 0
	for _, action := range s.Log("customer", anna.ID) {
		if strings.HasPrefix(action, "customer.note") {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("the same note was logged %d times", notes)
	}
	s.erase(anna.ID)
	if p := s.profile(anna.ID); p.Note != nil || len(p.Tags) > 0 {
		t.Errorf("erased: %+v", p)
	}
	if n := s.Count("audit_entry where concat(old, new) like '%window%' or concat(old, new) like '%Allergic%'"); n != 0 {
		t.Errorf("%d entries of the log still have it", n)
	}
	for name, err := range map[string]error{
		"note": s.Customers.SetNote(ctx, s.By, anna.ID, "Back"), "tag": s.Customers.AddTag(ctx, s.By, anna.ID, "Back"),
	} {
		if !errors.Is(err, customer.ErrErased) {
			t.Errorf("%s of an erased customer: %v", name, err)
		}
	}
}

// Cashiers read notes and tags; managers and owners write them.
func TestCashiersDoNotWriteNotes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, cashier, stranger := s.made("070 174 06 05", nil), s.As(core.Cashier).By, shoptest.New(t).By
	for by, want := range map[*core.Actor]error{&cashier: core.ErrRole, &stranger: core.ErrNotFound} {
		for name, err := range map[string]error{
			"note":   s.Customers.SetNote(t.Context(), *by, anna.ID, "x"),
			"add":    s.Customers.AddTag(t.Context(), *by, anna.ID, "x"),
			"remove": s.Customers.RemoveTag(t.Context(), *by, anna.ID, "x"),
		} {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
	}
}
