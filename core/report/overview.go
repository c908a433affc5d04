package report

import (
	"context"

	"example.com/loyalty/core"
)

// Overview is the figures of the dashboard for a range of days, compared like those of Compare with the
// previous period.
type Overview struct {
	Period
	Against  Period
	Current  Activity
	Previous Activity

	Buckets     []Bucket[PointsFlow]
	Step        Step
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

// PointsFlow is the points awarded and redeemed in a bucket.
type PointsFlow struct {
	Awarded  int64
	Redeemed int64
}

// Outstanding is the points and stamps that customers can still spend. Balances below zero and those of
// erased customers count as zero.
type Outstanding struct {
	Points     int64
	Stamps     int64
	PointsCost *Cost // nil: no active reward for points has a cost
	StampsCost *Cost // likewise
}

// Cost is what rewards for the outstanding points or stamps would cost the business, in cents: Least if all
// were spent on the active reward that costs least per point, Most on the one that costs most.
type Cost struct {
	Least int64
	Most  int64
}

func newCost(least, most *int64) *Cost {
	if least == nil || most == nil {
		return nil
	}
	return &Cost{Least: *least, Most: *most}
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
	t := picked.timetable(picked.step(), PreviousPeriod, now)
	opening, known := s.cachedOpening(by.Tenant.ID, now)
	sql, args := countedOverviewSQL, t.args()
	args["cut"] = opening.cut
	if known {
		sql, args["opening_points"], args["opening_stamps"] = overviewSQL, opening.points, opening.stamps
	}
	rows, err := count[overviewRow](ctx, s, by, sql, args)
	if err != nil {
		return Overview{}, err
	}
	o := Overview{Period: Period{picked.from, picked.to}, Against: *t.against, Step: t.step}
	buckets := newBuckets[PointsFlow](t)
	for _, row := range rows {
		switch {
		case row.Part != nil && part(*row.Part) == inRange:
			o.Current = row.activity(row.ActiveCustomers)
		case row.Part != nil && part(*row.Part) == before:
			o.Previous = row.activity(row.ActiveBefore)
		case row.Bucket != nil:
			buckets.set(*row.Period, *row.Bucket, PointsFlow{row.PointsAwarded, row.PointsRedeemed})
		}
	}
	o.Buckets = buckets[:len(t.cuts)]
	first := rows[0]
	o.Outstanding = Outstanding{
		Points: first.OutstandingPoints, Stamps: first.OutstandingStamps,
		PointsCost: newCost(first.LeastPoints, first.MostPoints), StampsCost: newCost(first.LeastStamps, first.MostStamps),
	}
	o.Has = FirstSteps{first.HasType, first.HasCustomer, first.HasSale, first.HasReward}
	if !known {
		s.cacheOpening(by.Tenant.ID, first.HeldBy, openingBalances{
			cut: opening.cut, counted: now, points: first.OpeningPoints, stamps: first.OpeningStamps,
		})
	}
	return o, nil
}

type overviewRow struct {
	Part             *int64
	Period           *int64
	Bucket           *int64
	PointsAwarded    int64
	SpendTotalCents  int64
	RedemptionsCount int64
	PointsRedeemed   int64

	// The same in each row.
	ActiveCustomers   int64
	ActiveBefore      int64
	OutstandingPoints int64
	OutstandingStamps int64
	LeastPoints       *int64
	MostPoints        *int64
	LeastStamps       *int64
	MostStamps        *int64
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

// A row is a part in all or a bucket, as in Compare.
//
// The first sale is searched in order of ID: for a plain "exists", PostgreSQL may read the sales of all
// other tenants.
const figures = `
	select span.part, span.period, span.bucket,
		least(coalesce(sum(sold.points), 0), 9223372036854775807)::bigint as points_awarded,
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
		(select least_points from worth) as least_points,
		(select most_points from worth) as most_points,
		(select least_stamps from worth) as least_stamps,
		(select most_stamps from worth) as most_stamps,
		(select greatest(least(points, 9223372036854775807), -9223372036854775807)::bigint from opening) as opening_points,
		(select greatest(least(stamps, 9223372036854775807), -9223372036854775807)::bigint from opening) as opening_stamps,
		(select accounts from opening) as held_by,
		(select id from loyalty.transaction_type where tenant_id = @tenant_id order by id limit 1) is not null as has_type,
		(select id from loyalty.customer where tenant_id = @tenant_id order by id limit 1) is not null as has_customer,
		(select id from loyalty.transaction where tenant_id = @tenant_id order by id limit 1) is not null as has_sale,
		(select id from loyalty.reward where tenant_id = @tenant_id order by id limit 1) is not null as has_reward
	from unnest(@parts::bigint[], @periods::bigint[], @buckets::bigint[], @first_ids::uuid[], @next_ids::uuid[])
		as span (part, period, bucket, first_id, next_id)
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
	group by grouping sets ((span.part), (span.period, span.bucket))`
