package daily

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

const (
	wait    = time.Hour        // from the end of a day until it is counted
	runTime = 10 * time.Second // after which a job lets others of its lane go first
)

// endOfTime is after each day.
var endOfTime = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// Counting is the job that counts a business's days.
type Counting struct {
	Tenant core.TenantID `json:"tenant"`
}

// Kind names the job in the queue.
func (Counting) Kind() string { return "count_days" }

// ForTenant returns the tenant of the job.
func (c Counting) ForTenant() core.TenantID { return c.Tenant }

// Count counts days one by one, each in a transaction. It may run twice and end anywhere. After each day it rests for as long as the
// day took, so that tills have the cores, too.
func (s *Service) Count(ctx context.Context, c Counting) error {
	t, err := db.FindTenant(ctx, s.db, c.Tenant)
	if err != nil {
		return err
	}
	by := core.Job(t, "days")
	for until := s.db.Now().Add(runTime); s.db.Now().Before(until); {
		began := s.db.Now()
		more, err := s.countNext(ctx, by)
		switch {
		case errors.Is(err, core.ErrSuspended), err == nil && !more:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(s.db.Now().Sub(began)):
		}
	}
	return job.Again(0)
}

const (
	// Of no day yet.
	beginSQL = `
	insert into loyalty.days_counted (tenant_id, zone, first_day, last_day, first_id, next_id)
	values (@tenant_id, '', ` + noDays + `)
	on conflict do nothing`

	noDays = `'2000-01-02', '2000-01-01', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'`

	// Processes that count the same business take turns.
	lockSQL = `
	select zone, nullif(first_day, '-infinity') as first_day, last_day
	from loyalty.days_counted
	where tenant_id = @tenant_id
	for no key update`

	settledSQL = `
	select loyalty.settle_changes() as settled`

	// The last record before a day, of which a day without records has none.
	earlierSQL = `
	select greatest(
		(select created_at from loyalty.transaction where tenant_id = @tenant_id and id < @first_id order by id desc limit 1),
		(select created_at from loyalty.ledger_entry where tenant_id = @tenant_id and id < @first_id order by id desc limit 1),
		(select created_at from loyalty.redemption where tenant_id = @tenant_id and id < @first_id order by id desc limit 1),
		(select created_at from loyalty.voucher where tenant_id = @tenant_id and id < @first_id order by id desc limit 1),
		(select redeemed_at from loyalty.voucher where tenant_id = @tenant_id and status = 'redeemed' and redeemed_at < @starts order by redeemed_at desc limit 1),
		(select created_at from loyalty.customer where tenant_id = @tenant_id and created_at < @starts order by created_at desc limit 1)) as earlier`

	markedSQL = `
	select max(at) as marked
	from loyalty.day_mark
	where tenant_id = @tenant_id
		and at < @before`

	// The statements after this one see what each transaction did whose marks are deleted. Another one's mark stays.
	unmarkSQL = `
	delete from loyalty.day_mark
	where tenant_id = @tenant_id
		and at >= @starts
		and at < @ends`

	reachedSQL = `
	update loyalty.days_counted
	set zone = @zone,
		first_day = coalesce(@first_day::date, '-infinity'),
		last_day = @last_day,
		first_id = @first_id,
		next_id = @next_id
	where tenant_id = @tenant_id`
)

// countNext counts a day: first those that are new, then those that are marked, then those of the past, the latest first. It returns false if
// there is none.
func (s *Service) countNext(ctx context.Context, by core.Actor) (more bool, err error) {
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		zone := by.Tenant.TimeZone
		over := core.DateOf(tx.Now.Add(-wait), zone).AddDate(0, 0, -1)
		var done days
		var settled core.ID
		var marked *time.Time
		if err := db.Queue(tx, beginSQL, nil); err != nil {
			return false, err
		}
		err := db.Together(ctx, tx, db.OneInto(&done, lockSQL, nil), db.OneInto(&settled, settledSQL, nil),
			db.OneInto(&marked, markedSQL, db.Args{"before": endOf(over, zone)}))
		if err != nil {
			return false, err
		}
		if done.Zone != zone.String() { // of another zone, days begin at other times
			none := days{FirstDay: new(over.AddDate(0, 0, 1)), LastDay: over}
			return true, errors.Join(db.Queue(tx, dropSQL, db.Args{"first": time.Time{}, "last": endOfTime}), none.store(tx, zone))
		}
		var next time.Time
		switch {
		case done.LastDay.Before(over):
			next = done.LastDay.AddDate(0, 0, 1)
			done.LastDay = next
		case marked != nil && done.has(core.DateOf(*marked, zone)):
			next = core.DateOf(*marked, zone)
		case done.FirstDay == nil:
			return false, nil
		default:
			first := core.StartOfDate(*done.FirstDay, zone)
			earlier, err := db.One[*time.Time](ctx, tx, earlierSQL, db.Args{"first_id": core.FirstID(first), "starts": first})
			if err != nil {
				return false, err
			}
			if earlier == nil {
				done.FirstDay = nil
				return true, done.store(tx, zone)
			}
			next = core.DateOf(*earlier, zone)
			done.FirstDay = &next
		}
		if settled.Time().Before(endOf(next, zone)) {
			return false, nil // a transaction of that day goes on
		}
		return true, errors.Join(countDay(tx, next, zone), done.store(tx, zone))
	})
}

// days are the days of a business that are counted.
type days struct {
	Zone     string
	FirstDay *time.Time // nil: nothing was recorded before the others
	LastDay  time.Time
}

func (d days) has(day time.Time) bool {
	return !day.After(d.LastDay) && (d.FirstDay == nil || !day.Before(*d.FirstDay))
}

// store queues that these days are counted.
func (d days) store(tx *db.Tx, zone *time.Location) error {
	var first core.ID
	if d.FirstDay != nil {
		first = core.FirstID(core.StartOfDate(*d.FirstDay, zone))
	}
	return db.Queue(tx, reachedSQL, db.Args{
		"zone": zone.String(), "first_day": d.FirstDay, "last_day": d.LastDay, "first_id": first, "next_id": core.FirstID(endOf(d.LastDay, zone)),
	})
}

func endOf(day time.Time, zone *time.Location) time.Time {
	return core.StartOfDate(day.AddDate(0, 0, 1), zone)
}

// countDay queues that a day is counted.
func countDay(tx *db.Tx, day time.Time, zone *time.Location) error {
	starts, ends := core.StartOfDate(day, zone), endOf(day, zone)
	err := errors.Join(
		db.Queue(tx, unmarkSQL, db.Args{"starts": starts, "ends": ends}),
		db.Queue(tx, dropSQL, db.Args{"first": day, "last": day}))
	for _, keepSQL := range keeps {
		err = errors.Join(err, db.Queue(tx, keepSQL, db.Args{
			"day": day, "zone": zone.String(), "starts": starts, "ends": ends, "first_id": core.FirstID(starts), "next_id": core.FirstID(ends),
		}))
	}
	return err
}
