package report_test

import (
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// "recent activity that updates by itself": each event is listed once, newest first, with the data to describe
// it.
func TestRecent(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	noon := s.DB.Now().Truncate(time.Second).Add(-time.Hour)
	after := func(minutes int) shop { return s.at(noon.Add(time.Duration(minutes) * time.Minute)) }
	when := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

	anna := after(0).Customer()
	points := after(1).Sale(anna.ID, s.purchase, 1250)
	stamp := after(2).Sale(anna.ID, s.coffee, 400)
	nothing := after(3).Sale(anna.ID, s.Type("Tea", ledger.Points, transaction.Rule{UnitCents: 100}), 90)
	after(4).give(anna.ID, ledger.Points, -5)
	espresso := after(5).redemption(anna.ID)
	hello := after(6).send(after(6).coupon("Hello", nil))[0]
	after(7).redeem(hello)
	gift := after(8).send(after(8).gift("A coffee on us", s.espresso))[0]
	after(9).redeem(gift)
	after(10).VoidRedemption(espresso.ID)
	// The first sale is voided last.
	after(11).VoidSale(nothing.ID)
	after(12).VoidSale(points.ID)
	// A discount and a redemption without a cost change no balance.
	discount := after(13).send(after(13).discount("Ten percent"))[0]
	cashier := after(14)
	cashier.By = s.As(core.Cashier).By
	cashier.redeem(discount)
	free := s.redemptionOf(gift)
	after(15).VoidRedemption(free)

	event := func(kind report.EventKind, id core.ID, minutes int) report.Event {
		e := report.Event{Kind: kind, ID: id, At: when(minutes), CustomerID: anna.ID, FirstName: "Anna", LastName: "Lindqvist"}
		if kind != report.Joined {
			e.ActorKind, e.ActorName = new(s.By.Kind), &s.By.Name
		}
		return e
	}
	with := func(e report.Event, change func(*report.Event)) report.Event { change(&e); return e }
	want := []report.Event{
		with(event(report.RedemptionVoided, free, 15), func(e *report.Event) { e.About = new("Espresso") }),
		with(event(report.VoucherRedeemed, discount, 14), func(e *report.Event) { e.About, e.ActorName = new("Ten percent"), &cashier.By.Name }),
		with(event(report.SaleVoided, points.ID, 12), func(e *report.Event) {
			e.About, e.SpendCents, e.Points = new("Purchase"), new(int64(1250)), -1250
		}),
		with(event(report.SaleVoided, nothing.ID, 11), func(e *report.Event) {
			e.About, e.SpendCents = new("Tea"), new(int64(90))
		}),
		with(event(report.RedemptionVoided, espresso.ID, 10), func(e *report.Event) { e.About, e.Points = new("Espresso"), 10 }),
		with(event(report.VoucherRedeemed, gift, 9), func(e *report.Event) { e.About = new("A coffee on us") }),
		with(event(report.VoucherRedeemed, hello, 7), func(e *report.Event) { e.About, e.Points = new("Hello"), 1 }),
		with(event(report.Redeemed, espresso.ID, 5), func(e *report.Event) { e.About, e.Points = new("Espresso"), -10 }),
		with(event(report.Adjusted, core.ID{}, 4), func(e *report.Event) { e.Points = -5 }),
		with(event(report.Sold, nothing.ID, 3), func(e *report.Event) { e.About, e.SpendCents, e.Voided = new("Tea"), new(int64(90)), true }),
		with(event(report.Sold, stamp.ID, 2), func(e *report.Event) { e.About, e.SpendCents, e.Stamps = new("Coffee card"), new(int64(400)), 1 }),
		with(event(report.Sold, points.ID, 1), func(e *report.Event) {
			e.About, e.SpendCents, e.Points = new("Purchase"), new(int64(1250)), 1250
			e.Voided = true
		}),
		event(report.Joined, anna.ID, 0),
	}
	all := s.recent(50, "")
	for i := range all.Events {
		if all.Events[i].Kind == report.Adjusted {
			all.Events[i].ID = core.ID{}
		}
		all.Events[i].At = all.Events[i].At.Truncate(time.Minute)
	}
	for i := range want {
		want[i].At = want[i].At.Truncate(time.Minute)
	}
	same(t, "all", all.Events, want)

	// A smaller limit returns the latest events.
	for n := range want {
		few := s.recent(int64(n+1), "").Events
		for i := range few {
			if few[i].Kind != want[i].Kind || !few[i].At.Truncate(time.Minute).Equal(want[i].At) {
				t.Errorf("of the latest %d, number %d is %s at %s, want %s at %s", n+1, i+1, few[i].Kind, few[i].At, want[i].Kind, want[i].At)
			}
		}
		if len(few) != n+1 {
			t.Errorf("%d events, want %d", len(few), n+1)
		}
	}
}

// A refund is an event of its own, and a void afterwards took back the rest.
func TestRecentRefunds(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	sale := s.Sale(s.Customer().ID, s.purchase, 1000)
	s.Refund(sale.ID, 250)
	s.VoidSale(sale.ID)
	found := map[report.EventKind]report.Event{}
	for _, e := range s.recent(10, "").Events {
		found[e.Kind] = e
	}
	for kind, want := range map[report.EventKind][2]int64{report.Sold: {1000, 1000}, report.SaleRefunded: {250, -250}, report.SaleVoided: {1000, -750}} {
		e := found[kind]
		if e.SpendCents == nil || *e.SpendCents != want[0] || e.Points != want[1] || *e.About != "Purchase" || *e.ActorName != s.By.Name {
			t.Errorf("%s is %+v, want %v", kind, e, want)
		}
	}
}

// redemptionOf returns the redemption of a voucher.
func (s shop) redemptionOf(voucher core.ID) core.ID {
	s.T.Helper()
	return shoptest.Query[core.ID](s.Shop, "select redemption_id from loyalty.voucher where tenant_id = $1 and id = $2", s.By.Tenant.ID, voucher)
}

// The audit log is read only if an actor is in no other record.
func TestRecentReadsTheLogOnlyWhereItMust(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d, "UTC")
	anna := s.Customer()
	s.Sale(anna.ID, s.purchase, 1250)
	trips := func(mark string, want int) string {
		t.Helper()
		s.recent(10, "") // prepares
		before := count()
		feed := s.recent(10, mark)
		if got := count() - before; got != want {
			t.Errorf("%d events make %d round trips, want %d", len(feed.Events), got, want)
		}
		return feed.Mark
	}
	trips("", 1)
	s.redeem(s.send(s.discount("Ten percent"))[0])
	trips(trips("", 2), 1)
}

// "Allow 'nothing newer' to be answered cheaply": with the current mark there are no events until something
// changes, such as a name.
func TestRecentIsSilentUntilSomethingHappens(t *testing.T) {
	t.Parallel()
	s, neighbour := newShop(t, "UTC"), newShop(t, "UTC")
	empty := s.recent(10, "")
	if len(empty.Events) != 0 || empty.Mark == "" {
		t.Errorf("of nothing = %+v", empty)
	}
	anna := s.Customer()
	neighbour.Customer()
	first := s.recent(10, empty.Mark)
	if len(first.Events) != 1 || first.Mark == empty.Mark {
		t.Fatalf("after Anna joined = %+v", first)
	}
	neighbour.rich()
	if again := s.recent(10, first.Mark); again.Events != nil || again.Mark != first.Mark {
		t.Errorf("when nothing happened = %+v", again)
	}
	// A sale that was begun before the last one is committed after it.
	later := s.at(s.DB.Now().Add(time.Minute))
	later.Sale(anna.ID, s.purchase, 200)
	second := s.recent(10, first.Mark)
	s.at(s.DB.Now().Add(30*time.Second)).Sale(anna.ID, s.purchase, 100)
	third := s.recent(10, second.Mark)
	if len(third.Events) != 3 || *third.Events[0].SpendCents != 200 {
		t.Errorf("a sale that came late is missed: %+v", third.Events)
	}
	s.Exec("update loyalty.customer set first_name = 'Hanna' where tenant_id = $1", s.By.Tenant.ID)
	if renamed := s.recent(10, third.Mark); len(renamed.Events) != 3 || renamed.Events[0].FirstName != "Hanna" {
		t.Errorf("after another name = %+v", renamed.Events)
	}
	for _, limit := range []int64{0, 51} {
		if _, err := s.Reports.Recent(t.Context(), s.By, limit, ""); !core.IsKind(err, core.KindInvalid) {
			t.Errorf("%d events = %v, want it refused", limit, err)
		}
	}
}

func (s shop) recent(limit int64, mark string) report.Feed {
	s.T.Helper()
	got, err := s.Reports.Recent(s.T.Context(), s.By, limit, mark)
	s.Check(err)
	return got
}

// "Activity grouped by day with the day's totals, ordinary sales folded": a feed has the totals of the latest two
// days with sales, in the tenant's zone, and few of their sales.
func TestRecentDays(t *testing.T) {
	t.Parallel()
	s := newShop(t, "America/New_York").on("2026-06-10 20:00:00") // in UTC already the 11th
	neighbour := newShop(t, "America/New_York").on("2026-06-10 19:00:00")
	neighbour.Sale(neighbour.Customer().ID, neighbour.purchase, 900)
	anna := s.on("2026-06-07 12:00:00").Customer()
	s.on("2026-06-07 12:00:00").Sale(anna.ID, s.purchase, 5)
	first := s.on("2026-06-08 08:00:00").Sale(anna.ID, s.purchase, 40)
	last := s.on("2026-06-08 23:30:00").Sale(anna.ID, s.coffee, 2)
	s.on("2026-06-08 12:00:00").VoidSale(s.on("2026-06-08 10:00:00").Sale(anna.ID, s.purchase, 9_000).ID)
	// Nothing was sold on the 9th.
	s.on("2026-06-09 12:00:00").Customer()
	var today []transaction.Transaction
	for hour := range 8 {
		today = append(today, s.at(s.on("2026-06-10 09:00:00").DB.Now().Add(time.Duration(hour)*time.Hour)).Sale(anna.ID, s.purchase, 100))
	}
	feed := s.recent(50, "")
	same(t, "days", feed.Days, []report.DayInBrief{
		{
			Date: *date(t, "2026-06-10"), TransactionsCount: 8, SpendTotalCents: 800, PointsAwarded: 800,
			FirstSaleAt: today[0].CreatedAt, LastSaleAt: today[7].CreatedAt,
		},
		{
			Date: *date(t, "2026-06-08"), TransactionsCount: 2, SpendTotalCents: 42, PointsAwarded: 40, StampsAwarded: 1,
			FirstSaleAt: first.CreatedAt, LastSaleAt: last.CreatedAt,
		},
	})
	sales := 0
	for _, e := range feed.Events {
		if e.Kind == report.Sold {
			sales++
		}
	}
	if sales != 6 || len(feed.Events) != 9 {
		t.Errorf("%d events with %d sales, want 9 with the latest 6", len(feed.Events), sales)
	}
}
