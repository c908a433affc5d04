package daily

import (
	"context"
	"errors"
	"maps"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

const (
	wait      = time.Hour        // from the end of a day until it is counted
	step      = time.Minute      // by which today is counted
	soon      = 5 * time.Minute  // from the end of a step until it is counted: most voids come in this time
	manySales = 100              // of steps, which a report shouldn't count each time
	runTime   = 10 * time.Second // after which a job lets others of its lane go first
	longTime  = 10 * time.Minute // for a day, or the first year, whose pages come from a slow disk
	lately    = 28               // days in which most customers who come have come before
)

// EndOfTime is after each other day.
var EndOfTime = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// Counting is the job that counts a business's days.
type Counting struct {
	Tenant core.TenantID `json:"tenant"`
}

// Kind names the job in the queue.
func (Counting) Kind() string { return "count_days" }

// ForTenant returns the tenant of the job.
func (c Counting) ForTenant() core.TenantID { return c.Tenant }

// RestAfter is how long the job rests after a day that it counted: three quarters of the time, tills have the cores.
func RestAfter(took time.Duration) time.Duration { return 3 * took }

// Count counts days one by one, each in a transaction, and rests in between. It may run twice and end anywhere.
func (s *Service) Count(ctx context.Context, c Counting) error {
	t, err := db.FindTenant(ctx, s.db, c.Tenant)
	if err != nil {
		return err
	}
	by := core.Job(t, "days")
	for until := s.db.Now().Add(runTime); ; {
		began := s.db.Now()
		more, err := s.CountNext(ctx, by)
		if err == nil && !more {
			more, err = s.countYear(ctx, by)
		}
		switch {
		case errors.Is(err, core.ErrSuspended), err == nil && !more:
			return nil
		case err != nil:
			return err
		}
		rest := RestAfter(s.db.Now().Sub(began))
		if s.db.Now().Add(rest).After(until) {
			return job.Again(rest)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rest):
		}
	}
}

const (
	// Of no day yet.
	beginSQL = `
	insert into loyalty.days_counted (tenant_id, zone, first_day, last_day, first_id, next_id, ends_at)
	values (@tenant_id, '', ` + noDays + `)
	on conflict do nothing`

	noDays = `'2000-01-02', '2000-01-01', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', '2000-01-01'`

	// Processes that count the same business take turns.
	lockSQL = `
	select zone, nullif(first_day, '-infinity') as first_day, last_day, ends_at
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
	select max(m.at) filter (where m.at < c.ends_at) as latest, count(*) > 0 as any
	from loyalty.days_counted c
	join loyalty.day_mark m on m.tenant_id = @tenant_id
	where c.tenant_id = @tenant_id`

	firstSaleSQL = `
	select (select created_at from loyalty.transaction where tenant_id = @tenant_id order by id limit 1) as at`

	manySQL = `
	select count(*) = @many
	from (
		select
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= @first_id
			and id < @next_id
		limit @many
	) sale`

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
		next_id = @next_id,
		ends_at = @ends_at
	where tenant_id = @tenant_id`
)

// CountNext counts a day: first those that are over, then those that are marked, then today, then those of the past, the
// latest first. It returns false if there is none.
func (s *Service) CountNext(ctx context.Context, by core.Actor) (more bool, err error) {
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		if err := errors.Join(db.TakeTime(tx), db.Queue(tx, beginSQL, nil)); err != nil {
			return false, err
		}
		zone := by.Tenant.TimeZone
		var done days
		var settled core.ID
		var marked marks
		var firstSale *time.Time
		var years []year
		err := db.Together(ctx, tx, db.OneInto(&done, lockSQL, nil), db.OneInto(&settled, settledSQL, nil), db.OneInto(&marked, markedSQL, nil),
			db.OneInto(&firstSale, firstSaleSQL, nil), db.AllInto(&years, yearSQL, nil))
		if err != nil {
			return false, err
		}
		over := core.DateOf(tx.Now.Add(-wait), zone).AddDate(0, 0, -1)
		if done.Zone != zoneKept(zone) { // of another zone, days begin at other times
			none := days{FirstDay: new(over.AddDate(0, 0, 1)), LastDay: over, EndsAt: endOf(over, zone)}
			return true, errors.Join(
				db.Queue(tx, dropSQL, db.Args{"first": time.Time{}, "last": EndOfTime}), db.Queue(tx, dropYearSQL, nil), none.store(tx, zone))
		}
		then, day, err := s.next(ctx, tx, done, zone, over, marked.Latest)
		switch {
		case err != nil, then == done && day.ends.IsZero():
			return false, err
		case settled.Time().Before(day.ends):
			return false, nil // a transaction from before its end goes on
		}
		if marked.Any && !day.ends.IsZero() {
			err = unmark(tx, years, core.StartOfDate(day.day, zone), day.ends, zone)
		}
		return true, errors.Join(err, day.count(tx, zone, firstSale), then.store(tx, zone), then.keepMonths(tx, zone, day, done))
	})
}

// marks are those of a business.
type marks struct {
	Latest *time.Time // of the days that are counted
	Any    bool       // or of others
}

// days are the days of a business that are counted: from the first to an instant of the last one.
type days struct {
	Zone     string
	FirstDay *time.Time // nil: nothing was recorded before the others
	LastDay  time.Time
	EndsAt   time.Time
}

// whole returns the last day that is counted as a whole.
func (d days) whole(zone *time.Location) time.Time {
	if d.EndsAt.Before(endOf(d.LastDay, zone)) {
		return d.LastDay.AddDate(0, 0, -1)
	}
	return d.LastDay
}

// toCount is a day that is to be counted up to an instant. Without one, there is none.
type toCount struct{ day, ends time.Time }

// next returns the day to count now, and the days that are counted then. over is the last day that is over, and marked the latest record
// with a mark.
func (s *Service) next(ctx context.Context, tx *db.Tx, d days, zone *time.Location, over time.Time, marked *time.Time) (then days, day toCount, err error) {
	then = d
	whole := d.whole(zone)
	if whole.Before(over) {
		then.LastDay = whole.AddDate(0, 0, 1)
		then.EndsAt = endOf(then.LastDay, zone)
		return then, toCount{then.LastDay, then.EndsAt}, nil
	}
	if marked != nil {
		marked := core.DateOf(*marked, zone)
		if ends := endOf(marked, zone); d.FirstDay == nil || !marked.Before(*d.FirstDay) {
			if ends.After(d.EndsAt) {
				ends = d.EndsAt
			}
			return then, toCount{marked, ends}, nil
		}
	}
	if day, err = s.today(ctx, tx, d, zone, whole); err != nil || !day.ends.IsZero() {
		then.LastDay, then.EndsAt = day.day, day.ends
		return then, day, err
	}
	if d.FirstDay == nil {
		return then, toCount{}, nil
	}
	first := core.StartOfDate(*d.FirstDay, zone)
	earlier, err := db.One[*time.Time](ctx, tx, earlierSQL, db.Args{"first_id": core.FirstID(first), "starts": first})
	if err != nil || earlier == nil {
		then.FirstDay = nil
		return then, toCount{}, err
	}
	then.FirstDay = new(core.DateOf(*earlier, zone))
	return then, toCount{*then.FirstDay, endOf(*then.FirstDay, zone)}, nil
}

// today returns today up to the end of its last step that is over, if those that aren't counted yet have many sales. whole is the last day that
// is counted as a whole.
func (s *Service) today(ctx context.Context, tx *db.Tx, d days, zone *time.Location, whole time.Time) (toCount, error) {
	ends, today := tx.Now.Add(-soon).Truncate(step), core.DateOf(tx.Now, zone)
	if !whole.AddDate(0, 0, 1).Equal(today) || !ends.After(d.EndsAt) {
		return toCount{}, nil
	}
	many, err := db.One[bool](ctx, tx, manySQL, db.Args{"first_id": core.FirstID(d.EndsAt), "next_id": core.FirstID(ends), "many": s.manySales})
	if err != nil || !many {
		return toCount{}, err
	}
	return toCount{today, ends}, nil
}

// store queues that these days are counted.
func (d days) store(tx *db.Tx, zone *time.Location) error {
	var first core.ID
	if d.FirstDay != nil {
		first = core.FirstID(core.StartOfDate(*d.FirstDay, zone))
	}
	return db.Queue(tx, reachedSQL, db.Args{
		"zone": zoneKept(zone), "first_day": d.FirstDay, "last_day": d.LastDay, "first_id": first, "next_id": core.FirstID(d.EndsAt), "ends_at": d.EndsAt,
	})
}

func endOf(day time.Time, zone *time.Location) time.Time {
	return core.StartOfDate(day.AddDate(0, 0, 1), zone)
}

// count queues that a day is counted, if there is one. firstSale is the business's.
func (c toCount) count(tx *db.Tx, zone *time.Location, firstSale *time.Time) error {
	if c.ends.IsZero() {
		return nil
	}
	starts := core.StartOfDate(c.day, zone)
	args := db.Args{"day": c.day, "starts": starts, "first_id": core.FirstID(starts), "next_id": core.FirstID(c.ends)}
	err := db.Queue(tx, dropSQL, db.Args{"first": c.day, "last": c.day})
	visits := maps.Clone(args)
	visits["lately_id"] = core.FirstID(core.StartOfDate(c.day.AddDate(0, 0, -lately), zone))
	visits["from_day"], visits["day_ids"] = firstIDs(firstSale, c.day, zone)
	err = errors.Join(err, db.Queue(tx, keepVisitsSQL, visits))
	args["zone"], args["ends"] = zone.String(), c.ends
	for _, keepSQL := range keeps {
		err = errors.Join(err, db.Queue(tx, keepSQL, args))
	}
	return err
}

// firstIDs returns the first IDs of all days from that of the first sale to another one, and the former day.
func firstIDs(firstSale *time.Time, to time.Time, zone *time.Location) (from time.Time, ids []core.ID) {
	from = to
	if firstSale != nil {
		from = core.DateOf(*firstSale, zone)
	}
	for day := from; !day.After(to); day = day.AddDate(0, 0, 1) {
		ids = append(ids, core.FirstID(core.StartOfDate(day, zone)))
	}
	return from, ids
}

// keepMonths queues that months are kept that are complete with a day, if there is one, or because there is none before the others. before are
// the days that were counted before it.
func (d days) keepMonths(tx *db.Tx, zone *time.Location, with toCount, before days) error {
	day, upTo := with.day, with.day
	if before.FirstDay != nil && day.Before(*before.FirstDay) {
		upTo = *before.FirstDay
	}
	if with.ends.IsZero() {
		day = upTo
	}
	return db.Queue(tx, keepMonthsSQL, db.Args{"day": day, "up_to": upTo, "first_day": d.FirstDay, "next_day": d.whole(zone).AddDate(0, 0, 1)})
}
