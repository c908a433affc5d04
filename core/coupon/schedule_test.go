package coupon_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// at returns a send to all customers at a time.
func scheduled(at time.Time) coupon.Send {
	s := toAll()
	s.At = &at
	return s
}

func (s shop) run(send core.ID) {
	s.T.Helper()
	s.Check(s.Coupons.RunEvaluation(s.T.Context(), coupon.Evaluation{Tenant: s.By.Tenant.ID, Send: send}))
}

// A scheduled send is evaluated once, at its time, with the customers who joined before.
func TestAScheduledSendIsEvaluatedAtItsTime(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	early := s.Customer().ID
	c := s.Coupon(fivePoints())
	at := s.DB.Now().Add(2 * time.Hour)
	send := s.confirmed(c, scheduled(at))
	if send.Status != coupon.Waiting || !send.SendAt.Equal(at) {
		t.Errorf("confirmed: %+v", send)
	}
	var state string
	var due time.Time
	err := dbtest.Owner(s.DB).QueryRow(t.Context(), "select state, scheduled_at from river.river_job where kind = 'coupon_evaluation' and args ->> 'send' = $1", send.ID.String()).
		Scan(&state, &due)
	if err != nil || state != "scheduled" || !due.Equal(at) {
		t.Errorf("its job is %s for %s, %v; want scheduled for %s", state, due, err, at)
	}
	joined := s.at(at.Add(-time.Minute)).Customer().ID
	tooLate := s.at(at.Add(time.Minute)).Customer().ID
	s.at(at.Add(5 * time.Minute)).run(send.ID) // later than planned, but for its time
	s.wantHolders(c, early, joined)
	if got := s.found(send.ID); got.Status != coupon.Done || got.BegunAt == nil || got.EvaluatedAt == nil {
		t.Errorf("evaluated: %+v", got)
	}
	s.at(at.Add(time.Hour)).run(send.ID)
	if got := s.holders(c); len(got) != 2 {
		t.Errorf("run again: %v hold vouchers, among them maybe %s", got, tooLate)
	}
}

// A send can be scheduled at most a year ahead, and not in the past.
func TestWhenASendCanBeScheduled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(fivePoints())
	for name, at := range map[string]time.Time{
		"a minute ago": s.DB.Now().Add(-time.Minute),
		"in two years": s.DB.Now().AddDate(2, 0, 0),
	} {
		_, err := s.Coupons.Send(t.Context(), s.By, c.ID, scheduled(at))
		var refusal *core.Error
		if !errors.As(err, &refusal) || len(refusal.Fields["send_at"]) != 1 {
			t.Errorf("%s = %v", name, err)
		}
	}
	if _, err := s.Coupons.Send(t.Context(), s.By, c.ID, scheduled(s.DB.Now().AddDate(0, 11, 0))); err != nil {
		t.Errorf("in eleven months = %v", err)
	}
}

// The coupon must have started and not have expired at the time of the send.
func TestCouponMustBeActiveAtTheTimeOfItsSend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	now := s.DB.Now()
	n.StartsAt, n.ExpiresAt = new(now.Add(time.Hour)), new(now.Add(3*time.Hour))
	c := s.Coupon(n)
	for after, want := range map[time.Duration]error{time.Minute: coupon.ErrNotStarted, 2 * time.Hour: nil, 3 * time.Hour: coupon.ErrExpired} {
		if _, err := s.Coupons.Send(t.Context(), s.By, c.ID, scheduled(now.Add(after))); !errors.Is(err, want) {
			t.Errorf("after %s = %v, want %v", after, err, want)
		}
	}
}

// A send can be cancelled until its job starts.
func TestCancelASend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Customer()
	c := s.Coupon(fivePoints())
	at := s.DB.Now().Add(time.Hour)
	send := s.confirmed(c, scheduled(at))
	for range 2 {
		cancelled, err := s.Coupons.CancelSend(t.Context(), s.By, send.ID)
		if err != nil || cancelled.Status != coupon.Cancelled || cancelled.EndedAt == nil {
			t.Fatalf("cancelled: %+v, %v", cancelled, err)
		}
	}
	s.at(at).run(send.ID)
	if got := s.holders(c); len(got) != 0 {
		t.Errorf("%v hold vouchers of a cancelled send", got)
	}
	begun := s.Send(c.ID, toAll())
	if _, err := s.Coupons.CancelSend(t.Context(), s.By, begun.ID); !errors.Is(err, coupon.ErrSendBegun) {
		t.Errorf("cancel one that was sent = %v", err)
	}
	log := strings.Join(s.Log("coupon", c.ID), "\n")
	if strings.Count(log, "coupon.cancel_send") != 1 {
		t.Errorf("log:\n%s", log)
	}
	if _, err := s.Coupons.CancelSend(t.Context(), s.As(core.Cashier).By, send.ID); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier cancels = %v", err)
	}
	stranger := newShop(t)
	if _, err := stranger.Coupons.CancelSend(t.Context(), stranger.By, send.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a stranger cancels = %v", err)
	}
}

// If cancelling and starting race, one of them wins.
func TestCancelRacesTheJob(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Customer()
	for range 20 {
		c := s.Coupon(fivePoints())
		send := s.confirmed(c, toAll())
		var race sync.WaitGroup
		var cancelled error
		race.Go(func() { _, cancelled = s.Coupons.CancelSend(t.Context(), s.By, send.ID) })
		race.Go(func() {
			if err := s.Coupons.RunEvaluation(t.Context(), coupon.Evaluation{Tenant: s.By.Tenant.ID, Send: send.ID}); err != nil {
				t.Error(err)
			}
		})
		race.Wait()
		status, vouchers := s.found(send.ID).Status, len(s.stored(c))
		switch {
		case cancelled == nil && (status != coupon.Cancelled || vouchers != 0),
			errors.Is(cancelled, coupon.ErrSendBegun) && (status != coupon.Done || vouchers != 1),
			cancelled != nil && !errors.Is(cancelled, coupon.ErrSendBegun):
			t.Fatalf("cancelled: %v; the send is %s, with %d vouchers", cancelled, status, vouchers)
		}
	}
}

// A send whose coupon was deactivated fails, and the person who confirmed it is mailed why.
func TestASendFailsWithItsCoupon(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.Customer()
	c := s.Coupon(fivePoints())
	at := s.DB.Now().Add(time.Hour)
	send := s.confirmed(c, scheduled(at))
	s.Must(s.Coupons.SetActive(t.Context(), s.By, c.ID, false))
	s.at(at).run(send.ID)
	got := s.found(send.ID)
	if got.Status != coupon.Failed || got.Failure == nil || *got.Failure != "coupon-inactive" || got.EndedAt == nil || len(s.stored(c)) != 0 {
		t.Errorf("the send is %+v", got)
	}
	if diff := cmp.Diff([]string{"Welcome back: failed coupon-inactive"}, s.told()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// told returns the subjects of the mails to the staff.
func (s shop) told() []string {
	s.T.Helper()
	return shoptest.QueryAll[string](s.Shop, "select subject from loyalty.mail where tenant_id = $1", s.By.Tenant.ID)
}

// The result of a send is mailed to the person who confirmed it, unless they just confirmed it.
func TestSendResultIsMailed(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.mailed("anna@example.com")
	c := s.Coupon(fivePoints())
	now := s.Send(c.ID, toAll())
	s.Check(s.deliver(now.ID))
	if got := s.told(); len(got) != 0 {
		t.Errorf("told at once: %q", got)
	}
	other := s.Coupon(fivePoints())
	at := s.DB.Now().Add(time.Hour)
	send := s.confirmed(other, scheduled(at))
	s = s.at(at)
	s.run(send.ID)
	s.Check(s.deliver(send.ID))
	if diff := cmp.Diff([]string{"Welcome back: done "}, s.told()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// A preview has the counts that the send then has.
func TestPreviewMatchesTheSend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	long := s.at(s.DB.Now().Add(-100 * 24 * time.Hour))
	var everybody []core.ID
	for i, from := range []shop{long, s} {
		plain, mailed, quiet, gone, holder := from.Customer().ID, from.mailed(fmt.Sprintf("a%d@example.com", i)), from.mailed(fmt.Sprintf("b%d@example.com", i)), from.Customer().ID, from.mailed(fmt.Sprintf("c%d@example.com", i))
		s.unsubscribe(quiet)
		for _, who := range []core.ID{plain, mailed, gone, holder} {
			s.sale(who)
		}
		s.leave(gone)
		everybody = append(everybody, plain, mailed, quiet, gone, holder)
	}
	n := fivePoints()
	n.MaxRedemptions = new(int64(3))
	dbtest.Tick(s.DB)
	for _, segment := range []coupon.Segment{coupon.All, coupon.LongStanding, coupon.RecentPurchase, coupon.Manual} {
		t.Run(string(segment), func(t *testing.T) {
			c := s.Coupon(n)
			s.Send(c.ID, to(coupon.Manual, everybody[4], everybody[9]))
			send := to(segment)
			if segment == coupon.Manual {
				send = to(segment, everybody...)
			}
			preview, err := s.Coupons.Preview(t.Context(), s.By, c.ID, send)
			if err != nil {
				t.Fatal(err)
			}
			if preview.Sent == 0 || preview.SkippedLimit == 0 || preview.NoEmail == 0 {
				t.Errorf("the preview tries little: %+v", preview)
			}
			if preview.Pending != 2 || *preview.Left != 3 || preview.Refused() != 2+preview.Sent-3 {
				t.Errorf("pending %d, left %d, refused %d of %d", preview.Pending, *preview.Left, preview.Refused(), preview.Sent)
			}
			sent := s.Send(c.ID, send)
			counts := coupon.Counts{
				Matched: sent.Matched, Sent: sent.Sent, SkippedInactive: sent.SkippedInactive, SkippedLimit: sent.SkippedLimit,
				NoEmail: sent.NoEmail, Unsubscribed: sent.Unsubscribed,
			}
			want := coupon.Preview{Counts: counts, Pending: preview.Pending, Left: preview.Left}
			if diff := cmp.Diff(want, preview); diff != "" {
				t.Errorf("sent, and previewed (-want +got):\n%s", diff)
			}
			if sent.Mails != preview.Mails() {
				t.Errorf("%d mails, previewed %d", sent.Mails, preview.Mails())
			}
		})
	}
	audiences, err := s.Coupons.CountSegments(t.Context(), s.By)
	if want := (coupon.SegmentSizes{All: 8, LongStanding: 5, RecentPurchase: 8}); err != nil || audiences != want {
		t.Errorf("audiences %+v, %v; want %+v", audiences, err, want)
	}
}

// A preview names unknown customers like the send.
func TestAPreviewNamesUnknownCustomers(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	c, stranger := s.Coupon(fivePoints()), other.Customer().ID
	_, err := s.Coupons.Preview(t.Context(), s.By, c.ID, to(coupon.Manual, s.Customer().ID, stranger))
	var refusal *core.Error
	if !errors.As(err, &refusal) || !slices.Contains(refusal.Fields["customers"], core.Violation{Rule: "unknown_customer", Other: stranger.String()}) {
		t.Errorf("Preview = %v", err)
	}
	if _, err := other.Coupons.Preview(t.Context(), other.By, c.ID, toAll()); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("of another tenant's coupon = %v", err)
	}
	if _, err := s.Coupons.Preview(t.Context(), s.As(core.Cashier).By, c.ID, toAll()); !errors.Is(err, core.ErrRole) {
		t.Errorf("to a cashier = %v", err)
	}
}

// A send has its own subject and message, or else the coupon's name and description.
func TestSubjectAndMessage(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.Description = "It has been a while."
	c := s.Coupon(n)
	plain := s.confirmed(c, toAll())
	own := toAll()
	own.Subject, own.Message = new("A bun, on us"), new("")
	worded := s.confirmed(c, own)
	if plain.Subject != "Welcome back" || plain.Message != "It has been a while." || worded.Subject != "A bun, on us" || worded.Message != "" {
		t.Errorf("plain %q %q, worded %q %q", plain.Subject, plain.Message, worded.Subject, worded.Message)
	}
	long := toAll()
	long.Subject, long.Message = new(" "), new(strings.Repeat("x", 1001))
	_, err := s.Coupons.Send(t.Context(), s.By, c.ID, long)
	var refusal *core.Error
	if !errors.As(err, &refusal) || len(refusal.Fields) != 2 {
		t.Errorf("an empty subject and a message that is too long = %v", err)
	}
}

// A send whose job was lost gets another one. If an operator cancelled the job, the send is
// cancelled or its e-mails are stopped.
func TestSendsFollowTheirJobs(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.shop = mailShopOf(t, dbtest.OwnDB(t), core.Actor{}, s.server, s.sender).shop
	s.By = dbtest.Tenant(t, s.DB)
	s.mailed("anna@example.com")
	coupons := [4]coupon.Coupon{}
	var sends [4]core.ID
	for i := range coupons {
		coupons[i] = s.Coupon(fivePoints())
		sends[i] = s.confirmed(coupons[i], toAll()).ID
	}
	for _, mailing := range sends[2:] {
		s.evaluated(mailing)
	}
	change := func(sql string, args ...any) {
		t.Helper()
		s.Exec(sql, args...)
	}
	const ofSend = " where args ->> 'send' = $1"
	for _, lost := range []core.ID{sends[0], sends[2]} {
		change("delete from river.river_job"+ofSend, lost.String())
	}
	for _, cancelled := range []core.ID{sends[1], sends[3]} {
		change("update river.river_job set state = 'cancelled', finalized_at = now()"+ofSend, cancelled.String())
	}
	later := s.at(s.DB.Now().Add(2 * time.Minute))
	for range 2 {
		later.Check(later.Coupons.Tend(t.Context()))
	}
	for i, want := range []struct {
		status coupon.SendStatus
		jobs   int // that are to run
	}{{coupon.Waiting, 1}, {coupon.Cancelled, 0}, {coupon.Mailing, 1}, {coupon.Stopped, 0}} {
		jobs := shoptest.Query[int](s.Shop, "select count(*) from river.river_job"+ofSend+" and state = 'available'", sends[i].String())
		if got := s.found(sends[i]).Status; got != want.status || jobs != want.jobs {
			t.Errorf("send %d is %s with %d jobs, want %s with %d", i, got, jobs, want.status, want.jobs)
		}
	}
}

// Many sends get their lost jobs back in as many round trips as a few.
func TestLostJobsRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shop{shoptest.In(t, d)}
	c := s.Coupon(fivePoints())
	trips := func(sends int) int {
		for range sends {
			s.confirmed(c, toAll())
		}
		s.Exec("delete from river.river_job where kind = 'coupon_evaluation'")
		later := s.at(s.DB.Now().Add(2 * time.Minute))
		before := count()
		later.Check(later.Coupons.Tend(t.Context()))
		return count() - before
	}
	trips(1)                                            // prepares the statements
	if few, many := trips(1), trips(20); many > few+1 { // one more may wake the workers
		t.Errorf("two lost jobs take %d round trips, 22 take %d", few, many)
	}
	if jobs := shoptest.Query[int](s.Shop, "select count(*) from river.river_job where kind = 'coupon_evaluation' and state = 'available'"); jobs != 22 {
		t.Errorf("%d jobs are queued, want 22", jobs)
	}
}

// A process killed during the evaluation leaves a waiting send without vouchers.
func TestAKilledEvaluationLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.shop = mailShopOf(t, dbtest.OwnDB(t), core.Actor{}, s.server, s.sender).shop
	s.By = dbtest.Tenant(t, s.DB)
	anna := s.mailed("anna@example.com")
	c := s.Coupon(fivePoints())
	send := s.confirmed(c, toAll())
	holder := s.begin()
	s.Must(holder.Exec(t.Context(), "select from loyalty.coupon_send where tenant_id = $1 and id = $2 for no key update", s.By.Tenant.ID, send.ID))
	ended := make(chan error, 1)
	go func() {
		_, err := s.Coupons.Evaluate(t.Context(), s.By, send.ID)
		ended <- err
	}()
	for killed := false; !killed; time.Sleep(5 * time.Millisecond) {
		err := dbtest.Owner(s.DB).QueryRow(t.Context(), `
			select coalesce(bool_or(pg_terminate_backend(waiting)), false)
			from `+dbtest.Waits(t)+` w
			where blocking = $1`, holder.Conn().PgConn().PID()).Scan(&killed)
		s.Check(err)
	}
	if err := <-ended; err == nil {
		t.Fatal("the killed evaluation succeeded")
	}
	s.Check(holder.Rollback(t.Context()))
	if got := s.found(send.ID); got.Status != coupon.Waiting || got.Sent != 0 || len(s.stored(c)) != 0 {
		t.Errorf("killed: %+v with %d vouchers", got, len(s.stored(c)))
	}
	s.run(send.ID) // the queue runs the job again
	s.wantHolders(c, anna)
	if got := s.found(send.ID); got.Status != coupon.Mailing || got.Sent != 1 || got.Mails != 1 {
		t.Errorf("run again: %+v", got)
	}
	s.Verify()
}
