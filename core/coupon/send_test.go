package coupon_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

// sentAt sends a coupon at an exact instant.
func (s shop) sentAt(t *testing.T, c coupon.Coupon, send coupon.Send, at time.Time) coupon.Sending {
	t.Helper()
	confirmed := s.confirmed(t, c, send)
	_, err := dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.coupon_send set send_at = $1 where tenant_id = $2 and id = $3", at, s.by.Tenant.ID, confirmed.ID)
	if err != nil {
		t.Fatal(err)
	}
	return s.evaluated(t, confirmed.ID)
}

// date sets the creation time of a record.
func (s shop) date(t *testing.T, table string, id core.ID, at time.Time) {
	t.Helper()
	_, err := dbtest.Owner(s.db).Exec(t.Context(), "update loyalty."+table+" set created_at = $1 where tenant_id = $2 and id = $3", at, s.by.Tenant.ID, id)
	if err != nil {
		t.Fatal(err)
	}
}

// The segment "all" has every active customer of the tenant.
func TestAll(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	anna, bilal, gone := s.customer(t), s.customer(t), s.customer(t)
	other.customer(t)
	s.leave(t, gone)
	c := s.coupon(t, fivePoints())
	sent := s.recordDelivery(t, c, toAll())
	wantCounts(t, sent, 2, 2, 0, 0)
	s.wantHolders(t, c, anna, bilal)
	if sent.Status != coupon.Done || sent.EvaluatedAt == nil {
		t.Errorf("evaluated: %+v", sent)
	}
}

// The segment "long_standing" has customers of more than 90 local days.
func TestLongStanding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, zone, send string
		youngest         string // who is of long standing; a millisecond later is too late
	}{
		{"at noon", "UTC", "2026-06-15T12:00:00Z", "2026-03-16T23:59:59.999Z"},
		{"the last instant of a day", "UTC", "2026-06-15T23:59:59.999Z", "2026-03-16T23:59:59.999Z"},
		{"the first instant of the next", "UTC", "2026-06-16T00:00:00Z", "2026-03-17T23:59:59.999Z"},
		{"13 hours ahead, before midnight", "Pacific/Tongatapu", "2026-06-15T10:30:00Z", "2026-03-16T10:59:59.999Z"},
		{"13 hours ahead, after midnight", "Pacific/Tongatapu", "2026-06-15T11:30:00Z", "2026-03-17T10:59:59.999Z"},
		{"back to winter time, before midnight", "America/New_York", "2026-05-20T03:30:00Z", "2026-02-18T04:59:59.999Z"},
		{"back to winter time, after midnight", "America/New_York", "2026-05-20T04:30:00Z", "2026-02-19T04:59:59.999Z"},
		{"back to summer time", "America/New_York", "2025-12-10T05:00:00Z", "2025-09-11T03:59:59.999Z"},
		{"to a day that begins at one o'clock", "America/Santiago", "2025-12-06T12:00:00Z", "2025-09-07T03:59:59.999Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t).in(t, c.zone)
			youngest := instant(t, c.youngest)
			old, young, tooYoung := s.customer(t), s.customer(t), s.customer(t)
			s.date(t, "customer", old, youngest.AddDate(-1, 0, 0))
			s.date(t, "customer", young, youngest)
			s.date(t, "customer", tooYoung, youngest.Add(time.Millisecond))
			made := s.coupon(t, fivePoints())
			wantCounts(t, s.sentAt(t, made, to(coupon.LongStanding), instant(t, c.send)), 2, 2, 0, 0)
			s.wantHolders(t, made, old, young)
		})
	}
}

// The segment "recent_purchase" has customers with a completed sale within 30 × 24 hours, to the
// millisecond.
func TestRecentPurchase(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer(t)
	s.customer(t) // never bought anything
	bought := s.at(t, s.db.Now().Add(-100*24*time.Hour)).purchase(t, anna)
	for _, c := range []struct {
		name  string
		after time.Duration
		want  int64
	}{
		{"just before", -time.Millisecond, 0},
		{"at the same instant", 0, 1},
		{"30 days later", 30 * 24 * time.Hour, 1},
		{"a millisecond too late", 30*24*time.Hour + time.Millisecond, 0},
	} {
		sent := s.sentAt(t, s.coupon(t, fivePoints()), to(coupon.RecentPurchase), bought.Add(c.after))
		if sent.Matched != c.want || sent.Sent != c.want {
			t.Errorf("%s: %d matched, %d sent, want %d", c.name, sent.Matched, sent.Sent, c.want)
		}
	}
}

// purchase records a sale and returns its time.
func (s shop) purchase(t *testing.T, by core.ID) (at time.Time) {
	t.Helper()
	err := dbtest.Owner(s.db).QueryRow(t.Context(), "select created_at from loyalty.transaction where tenant_id = $1 and id = $2",
		s.by.Tenant.ID, s.sale(t, by)).Scan(&at)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Voided sales don't count; one completed sale is enough.
func TestVoidedPurchasesDoNotCount(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, bilal := s.customer(t), s.customer(t)
	for _, who := range []core.ID{anna, bilal, bilal} {
		s.void(t, s.sale(t, who))
	}
	s.sale(t, bilal)
	s.sale(t, bilal)
	c := s.coupon(t, fivePoints())
	wantCounts(t, s.recordDelivery(t, c, to(coupon.RecentPurchase)), 1, 1, 0, 0)
	s.wantHolders(t, c, bilal)
}

// A manual segment has the given customers, each once.
func TestManual(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, bilal := s.customer(t), s.customer(t)
	s.customer(t)
	c := s.coupon(t, fivePoints())
	send := to(coupon.Manual, bilal, anna, bilal)
	send.Customers = append(send.Customers, strings.ToLower(anna.String()))
	wantCounts(t, s.recordDelivery(t, c, send), 2, 2, 0, 0)
	s.wantHolders(t, c, anna, bilal)
}

// An unknown customer, another tenant's or a malformed id refuses the send and is named.
func TestManualSendNamesUnknownCustomers(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	theirs, unknown := other.customer(t), core.NewID(s.db.Now().Add(time.Hour))
	c := s.coupon(t, fivePoints())
	send := to(coupon.Manual, unknown, s.customer(t), theirs, unknown)
	send.Customers = append(send.Customers, "nonsense")
	_, err := s.Send(t.Context(), s.by, c.ID, send)
	wantFields(t, err, core.Fields{"customers": {
		core.Violation{Rule: "unknown_customer", Other: "nonsense"}, core.Violation{Rule: "unknown_customer", Other: theirs.String()}, core.Violation{Rule: "unknown_customer", Other: unknown.String()},
	}})
	if n := s.sends(t, c); n != 0 {
		t.Errorf("%d sends, want none", n)
	}
}

func (s shop) sends(t *testing.T, c coupon.Coupon) (n int) {
	t.Helper()
	err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from loyalty.coupon_send where tenant_id = $1 and coupon_id = $2",
		s.by.Tenant.ID, c.ID).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// All invalid fields are reported at once.
func TestSendReportsEveryWrongFieldAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.coupon(t, fivePoints())
	for _, x := range []struct {
		send coupon.Send
		want core.Fields
	}{
		{coupon.Send{}, core.Fields{
			"segment": {core.InvalidChoice}, "form_key": {core.Required},
		}},
		{coupon.Send{Segment: "everybody", FormKey: strings.Repeat("k", 101)}, core.Fields{
			"segment": {core.InvalidChoice}, "form_key": {core.MaxLength(100)},
		}},
		{coupon.Send{Segment: coupon.Manual}, core.Fields{
			"customers": {core.Required}, "form_key": {core.Required},
		}},
	} {
		_, err := s.Send(t.Context(), s.by, c.ID, x.send)
		wantFields(t, err, x.want)
	}
}

// Inactive members and those at the limit are skipped, and counted by reason.
func TestSkipped(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxPerCustomer, n.VoucherValidDays = new(int64(2)), new(int64(1))
	c := s.coupon(t, n)
	full, half, gone, goneAndFull := s.customer(t), s.customer(t), s.customer(t), s.customer(t)

	// One that expired, one that was redeemed: two all the same.
	s.sentAt(t, c, to(coupon.Manual, full, goneAndFull), s.db.Now().AddDate(0, -1, 0))
	s.redeem(t, s.voucher(t, c, full))
	s.recordDelivery(t, c, to(coupon.Manual, half, goneAndFull))
	s.leave(t, gone)
	s.leave(t, goneAndFull)

	wantCounts(t, s.recordDelivery(t, c, to(coupon.Manual, full, half, gone, goneAndFull)), 4, 1, 2, 1)
	s.wantHolders(t, c, full, full, half, half, goneAndFull, goneAndFull)
	// Of another coupon everybody has none.
	wantCounts(t, s.recordDelivery(t, s.coupon(t, fivePoints()), to(coupon.Manual, full, half)), 2, 2, 0, 0)

	s.sale(t, full)
	for _, who := range []core.ID{full, half, gone, goneAndFull} {
		s.date(t, "customer", who, s.db.Now().AddDate(-1, 0, 0))
	}
	wantCounts(t, s.recordDelivery(t, c, to(coupon.LongStanding)), 4, 0, 2, 2)
	wantCounts(t, s.recordDelivery(t, c, to(coupon.RecentPurchase)), 1, 0, 0, 1)
	wantCounts(t, s.recordDelivery(t, c, toAll()), 2, 0, 0, 2) // "every active customer": the others are no members
}

// Customers who join after the send's time get no voucher, even if its job runs later.
func TestLaterCustomersGetNoVoucher(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer(t)
	c := s.coupon(t, fivePoints())
	send := s.confirmed(t, c, toAll())
	tomorrow := s.at(t, s.db.Now().Add(24*time.Hour))
	tomorrow.customer(t)
	wantCounts(t, tomorrow.evaluated(t, send.ID), 1, 1, 0, 0)
	tomorrow.customer(t)
	tomorrow.evaluated(t, send.ID)
	s.wantHolders(t, c, anna)
}

// An inactive, expired or upcoming coupon can't be sent.
func TestSendRefusesUnsendableCoupons(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.StartsAt, n.ExpiresAt = new(instant(t, "2026-03-01T00:00:00Z")), new(instant(t, "2026-03-31T22:00:00Z"))
	c := s.coupon(t, n)
	for _, x := range []struct {
		name string
		at   time.Time
		want error
	}{
		{"before the start", n.StartsAt.Add(-time.Minute), coupon.ErrNotStarted},
		{"at the start", *n.StartsAt, nil},
		{"before the end", n.ExpiresAt.Add(-time.Minute), nil},
		{"at the end", *n.ExpiresAt, coupon.ErrExpired},
	} {
		then := s.at(t, x.at)
		if _, err := then.Send(t.Context(), s.by, c.ID, toAll()); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", x.name, err, x.want)
		}
	}
	if _, err := s.SetActive(t.Context(), s.by, c.ID, false); err != nil {
		t.Fatal(err)
	}
	refused(t, second(s.Send(t.Context(), s.by, c.ID, toAll())), coupon.ErrInactive)
	if n := s.sends(t, c); n != 2 {
		t.Errorf("%d sends, want 2", n)
	}
}

// A form that is submitted twice, also at once, makes one send, one job and one audit entry.
func TestADoubleClickIsOneSend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.coupon(t, fivePoints())
	form := toAll()
	var all sync.WaitGroup
	made := make([]coupon.Sending, 20)
	for i := range made {
		all.Go(func() {
			var err error
			if made[i], err = s.Send(t.Context(), s.by, c.ID, form); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, again := range append(made, s.confirmed(t, c, form)) {
		if diff := cmp.Diff(made[0], again); diff != "" {
			t.Fatalf("two sends of one form:\n%s", diff)
		}
	}
	if sends, jobs, entries := s.sends(t, c), s.evaluations(t, made[0].ID), len(s.log(t, c.ID)); sends != 1 || jobs != 1 || entries != 2 {
		t.Errorf("%d sends, %d jobs, %d entries in the log, want 1, 1 and 2", sends, jobs, entries)
	}
	// A form of another tenant may have the same key.
	other := newShop(t)
	if sent := other.confirmed(t, other.coupon(t, fivePoints()), form); sent.ID == made[0].ID {
		t.Error("two tenants share a send")
	}
}

// evaluations returns the number of jobs queued for a send.
func (s shop) evaluations(t *testing.T, send core.ID) (n int) {
	t.Helper()
	err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from river.river_job where kind = 'coupon_evaluation' and args ->> 'send' = $1",
		send.String()).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A send is evaluated once, however often its job runs.
func TestASendIsEvaluatedOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxPerCustomer = new(int64(100))
	c := s.coupon(t, n)
	members := s.customers(t, 3)
	send := s.confirmed(t, c, to(coupon.Manual, members...))
	var all sync.WaitGroup
	results := make([]coupon.Sending, 20)
	for i := range results {
		all.Go(func() {
			var err error
			if results[i], err = s.Evaluate(t.Context(), s.by, send.ID); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.leave(t, members[0])
	wantCounts(t, results[0], 3, 3, 0, 0)
	for _, again := range append(results, s.evaluated(t, send.ID)) {
		if diff := cmp.Diff(results[0], again); diff != "" {
			t.Fatalf("evaluated once and again:\n%s", diff)
		}
	}
	s.wantHolders(t, c, members...)
}

// No customer gets more vouchers than the limit, also from concurrent sends.
func TestManySendsAtOnceKeepToTheLimit(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	n := fivePoints()
	n.MaxPerCustomer = new(int64(3))
	c := s.coupon(t, n)
	members := s.customers(t, 5)
	var sends []core.ID
	for range 30 {
		sends = append(sends, s.confirmed(t, c, toAll()).ID)
	}
	var all sync.WaitGroup
	results := make([]coupon.Sending, len(sends))
	for i, send := range sends {
		all.Go(func() {
			var err error
			if results[i], err = s.Evaluate(t.Context(), s.by, send); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var made, skipped int64
	for _, sent := range results {
		made, skipped = made+sent.Sent, skipped+sent.SkippedLimit
	}
	if made != 15 || skipped != 27*5 {
		t.Errorf("%d made, %d skipped, want 15 and 135", made, skipped)
	}
	var want []core.ID
	for range 3 {
		want = append(want, members...)
	}
	s.wantHolders(t, c, want...)
	s.sound(t)
}

// Tills redeem vouchers of a coupon while a send of it is evaluated.
func TestTillsRedeemWhileASendIsEvaluated(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxPerCustomer, n.MaxRedemptions = new(int64(2)), new(int64(10))
	c := s.coupon(t, n)
	anna, bilal := s.customer(t), s.customer(t)
	voucher := s.voucher(t, c, anna)

	// A lock on Bilal's row stops the evaluation after it has created its vouchers,
	// when the database checks whom they are for.
	hold, err := dbtest.Owner(s.db).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Rollback(context.Background()) //nolint:errcheck // after the end of a test that failed
	if _, err := hold.Exec(t.Context(), "select from loyalty.customer where id = $1 for update", bilal); err != nil {
		t.Fatal(err)
	}
	send := s.confirmed(t, c, toAll())
	evaluated := make(chan error)
	go func() { evaluated <- second(s.Evaluate(t.Context(), s.by, send.ID)) }()
	s.wait(t, "the evaluation waits there", "select exists (select from pg_stat_activity where $1 = any (pg_blocking_pids(pid)))",
		hold.Conn().PgConn().PID())

	// At the till, meanwhile.
	s.redeem(t, voucher)
	if _, err := s.SetActive(t.Context(), s.by, c.ID, false); err != nil {
		t.Error(err)
	}
	select {
	case err := <-evaluated:
		t.Fatalf("the evaluation did not wait: %v", err)
	default:
	}
	if err := hold.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-evaluated; err != nil {
		t.Error(err)
	}
	s.wantHolders(t, c, anna, anna, bilal)
	if got := s.find(t, c.ID).RedemptionsCount; got != 1 {
		t.Errorf("%d redemptions, want 1", got)
	}
}

// wait waits until a query returns true.
func (s shop) wait(t *testing.T, what, question string, args ...any) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		rows, err := dbtest.Owner(s.db).Query(t.Context(), question, args...)
		if err != nil {
			t.Fatal(err)
		}
		yes, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
		if err != nil {
			t.Fatal(err)
		}
		if yes {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// A voucher expires with its coupon, or earlier at the end of its last local day.
func TestVoucherExpiry(t *testing.T) {
	t.Parallel()
	const never = ""
	for _, c := range []struct {
		name, zone string
		days       int64 // 0: no number of days
		coupon     string
		send, want string
	}{
		{"neither", "UTC", 0, never, "2026-03-06T12:00:00Z", never},
		{"the coupon's", "UTC", 0, "2026-03-31T22:00:00Z", "2026-03-06T12:00:00Z", "2026-03-31T22:00:00Z"},
		{"a day later, from its first instant", "UTC", 1, never, "2026-03-06T00:00:00Z", "2026-03-08T00:00:00Z"},
		{"a day later, from its last", "UTC", 1, never, "2026-03-06T23:59:59.999Z", "2026-03-08T00:00:00Z"},
		{"the coupon's is earlier", "UTC", 1, "2026-03-07T23:59:59Z", "2026-03-06T12:00:00Z", "2026-03-07T23:59:59Z"},
		{"the day's end is earlier", "UTC", 1, "2026-03-08T00:00:01Z", "2026-03-06T12:00:00Z", "2026-03-08T00:00:00Z"},
		{"13 hours ahead, before midnight", "Pacific/Tongatapu", 1, never, "2026-03-06T10:59:59Z", "2026-03-07T11:00:00Z"},
		{"13 hours ahead, after midnight", "Pacific/Tongatapu", 1, never, "2026-03-06T11:00:00Z", "2026-03-08T11:00:00Z"},
		{"the clocks go forward", "America/New_York", 2, never, "2026-03-06T17:00:00Z", "2026-03-09T04:00:00Z"},
		{"the clocks go back", "America/New_York", 2, never, "2026-10-30T17:00:00Z", "2026-11-02T05:00:00Z"},
		{"the clocks skip midnight", "America/Santiago", 1, never, "2026-09-04T17:00:00Z", "2026-09-06T04:00:00Z"},
		{"long past the end of the month", "Europe/Stockholm", 36_500, never, "2026-01-31T12:00:00Z", "2126-01-07T23:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t).in(t, c.zone)
			s.customer(t)
			n := fivePoints()
			if c.days > 0 {
				n.VoucherValidDays = &c.days
			}
			if c.coupon != never {
				n.ExpiresAt = new(instant(t, c.coupon))
			}
			var want *time.Time
			if c.want != never {
				want = new(instant(t, c.want))
			}
			// On that day, so that the coupon can still be sent.
			s = s.at(t, instant(t, "2026-03-01T12:00:00Z"))
			made := s.coupon(t, n)
			s.sentAt(t, made, to(coupon.Manual, s.customer(t)), instant(t, c.send))
			if diff := cmp.Diff(want, s.stored(t, made)[0].ExpiresAt); diff != "" {
				t.Errorf("expires (-want +got):\n%s", diff)
			}
		})
	}
}

// The queue evaluates a confirmed send.
func TestTheQueueEvaluates(t *testing.T) {
	t.Parallel()
	s := queueShop(t)
	s.work(t)
	anna := s.customer(t)
	c := s.coupon(t, fivePoints())
	send := s.confirmed(t, c, toAll())
	if send.Status != coupon.Waiting || send.EvaluatedAt != nil {
		t.Errorf("confirmed: %+v", send)
	}
	s.wait(t, "the send is evaluated", "select status = 'done' from loyalty.coupon_send where id = $1", send.ID)
	s.wantHolders(t, c, anna)
}

// queueShop is a shop in a separate database.
func queueShop(t *testing.T) shop {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return shopOf(t, d)
}

// work runs the queue until the test ends.
func (s shop) work(t *testing.T) {
	t.Helper()
	if err := s.jobs.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.jobs.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
