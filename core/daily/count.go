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
		if err == nil && !more {
			more, err = s.countYear(ctx, by)
		}
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

	oldestSQL = `
	select least(
		(select created_at from loyalty.transaction where tenant_id = @tenant_id order by id limit 1),
		(select created_at from loyalty.ledger_entry where tenant_id = @tenant_id order by id limit 1),
		(select created_at from loyalty.redemption where tenant_id = @tenant_id order by id limit 1),
		(select created_at from loyalty.voucher where tenant_id = @tenant_id order by id limit 1),
		(select created_at from loyalty.customer where tenant_id = @tenant_id order by created_at limit 1)) as oldest`

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

// countNext counts the next day that is to be counted. It returns false if there is none.
func (s *Service) countNext(ctx context.Context, by core.Actor) (more bool, err error) {
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		zone := by.Tenant.TimeZone
		over := core.DateOf(tx.Now.Add(-wait), zone).AddDate(0, 0, -1)
		var done days
		var settled core.ID
		var oldest, marked *time.Time
		var years []year
		if err := db.Queue(tx, beginSQL, nil); err != nil {
			return false, err
		}
		err := db.Together(ctx, tx, db.OneInto(&done, lockSQL, nil), db.OneInto(&settled, settledSQL, nil),
			db.OneInto(&oldest, oldestSQL, nil), db.OneInto(&marked, markedSQL, db.Args{"before": endOf(over, zone)}), db.AllInto(&years, yearSQL, nil))
		if err != nil {
			return false, err
		}
		if done.Zone != zone.String() { // of another zone, days begin at other times
			none := days{Zone: zone.String(), FirstDay: new(over.AddDate(0, 0, 1)), LastDay: over}
			return true, errors.Join(
				db.Queue(tx, dropSQL, db.Args{"first": time.Time{}, "last": endOfTime}), db.Queue(tx, dropYearSQL, nil), none.store(tx, zone))
		}
		then, day := done.next(over, dayOf(oldest, zone), dayOf(marked, zone))
		switch {
		case day == nil:
			more = then != done
		case settled.Time().Before(endOf(*day, zone)): // a transaction of that day goes on
		default:
			more, err = true, errors.Join(countDay(tx, *day, zone), recount(tx, years, *day, zone))
		}
		if !more || err != nil {
			return false, err
		}
		return true, then.store(tx, zone)
	})
}

// days are the days of a business that are counted.
type days struct {
	Zone     string
	FirstDay *time.Time // nil: nothing was recorded before the others
	LastDay  time.Time
}

// next returns the day to count now, nil for none, and the days that are counted then. New days come first, then marked ones, then those
// of the past, the latest first. over is the last day that is over. oldest is the day of the first record, marked the last one with a
// mark; nil: there is none.
func (d days) next(over time.Time, oldest, marked *time.Time) (then days, day *time.Time) {
	then = d
	switch {
	case d.LastDay.Before(over):
		then.LastDay = d.LastDay.AddDate(0, 0, 1)
		return then, &then.LastDay
	case marked != nil && !marked.After(d.LastDay) && (d.FirstDay == nil || !marked.Before(*d.FirstDay)):
		return then, marked
	case d.FirstDay == nil:
		return then, nil
	case oldest == nil || !oldest.Before(*d.FirstDay):
		then.FirstDay = nil
		return then, nil
	}
	then.FirstDay = new(d.FirstDay.AddDate(0, 0, -1))
	return then, then.FirstDay
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

// dayOf returns the local day of an instant, or nil.
func dayOf(at *time.Time, zone *time.Location) *time.Time {
	if at == nil {
		return nil
	}
	return new(core.DateOf(*at, zone))
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
