package report

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Overview is the figures of the dashboard for a range of days.
type Overview struct {
	From time.Time // midnights in UTC, as in Range
	To   time.Time

	Current Activity
	// Previous covers the same number of days before. If the range includes today, it ends at the same
	// time of day, so that part of a day isn't compared with a whole one.
	Previous Activity

	Days        []PointsOfDay
	Outstanding Outstanding // at present, whatever the range
	Has         FirstSteps
}

// Activity is a set of figures, each counted as in Summary.
type Activity struct {
	ActiveCustomers  int64
	PointsAwarded    int64
	PointsRedeemed   int64
	RedemptionsCount int64
	SpendTotalCents  int64
}

// PointsOfDay is the points awarded and redeemed on one day.
type PointsOfDay struct {
	Date     time.Time
	Awarded  int64
	Redeemed int64
}

// Outstanding is the points and stamps that customers can still spend. Balances below zero and those of
// erased customers count as zero.
type Outstanding struct {
	Points int64
	Stamps int64
}

// FirstSteps says what a new tenant has created already.
type FirstSteps struct {
	TransactionType bool
	Customer        bool
	Sale            bool
	Reward          bool
}

// An overview also counts the period before, so it covers twice as many days.
const maxOverviewDays = 366

// Overview returns the dashboard's figures, for managers and owners. Cashiers don't see revenue.
func (s *Service) Overview(ctx context.Context, by core.Actor, r Range) (Overview, error) {
	if err := by.Require(core.Manager); err != nil {
		return Overview{}, err
	}
	now := s.db.Now()
	check := core.NewCheck(r.Malformed)
	picked := r.days(check, now, by.Tenant.TimeZone)
	if picked.to.After(picked.from.AddDate(0, 0, maxOverviewDays-1)) && check.OK("to") {
		check.Add("to", core.WithinDays(maxOverviewDays-1, "from"))
	}
	if err := check.Err(); err != nil {
		return Overview{}, err
	}
	dates := picked.dates()
	_, ids := picked.bounds()
	before, until := picked.previousPeriod(now)
	beforeID, untilID := core.FirstID(before), core.FirstID(until)
	opening, known := s.cachedOpening(by.Tenant.ID, now)
	sql, args := countedOverviewSQL, db.Args{
		// The previous period, then each day.
		"first_ids": append([]core.ID{beforeID}, ids[:len(dates)]...),
		"next_ids":  append([]core.ID{untilID}, ids[1:]...),
		"before_id": beforeID, "until_id": untilID, "first_id": ids[0], "next_id": ids[len(dates)],
		"cut": opening.cut,
	}
	if known {
		sql, args["opening_points"], args["opening_stamps"] = overviewSQL, opening.points, opening.stamps
	}
	rows, err := count[overviewRow](ctx, s, by, sql, args)
	if err != nil {
		return Overview{}, err
	}
	previous, current, perDay := rows[0], rows[1], rows[3:]
	if !known {
		s.cacheOpening(by.Tenant.ID, current.HeldBy, openingBalances{
			cut: opening.cut, counted: now, points: current.OpeningPoints, stamps: current.OpeningStamps,
		})
	}
	o := Overview{
		From: picked.from, To: picked.to,
		Current:     current.activity(current.ActiveCustomers),
		Previous:    previous.activity(current.ActiveBefore),
		Outstanding: Outstanding{Points: current.OutstandingPoints, Stamps: current.OutstandingStamps},
		Has:         FirstSteps{current.HasType, current.HasCustomer, current.HasSale, current.HasReward},
	}
	for i, date := range dates {
		o.Days = append(o.Days, PointsOfDay{Date: date, Awarded: perDay[i].PointsAwarded, Redeemed: perDay[i].PointsRedeemed})
	}
	return o, nil
}

// previousPeriod returns the period before the days, as long as they have lasted until now.
func (d days) previousPeriod(now time.Time) (from, until time.Time) {
	length := len(d.dates())
	from, until = d.startOf(d.from.AddDate(0, 0, -length)), d.startOf(d.from)
	if now.Before(until) || !now.Before(d.end()) {
		return from, until
	}
	local := now.In(d.zone)
	year, month, day := local.Date()
	hour, minute, second := local.Clock()
	sameTime := time.Date(year, month, day-length, hour, minute, second, local.Nanosecond(), d.zone)
	if sameTime.Before(until) {
		until = sameTime
	}
	return from, until
}

type overviewRow struct {
	PointsAwarded    int64
	SpendTotalCents  int64
	RedemptionsCount int64
	PointsRedeemed   int64

	// The same in each row.
	ActiveCustomers   int64
	ActiveBefore      int64
	OutstandingPoints int64
	OutstandingStamps int64
	OpeningPoints     int64
	OpeningStamps     int64
	HeldBy            int64
	HasType           bool
	HasCustomer       bool
	HasSale           bool
	HasReward         bool
}

func (r overviewRow) activity(customers int64) Activity {
	return Activity{
		ActiveCustomers: customers, PointsAwarded: r.PointsAwarded, PointsRedeemed: r.PointsRedeemed,
		RedemptionsCount: r.RedemptionsCount, SpendTotalCents: r.SpendTotalCents,
	}
}

const (
	countedOverviewSQL = countedOutstanding + figures
	overviewSQL        = knownOutstanding + figures
)

// The first two rows are the previous period and the range, the third is the previous period again, then
// comes each day. Sums saturate as in the summary.
//
// The first sale is searched in order of ID: for a plain "exists", PostgreSQL may read the sales of all
// other tenants.
const figures = `
	select least(coalesce(sum(sold.points), 0), 9223372036854775807)::bigint as points_awarded,
		least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents,
		sum(redeemed.redemptions)::bigint as redemptions_count,
		least(coalesce(sum(redeemed.points), 0), 9223372036854775807)::bigint as points_redeemed,
		(
			select count(distinct customer_id)
			from loyalty.transaction
			where tenant_id = @tenant_id
				and id >= @first_id
				and id < @next_id
				and status = 'completed'
		) as active_customers,
		(
			select count(distinct customer_id)
			from loyalty.transaction
			where tenant_id = @tenant_id
				and id >= @before_id
				and id < @until_id
				and status = 'completed'
		) as active_before,
		(select points from owed) as outstanding_points,
		(select stamps from owed) as outstanding_stamps,
		(select greatest(least(points, 9223372036854775807), -9223372036854775807)::bigint from opening) as opening_points,
		(select greatest(least(stamps, 9223372036854775807), -9223372036854775807)::bigint from opening) as opening_stamps,
		(select accounts from opening) as held_by,
		(select id from loyalty.transaction_type where tenant_id = @tenant_id order by id limit 1) is not null as has_type,
		(select id from loyalty.customer where tenant_id = @tenant_id order by id limit 1) is not null as has_customer,
		(select id from loyalty.transaction where tenant_id = @tenant_id order by id limit 1) is not null as has_sale,
		(select id from loyalty.reward where tenant_id = @tenant_id order by id limit 1) is not null as has_reward
	from unnest(@first_ids::uuid[], @next_ids::uuid[]) with ordinality as span (first_id, next_id, number)
	cross join lateral (select span.number > 1 as in_range) part
	cross join lateral (
		select sum(spend_amount_cents) as spend, sum(points_awarded) as points
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id >= span.first_id
			and id < span.next_id
			and status = 'completed'
	) sold
	cross join lateral (
		select count(*) as redemptions, sum(points_spent) as points
		from loyalty.redemption
		where tenant_id = @tenant_id
			and id >= span.first_id
			and id < span.next_id
			and status <> 'voided'
	) redeemed
	group by grouping sets ((part.in_range), (part.in_range, span.number))
	order by grouping(span.number) desc, part.in_range, span.number`
