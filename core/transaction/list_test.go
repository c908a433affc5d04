package transaction_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// record records a sale and waits for the next millisecond, so that a list has a defined order.
func (s shop) record(by core.Actor, n transaction.Sale) core.ID {
	s.T.Helper()
	made, err := core.Result(s.Sales.Record(s.T.Context(), by, n, nil, nil))
	s.Check(err)
	dbtest.Tick(s.DB)
	return made.ID
}

// listed returns the IDs of a whole list, newest first. Oldest first must have the same sales.
func (s shop) listed(f transaction.Filter) []core.ID {
	s.T.Helper()
	all := func(sort core.Sort) []core.ID {
		return shoptest.Keys(shoptest.Walk(s.T, 2, func(p core.Page) (core.List[transaction.Named], error) {
			found, err := s.Sales.List(s.T.Context(), s.By, f, sort, p)
			return found.List, err
		}), func(l transaction.Named) core.ID { return l.ID })
	}
	newest, oldest := all(core.Newest), all(core.Oldest)
	slices.Reverse(oldest)
	if diff := cmp.Diff(newest, oldest); diff != "" {
		s.T.Errorf("oldest first differs (-newest +oldest):\n%s", diff)
	}
	return newest
}

// "Transactions (list, filters, …)", newest first, with each filter alone and with all of them.
func TestListFilters(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	bo, coffee, branch := s.Customer().ID, s.Stamps(), s.open("Söder")

	plain := s.record(s.By, s.of(100))
	voided := s.record(s.By, s.of(200))
	toBo := s.of(300)
	toBo.CustomerID = bo
	bos := s.record(s.By, toBo)
	ofCoffee := s.of(400)
	ofCoffee.TransactionTypeID = coffee.ID
	coffees := s.record(s.By, ofCoffee)
	atSoder := s.record(s.By, s.at(branch.ID))
	byTill := s.of(500)
	byTill.Source, byTill.ExternalReference = transaction.POS, new("R-7")
	till := s.record(s.By, byTill)
	byHand := s.of(600)
	byHand.Source, byHand.LocationID, byHand.TransactionTypeID = transaction.Panel, &branch.ID, coffee.ID
	hand := s.record(s.By, byHand)
	sara, app := s.As(core.Cashier).By, s.By
	app.Kind, app.ID = core.ByToken, sara.ID // a token may have the number of a person
	saras, ordered := s.record(sara, s.at(branch.ID)), s.record(app, s.of(700))
	s.void(voided)

	for _, c := range []struct {
		name string
		f    transaction.Filter
		want []core.ID
	}{
		{"all", transaction.Filter{}, []core.ID{ordered, saras, hand, till, atSoder, coffees, bos, voided, plain}},
		{"voided", transaction.Filter{Status: new("voided")}, []core.ID{voided}},
		{"completed", transaction.Filter{Status: new("completed")}, []core.ID{ordered, saras, hand, till, atSoder, coffees, bos, plain}},
		{"type", transaction.Filter{TypeID: &coffee.ID}, []core.ID{hand, coffees}},
		{"source", transaction.Filter{Source: new("api")}, []core.ID{ordered, saras, atSoder, coffees, bos, voided, plain}},
		{"customer", transaction.Filter{CustomerID: new(strings.ToLower(bo.String()))}, []core.ID{bos}},
		{"location", transaction.Filter{LocationID: &branch.ID}, []core.ID{saras, hand, atSoder}},
		{"no location", transaction.Filter{WithoutLocation: true}, []core.ID{ordered, till, coffees, bos, voided, plain}},
		{"no location and voided", transaction.Filter{WithoutLocation: true, Status: new("voided")}, []core.ID{voided}},
		{"no location and at one", transaction.Filter{WithoutLocation: true, LocationID: &branch.ID}, nil},
		{"a person", transaction.Filter{RecordedBy: new(transaction.Recorder(sara.Kind, sara.ID))}, []core.ID{saras}},
		{"a token", transaction.Filter{RecordedBy: new(transaction.Recorder(app.Kind, app.ID))}, []core.ID{ordered}},
		{"a person and voided", transaction.Filter{RecordedBy: new(transaction.Recorder(s.By.Kind, s.By.ID)), Status: new("voided")}, []core.ID{voided}},
		{"no person", transaction.Filter{RecordedBy: new("staff:")}, nil},
		{"receipt and no location", transaction.Filter{Search: new("R-7"), WithoutLocation: true}, []core.ID{till}},
		{"receipt, recorded by another", transaction.Filter{Search: new("R-7"), RecordedBy: new(transaction.Recorder(sara.Kind, sara.ID))}, nil},
		{"receipt", transaction.Filter{Search: new(" R-7 ")}, []core.ID{till}},
		{"part of a receipt", transaction.Filter{Search: new("R-")}, nil},
		{"type and source", transaction.Filter{TypeID: &coffee.ID, Source: new("panel")}, []core.ID{hand}},
		{"customer and status", transaction.Filter{CustomerID: new(s.customer.String()), Status: new("voided")}, []core.ID{voided}},
		{"all at once", transaction.Filter{
			Status: new("completed"), TypeID: &coffee.ID, Source: new("panel"), CustomerID: new(s.customer.String()), LocationID: &branch.ID,
			From: new(s.DB.Now().AddDate(0, 0, -2)), To: new(s.DB.Now().AddDate(0, 0, 2)),
		}, []core.ID{hand}},
		{"unknown customer", transaction.Filter{CustomerID: new(core.NewID(s.DB.Now()).String())}, nil},
		{"another receipt", transaction.Filter{Search: new("R-7"), Source: new("api")}, nil},
	} {
		if diff := cmp.Diff(c.want, s.listed(c.f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// A search finds sales by their customer's name, in any order of the words, by receipt and by amount.
func TestSearchSales(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ida, err := core.Result(s.Customers.Upsert(t.Context(), s.By, customer.New{FirstName: "Ida", LastName: "Sjöberg", Phone: "070 222 33 44"}, nil))
	s.Check(err)
	other := s.record(s.By, s.of(4200))
	toIda := func(cents int64, receipt *string) core.ID {
		n := s.of(cents)
		n.CustomerID, n.ExternalReference = ida.ID, receipt
		return s.record(s.By, n)
	}
	first, second, third := toIda(100, nil), toIda(4200, new("R-9")), toIda(300, nil)
	s.void(first)
	for _, c := range []struct {
		name string
		f    transaction.Filter
		want []core.ID
	}{
		{"name, last name first", transaction.Filter{Search: new("sjöberg id")}, []core.ID{third, second, first}},
		{"phone number", transaction.Filter{Search: new("0702223344")}, []core.ID{third, second, first}},
		{"receipt", transaction.Filter{Search: new("R-9")}, []core.ID{second}},
		{"amount", transaction.Filter{Search: new("42.00"), SearchCents: new(int64(4200))}, []core.ID{second, other}},
		{"name and status", transaction.Filter{Search: new("ida"), Status: new("voided")}, []core.ID{first}},
		{"amount and customer", transaction.Filter{Search: new("42"), SearchCents: new(int64(4200)), CustomerID: new(ida.ID.String())}, []core.ID{second}},
		{"nothing", transaction.Filter{Search: new("zzz")}, nil},
		{"blank", transaction.Filter{Search: new(" ")}, []core.ID{third, second, first, other}},
	} {
		if diff := cmp.Diff(c.want, s.listed(c.f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if found, err := s.Sales.List(t.Context(), newShop(t).By, transaction.Filter{Search: new("ida")}, core.Newest, core.Page{Size: 5}); err != nil || len(found.Items) != 0 {
		t.Errorf("another tenant's search finds %d sales, %v", len(found.Items), err)
	}
}

// A search that leaves sales out says so: those of older customers, and those before the newest ones of an
// amount.
func TestSearchSaysItsLimits(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sale := s.record(s.By, s.of(4200))
	want := func(what string, f transaction.Filter, sort core.Sort, found bool, limits transaction.SearchLimits) {
		t.Helper()
		got, err := s.Sales.List(t.Context(), s.By, f, sort, core.Page{Size: 5})
		s.Check(err)
		shown := slices.ContainsFunc(got.Items, func(n transaction.Named) bool { return n.ID == sale })
		if shown != found || got.Limits != limits {
			t.Errorf("%s: found %t with limits %+v, want %t with %+v", what, shown, got.Limits, found, limits)
		}
	}
	name, amount := transaction.Filter{Search: new("anna")}, transaction.Filter{Search: new("42.00"), SearchCents: new(int64(4200))}

	s.AddCustomers(transaction.SearchedCustomers - 1)
	want("as many customers as are searched", name, core.Newest, true, transaction.SearchLimits{})
	s.AddCustomers(1)
	want("one more", name, core.Newest, false, transaction.SearchLimits{Customers: true})

	s.Exec(`
		insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents, points_awarded, source,
			actor_kind, actor_id, actor_name, created_at)
		select tenant_id, loyalty.new_ulid(now()), customer_id, transaction_type_id, rule_type, 100, 0, source, actor_kind, actor_id, actor_name, now()
		from loyalty.transaction, generate_series(2, $2::int)
		where id = $1`, sale, transaction.SearchedSales)
	want("as many sales as are searched", amount, core.Newest, true, transaction.SearchLimits{})
	s.record(s.By, s.of(100))
	want("one more", amount, core.Newest, false, transaction.SearchLimits{Sales: true})
	want("from the oldest on", amount, core.Oldest, true, transaction.SearchLimits{Sales: true})
}

// "A range from/to means whole days, both included, in the tenant's time zone."
func TestListOfDays(t *testing.T) {
	t.Parallel()
	s := newShop(t) // in Stockholm: a day begins at 23:00 of the one before, in UTC
	var ids []core.ID
	for _, at := range []string{"2026-02-28T22:59:59.999Z", "2026-02-28T23:00:00Z", "2026-03-02T22:59:59.999Z", "2026-03-02T23:00:00Z"} {
		instant, err := time.Parse(time.RFC3339, at)
		s.Check(err)
		// The clock runs on while a sale is recorded, so it is set to the exact instant.
		s.Exec(`
			update loyalty.transaction set id = $1, created_at = $2 where tenant_id = $3 and id = $4`,
			core.NewID(instant), instant, s.By.Tenant.ID, s.sale(100).ID)
	}
	for _, one := range s.listed(transaction.Filter{}) {
		ids = slices.Insert(ids, 0, one)
	}
	day := func(d int) *time.Time { return new(time.Date(2026, time.March, d, 0, 0, 0, 0, time.UTC)) }
	for _, c := range []struct {
		name     string
		from, to *time.Time
		want     []core.ID
	}{
		{"one day", day(1), day(1), ids[1:2]},
		{"two days", day(1), day(2), []core.ID{ids[2], ids[1]}},
		{"until", nil, day(1), []core.ID{ids[1], ids[0]}},
		{"from", day(2), nil, []core.ID{ids[3], ids[2]}},
		{"before all", nil, new(time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)), nil},
		{"from long ago", new(time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)), day(0), ids[:1]},
	} {
		if diff := cmp.Diff(c.want, s.listed(transaction.Filter{From: c.from, To: c.to})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// "Unknown filter values are 422", all of them at once.
func TestListRefusesWhatNoSaleCanBe(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, err := s.Sales.List(t.Context(), s.By, transaction.Filter{
		Status: new("lost"), Source: new("fax"), CustomerID: new("nonsense"), RecordedBy: new("robot:1"), Search: new(strings.Repeat("å", 256)),
		From: new(s.DB.Now()), To: new(s.DB.Now().AddDate(0, 0, -1)),
	}, "name", core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})
	want := core.Fields{
		"sort":          {core.InvalidChoice},
		"status":        {core.InvalidChoice},
		"source":        {core.InvalidChoice},
		"customer_ulid": {core.InvalidChoice},
		"recorded_by":   {core.InvalidChoice},
		"search":        {core.MaxLength(255)},
		"to":            {core.AfterOrEqual("from")},
		"cursor":        {core.InvalidChoice},
	}
	shoptest.WantFields(t, err, want)
}

// "Each row carries the names a person wants to read."
func TestListNamesWhatASaleRefersTo(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	branch, sara := s.open("Söder"), s.As(core.Cashier).By
	sold := s.record(sara, s.at(branch.ID))
	elsewhere := s.record(s.By, s.of(100))

	found := func(id core.ID) transaction.Transaction {
		t.Helper()
		one, err := s.Sales.Find(t.Context(), s.By, id)
		s.Check(err)
		return one
	}
	l, err := s.Sales.List(t.Context(), s.By, transaction.Filter{}, core.Newest, core.Page{Size: 5})
	s.Check(err)
	want := []transaction.Named{
		{
			Transaction: found(elsewhere), CustomerName: "Anna Lindqvist", TypeName: "Purchase",
			ActorKind: core.ByStaff, ActorName: "A owner", Voidable: true,
		},
		{
			Transaction: found(sold), CustomerName: "Anna Lindqvist", TypeName: "Purchase", LocationName: new("Söder"),
			ActorKind: core.ByStaff, ActorName: "A cashier", Voidable: true,
		},
	}
	if diff := cmp.Diff(want, l.Items); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}

	// Names are current, even of an inactive type, location or customer.
	s.Must(s.Sales.EditType(t.Context(), s.By, s.kind.ID, transaction.EditType{Name: core.Set("Lunch"), Active: core.Set(false)}))
	s.Must(s.Locations.Edit(t.Context(), s.By, branch.ID, location.Edit{Active: core.Set(false)}))
	s.Must(s.Customers.Edit(t.Context(), s.By, s.customer, customer.Edit{LastName: core.Set("Berg"), Status: core.Set("inactive")}))
	d, err := s.Sales.Detail(t.Context(), s.By, sold)
	if err != nil || d.TypeName != "Lunch" || d.CustomerName != "Anna Berg" || d.LocationName == nil || *d.LocationName != "Söder" {
		t.Errorf("Detail = %+v, %v", d, err)
	}
}

// The detail contains who recorded and who voided a sale, and its ledger entries.
func TestDetail(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sara, maja := s.As(core.Cashier).By, s.As(core.Manager).By
	s.sale(500)
	sold := s.record(sara, s.of(1000))
	d, err := s.Sales.Detail(t.Context(), s.By, sold)
	if err != nil || d.ActorName != sara.Name || d.VoidedByName != nil ||
		len(d.Entries) != 1 || d.Entries[0].Kind != ledger.Earn || d.Entries[0].Amount != 10 || d.Entries[0].BalanceAfter != 15 {
		t.Errorf("a sale that stands: %+v, %v", d, err)
	}
	s.sale(700)
	s.Must(core.Result(s.Sales.Void(t.Context(), maja, sold, nil, nil)))
	d, err = s.Sales.Detail(t.Context(), s.By, sold)
	s.Check(err)
	found, err := s.Sales.Find(t.Context(), s.By, sold)
	s.Check(err)
	want := transaction.Detail{
		Named: transaction.Named{
			Transaction: found, CustomerName: "Anna Lindqvist", TypeName: "Purchase", ActorKind: core.ByStaff, ActorName: sara.Name,
		},
		VoidedByName: &maja.Name,
		Entries: []ledger.Posted{
			{Kind: ledger.Earn, Unit: ledger.Points, Amount: 10, BalanceAfter: 15, CreatedAt: found.CreatedAt},
			{Kind: ledger.Reversal, Unit: ledger.Points, Amount: -10, BalanceAfter: 12, CreatedAt: *found.VoidedAt},
		},
		Refunds: []transaction.Refund{},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("a voided sale (-want +got):\n%s", diff)
	}

	// A sale that earned nothing has no entry, voided or not.
	nothing := s.sale(0)
	s.void(nothing.ID)
	if d, err := s.Sales.Detail(t.Context(), s.By, nothing.ID); err != nil || d.VoidedByName == nil || len(d.Entries) != 0 {
		t.Errorf("a sale of nothing: %+v, %v", d, err)
	}
}

// "A resource that belongs to another tenant is reported as nonexistent", in lists, too.
func TestAnotherTenantsSalesAreNotListed(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	branch := s.open("Söder")
	n := s.at(branch.ID)
	n.ExternalReference = new("R-1")
	sold := s.record(s.By, n)
	for name, f := range map[string]transaction.Filter{
		"all": {}, "customer": {CustomerID: new(s.customer.String())}, "type": {TypeID: &s.kind.ID}, "location": {LocationID: &branch.ID},
		"receipt": {Search: new("R-1")}, "person": {RecordedBy: new(transaction.Recorder(s.By.Kind, s.By.ID))},
	} {
		if got := stranger.listed(f); len(got) != 0 {
			t.Errorf("by %s a stranger sees %v", name, got)
		}
		if got := s.listed(f); !slices.Equal(got, []core.ID{sold}) {
			t.Errorf("by %s the shop sees %v", name, got)
		}
	}
	s.sale(100)
	if got := stranger.listed(transaction.Filter{WithoutLocation: true}); len(got) != 0 {
		t.Errorf("without a location a stranger sees %v", got)
	}
	if _, err := stranger.Sales.Detail(t.Context(), stranger.By, sold); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("Detail = %v, want ErrNotFound", err)
	}
}
