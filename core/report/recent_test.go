package report_test

import (
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/transaction"
)

// "recent activity that updates by itself": each event is listed once, newest first, with the data to describe
// it.
func TestRecent(t *testing.T) {
	t.Parallel()
	s := newShop(t, "UTC")
	noon := s.db.Now().Truncate(time.Second).Add(-time.Hour)
	after := func(minutes int) shop { return s.at(noon.Add(time.Duration(minutes) * time.Minute)) }
	when := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

	anna := after(0).customer(t)
	points := after(1).sale(t, anna.ID, s.purchase, 1250)
	stamp := after(2).sale(t, anna.ID, s.coffee, 400)
	nothing := after(3).sale(t, anna.ID, s.kind(t, ledger.Points, transaction.Rule{UnitCents: 100}), 90)
	after(4).give(t, anna.ID, ledger.Points, -5)
	espresso := after(5).redemption(t, anna.ID)
	hello := after(6).send(t, after(6).coupon(t, "Hello", nil))[0]
	after(7).redeem(t, hello)
	gift := after(8).send(t, after(8).gift(t, "A coffee on us", s.espresso))[0]
	after(9).redeem(t, gift)
	after(10).takeBack(t, espresso.ID)
	// The first sale is voided last.
	after(11).void(t, nothing.ID)
	after(12).void(t, points.ID)
	// A discount and a redemption without a cost change no balance.
	discount := after(13).send(t, after(13).discount(t, "Ten percent"))[0]
	cashier := after(14)
	cashier.by = dbtest.Person(t, s.db, s.by, core.Cashier)
	cashier.redeem(t, discount)
	free := s.redemptionOf(t, gift)
	after(15).takeBack(t, free)

	event := func(kind report.EventKind, id core.ID, minutes int) report.Event {
		e := report.Event{Kind: kind, ID: id, At: when(minutes), CustomerID: anna.ID, FirstName: "Anna", LastName: "Lindqvist"}
		if kind != report.Joined {
			e.ActorKind, e.ActorName = new(s.by.Kind), &s.by.Name
		}
		return e
	}
	with := func(e report.Event, change func(*report.Event)) report.Event { change(&e); return e }
	want := []report.Event{
		with(event(report.RedemptionVoided, free, 15), func(e *report.Event) { e.About = new("Espresso") }),
		with(event(report.VoucherRedeemed, discount, 14), func(e *report.Event) { e.About, e.ActorName = new("Ten percent"), &cashier.by.Name }),
		with(event(report.SaleVoided, points.ID, 12), func(e *report.Event) {
			e.About, e.SpendCents, e.Points = new("points"), new(int64(1250)), -1250
		}),
		with(event(report.SaleVoided, nothing.ID, 11), func(e *report.Event) {
			e.About, e.SpendCents = new("points"), new(int64(90))
		}),
		with(event(report.RedemptionVoided, espresso.ID, 10), func(e *report.Event) { e.About, e.Points = new("Espresso"), 10 }),
		with(event(report.VoucherRedeemed, gift, 9), func(e *report.Event) { e.About = new("A coffee on us") }),
		with(event(report.VoucherRedeemed, hello, 7), func(e *report.Event) { e.About, e.Points = new("Hello"), 1 }),
		with(event(report.Redeemed, espresso.ID, 5), func(e *report.Event) { e.About, e.Points = new("Espresso"), -10 }),
		with(event(report.Adjusted, core.ID{}, 4), func(e *report.Event) { e.Points = -5 }),
		with(event(report.Sold, nothing.ID, 3), func(e *report.Event) { e.About, e.SpendCents = new("points"), new(int64(90)) }),
		with(event(report.Sold, stamp.ID, 2), func(e *report.Event) { e.About, e.SpendCents, e.Stamps = new("stamps"), new(int64(400)), 1 }),
		with(event(report.Sold, points.ID, 1), func(e *report.Event) { e.About, e.SpendCents, e.Points = new("points"), new(int64(1250)), 1250 }),
		event(report.Joined, anna.ID, 0),
	}
	all := s.recent(t, 50, "")
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
		few := s.recent(t, int64(n+1), "").Events
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

// redemptionOf returns the redemption of a voucher.
func (s shop) redemptionOf(t *testing.T, voucher core.ID) (id core.ID) {
	t.Helper()
	err := dbtest.Owner(s.db).QueryRow(t.Context(), "select redemption_id from loyalty.voucher where tenant_id = $1 and id = $2", s.by.Tenant.ID, voucher).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// The audit log is read only if an actor is in no other record.
func TestRecentReadsTheLogOnlyWhereItMust(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopOf(t, d, "UTC")
	anna := s.customer(t)
	s.sale(t, anna.ID, s.purchase, 1250)
	trips := func(mark string, want int) string {
		t.Helper()
		s.recent(t, 10, "") // prepares
		before := count()
		feed := s.recent(t, 10, mark)
		if got := count() - before; got != want {
			t.Errorf("%d events make %d round trips, want %d", len(feed.Events), got, want)
		}
		return feed.Mark
	}
	trips("", 1)
	s.redeem(t, s.send(t, s.discount(t, "Ten percent"))[0])
	trips(trips("", 2), 1)
}

// "Allow 'nothing newer' to be answered cheaply": with the current mark there are no events until something
// changes, such as a name.
func TestRecentIsSilentUntilSomethingHappens(t *testing.T) {
	t.Parallel()
	s, neighbour := newShop(t, "UTC"), newShop(t, "UTC")
	empty := s.recent(t, 10, "")
	if len(empty.Events) != 0 || empty.Mark == "" {
		t.Errorf("of nothing = %+v", empty)
	}
	anna := s.customer(t)
	neighbour.customer(t)
	first := s.recent(t, 10, empty.Mark)
	if len(first.Events) != 1 || first.Mark == empty.Mark {
		t.Fatalf("after Anna joined = %+v", first)
	}
	neighbour.rich(t)
	if again := s.recent(t, 10, first.Mark); again.Events != nil || again.Mark != first.Mark {
		t.Errorf("when nothing happened = %+v", again)
	}
	// A sale that was begun before the last one is committed after it.
	later := s.at(s.db.Now().Add(time.Minute))
	later.sale(t, anna.ID, s.purchase, 200)
	second := s.recent(t, 10, first.Mark)
	s.at(s.db.Now().Add(30*time.Second)).sale(t, anna.ID, s.purchase, 100)
	third := s.recent(t, 10, second.Mark)
	if len(third.Events) != 3 || *third.Events[0].SpendCents != 200 {
		t.Errorf("a sale that came late is missed: %+v", third.Events)
	}
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.customer set first_name = 'Hanna' where tenant_id = $1", s.by.Tenant.ID); err != nil {
		t.Fatal(err)
	}
	if renamed := s.recent(t, 10, third.Mark); len(renamed.Events) != 3 || renamed.Events[0].FirstName != "Hanna" {
		t.Errorf("after another name = %+v", renamed.Events)
	}
	for _, limit := range []int64{0, 51} {
		if _, err := report.NewService(s.db).Recent(t.Context(), s.by, limit, ""); !core.IsKind(err, core.KindInvalid) {
			t.Errorf("%d events = %v, want it refused", limit, err)
		}
	}
}

func (s shop) recent(t *testing.T, limit int64, mark string) report.Feed {
	t.Helper()
	got, err := report.NewService(s.db).Recent(t.Context(), s.by, limit, mark)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
