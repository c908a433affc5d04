package report

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
)

// before are the arguments about all time before a day (daily.FlowsBefore).
func (d days) before(day time.Time) db.Args {
	return db.Args{"zone": d.zone.String(), "before": day, "before_id": core.FirstID(d.startOf(day))}
}

type owedRow struct {
	Points      int64
	Stamps      int64
	LeastPoints *int64
	MostPoints  *int64
	LeastStamps *int64
	MostStamps  *int64
}

func (r owedRow) outstanding() Outstanding {
	return Outstanding{
		Points: r.Points, Stamps: r.Stamps,
		PointsCost: newCost(r.LeastPoints, r.MostPoints), StampsCost: newCost(r.LeastStamps, r.MostStamps),
	}
}

// What customers can spend is what ever changed balances, without those below zero and those of erased customers. Sums are numeric until the
// last step, which saturates, because two balances can exceed 64 bits.
const owedSQL = `
	with` + daily.FlowsBefore + `, erased as (
		select coalesce(sum(a.points) filter (where a.points > 0), 0) as points,
			coalesce(sum(a.stamps) filter (where a.stamps > 0), 0) as stamps
		from loyalty.customer c
		join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
		where c.tenant_id = @tenant_id
			and c.phone_key is null
			and c.email_key is null
	), held as (
		select coalesce(sum(amount - below) filter (where unit = 'points'), 0) as points,
			coalesce(sum(amount - below) filter (where unit = 'stamps'), 0) as stamps
		from flow
	), owed as (
		select greatest(least(held.points - erased.points, 9223372036854775807), -9223372036854775807)::bigint as points,
			greatest(least(held.stamps - erased.stamps, 9223372036854775807), -9223372036854775807)::bigint as stamps
		from held
		cross join erased
	)
	select owed.points, owed.stamps,
		(min(least(round(r.cost_cents::numeric * owed.points / r.points_cost), 9223372036854775807)) filter (where r.points_cost > 0))::bigint as least_points,
		(max(least(round(r.cost_cents::numeric * owed.points / r.points_cost), 9223372036854775807)) filter (where r.points_cost > 0))::bigint as most_points,
		(min(least(round(r.cost_cents::numeric * owed.stamps / r.stamps_cost), 9223372036854775807)) filter (where r.stamps_cost > 0))::bigint as least_stamps,
		(max(least(round(r.cost_cents::numeric * owed.stamps / r.stamps_cost), 9223372036854775807)) filter (where r.stamps_cost > 0))::bigint as most_stamps
	from owed
	left join loyalty.reward r on r.tenant_id = @tenant_id
		and r.active
		and r.cost_cents is not null
	group by owed.points, owed.stamps`
