package daily

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// YearDays is how many days a customer's year has.
const YearDays = 365

// year says up to which day the years of customers are counted.
type year struct{ AsOf time.Time }

const (
	yearSQL = `
	select as_of
	from loyalty.year_counted
	where tenant_id = @tenant_id`

	// The sales of some days are added to the years of their customers.
	addYearSQL = `
	insert into loyalty.customer_year (tenant_id, customer_id, last_day, visits, spend)
	select @tenant_id, customer_id, max(day), count(*), sum(spend)
	from (
		select customer_id, (created_at at time zone @zone)::date as day, sum(spend_amount_cents) as spend
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= @first_id
			and id < @next_id
			and status = 'completed'
		group by 1, 2
	) visit
	group by customer_id
	on conflict (tenant_id, customer_id) do update
	set last_day = excluded.last_day,
		visits = customer_year.visits + excluded.visits,
		spend = customer_year.spend + excluded.spend`

	// The sales of a day leave the years of their customers.
	leaveYearSQL = `
	with leaving as materialized (
		select customer_id, sum(spend_amount_cents) as spend
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= @first_id
			and id < @next_id
			and status = 'completed'
		group by customer_id
	), less as (
		update loyalty.customer_year y
		set visits = y.visits - 1,
			spend = y.spend - l.spend
		from leaving l
		where y.tenant_id = @tenant_id
			and y.customer_id = l.customer_id
			and y.visits > 1
	)
	delete from loyalty.customer_year y
	using leaving l
	where y.tenant_id = @tenant_id
		and y.customer_id = l.customer_id
		and y.visits <= 1`

	// Of customers whose sales have the marks that are deleted, the year is counted anew, whatever was added and left since. One who has no sale
	// in it, or who was merged into one of them, has no row.
	recountYearSQL = `
	with unmarked as (` + unmarkSQL + `
		returning at
	), marked as materialized (
		select distinct customer_id as id
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= @first_id
			and id < @next_id
			and created_at in (select at from unmarked)
	), year as materialized (
		select marked.id, (max(t.created_at) at time zone @zone)::date as last_day,
			count(distinct (t.created_at at time zone @zone)::date) as visits, sum(t.spend_amount_cents) as spend
		from marked
		join loyalty.transaction t on t.tenant_id = @tenant_id and t.customer_id = marked.id and t.id >= @year_id and t.id < @year_next_id
		where t.status = 'completed'
		group by marked.id
	), gone as (
		delete from loyalty.customer_year
		where tenant_id = @tenant_id
			and customer_id in (
				select id
				from marked
				union all
				select c.id
				from marked
				join loyalty.customer c on c.tenant_id = @tenant_id and c.merged_into = marked.id
			)
			and customer_id not in (select id from year)
	)
	insert into loyalty.customer_year (tenant_id, customer_id, last_day, visits, spend)
	select @tenant_id, id, last_day, visits, spend
	from year
	on conflict (tenant_id, customer_id) do update
	set last_day = excluded.last_day,
		visits = excluded.visits,
		spend = excluded.spend
	returning 1`

	countedYearSQL = `
	insert into loyalty.year_counted (tenant_id, as_of, high)
	values (@tenant_id, @as_of, 0)
	on conflict (tenant_id) do update
	set as_of = excluded.as_of`

	dropYearSQL = `
	with customers as (
		delete from loyalty.customer_year
		where tenant_id = @tenant_id
	), groups as (
		delete from loyalty.year_group
		where tenant_id = @tenant_id
	)
	delete from loyalty.year_counted
	where tenant_id = @tenant_id`

	highSQL = `
	update loyalty.year_counted
	set high = (
			select coalesce(ceil(2 * sum(spend) / count(*)), 0)
			from loyalty.customer_year
			where tenant_id = @tenant_id
		)
	where tenant_id = @tenant_id`

	dropGroupsSQL = `
	delete from loyalty.year_group
	where tenant_id = @tenant_id`

	groupsSQL = `
	insert into loyalty.year_group (tenant_id, name, customers, spend)
	select @tenant_id, ` + GroupOfYear + `, count(*), sum(y.spend)
	from loyalty.year_counted k
	join loyalty.customer_year y on y.tenant_id = @tenant_id
	where k.tenant_id = @tenant_id
	group by 2
	returning 1`
)

// countYear counts the years of customers up to the day after the one that they are counted up to: that day is added, and one leaves. The
// first time, it adds all days of the year. It returns false if they are counted up to the last day.
func (s *Service) countYear(ctx context.Context, by core.Actor) (more bool, err error) {
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		zone := by.Tenant.TimeZone
		var done days
		var years []year
		if err := errors.Join(db.TakeTime(tx), db.Queue(tx, beginSQL, nil)); err != nil {
			return false, err
		}
		err := db.Together(ctx, tx, db.OneInto(&done, lockSQL, nil), db.AllInto(&years, yearSQL, nil))
		if err != nil || done.Zone != zoneKept(zone) || done.FirstDay != nil {
			return false, err
		}
		last := done.whole(zone)
		if len(years) == 0 {
			now := year{last}
			return true, errors.Join(now.store(tx), add(tx, now.first(), last, zone), group(tx))
		}
		if !years[0].AsOf.Before(last) {
			return false, nil
		}
		now := year{years[0].AsOf.AddDate(0, 0, 1)}
		err = errors.Join(now.store(tx), add(tx, now.AsOf, now.AsOf, zone), leave(tx, years[0].first(), zone))
		if now.AsOf.Equal(last) {
			err = errors.Join(err, group(tx))
		}
		return true, err
	})
}

// first is the first day of the year.
func (y year) first() time.Time { return y.AsOf.AddDate(0, 0, 1-YearDays) }

// store queues that the years are counted up to the day.
func (y year) store(tx *db.Tx) error {
	return db.Queue(tx, countedYearSQL, db.Args{"as_of": y.AsOf})
}

// add queues that the sales of days are added.
func add(tx *db.Tx, from, to time.Time, zone *time.Location) error {
	return db.Queue(tx, addYearSQL, db.Args{
		"first_id": core.FirstID(core.StartOfDate(from, zone)), "next_id": core.FirstID(endOf(to, zone)), "zone": zone.String(),
	})
}

// leave queues that the sales of a day are taken off.
func leave(tx *db.Tx, day time.Time, zone *time.Location) error {
	return db.Queue(tx, leaveYearSQL, db.Args{"first_id": core.FirstID(core.StartOfDate(day, zone)), "next_id": core.FirstID(endOf(day, zone))})
}

// unmark queues that the marks of a day up to an instant are deleted, and that the years of their customers are counted anew, if they are
// counted at all.
func unmark(tx *db.Tx, years []year, starts, ends time.Time, zone *time.Location) error {
	if len(years) == 0 {
		return db.Queue(tx, unmarkSQL, db.Args{"starts": starts, "ends": ends})
	}
	y := years[0]
	err := db.Queue(tx, recountYearSQL, db.Args{
		"starts": starts, "ends": ends, "first_id": core.FirstID(starts), "next_id": core.FirstID(ends), "zone": zone.String(),
		"year_id": core.FirstID(core.StartOfDate(y.first(), zone)), "year_next_id": core.FirstID(endOf(y.AsOf, zone)),
	})
	return errors.Join(err, group(tx))
}

// group queues that the groups are counted.
func group(tx *db.Tx) error {
	return errors.Join(db.Queue(tx, highSQL, nil), db.Queue(tx, dropGroupsSQL, nil), db.Queue(tx, groupsSQL, nil))
}
