package coupon_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// suspend suspends the business, and reactivate ends that.
func (s shop) suspend()    { s.T.Helper(); s.setStatus("suspended") }
func (s shop) reactivate() { s.T.Helper(); s.setStatus("active") }

func (s shop) setStatus(status string) {
	s.T.Helper()
	s.Exec("update loyalty.tenant set status = $1 where id = $2", status, s.By.Tenant.ID)
}

// evaluate runs the job that creates a send's vouchers.
func (s shop) evaluate(send core.ID) error {
	s.T.Helper()
	return s.Coupons.RunEvaluation(s.T.Context(), coupon.Evaluation{Tenant: s.By.Tenant.ID, Send: send})
}

// A scheduled send that is due while the business is suspended makes no vouchers and mails nothing, then or
// after the reactivation, until a manager continues it: for that moment, like a send that is confirmed now.
func TestASendThatIsDueDuringASuspensionIsOnHold(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	who := s.mailed("anna@example.com")
	n := fivePoints()
	n.VoucherValidDays = new(int64(2))
	c := s.Coupon(n)
	send := toAll()
	send.At = new(s.DB.Now().Add(time.Hour))
	scheduled := s.confirmed(c, send)

	s.suspend()
	due := s.at(s.DB.Now().Add(2 * time.Hour))
	s.Check(due.evaluate(scheduled.ID))
	s.reactivate()
	s.Check(due.evaluate(scheduled.ID))
	if held := due.found(scheduled.ID); !held.OnHold() || held.Status != coupon.Waiting || held.Sent != 0 || held.BegunAt != nil {
		t.Fatalf("on hold: %+v", held)
	}
	if s.Count("voucher") != 0 {
		t.Error("vouchers were created")
	}
	later := s.at(s.DB.Now().Add(72 * time.Hour))
	continued, err := later.Coupons.ContinueSend(t.Context(), s.By, scheduled.ID)
	if err != nil || continued.OnHold() || continued.SendAt.Before(later.DB.Now().Add(-time.Minute)) {
		t.Fatalf("continued: %+v, %v", continued, err)
	}
	s.Must(later.Coupons.ContinueSend(t.Context(), s.By, scheduled.ID)) // a second click
	s.Check(later.evaluate(scheduled.ID))
	s.Check(later.deliver(scheduled.ID))
	later.wantMails(scheduled.ID, coupon.Done, 1, 1, 0)
	s.wantHolders(c, who)
	if ends := later.found(scheduled.ID).ExpiresAt; !ends.After(later.DB.Now().Add(48 * time.Hour)) {
		t.Errorf("valid until %v", ends)
	}
}

// A send on hold has no job, and the upkeep queues none; continued, it has one again.
func TestASendOnHoldHasNoJob(t *testing.T) {
	t.Parallel()
	s := shop{shoptest.In(t, dbtest.OwnDB(t))}
	sent := s.confirmed(s.Coupon(fivePoints()), toAll())
	s.suspend()
	s.Check(s.evaluate(sent.ID))
	s.Exec("delete from river.river_job")
	s.reactivate()
	s.Check(s.at(s.DB.Now().Add(24 * time.Hour)).Coupons.Tend(t.Context()))
	const jobs = "select count(*) from river.river_job where kind = 'coupon_evaluation'"
	if n := shoptest.Query[int64](s.Shop, jobs); n != 0 {
		t.Errorf("%d jobs of a send on hold", n)
	}
	s.Must(s.Coupons.ContinueSend(t.Context(), s.By, sent.ID))
	if n := shoptest.Query[int64](s.Shop, jobs); n != 1 {
		t.Errorf("%d jobs of a send that goes on, want one", n)
	}
}

// A send on hold that is cancelled never makes vouchers.
func TestASendOnHoldIsCancelled(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.mailed("anna@example.com")
	sent := s.confirmed(s.Coupon(fivePoints()), toAll())
	s.suspend()
	s.Check(s.evaluate(sent.ID))
	s.reactivate()
	s.Must(s.Coupons.CancelSend(t.Context(), s.By, sent.ID))
	s.Check(s.evaluate(sent.ID))
	s.Must(s.Coupons.ContinueSend(t.Context(), s.By, sent.ID))
	if got := s.found(sent.ID); got.Status != coupon.Cancelled || got.OnHold() || s.Count("voucher") != 0 {
		t.Errorf("%+v", got)
	}
}

// E-mails that wait when the business is suspended, also deferred ones, stay until a manager continues the send or
// stops its e-mails.
func TestEMailsThatWaitAreOnHold(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		decide func(s mailShop, send core.ID) (coupon.Sending, error)
		status coupon.SendStatus
		mailed int64
	}{
		{func(s mailShop, send core.ID) (coupon.Sending, error) {
			return s.Coupons.ContinueSend(s.T.Context(), s.By, send)
		}, coupon.Done, 2},
		{func(s mailShop, send core.ID) (coupon.Sending, error) {
			return s.Coupons.StopMails(s.T.Context(), s.By, send)
		}, coupon.Stopped, 0},
	} {
		s := newMailShop(t)
		s.mailed("anna@example.com")
		s.mailed("later@example.com")
		sent := s.Send(s.Coupon(fivePoints()).ID, toAll())
		s.suspend()
		s.Check(s.deliver(sent.ID))
		s.reactivate()
		s.Check(s.deliver(sent.ID))
		if held := s.found(sent.ID); !held.OnHold() || held.Status != coupon.Mailing || held.Delivered != 0 {
			t.Fatalf("on hold: %+v", held)
		}
		s.Must(x.decide(s, sent.ID))
		s.Check(s.deliver(sent.ID))
		s.wantMails(sent.ID, x.status, 2, x.mailed, 0)
	}
}

// A suspension between a job's look-up and its transaction refuses the transaction, and costs no round trip.
func TestTheGateIsInTheTransaction(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shop{shoptest.In(t, d)}
	sent := s.confirmed(s.Coupon(fivePoints()), toAll())
	by := core.Job(s.By.Tenant, "coupon send")
	// The least of ten: on a busy machine a transaction may run again because it began too late.
	trips := func(by core.Actor) int {
		t.Helper()
		least := math.MaxInt
		for range 10 {
			sent := s.confirmed(s.Coupon(fivePoints()), toAll())
			before := count()
			s.Must(s.Coupons.Evaluate(t.Context(), by, sent.ID))
			least = min(least, count()-before)
		}
		return least
	}
	trips(by) // prepares the statements
	if gated, ungated := trips(by), trips(s.By); gated != ungated {
		t.Errorf("%d round trips with the gate, %d without", gated, ungated)
	}
	s.suspend()
	if _, err := s.Coupons.Evaluate(t.Context(), by, sent.ID); !errors.Is(err, core.ErrSuspended) {
		t.Errorf("while suspended: %v, want ErrSuspended", err)
	}
}

// A job that is still creating vouchers when its send is held and cancelled creates none: one of them wins.
func TestAHeldSendIsCancelledWhileItsVouchersAreCreated(t *testing.T) {
	t.Parallel()
	s := shop{shoptest.In(t, dbtest.OwnDB(t))}
	who := s.Customer().ID
	sent := s.confirmed(s.Coupon(fivePoints()), toAll())
	hold, err := dbtest.Owner(s.DB).Begin(t.Context())
	s.Check(err)
	defer hold.Rollback(context.Background()) //nolint:errcheck // after the end of a test that failed
	_, err = hold.Exec(t.Context(), "select from loyalty.customer where tenant_id = $1 and id = $2 for update", s.By.Tenant.ID, who)
	s.Check(err)
	created := make(chan error)
	go func() {
		_, err := s.Coupons.Evaluate(t.Context(), core.Job(s.By.Tenant, "coupon send"), sent.ID)
		created <- err
	}()
	s.Wait("it creates a voucher", dbtest.IsBlocking(t), hold.Conn().PgConn().PID())
	s.suspend()
	s.Check(s.evaluate(sent.ID)) // another run of the job
	s.reactivate()
	s.Must(s.Coupons.CancelSend(t.Context(), s.By, sent.ID))
	s.Check(hold.Rollback(t.Context()))
	if err := <-created; err == nil {
		t.Error("the vouchers of a cancelled send were created")
	}
	if got := s.found(sent.ID); got.Status != coupon.Cancelled || s.Count("voucher") != 0 {
		t.Errorf("%+v", got)
	}
}

// Continuing and cancelling at once, many times: one of them wins, and the send has one job or none.
func TestASendOnHoldIsContinuedOrCancelled(t *testing.T) {
	t.Parallel()
	s := shop{shoptest.In(t, dbtest.OwnDB(t))}
	s.Customer()
	sent := s.confirmed(s.Coupon(fivePoints()), toAll())
	s.suspend()
	s.Check(s.evaluate(sent.ID))
	s.reactivate()
	s.Exec("delete from river.river_job")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { _, _ = s.Coupons.ContinueSend(context.Background(), s.By, sent.ID) })
		all.Go(func() { _, _ = s.Coupons.CancelSend(context.Background(), s.By, sent.ID) })
	}
	all.Wait()
	jobs := shoptest.Query[int64](s.Shop, "select count(*) from river.river_job where kind = 'coupon_evaluation'")
	s.Check(s.evaluate(sent.ID))
	// A cancellation came before the job; a send that was continued can still be cancelled.
	if got := s.found(sent.ID); got.Status != coupon.Cancelled || jobs > 1 || s.Count("voucher") != 0 || got.OnHold() {
		t.Errorf("%d jobs, %+v", jobs, got)
	}
}
