package report

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
)

// RewardUses is the redemptions of rewards in a range of days, in all, by reward and for each step of time.
type RewardUses struct {
	Breakdown[RewardUse]
	Step    Step
	Buckets []Bucket[RewardStep]
	Longer  []Bucket[RewardStep] // as in Comparison
}

// RewardUse is the redemptions of a reward, or of all. Voided ones count only as such.
type RewardUse struct {
	Whole            bool // the total
	ID               core.ID
	Name             string
	RedemptionsCount int64 // PaidCount and VouchersCount
	PaidCount        int64 // for points or stamps
	VouchersCount    int64 // given by vouchers, at no cost to the customer
	PointsSpent      int64
	StampsSpent      int64
	VoidedCount      int64
	CostCents        int64 // to the business, by the present costs of rewards
	UnpricedCount    int64 // redemptions of rewards without a cost, which CostCents leaves out

	PreviousRedemptionsCount int64
	PreviousPaidCount        int64
	PreviousVouchersCount    int64
	PreviousPointsSpent      int64
	PreviousStampsSpent      int64
	PreviousCostCents        int64
}

// RewardStep is the redemptions in a step of time.
type RewardStep struct {
	PaidCount     int64
	VouchersCount int64
	CostCents     int64
}

// Rewards returns the redemptions of each reward, the most redeemed first.
func (s *Service) Rewards(ctx context.Context, by core.Actor, sel Selection) (RewardUses, error) {
	picked, err := s.resolveSelection(by, sel)
	if err != nil {
		return RewardUses{}, err
	}
	t := picked.timetable(picked.step, picked.against, s.db.Now())
	rows, err := count[rewardRow](ctx, s, by, rewardsSQL, t.args())
	if err != nil {
		return RewardUses{}, err
	}
	u := RewardUses{Breakdown: Breakdown[RewardUse]{Period: Period{picked.from, picked.to}, Against: t.against}, Step: t.step}
	steps := newBuckets[RewardStep](t)
	for _, row := range rows {
		switch {
		case row.BucketPeriod != nil:
			steps.set(*row.BucketPeriod, row.Bucket, RewardStep{row.StepPaid, row.StepVouchers, row.StepCost})
		case row.Whole:
			u.Total = row.RewardUse
		default:
			u.Rows = append(u.Rows, row.RewardUse)
		}
	}
	u.Buckets, u.Longer = steps.split(t)
	return u, nil
}

// rewardRow is the redemptions of a reward, of all, or of a bucket.
type rewardRow struct {
	RewardUse
	BucketPeriod *int64
	Bucket       *int64
	StepPaid     int64
	StepVouchers int64
	StepCost     int64
}

// The earlier period's later days have nothing in the parts, so only buckets have them.
const rewardsSQL = daily.Spans + `, used as materialized (
		select u.*, r.name, u.redemptions * r.cost_cents::numeric as cost, case when r.cost_cents is null then u.redemptions else 0 end as unpriced
		from (` + daily.RewardsOfSpans + `
		) u
		join loyalty.reward r on r.tenant_id = @tenant_id and r.id = u.reward_id
	)
	select grouping(u.reward_id, u.bucket) = 3 as whole, coalesce(u.reward_id, '00000000-0000-0000-0000-000000000000') as id,
		case when grouping(u.reward_id) = 1 then '' else max(u.name) end as name, u.period as bucket_period, u.bucket,
		coalesce(sum(u.redemptions) filter (where u.part = 1), 0)::bigint as redemptions_count,
		coalesce(sum(u.redemptions) filter (where u.part = 1 and not u.by_voucher), 0)::bigint as paid_count,
		coalesce(sum(u.redemptions) filter (where u.part = 1 and u.by_voucher), 0)::bigint as vouchers_count,
		least(coalesce(sum(u.points) filter (where u.part = 1), 0), 9223372036854775807)::bigint as points_spent,
		least(coalesce(sum(u.stamps) filter (where u.part = 1), 0), 9223372036854775807)::bigint as stamps_spent,
		coalesce(sum(u.voided) filter (where u.part = 1), 0)::bigint as voided_count,
		least(coalesce(sum(u.cost) filter (where u.part = 1), 0), 9223372036854775807)::bigint as cost_cents,
		coalesce(sum(u.unpriced) filter (where u.part = 1), 0)::bigint as unpriced_count,
		coalesce(sum(u.redemptions) filter (where u.part = 2), 0)::bigint as previous_redemptions_count,
		coalesce(sum(u.redemptions) filter (where u.part = 2 and not u.by_voucher), 0)::bigint as previous_paid_count,
		coalesce(sum(u.redemptions) filter (where u.part = 2 and u.by_voucher), 0)::bigint as previous_vouchers_count,
		least(coalesce(sum(u.points) filter (where u.part = 2), 0), 9223372036854775807)::bigint as previous_points_spent,
		least(coalesce(sum(u.stamps) filter (where u.part = 2), 0), 9223372036854775807)::bigint as previous_stamps_spent,
		least(coalesce(sum(u.cost) filter (where u.part = 2), 0), 9223372036854775807)::bigint as previous_cost_cents,
		coalesce(sum(u.redemptions) filter (where not u.by_voucher), 0)::bigint as step_paid,
		coalesce(sum(u.redemptions) filter (where u.by_voucher), 0)::bigint as step_vouchers,
		least(coalesce(sum(u.cost), 0), 9223372036854775807)::bigint as step_cost
	from used u
	group by grouping sets ((), (u.reward_id), (u.period, u.bucket))
	having grouping(u.reward_id) = 1
		or sum(u.redemptions + u.voided) filter (where u.part in (1, 2)) > 0
	order by whole desc, redemptions_count desc, name, u.reward_id`
