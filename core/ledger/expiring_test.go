package ledger_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
)

// While tills sell, redeem and void to two customers, days pass and two jobs expire what is due. No lot is ever lost or
// doubled: what is left adds up to the balance, and what the entries say they did to lots adds up to the lots.
func TestTillsBesideTheJob(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	s := endsAfterAMonth(shoptest.New(t), start)
	customers := s.AddCustomers(2)

	var days atomic.Int64
	now := func() time.Time { return start.AddDate(0, 0, int(days.Load())) }
	run := func(fn func(tx *db.Tx) error) error { return db.Run(t.Context(), s.DB.At(now()).Tenant(s.By), fn) }
	const rounds = 150
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range rounds {
				e := ledger.Entry{Customer: customers[rand.N(2)], Unit: ledger.Points, Amount: 1 + rand.Int64N(40), Kind: ledger.Earn, Cause: newCause()}
				if err := run(func(tx *db.Tx) error { return ledger.Queue(tx, s.By, e) }); err != nil {
					t.Errorf("sale: %v", err)
				}
				switch rand.N(3) {
				case 0:
					e.Kind, e.Amount = ledger.Reversal, -e.Amount
					if err := run(func(tx *db.Tx) error { return ledger.Queue(tx, s.By, e) }); err != nil {
						t.Errorf("void: %v", err)
					}
				case 1:
					e.Kind, e.Amount, e.Cause = ledger.Redemption, -10, newCause()
					err := run(func(tx *db.Tx) error {
						_, err := ledger.Post(t.Context(), tx, s.By, e)
						return err
					})
					if err != nil && !errors.Is(err, ledger.ErrInsufficientPoints) {
						t.Errorf("redemption: %v", err)
					}
				}
			}
		})
	}
	sold := make(chan struct{})
	var jobs sync.WaitGroup
	var expired atomic.Int64
	for range 2 {
		jobs.Go(func() {
			for {
				select {
				case <-sold:
					return
				default:
				}
				days.Add(1)
				err := run(func(tx *db.Tx) error {
					_, gone, err := ledger.ExpireDue(t.Context(), tx, s.By, ledger.Points, 1+rand.N(2))
					expired.Add(gone.Points)
					return err
				})
				if err != nil {
					t.Errorf("job: %v", err)
				}
			}
		})
	}
	all.Wait()
	close(sold)
	jobs.Wait()
	if expired.Load() == 0 {
		t.Error("the jobs expired nothing")
	}
	for _, id := range customers {
		var endings []ledger.Ending
		s.Check(db.Together(t.Context(), s.DB.Tenant(s.By), ledger.ReadEndings(&endings, id)))
		var left int64
		for _, e := range endings {
			left += e.Amount
		}
		if balance := s.Account(id).Points; left != max(0, balance) {
			t.Errorf("%d are left of a balance of %d", left, balance)
		}
	}
	const wrong = `
		select count(*)
		from (
			select customer_id, expires_on, sum(amount) as amount
			from (
				select e.customer_id, coalesce(e.expires_on, 'infinity') as expires_on, greatest(0, least(e.amount, e.balance_after)) as amount
				from loyalty.ledger_entry e
				join loyalty.account a using (tenant_id, customer_id)
				where tenant_id = $1 and e.amount > 0 and e.lot_dates is null and e.seq <= a.points_lots_seq
				union all
				select e.customer_id, x.expires_on, x.amount
				from loyalty.ledger_entry e
				cross join lateral unnest(e.lot_dates, e.lot_amounts) x (expires_on, amount)
				where e.tenant_id = $1
			) change
			group by 1, 2
		) due
		full join (select customer_id, expires_on, remaining from loyalty.lot where tenant_id = $1) lot using (customer_id, expires_on)
		where coalesce(due.amount, 0) <> coalesce(lot.remaining, 0)`
	if n := shoptest.Query[int64](s, wrong, s.By.Tenant.ID); n != 0 {
		t.Errorf("%d lots are not what their entries say", n)
	}
}

// endsAfterAMonth has a business's points end a month after they were earned, to the day.
func endsAfterAMonth(s shoptest.Shop, begun time.Time) shoptest.Shop {
	s.T.Helper()
	s.Exec(`
		insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, begun_at, updated_at)
		values ($1, 'points', 'after', 1, 'day', $2, $2)`, s.By.Tenant.ID, begun)
	s.By.Tenant.PointsExpiry = core.Expiry{Rule: core.ExpireAfter, Months: 1, RoundTo: core.ToDay}
	return s
}

// ledgerAt posts an entry of points at an instant.
func ledgerAt(s shoptest.Shop, at time.Time, e ledger.Entry) error {
	e.Unit = ledger.Points
	return db.Run(s.T.Context(), s.DB.At(at).Tenant(s.By), func(tx *db.Tx) error {
		if e.Kind != ledger.Redemption {
			return ledger.Queue(tx, s.By, e)
		}
		_, err := ledger.Post(s.T.Context(), tx, s.By, e)
		return err
	})
}

// 32 tills redeem the last three affordable rewards of a customer while the job expires what is due: three succeed, and
// the sum is right.
func TestTheLastRewardsBesideTheJob(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	s := endsAfterAMonth(shoptest.New(t), start)
	for range 5 {
		customer := s.Customer().ID
		s.Check(ledgerAt(s, start, ledger.Entry{Customer: customer, Amount: 30, Kind: ledger.Earn, Cause: newCause()}))
		s.Check(ledgerAt(s, start.AddDate(0, 0, 10), ledger.Entry{Customer: customer, Amount: 35, Kind: ledger.Earn, Cause: newCause()}))
		now := start.AddDate(0, 1, 1)
		var redeemed, refused atomic.Int64
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				err := ledgerAt(s, now, ledger.Entry{Customer: customer, Amount: -10, Kind: ledger.Redemption, Cause: newCause()})
				switch {
				case err == nil:
					redeemed.Add(1)
				case errors.Is(err, ledger.ErrInsufficientPoints):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		for range 4 {
			all.Go(func() {
				err := db.Run(t.Context(), s.DB.At(now).Tenant(s.By), func(tx *db.Tx) error {
					_, _, err := ledger.ExpireDue(t.Context(), tx, s.By, ledger.Points, 200)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if balance := s.Account(customer).Points; redeemed.Load() != 3 || refused.Load() != 29 || balance != 5 {
			t.Errorf("%d redeemed, %d refused, %d left; want 3, 29, 5", redeemed.Load(), refused.Load(), balance)
		}
		if n := s.Count("ledger_entry where balance_after < 0"); n != 0 {
			t.Errorf("%d entries below zero", n)
		}
	}
}

// The last day ends when the next local day begins: also where that has no midnight or two, or doesn't exist.
func TestALastDayEndsWithItsLocalDay(t *testing.T) {
	t.Parallel()
	s := endsAfterAMonth(shoptest.New(t), time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		zone     string
		earned   string // local day
		last     string
		midnight string // the first instant after it
	}{
		{"Europe/Lisbon", "2026-02-28", "2026-03-28", "2026-03-29T00:00:00Z"},
		{"Europe/Lisbon", "2026-09-24", "2026-10-24", "2026-10-24T23:00:00Z"},
		{"Asia/Beirut", "2026-02-28", "2026-03-28", "2026-03-28T22:00:00Z"}, // 29 March begins at 1:00
		{"Asia/Beirut", "2026-09-24", "2026-10-24", "2026-10-24T22:00:00Z"}, // 24 October has its last hour twice
		{"America/Santiago", "2026-08-05", "2026-09-05", "2026-09-06T04:00:00Z"},
		{"America/Santiago", "2026-03-04", "2026-04-04", "2026-04-05T04:00:00Z"},
		{"Pacific/Apia", "2011-11-29", "2011-12-29", "2011-12-30T10:00:00Z"},   // there was no 30 December
		{"America/Havana", "2026-10-01", "2026-11-01", "2026-11-02T05:00:00Z"}, // 1 November has its first hour twice
		{"Pacific/Kiritimati", "2026-01-31", "2026-02-28", "2026-02-28T10:00:00Z"},
	} {
		here := s.InZone(c.zone)
		day, err := time.ParseInLocation(time.DateOnly, c.earned, here.By.Tenant.TimeZone)
		s.Check(err)
		midnight, err := time.Parse(time.RFC3339, c.midnight)
		s.Check(err)
		customer := here.Customer().ID
		here.Check(ledgerAt(here, day.Add(12*time.Hour), ledger.Entry{Customer: customer, Amount: 40, Kind: ledger.Earn, Cause: newCause()}))
		if last := shoptest.Query[string](here, "select points_expire_on::text from loyalty.account where tenant_id = $1 and customer_id = $2",
			here.By.Tenant.ID, customer); last != c.last {
			t.Errorf("%s, earned on %s: last day %s, want %s", c.zone, c.earned, last, c.last)
		}
		spend := ledger.Entry{Customer: customer, Amount: -10, Kind: ledger.Redemption}
		for _, redemption := range []struct {
			at      time.Time
			refused bool
		}{{midnight.Add(-time.Minute), false}, {midnight, true}} {
			spend.Cause = newCause()
			if err := ledgerAt(here, redemption.at, spend); errors.Is(err, ledger.ErrInsufficientPoints) != redemption.refused {
				t.Errorf("%s, last day %s: redeemed at %s: %v", c.zone, c.last, redemption.at, err)
			}
		}
	}
}

// Two sales of a day, of which half was spent and the rest expired: in whatever order they are voided, no more comes back
// than had expired.
func TestVoidsAfterTheEnd(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	s := endsAfterAMonth(shoptest.New(t), start)
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		customer := s.Customer().ID
		sales := []*core.ID{newCause(), newCause()}
		for _, sale := range sales {
			s.Check(ledgerAt(s, start, ledger.Entry{Customer: customer, Amount: 100, Kind: ledger.Earn, Cause: sale}))
		}
		s.Check(ledgerAt(s, start, ledger.Entry{Customer: customer, Amount: -100, Kind: ledger.Redemption, Cause: newCause()}))
		after := start.AddDate(0, 1, 5)
		for i, want := range []int64{0, -100} {
			s.Check(ledgerAt(s, after, ledger.Entry{Customer: customer, Amount: -100, Kind: ledger.Reversal, Cause: sales[order[i]]}))
			if got := s.Account(customer).Points; got != want {
				t.Errorf("void %d: balance %d, want %d", i+1, got, want)
			}
		}
		kinds := shoptest.QueryAll[string](s, "select kind || ' ' || amount from loyalty.ledger_entry where tenant_id = $1 and customer_id = $2 order by seq", s.By.Tenant.ID, customer)
		want := []string{"earn 100", "earn 100", "redemption -100", "expiry -100", "expiry_return 100", "reversal -100", "reversal -100"}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
	}
}
