package coupon_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// sentAt sends a coupon at an exact instant.
func (s shop) sentAt(c coupon.Coupon, send coupon.Send, at time.Time) coupon.Sending {
	s.T.Helper()
	confirmed := s.confirmed(c, send)
	s.Exec("update loyalty.coupon_send set send_at = $1 where tenant_id = $2 and id = $3", at, s.By.Tenant.ID, confirmed.ID)
	return s.evaluated(confirmed.ID)
}

// date sets the creation time of a record.
func (s shop) date(table string, id core.ID, at time.Time) {
	s.T.Helper()
	s.Exec("update loyalty."+table+" set created_at = $1 where tenant_id = $2 and id = $3", at, s.By.Tenant.ID, id)
}

// The segment "all" has every active customer of the tenant.
func TestAll(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	anna, bilal, gone := s.Customer().ID, s.Customer().ID, s.Customer().ID
	other.Customer()
	s.leave(gone)
	c := s.Coupon(fivePoints())
	sent := s.Send(c.ID, toAll())
	wantCounts(t, sent, 2, 2, 0, 0)
	s.wantHolders(c, anna, bilal)
	if sent.Status != coupon.Done || sent.EvaluatedAt == nil {
		t.Errorf("evaluated: %+v", sent)
	}
}

// The segment "long_standing" has customers of more than 90 local days.
func TestLongStanding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, zone, send string
		youngest         string // the latest creation that counts
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
			s := shop{shoptest.New(t).InZone(c.zone)}
			youngest := instant(t, c.youngest)
			old, young, tooYoung := s.Customer().ID, s.Customer().ID, s.Customer().ID
			s.date("customer", old, youngest.AddDate(-1, 0, 0))
			s.date("customer", young, youngest)
			s.date("customer", tooYoung, youngest.Add(time.Millisecond))
			made := s.Coupon(fivePoints())
			wantCounts(t, s.sentAt(made, to(coupon.LongStanding), instant(t, c.send)), 2, 2, 0, 0)
			s.wantHolders(made, old, young)
		})
	}
}

// The segment "recent_purchase" has customers with a completed sale within 30 × 24 hours, to the
// millisecond.
func TestRecentPurchase(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.Customer().ID
	s.Customer() // never bought anything
	purchase := s.at(s.DB.Now().Add(-100 * 24 * time.Hour)).sale(anna)
	bought := shoptest.Query[time.Time](s.Shop, "select created_at from loyalty.transaction where tenant_id = $1 and id = $2", s.By.Tenant.ID, purchase)
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
		sent := s.sentAt(s.Coupon(fivePoints()), to(coupon.RecentPurchase), bought.Add(c.after))
		if sent.Matched != c.want || sent.Sent != c.want {
			t.Errorf("%s: %d matched, %d sent, want %d", c.name, sent.Matched, sent.Sent, c.want)
		}
	}
}

// Voided sales don't count; one completed sale is enough.
func TestVoidedPurchasesDoNotCount(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, bilal := s.Customer().ID, s.Customer().ID
	for _, who := range []core.ID{anna, bilal, bilal} {
		s.VoidSale(s.sale(who))
	}
	s.sale(bilal)
	s.sale(bilal)
	c := s.Coupon(fivePoints())
	wantCounts(t, s.Send(c.ID, to(coupon.RecentPurchase)), 1, 1, 0, 0)
	s.wantHolders(c, bilal)
}

// A manual segment has the given customers, each once.
func TestManual(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, bilal := s.Customer().ID, s.Customer().ID
	s.Customer()
	c := s.Coupon(fivePoints())
	send := to(coupon.Manual, bilal, anna, bilal)
	send.Customers = append(send.Customers, strings.ToLower(anna.String()))
	wantCounts(t, s.Send(c.ID, send), 2, 2, 0, 0)
	s.wantHolders(c, anna, bilal)
}

// An unknown customer, another tenant's or a malformed id refuses the send and is named.
func TestManualSendNamesUnknownCustomers(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	theirs, unknown := other.Customer().ID, core.NewID(s.DB.Now().Add(time.Hour))
	c := s.Coupon(fivePoints())
	send := to(coupon.Manual, unknown, s.Customer().ID, theirs, unknown)
	send.Customers = append(send.Customers, "nonsense")
	_, err := s.Coupons.Send(t.Context(), s.By, c.ID, send)
	shoptest.WantFields(t, err, core.Fields{"customers": {
		core.Violation{Rule: "unknown_customer", Other: "nonsense"}, core.Violation{Rule: "unknown_customer", Other: theirs.String()}, core.Violation{Rule: "unknown_customer", Other: unknown.String()},
	}})
	if n := s.sends(c); n != 0 {
		t.Errorf("%d sends, want none", n)
	}
}

func (s shop) sends(c coupon.Coupon) int {
	s.T.Helper()
	return shoptest.Query[int](s.Shop, "select count(*) from loyalty.coupon_send where tenant_id = $1 and coupon_id = $2", s.By.Tenant.ID, c.ID)
}

// All invalid fields are reported at once.
func TestSendReportsEveryWrongFieldAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(fivePoints())
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
		_, err := s.Coupons.Send(t.Context(), s.By, c.ID, x.send)
		shoptest.WantFields(t, err, x.want)
	}
}

// Inactive members and those at the limit are skipped, and counted by reason.
func TestSkipped(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxPerCustomer, n.VoucherValidDays = new(int64(2)), new(int64(1))
	c := s.Coupon(n)
	full, half, gone, goneAndFull := s.Customer().ID, s.Customer().ID, s.Customer().ID, s.Customer().ID

	// Expired and redeemed vouchers count as well.
	s.sentAt(c, to(coupon.Manual, full, goneAndFull), s.DB.Now().AddDate(0, -1, 0))
	s.RedeemVoucher(s.Voucher(c.ID, full))
	s.Send(c.ID, to(coupon.Manual, half, goneAndFull))
	s.leave(gone)
	s.leave(goneAndFull)

	wantCounts(t, s.Send(c.ID, to(coupon.Manual, full, half, gone, goneAndFull)), 4, 1, 2, 1)
	s.wantHolders(c, full, full, half, half, goneAndFull, goneAndFull)
	// Vouchers of another coupon don't count.
	wantCounts(t, s.Send(s.Coupon(fivePoints()).ID, to(coupon.Manual, full, half)), 2, 2, 0, 0)

	s.sale(full)
	for _, who := range []core.ID{full, half, gone, goneAndFull} {
		s.date("customer", who, s.DB.Now().AddDate(-1, 0, 0))
	}
	wantCounts(t, s.Send(c.ID, to(coupon.LongStanding)), 4, 0, 2, 2)
	wantCounts(t, s.Send(c.ID, to(coupon.RecentPurchase)), 1, 0, 0, 1)
	wantCounts(t, s.Send(c.ID, toAll()), 2, 0, 0, 2) // inactive customers are not members
}

// Customers who join after the send's time get no voucher, even if its job runs later.
func TestLaterCustomersGetNoVoucher(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.Customer().ID
	c := s.Coupon(fivePoints())
	send := s.confirmed(c, toAll())
	tomorrow := s.at(s.DB.Now().Add(24 * time.Hour))
	tomorrow.Customer()
	wantCounts(t, tomorrow.evaluated(send.ID), 1, 1, 0, 0)
	tomorrow.Customer()
	tomorrow.evaluated(send.ID)
	s.wantHolders(c, anna)
}

// An inactive, expired or upcoming coupon can't be sent.
func TestSendRefusesUnsendableCoupons(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.StartsAt, n.ExpiresAt = new(instant(t, "2026-03-01T00:00:00Z")), new(instant(t, "2026-03-31T22:00:00Z"))
	c := s.at(n.StartsAt.AddDate(0, 0, -1)).Coupon(n)
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
		then := s.at(x.at)
		if _, err := then.Coupons.Send(t.Context(), s.By, c.ID, toAll()); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", x.name, err, x.want)
		}
	}
	s.Must(s.Coupons.SetActive(t.Context(), s.By, c.ID, false))
	refused(t, second(s.Coupons.Send(t.Context(), s.By, c.ID, toAll())), coupon.ErrInactive)
	if n := s.sends(c); n != 2 {
		t.Errorf("%d sends, want 2", n)
	}
}

// A form that is submitted twice, also at once, makes one send, one job and one audit entry.
func TestADoubleClickIsOneSend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(fivePoints())
	form := toAll()
	var all sync.WaitGroup
	made := make([]coupon.Sending, 20)
	for i := range made {
		all.Go(func() {
			var err error
			if made[i], err = s.Coupons.Send(t.Context(), s.By, c.ID, form); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, again := range append(made, s.confirmed(c, form)) {
		if diff := cmp.Diff(made[0], again); diff != "" {
			t.Fatalf("two sends of one form:\n%s", diff)
		}
	}
	const jobsSQL = "select count(*) from river.river_job where kind = 'coupon_evaluation' and args ->> 'send' = $1"
	if sends, jobs, entries := s.sends(c), shoptest.Query[int](s.Shop, jobsSQL, made[0].ID.String()), len(s.Log("coupon", c.ID)); sends != 1 || jobs != 1 || entries != 2 {
		t.Errorf("%d sends, %d jobs, %d entries in the log, want 1, 1 and 2", sends, jobs, entries)
	}
	// Another tenant's form may have the same key.
	other := newShop(t)
	if sent := other.confirmed(other.Coupon(fivePoints()), form); sent.ID == made[0].ID {
		t.Error("two tenants share a send")
	}
}

// A send is evaluated once, however often its job runs.
func TestASendIsEvaluatedOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxPerCustomer = new(int64(100))
	c := s.Coupon(n)
	members := s.AddCustomers(3)
	send := s.confirmed(c, to(coupon.Manual, members...))
	var all sync.WaitGroup
	results := make([]coupon.Sending, 20)
	for i := range results {
		all.Go(func() {
			var err error
			if results[i], err = s.Coupons.Evaluate(t.Context(), s.By, send.ID); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.leave(members[0])
	wantCounts(t, results[0], 3, 3, 0, 0)
	for _, again := range append(results, s.evaluated(send.ID)) {
		if diff := cmp.Diff(results[0], again); diff != "" {
			t.Fatalf("evaluated once and again:\n%s", diff)
		}
	}
	s.wantHolders(c, members...)
}

// No customer gets more vouchers than the limit, also from concurrent sends.
func TestManySendsAtOnceKeepToTheLimit(t *testing.T) {
	t.Parallel()
	s := shop{shoptest.In(t, dbtest.OwnDB(t))}
	n := fivePoints()
	n.MaxPerCustomer = new(int64(3))
	c := s.Coupon(n)
	members := s.AddCustomers(5)
	var sends []core.ID
	for range 30 {
		sends = append(sends, s.confirmed(c, toAll()).ID)
	}
	var all sync.WaitGroup
	results := make([]coupon.Sending, len(sends))
	for i, send := range sends {
		all.Go(func() {
			var err error
			if results[i], err = s.Coupons.Evaluate(t.Context(), s.By, send); err != nil {
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
	s.wantHolders(c, want...)
	s.Verify()
}

// Tills redeem vouchers of a coupon while a send of it is evaluated.
func TestTillsRedeemWhileASendIsEvaluated(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.MaxPerCustomer, n.MaxRedemptions = new(int64(2)), new(int64(10))
	c := s.Coupon(n)
	anna, bilal := s.Customer().ID, s.Customer().ID
	voucher := s.Voucher(c.ID, anna)

	// A lock on Bilal's row stops the evaluation after it has created its vouchers,
	// when the database checks their customers.
	hold, err := dbtest.Owner(s.DB).Begin(t.Context())
	s.Check(err)
	defer hold.Rollback(context.Background()) //nolint:errcheck // if the test fails
	s.Must(hold.Exec(t.Context(), "select from loyalty.customer where tenant_id = $1 and id = $2 for update", s.By.Tenant.ID, bilal))
	send := s.confirmed(c, toAll())
	evaluated := make(chan error)
	go func() { evaluated <- second(s.Coupons.Evaluate(t.Context(), s.By, send.ID)) }()
	s.Wait("the evaluation waits there", dbtest.IsBlocking(t),
		hold.Conn().PgConn().PID())

	// At the same time at the till.
	s.RedeemVoucher(voucher)
	if _, err := s.Coupons.SetActive(t.Context(), s.By, c.ID, false); err != nil {
		t.Error(err)
	}
	select {
	case err := <-evaluated:
		t.Fatalf("the evaluation did not wait: %v", err)
	default:
	}
	s.Check(hold.Commit(t.Context()))
	if err := <-evaluated; err != nil {
		t.Error(err)
	}
	s.wantHolders(c, anna, anna, bilal)
	if got := s.find(c.ID).RedemptionsCount; got != 1 {
		t.Errorf("%d redemptions, want 1", got)
	}
}

// A voucher expires with its coupon, or earlier at the end of its last local day.
func TestVoucherExpiry(t *testing.T) {
	t.Parallel()
	const never = ""
	for _, c := range []struct {
		name, zone string
		days       int64 // 0: none
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
			s := shop{shoptest.New(t).InZone(c.zone)}
			s.Customer()
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
			s = s.at(instant(t, "2026-03-01T12:00:00Z"))
			made := s.Coupon(n)
			s.sentAt(made, to(coupon.Manual, s.Customer().ID), instant(t, c.send))
			if diff := cmp.Diff(want, s.stored(made)[0].ExpiresAt); diff != "" {
				t.Errorf("expires (-want +got):\n%s", diff)
			}
		})
	}
}

// The queue evaluates a confirmed send.
func TestTheQueueEvaluates(t *testing.T) {
	t.Parallel()
	s := queueShop(t)
	s.work()
	anna := s.Customer().ID
	c := s.Coupon(fivePoints())
	send := s.confirmed(c, toAll())
	if send.Status != coupon.Waiting || send.EvaluatedAt != nil {
		t.Errorf("confirmed: %+v", send)
	}
	s.Wait("the send is evaluated", "select status = 'done' from loyalty.coupon_send where id = $1", send.ID)
	s.wantHolders(c, anna)
}

// queueShop is a shop in a separate database.
func queueShop(t *testing.T) shop {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return shop{shoptest.In(t, d)}
}

// work runs the queue until the test ends.
func (s shop) work() {
	s.T.Helper()
	s.Check(s.Jobs.Start(context.WithoutCancel(s.T.Context())))
	s.T.Cleanup(func() {
		if err := s.Jobs.Stop(context.Background()); err != nil {
			s.T.Error(err)
		}
	})
}
