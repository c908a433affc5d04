package programme_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
)

var tenantActive = tenant.Edit{Status: core.Set(string(tenant.Active))}

// due is a shop whose customers had points before the first rule, as of the day after they ended.
func due(t *testing.T, customers int) (shoptest.Shop, []core.ID) {
	t.Helper()
	s := newShop(t)
	ids := make([]core.ID, customers)
	for i := range ids {
		ids[i] = withPoints(s, 10, fmt.Sprintf("c%d@example.com", i))
	}
	slices.SortFunc(ids, func(a, b core.ID) int { return strings.Compare(a.String(), b.String()) })
	s = s.Rule(ledger.Points, year())
	s.Check(s.Programme.Open(t.Context(), programme.Opening{Tenant: s.By.Tenant.ID, Unit: ledger.Points}))
	return on(s, "2027-12-01"), ids
}

// wantExplained checks that each balance is the sum of its entries, and of what is left of each day.
func wantExplained(s shoptest.Shop) {
	s.T.Helper()
	if got := shoptest.QueryAll[string](s, `
		select a.customer_id || ': ' || a.points || ' points, entries of ' || e.sum || ', lots of ' || coalesce(l.sum, 0)
		from loyalty.account a
		cross join lateral (select coalesce(sum(amount), 0) as sum from loyalty.ledger_entry where tenant_id = a.tenant_id and customer_id = a.customer_id and unit = 'points') e
		cross join lateral (select coalesce(sum(remaining), 0) as sum from loyalty.lot where tenant_id = a.tenant_id and customer_id = a.customer_id and unit = 'points') l
		where a.tenant_id = $1
			and (a.points <> e.sum or a.points < 0 or a.points_lots_seq = a.entries and l.sum <> a.points)`, s.By.Tenant.ID); len(got) > 0 {
		s.T.Errorf("not explained: %q", got)
	}
}

// A job that is killed between two batches goes on where it was, and what it has expired is told once, as one run.
func TestKilledBetweenBatches(t *testing.T) {
	t.Parallel()
	s, ids := due(t, 7)
	small := s.Programme.InBatchesOf(2)
	by := core.Job(s.By.Tenant, "points expiry")
	for range 2 {
		if ended, err := small.ExpireNext(t.Context(), by, ledger.Points); err != nil || ended {
			t.Fatalf("a batch of 2: ended %t, %v", ended, err)
		}
	}
	if left := s.Count("account where points > 0"); left != 3 {
		t.Errorf("%d are left, want 3", left)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := small.Expire(cancelled, expiring(s)); err == nil {
		t.Error("a job that was told to stop ended well")
	}
	s.Check(small.Expire(t.Context(), expiring(s)))
	for _, id := range ids {
		if got := s.Account(id).Points; got != 0 {
			t.Errorf("%s has %d", id, got)
		}
	}
	if got := s.Log("programme", "points"); len(got) != 2 || got[1] != `programme.expire - {"points": 70, "stamps": 0, "customers": 7} by points expiry` {
		t.Errorf("logged: %q", got)
	}
	if got := s.Count("ledger_entry where kind = 'expiry'"); got != 7 {
		t.Errorf("%d entries, want 7", got)
	}
	wantExplained(s)
}

// A customer who is being served is left to the till; the job comes back for them.
func TestServedCustomersAreLeftForLater(t *testing.T) {
	t.Parallel()
	s, ids := due(t, 3)
	serving, served := make(chan bool), make(chan bool)
	ended := make(chan error)
	go func() {
		ended <- db.Run(context.WithoutCancel(t.Context()), s.DB.Tenant(s.By), func(tx *db.Tx) error {
			const lockAccount = "select from loyalty.account where tenant_id = @tenant_id and customer_id = @id for no key update"
			_, err := db.Exec(t.Context(), tx, lockAccount, db.Args{"id": ids[1]})
			serving <- true
			<-served
			return err
		})
	}()
	<-serving
	if err := s.Programme.Expire(t.Context(), expiring(s)); err == nil || !strings.Contains(err.Error(), "again") {
		t.Errorf("while a customer is being served: %v", err)
	}
	if got := s.Count("account where points > 0"); got != 1 {
		t.Errorf("%d have points, want the one who is served", got)
	}
	served <- true
	s.Check(<-ended)
	s.Check(s.Programme.Expire(t.Context(), expiring(s)))
	if got := s.Log("programme", "points"); s.Account(ids[1]).Points != 0 || len(got) != 2 || !strings.Contains(got[1], `"customers": 3`) {
		t.Errorf("then: %q", got)
	}
}

// Several workers at once, beside tills that sell and redeem: everything that was due ends once, and nothing else.
func TestExpiringBesideTills(t *testing.T) {
	t.Parallel()
	s, ids := due(t, 12)
	kind, mug := s.Points(100), s.Reward(1, nil)
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			w := s.At(s.DB.Now())
			for range 20 {
				_ = w.Programme.InBatchesOf(2).Expire(context.WithoutCancel(t.Context()), expiring(s)) // it may ask to be run again
			}
		})
	}
	for i := range 3 {
		wait.Go(func() {
			till := s.At(s.DB.Now()).Known()
			for n := range 8 {
				id := ids[(i*4+n)%len(ids)]
				till.Sale(id, kind, 300)
				till.Redeem(id, mug)
			}
		})
	}
	wait.Wait()
	s.Check(s.Programme.Expire(t.Context(), expiring(s)))
	wantExplained(s)
	for name, want := range map[string]int64{
		"ledger_entry where kind = 'expiry'": 12, "ledger_entry where kind = 'earn'": 24, "ledger_entry where kind = 'redemption'": 24,
	} {
		if got := s.Count(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if got := shoptest.Query[int64](s, "select sum(points)::bigint from loyalty.account where tenant_id = $1", s.By.Tenant.ID); got != 24*3-24 {
		t.Errorf("%d points are left, want %d", got, 24*3-24)
	}
}

// A rule that is turned off while the job runs ends nothing more.
func TestTurnedOffWhileTheJobRuns(t *testing.T) {
	t.Parallel()
	s, _ := due(t, 4)
	small := s.Programme.InBatchesOf(2)
	by := core.Job(s.By.Tenant, "points expiry") // as the job has read it before
	s.Must(small.ExpireNext(t.Context(), by, ledger.Points))
	s.Rule(ledger.Points, programme.Change{Rule: core.NeverExpire})
	if _, err := small.ExpireNext(t.Context(), by, ledger.Points); err == nil {
		t.Error("a batch after the rule was turned off was committed")
	}
	s.Check(small.Expire(t.Context(), expiring(s)))
	if got := s.Count("account where points > 0"); got != 2 {
		t.Errorf("%d customers have points, want 2", got)
	}
}

// What customers had is dated once, by two workers, one of which was killed before.
func TestOpeningInBatches(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for range 9 {
		withPoints(s, 10, "")
	}
	s = s.Rule(ledger.Points, year())
	small, by := s.Programme.InBatchesOf(2), core.Job(s.By.Tenant, "points expiry")
	if done, err := small.OpenNext(t.Context(), by, ledger.Points); done || err != nil {
		t.Fatalf("the first batch: done %t, %v", done, err)
	}
	if got := s.Count("account where points_expire_on is not null"); got != 2 {
		t.Errorf("%d accounts are dated, want 2", got)
	}
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			s.Check(small.Open(context.WithoutCancel(t.Context()), programme.Opening{Tenant: s.By.Tenant.ID, Unit: ledger.Points}))
		})
	}
	wait.Wait()
	if got := s.Count("account where points_expire_on = '2027-11-30'"); got != 9 {
		t.Errorf("%d accounts are dated, want 9", got)
	}
	if got := s.Count("programme where opened_to is null"); got != 1 {
		t.Error("the job isn't done")
	}
}

// Each customer gets one e-mail, however many workers there are and wherever one ends.
func TestNoticesOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for i := range 7 {
		withPoints(s, 10, fmt.Sprintf("c%d@example.com", i))
	}
	s.Rule(ledger.Points, year())
	small := s.Programme.InBatchesOf(2)
	n := programme.Notice{Tenant: s.By.Tenant.ID, Unit: ledger.Points}
	if err := small.MailNotices(t.Context(), n); err == nil {
		t.Fatal("the first two customers were all")
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for small.MailNotices(context.WithoutCancel(t.Context()), n) != nil {
			}
		})
	}
	wait.Wait()
	for i := range 7 {
		to := fmt.Sprintf("c%d@example.com", i)
		if got := s.Count("mail where recipient = '" + to + "'"); got != 1 {
			t.Errorf("%s gets %d e-mails", to, got)
		}
	}
}

// A job that was lost, as in a move to another installation, is queued again; a rule that is off tells no one.
func TestLostJobsAreQueuedAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	withPoints(s, 10, "anna@example.com")
	s = s.Rule(ledger.Points, year())
	lose := func() {
		s.Exec("delete from river.river_job where args ->> 'tenant' = $1::bigint::text", s.By.Tenant.ID)
	}
	lose()
	s.Must(s.Programme.QueueDue(t.Context()))
	if got := jobs(s); !slices.Equal(got, []string{"expiry_notice points", "open_lots points"}) {
		t.Errorf("queued: %v", got)
	}
	s = s.Rule(ledger.Points, programme.Change{Rule: core.NeverExpire})
	s.Check(s.Programme.MailNotices(t.Context(), programme.Notice{Tenant: s.By.Tenant.ID, Unit: ledger.Points}))
	lose()
	s.Must(s.Programme.QueueDue(t.Context()))
	if got := jobs(s); !slices.Equal(got, []string{"open_lots points"}) || len(s.Inbox.To("anna@example.com")) != 0 {
		t.Errorf("after it was turned off: %v", got)
	}
}
