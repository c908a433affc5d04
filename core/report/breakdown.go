package report

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Sales is the completed sales of a part of the business.
type Sales struct {
	TransactionsCount int64
	SpendTotalCents   int64
	PointsAwarded     int64
	StampsAwarded     int64
}

// Breakdown divides the figures of a selection among the parts of a business. Its total is counted
// together with its rows, so they add up. The earlier period ends as in Comparison.
type Breakdown[T any] struct {
	Period
	Against *Period // the earlier period; nil: not compared
	Total   T
	Rows    []T
}

// LocationSales is the sales of a location.
type LocationSales struct {
	Whole bool    // the total
	ID    *int64  // nil: sales without a location
	Name  *string // likewise
	Sales
	PreviousSpendCents int64
}

// Locations returns the sales of each location, the highest spend first.
func (s *Service) Locations(ctx context.Context, by core.Actor, sel Selection) (Breakdown[LocationSales], error) {
	sel.Location = nil
	return breakdown(ctx, s, by, sel, locationsSQL, "", func(l LocationSales) bool { return l.Whole })
}

// StaffSales is what a person or a token recorded.
type StaffSales struct {
	Whole     bool // the total
	ActorKind core.ActorKind
	ActorID   string
	Name      string
	Sales
	VoidedCount        int64 // sales that they recorded and that were voided since
	RedemptionsCount   int64 // zero with a location: redemptions don't record one
	PreviousSpendCents int64
}

// Staff returns what each person and token recorded, the highest spend first.
func (s *Service) Staff(ctx context.Context, by core.Actor, sel Selection) (Breakdown[StaffSales], error) {
	return breakdown(ctx, s, by, sel, staffSQL, staffAtSQL, func(p StaffSales) bool { return p.Whole })
}

// RewardUse is the redemptions of a reward.
type RewardUse struct {
	Whole                    bool // the total
	ID                       core.ID
	Name                     string
	RedemptionsCount         int64 // not voided, like what was spent
	PointsSpent              int64
	StampsSpent              int64
	VoidedCount              int64
	PreviousRedemptionsCount int64
}

// Rewards returns the redemptions of each reward, the most redeemed first.
func (s *Service) Rewards(ctx context.Context, by core.Actor, sel Selection) (Breakdown[RewardUse], error) {
	sel.Location = nil
	return breakdown(ctx, s, by, sel, rewardsSQL, "", func(r RewardUse) bool { return r.Whole })
}

// breakdown runs a statement for a selection, or atSQL for one with a location.
func breakdown[T any](ctx context.Context, s *Service, by core.Actor, sel Selection, sql, atSQL string, isTotal func(T) bool) (Breakdown[T], error) {
	picked, err := s.resolveSelection(by, sel)
	if err != nil {
		return Breakdown[T]{}, err
	}
	t := picked.timetable(picked.step, picked.against, s.db.Now())
	args := db.Args{
		"first_ids": []core.ID{core.FirstID(t.first), core.FirstID(t.before)},
		"next_ids":  []core.ID{core.FirstID(t.next), core.FirstID(t.until)},
	}
	if picked.location != nil {
		sql, args["location"] = atSQL, *picked.location
	}
	rows, err := count[T](ctx, s, by, sql, args)
	if err != nil {
		return Breakdown[T]{}, err
	}
	b := Breakdown[T]{Period: Period{picked.from, picked.to}, Against: t.against}
	for _, row := range rows {
		if isTotal(row) {
			b.Total = row
		} else {
			b.Rows = append(b.Rows, row)
		}
	}
	return b, nil
}

// The first span is the range, the second one the earlier period; without one it is empty.
const spans = `
	from unnest(array[true, false], @first_ids::uuid[], @next_ids::uuid[]) as span (current, first_id, next_id)`

const locationsSQL = `
	with sold as (
		select span.current, sale.*` + spans + `
		cross join lateral (
			select location_id, count(*) as transactions, sum(spend_amount_cents) as spend, sum(points_awarded) as points, sum(stamps_awarded) as stamps
			from loyalty.transaction
			where tenant_id = @tenant_id
				and id >= span.first_id
				and id < span.next_id
				and status = 'completed'
			group by location_id
		) sale
	)
	select grouping(s.location_id) = 1 as whole, s.location_id as id, l.name,
		coalesce(sum(s.transactions) filter (where s.current), 0)::bigint as transactions_count,
		least(coalesce(sum(s.spend) filter (where s.current), 0), 9223372036854775807)::bigint as spend_total_cents,
		least(coalesce(sum(s.points) filter (where s.current), 0), 9223372036854775807)::bigint as points_awarded,
		least(coalesce(sum(s.stamps) filter (where s.current), 0), 9223372036854775807)::bigint as stamps_awarded,
		least(coalesce(sum(s.spend) filter (where not s.current), 0), 9223372036854775807)::bigint as previous_spend_cents
	from sold s
	left join loyalty.location l on l.tenant_id = @tenant_id and l.id = s.location_id
	group by grouping sets ((), (s.location_id, l.name))
	order by whole desc, spend_total_cents desc, s.location_id nulls last`

const (
	staffSQL   = staffSales + staffRedemptions + staffTotals
	staffAtSQL = staffSales + `
				and location_id = @location` + noRedemptions + staffTotals

	// A person who was renamed has one row, under the present name.
	staffSales = `
	with acted as materialized (
		select span.current, sale.*, 0::bigint as redemptions` + spans + `
		cross join lateral (
			select actor_kind, actor_id, max(actor_name) as actor_name,
				count(*) filter (where status = 'completed') as transactions,
				sum(spend_amount_cents) filter (where status = 'completed') as spend,
				sum(points_awarded) filter (where status = 'completed') as points,
				sum(stamps_awarded) filter (where status = 'completed') as stamps,
				count(*) filter (where status = 'voided') as voided
			from loyalty.transaction
			where tenant_id = @tenant_id
				and id >= span.first_id
				and id < span.next_id`

	noRedemptions = `
			group by actor_kind, actor_id
		) sale
	)`

	staffRedemptions = `
			group by actor_kind, actor_id
		) sale
		union all
		select span.current, used.actor_kind, used.actor_id, used.actor_name, 0, 0, 0, 0, 0, used.redemptions` + spans + `
		cross join lateral (
			select actor_kind, actor_id, max(actor_name) as actor_name, count(*) as redemptions
			from loyalty.redemption
			where tenant_id = @tenant_id
				and id >= span.first_id
				and id < span.next_id
				and status <> 'voided'
			group by actor_kind, actor_id
		) used
	)`

	staffTotals = `
	select grouping(a.actor_id) = 1 as whole, coalesce(a.actor_kind, '') as actor_kind, coalesce(a.actor_id, '') as actor_id,
		case when grouping(a.actor_id) = 1 then '' else coalesce(max(p.name), max(a.actor_name)) end as name,
		coalesce(sum(a.transactions) filter (where a.current), 0)::bigint as transactions_count,
		least(coalesce(sum(a.spend) filter (where a.current), 0), 9223372036854775807)::bigint as spend_total_cents,
		least(coalesce(sum(a.points) filter (where a.current), 0), 9223372036854775807)::bigint as points_awarded,
		least(coalesce(sum(a.stamps) filter (where a.current), 0), 9223372036854775807)::bigint as stamps_awarded,
		coalesce(sum(a.voided) filter (where a.current), 0)::bigint as voided_count,
		coalesce(sum(a.redemptions) filter (where a.current), 0)::bigint as redemptions_count,
		least(coalesce(sum(a.spend) filter (where not a.current), 0), 9223372036854775807)::bigint as previous_spend_cents
	from acted a
	left join loyalty.staff p on a.actor_kind = 'staff' and p.tenant_id = @tenant_id and p.id::text = a.actor_id
	group by grouping sets ((), (a.actor_kind, a.actor_id))
	order by whole desc, spend_total_cents desc, transactions_count desc, name, a.actor_id`
)

const rewardsSQL = `
	with used as (
		select span.current, redemption.*` + spans + `
		cross join lateral (
			select reward_id, count(*) filter (where status <> 'voided') as redemptions,
				sum(points_spent) filter (where status <> 'voided') as points,
				sum(stamps_spent) filter (where status <> 'voided') as stamps,
				count(*) filter (where status = 'voided') as voided
			from loyalty.redemption
			where tenant_id = @tenant_id
				and id >= span.first_id
				and id < span.next_id
			group by reward_id
		) redemption
	)
	select grouping(u.reward_id) = 1 as whole, coalesce(u.reward_id, '00000000-0000-0000-0000-000000000000') as id, case when grouping(u.reward_id) = 1 then '' else max(r.name) end as name,
		coalesce(sum(u.redemptions) filter (where u.current), 0)::bigint as redemptions_count,
		least(coalesce(sum(u.points) filter (where u.current), 0), 9223372036854775807)::bigint as points_spent,
		least(coalesce(sum(u.stamps) filter (where u.current), 0), 9223372036854775807)::bigint as stamps_spent,
		coalesce(sum(u.voided) filter (where u.current), 0)::bigint as voided_count,
		coalesce(sum(u.redemptions) filter (where not u.current), 0)::bigint as previous_redemptions_count
	from used u
	join loyalty.reward r on r.tenant_id = @tenant_id and r.id = u.reward_id
	group by grouping sets ((), (u.reward_id))
	order by whole desc, redemptions_count desc, name, u.reward_id`
