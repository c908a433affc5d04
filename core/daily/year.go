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

// has reports whether a day is one of the year's.
func (y year) has(day time.Time) bool {
	return !day.After(y.AsOf) && !day.Before(y.first())
}

const (
	yearSQL = `
	select as_of
	from loyalty.year_counted
	where tenant_id = @tenant_id`

	// Of customers with a sale on some days, the year is counted anew. One who has none left, or who was merged into one of them, has no row.
	countYearSQL = `
	with came as (
		select distinct customer_id as id
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= @first_id
			and id < @next_id
	), year as materialized (
		select came.id, (max(t.created_at) at time zone @zone)::date as last_day,
			count(distinct (t.created_at at time zone @zone)::date) as visits, sum(t.spend_amount_cents) as spend
		from came
		join loyalty.transaction t on t.tenant_id = @tenant_id and t.customer_id = came.id and t.id >= @year_id and t.id < @year_next_id
		where t.status = 'completed'
		group by came.id
	), gone as (
		delete from loyalty.customer_year
		where tenant_id = @tenant_id
			and customer_id in (
				select id
				from came
				union all
				select c.id
				from came
				join loyalty.customer c on c.tenant_id = @tenant_id and c.merged_into = came.id
			)
			and customer_id not in (select id from year)
	)
	insert into loyalty.customer_year (tenant_id, customer_id, last_day, visits, spend)
	select @tenant_id, id, last_day, visits, spend
	from year
	on conflict (tenant_id, customer_id) do update
	set last_day = excluded.last_day,
		visits = excluded.visits,
		spend = excluded.spend`

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
	group by 2`
)

// countYear counts the years of customers up to the day after the one that they are counted up to: of those who came on it, and of
// those for whom a day ends to be in their year. The first time, it counts those of all. It returns false if they are counted up to the last
// day.
func (s *Service) countYear(ctx context.Context, by core.Actor) (more bool, err error) {
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		zone := by.Tenant.TimeZone
		var done days
		var years []year
		if err := errors.Join(db.TakeTime(tx), db.Queue(tx, beginSQL, nil)); err != nil {
			return false, err
		}
		err := db.Together(ctx, tx, db.OneInto(&done, lockSQL, nil), db.AllInto(&years, yearSQL, nil))
		if err != nil || done.Zone != zone.String() || done.FirstDay != nil {
			return false, err
		}
		last := done.whole(zone)
		if len(years) == 0 {
			now := year{last}
			return true, errors.Join(now.store(tx), now.count(tx, now.first(), last, zone), group(tx))
		}
		if !years[0].AsOf.Before(last) {
			return false, nil
		}
		now := year{years[0].AsOf.AddDate(0, 0, 1)}
		left := now.first().AddDate(0, 0, -1)
		err = errors.Join(now.store(tx), now.count(tx, now.AsOf, now.AsOf, zone), now.count(tx, left, left, zone))
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

// recount queues that the years of customers who came on a day are counted anew, if they are counted up to it.
func recount(tx *db.Tx, years []year, day time.Time, zone *time.Location) error {
	if len(years) == 0 || !years[0].has(day) {
		return nil
	}
	return errors.Join(years[0].count(tx, day, day, zone), group(tx))
}

// count queues that the years of customers who came on some days are counted.
func (y year) count(tx *db.Tx, from, to time.Time, zone *time.Location) error {
	return db.Queue(tx, countYearSQL, db.Args{
		"first_id": core.FirstID(core.StartOfDate(from, zone)), "next_id": core.FirstID(endOf(to, zone)), "zone": zone.String(),
		"year_id": core.FirstID(core.StartOfDate(y.first(), zone)), "year_next_id": core.FirstID(endOf(y.AsOf, zone)),
	})
}

// group queues that the groups are counted.
func group(tx *db.Tx) error {
	return errors.Join(db.Queue(tx, highSQL, nil), db.Queue(tx, dropGroupsSQL, nil), db.Queue(tx, groupsSQL, nil))
}
