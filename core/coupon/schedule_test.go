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
)

// at returns a send to all customers at a time.
func scheduled(at time.Time) coupon.Send {
	s := toAll()
	s.At = &at
	return s
}

func (s shop) run(t *testing.T, send core.ID) {
	t.Helper()
	if err := s.RunEvaluation(t.Context(), coupon.Evaluation{Tenant: s.by.Tenant.ID, Send: send}); err != nil {
		t.Fatal(err)
	}
}

// A scheduled send is evaluated once, at its time, with the customers who joined before.
func TestAScheduledSendIsEvaluatedAtItsTime(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	early := s.customer(t)
	c := s.coupon(t, fivePoints())
	at := s.db.Now().Add(2 * time.Hour)
	send := s.confirmed(t, c, scheduled(at))
	if send.Status != coupon.Waiting || !send.SendAt.Equal(at) {
		t.Errorf("confirmed: %+v", send)
	}
	var state string
	var due time.Time
	err := dbtest.Owner(s.db).QueryRow(t.Context(), "select state, scheduled_at from river.river_job where kind = 'coupon_evaluation' and args ->> 'send' = $1", send.ID.String()).
		Scan(&state, &due)
	if err != nil || state != "scheduled" || !due.Equal(at) {
		t.Errorf("its job is %s for %s, %v; want scheduled for %s", state, due, err, at)
	}
	joined := s.at(t, at.Add(-time.Minute)).customer(t)
	tooLate := s.at(t, at.Add(time.Minute)).customer(t)
	s.at(t, at.Add(5*time.Minute)).run(t, send.ID) // later than planned, and still as of its time
	s.wantHolders(t, c, early, joined)
	if got := s.found(t, send.ID); got.Status != coupon.Done || got.BegunAt == nil || got.EvaluatedAt == nil {
		t.Errorf("evaluated: %+v", got)
	}
	s.at(t, at.Add(time.Hour)).run(t, send.ID)
	if got := s.holders(t, c); len(got) != 2 {
		t.Errorf("run again: %v hold vouchers, among them maybe %s", got, tooLate)
	}
}

// A send can be scheduled at most a year ahead, and not in the past.
func TestWhenASendCanBeScheduled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.coupon(t, fivePoints())
	for name, at := range map[string]time.Time{
		"a minute ago": s.db.Now().Add(-time.Minute),
		"in two years": s.db.Now().AddDate(2, 0, 0),
	} {
		_, err := s.Send(t.Context(), s.by, c.ID, scheduled(at))
		var refusal *core.Error
		if !errors.As(err, &refusal) || len(refusal.Fields["send_at"]) != 1 {
			t.Errorf("%s = %v", name, err)
		}
	}
	if _, err := s.Send(t.Context(), s.by, c.ID, scheduled(s.db.Now().AddDate(0, 11, 0))); err != nil {
		t.Errorf("in eleven months = %v", err)
	}
}

// The coupon must have started and not have expired at the time of the send.
func TestCouponMustBeActiveAtTheTimeOfItsSend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	now := s.db.Now()
	n.StartsAt, n.ExpiresAt = new(now.Add(time.Hour)), new(now.Add(3*time.Hour))
	c := s.coupon(t, n)
	for after, want := range map[time.Duration]error{time.Minute: coupon.ErrNotStarted, 2 * time.Hour: nil, 3 * time.Hour: coupon.ErrExpired} {
		if _, err := s.Send(t.Context(), s.by, c.ID, scheduled(now.Add(after))); !errors.Is(err, want) {
			t.Errorf("after %s = %v, want %v", after, err, want)
		}
	}
}

// A send can be cancelled until its job starts.
func TestCancelASend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.customer(t)
	c := s.coupon(t, fivePoints())
	at := s.db.Now().Add(time.Hour)
	send := s.confirmed(t, c, scheduled(at))
	for range 2 {
		cancelled, err := s.CancelSend(t.Context(), s.by, send.ID)
		if err != nil || cancelled.Status != coupon.Cancelled || cancelled.EndedAt == nil {
			t.Fatalf("cancelled: %+v, %v", cancelled, err)
		}
	}
	s.at(t, at).run(t, send.ID)
	if got := s.holders(t, c); len(got) != 0 {
		t.Errorf("%v hold vouchers of a cancelled send", got)
	}
	begun := s.recordDelivery(t, c, toAll())
	if _, err := s.CancelSend(t.Context(), s.by, begun.ID); !errors.Is(err, coupon.ErrSendBegun) {
		t.Errorf("cancel one that was sent = %v", err)
	}
	log := strings.Join(s.log(t, c.ID), "\n")
	if strings.Count(log, "coupon.cancel_send") != 1 {
		t.Errorf("log:\n%s", log)
	}
	if _, err := s.CancelSend(t.Context(), dbtest.Person(t, s.db, s.by, core.Cashier), send.ID); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier cancels = %v", err)
	}
	stranger := newShop(t)
	if _, err := stranger.CancelSend(t.Context(), stranger.by, send.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a stranger cancels = %v", err)
	}
}

// If cancelling and starting race, one of them wins.
func TestCancelRacesTheJob(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.customer(t)
	for range 20 {
		c := s.coupon(t, fivePoints())
		send := s.confirmed(t, c, toAll())
		var race sync.WaitGroup
		var cancelled error
		race.Go(func() { _, cancelled = s.CancelSend(t.Context(), s.by, send.ID) })
		race.Go(func() {
			if err := s.RunEvaluation(t.Context(), coupon.Evaluation{Tenant: s.by.Tenant.ID, Send: send.ID}); err != nil {
				t.Error(err)
			}
		})
		race.Wait()
		status, vouchers := s.found(t, send.ID).Status, len(s.stored(t, c))
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
	s.customer(t)
	c := s.coupon(t, fivePoints())
	at := s.db.Now().Add(time.Hour)
	send := s.confirmed(t, c, scheduled(at))
	if _, err := s.SetActive(t.Context(), s.by, c.ID, false); err != nil {
		t.Fatal(err)
	}
	s.at(t, at).run(t, send.ID)
	got := s.found(t, send.ID)
	if got.Status != coupon.Failed || got.Failure == nil || *got.Failure != "coupon-inactive" || got.EndedAt == nil || len(s.stored(t, c)) != 0 {
		t.Errorf("the send is %+v", got)
	}
	if diff := cmp.Diff([]string{"Welcome back: failed coupon-inactive"}, s.told(t)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// told returns the subjects of the mails to the staff.
func (s shop) told(t *testing.T) (subjects []string) {
	t.Helper()
	err := dbtest.Owner(s.db).QueryRow(t.Context(), "select array_agg(subject) from loyalty.mail where tenant_id = $1", s.by.Tenant.ID).Scan(&subjects)
	if err != nil {
		t.Fatal(err)
	}
	return subjects
}

// The result of a send is mailed to the person who confirmed it, unless they just confirmed it.
func TestSendResultIsMailed(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.mailed(t, "anna@example.com")
	c := s.coupon(t, fivePoints())
	now := s.recordDelivery(t, c, toAll())
	if err := s.deliver(t, now.ID); err != nil {
		t.Fatal(err)
	}
	if got := s.told(t); len(got) != 0 {
		t.Errorf("told at once: %q", got)
	}
	other := s.coupon(t, fivePoints())
	at := s.db.Now().Add(time.Hour)
	send := s.confirmed(t, other, scheduled(at))
	s = s.at(t, at)
	s.run(t, send.ID)
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Welcome back: done "}, s.told(t)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// A preview has the counts that the send then has.
func TestPreviewMatchesTheSend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	long := s.at(t, s.db.Now().Add(-100*24*time.Hour))
	var everybody []core.ID
	for i, from := range []shop{long, s} {
		plain, mailed, quiet, gone, holder := from.customer(t), from.mailed(t, fmt.Sprintf("a%d@example.com", i)), from.mailed(t, fmt.Sprintf("b%d@example.com", i)), from.customer(t), from.mailed(t, fmt.Sprintf("c%d@example.com", i))
		s.unsubscribe(t, quiet)
		for _, who := range []core.ID{plain, mailed, gone, holder} {
			s.sale(t, who)
		}
		s.leave(t, gone)
		everybody = append(everybody, plain, mailed, quiet, gone, holder)
	}
	n := fivePoints()
	n.MaxRedemptions = new(int64(3))
	dbtest.Tick(s.db)
	for _, segment := range []coupon.Segment{coupon.All, coupon.LongStanding, coupon.RecentPurchase, coupon.Manual} {
		t.Run(string(segment), func(t *testing.T) {
			c := s.coupon(t, n)
			s.recordDelivery(t, c, to(coupon.Manual, everybody[4], everybody[9]))
			send := to(segment)
			if segment == coupon.Manual {
				send = to(segment, everybody...)
			}
			preview, err := s.Preview(t.Context(), s.by, c.ID, send)
			if err != nil {
				t.Fatal(err)
			}
			if preview.Sent == 0 || preview.SkippedLimit == 0 || preview.NoEmail == 0 {
				t.Errorf("the preview tries little: %+v", preview)
			}
			if preview.Pending != 2 || *preview.Left != 3 || preview.Refused() != 2+preview.Sent-3 {
				t.Errorf("pending %d, left %d, refused %d of %d", preview.Pending, *preview.Left, preview.Refused(), preview.Sent)
			}
			sent := s.recordDelivery(t, c, send)
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
	audiences, err := s.CountSegments(t.Context(), s.by)
	if want := (coupon.SegmentSizes{All: 8, LongStanding: 5, RecentPurchase: 8}); err != nil || audiences != want {
		t.Errorf("audiences %+v, %v; want %+v", audiences, err, want)
	}
}

// A preview names unknown customers like the send.
func TestAPreviewNamesUnknownCustomers(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	c, stranger := s.coupon(t, fivePoints()), other.customer(t)
	_, err := s.Preview(t.Context(), s.by, c.ID, to(coupon.Manual, s.customer(t), stranger))
	var refusal *core.Error
	if !errors.As(err, &refusal) || !slices.Contains(refusal.Fields["customers"], core.Violation{Rule: "unknown_customer", Other: stranger.String()}) {
		t.Errorf("Preview = %v", err)
	}
	if _, err := other.Preview(t.Context(), other.by, c.ID, toAll()); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("of another tenant's coupon = %v", err)
	}
	if _, err := s.Preview(t.Context(), dbtest.Person(t, s.db, s.by, core.Cashier), c.ID, toAll()); !errors.Is(err, core.ErrRole) {
		t.Errorf("to a cashier = %v", err)
	}
}

// A send has its own subject and message, or else the coupon's name and description.
func TestSubjectAndMessage(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := fivePoints()
	n.Description = new("It has been a while.")
	c := s.coupon(t, n)
	plain := s.confirmed(t, c, toAll())
	own := toAll()
	own.Subject, own.Message = new("A bun, on us"), new("")
	worded := s.confirmed(t, c, own)
	if plain.Subject != "Welcome back" || plain.Message != "It has been a while." || worded.Subject != "A bun, on us" || worded.Message != "" {
		t.Errorf("plain %q %q, worded %q %q", plain.Subject, plain.Message, worded.Subject, worded.Message)
	}
	long := toAll()
	long.Subject, long.Message = new(" "), new(strings.Repeat("x", 1001))
	_, err := s.Send(t.Context(), s.by, c.ID, long)
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
	s.by = dbtest.Tenant(t, s.db)
	s.mailed(t, "anna@example.com")
	coupons := [4]coupon.Coupon{}
	var sends [4]core.ID
	for i := range coupons {
		coupons[i] = s.coupon(t, fivePoints())
		sends[i] = s.confirmed(t, coupons[i], toAll()).ID
	}
	for _, mailing := range sends[2:] {
		s.evaluated(t, mailing)
	}
	change := func(sql string, args ...any) {
		t.Helper()
		if _, err := dbtest.Owner(s.db).Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	const ofSend = " where args ->> 'send' = $1"
	for _, lost := range []core.ID{sends[0], sends[2]} {
		change("delete from river.river_job"+ofSend, lost.String())
	}
	for _, cancelled := range []core.ID{sends[1], sends[3]} {
		change("update river.river_job set state = 'cancelled', finalized_at = now()"+ofSend, cancelled.String())
	}
	later := s.at(t, s.db.Now().Add(2*time.Minute))
	for range 2 {
		if err := later.Tend(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []struct {
		status coupon.SendStatus
		jobs   int // that are to run
	}{{coupon.Waiting, 1}, {coupon.Cancelled, 0}, {coupon.Mailing, 1}, {coupon.Stopped, 0}} {
		var jobs int
		if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from river.river_job"+ofSend+" and state = 'available'", sends[i].String()).Scan(&jobs); err != nil {
			t.Fatal(err)
		}
		if got := s.found(t, sends[i]).Status; got != want.status || jobs != want.jobs {
			t.Errorf("send %d is %s with %d jobs, want %s with %d", i, got, jobs, want.status, want.jobs)
		}
	}
}

// A process killed during the evaluation leaves a waiting send without vouchers.
func TestAKilledEvaluationLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.shop = mailShopOf(t, dbtest.OwnDB(t), core.Actor{}, s.server, s.sender).shop
	s.by = dbtest.Tenant(t, s.db)
	anna := s.mailed(t, "anna@example.com")
	c := s.coupon(t, fivePoints())
	send := s.confirmed(t, c, toAll())
	holder := s.begin(t)
	if _, err := holder.Exec(t.Context(), "select from loyalty.coupon_send where id = $1 for no key update", send.ID); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := s.Evaluate(t.Context(), s.by, send.ID)
		ended <- err
	}()
	for killed := false; !killed; time.Sleep(5 * time.Millisecond) {
		err := dbtest.Owner(s.db).QueryRow(t.Context(), `
			select coalesce(bool_or(pg_terminate_backend(pid)), false)
			from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock'`).Scan(&killed)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; err == nil {
		t.Fatal("the killed evaluation succeeded")
	}
	if err := holder.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.found(t, send.ID); got.Status != coupon.Waiting || got.Sent != 0 || len(s.stored(t, c)) != 0 {
		t.Errorf("killed: %+v with %d vouchers", got, len(s.stored(t, c)))
	}
	s.run(t, send.ID) // the queue takes the job up again
	s.wantHolders(t, c, anna)
	if got := s.found(t, send.ID); got.Status != coupon.Mailing || got.Sent != 1 || got.Mails != 1 {
		t.Errorf("run again: %+v", got)
	}
	s.sound(t)
}
