package ledger

import (
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Opening is a new customer's account with its opening balances, each from zero to MaxAward.
type Opening struct {
	Customer core.ID
	Points   int64
	Stamps   int64
	Ends     *time.Time // the last local day of both, where a rule ends them; nil: by the rules
}

// If a customer is missing, this divides by zero, which fails the transaction: a queued statement returns no result.
const openAllSQL = `
	with opening as (
		select customer_id, points, stamps, coalesce(case when @points_end::boolean then ends end, @points_expire_on::date) as points_expire_on,
			coalesce(case when @stamps_end::boolean then ends end, @stamps_expire_on::date) as stamps_expire_on
		from unnest(@customers::uuid[], @points::bigint[], @stamps::bigint[], @ends::date[]) given (customer_id, points, stamps, ends)
	), opened as (
		insert into loyalty.account (tenant_id, customer_id, points, stamps, entries,
			points_expire_on, stamps_expire_on, points_idle_on, stamps_idle_on)
		select c.tenant_id, c.id, points, stamps, (points <> 0)::int + (stamps <> 0)::int,
			case when points <> 0 then points_expire_on end, case when stamps <> 0 then stamps_expire_on end,
			case when points <> 0 then @points_idle_on::date end, case when stamps <> 0 then @stamps_idle_on::date end
		from opening o
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = o.customer_id
		returning 1
	), balance as materialized (
		select loyalty.new_ulid(@now) as id, o.customer_id, e.unit, e.amount, e.seq, e.expires_on
		from opening o
		cross join lateral (values
			('points', o.points, 1, o.points_expire_on),
			('stamps', o.stamps, 1 + (o.points <> 0)::int, o.stamps_expire_on)
		) e (unit, amount, seq, expires_on)
		where e.amount <> 0
	), entry as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
			kind, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
		select c.tenant_id, a.id, c.id, a.unit, a.amount,
			'opening', @reason, @actor_kind, @actor_id, @actor_name, @now, a.seq, a.amount, a.expires_on
		from balance a
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = a.customer_id
		returning 1
	)
	select 1 / (count(*) = cardinality(@customers::uuid[]))::int
	from opened`

var (
	errOpensBelowZero = errors.New("ledger: an opening balance is below zero")
	errOpensTooHigh   = errors.New("ledger: an opening balance exceeds the limit of an award")
)

// OpenAll queues the accounts of many new customers, in one statement. An opening balance is the
// account's first entry, of the kind Opened, with the reason. A customer who already has an account fails the
// whole transaction.
func OpenAll(tx *db.Tx, by core.Actor, reason string, openings []Opening) error {
	customers := make([]core.ID, len(openings))
	points, stamps := make([]int64, len(openings)), make([]int64, len(openings))
	for i, o := range openings {
		if o.Points < 0 || o.Stamps < 0 {
			return errOpensBelowZero
		}
		if o.Points > MaxAward || o.Stamps > MaxAward {
			return errOpensTooHigh
		}
		customers[i], points[i], stamps[i] = o.Customer, o.Points, o.Stamps
	}
	args := db.Args{
		"customers": customers, "points": points, "stamps": stamps, "ends": db.Column(openings, func(o Opening) *time.Time { return o.Ends }),
		"points_end": by.Tenant.PointsExpiry.Ends(), "stamps_end": by.Tenant.StampsExpiry.Ends(),
		"points_expire_on": by.Tenant.PointsExpiry.LastDay(today(tx, by)), "stamps_expire_on": by.Tenant.StampsExpiry.LastDay(today(tx, by)), "reason": reason,
		"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
	}
	addIdleDays(args, tx, by, true)
	return db.Queue(tx, openAllSQL, args)
}
