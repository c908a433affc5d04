package report

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Coupon is a coupon with the number of its vouchers by status.
type Coupon struct {
	ID       core.ID
	Name     string
	Sent     int64 // all vouchers
	Pending  int64
	Redeemed int64
	Expired  int64
}

// RedemptionRate returns the redeemed share of the sent vouchers, from 0 to 1, to four decimal places.
func (c Coupon) RedemptionRate() float64 {
	if c.Sent == 0 {
		return 0
	}
	return math.Round(float64(c.Redeemed)/float64(c.Sent)*10_000) / 10_000
}

// Coupons returns every coupon, newest first.
func (s *Service) Coupons(ctx context.Context, by core.Actor) ([]Coupon, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	return count[Coupon](ctx, s, by, couponsSQL, db.Args{"now": s.db.Now()})
}

// A send counts its vouchers, which all expire at one instant: so there is nothing to count, however many there are.
const couponsSQL = `
	select c.id, c.name, coalesce(v.sent, 0) as sent, coalesce(v.pending, 0) as pending,
		coalesce(v.redeemed, 0) as redeemed, coalesce(v.sent - v.pending - v.redeemed, 0) as expired
	from loyalty.coupon c
	left join (
		select s.coupon_id,` + vouchersOfSends + `
		from loyalty.coupon_send s
		where s.tenant_id = @tenant_id
		group by s.coupon_id
	) v on v.coupon_id = c.id
	where c.tenant_id = @tenant_id
	order by c.created_at desc, c.id desc`

const vouchersOfSends = `
			least(sum(s.sent), 9223372036854775807)::bigint as sent,
			least(coalesce(sum(s.sent - s.redeemed) filter (where s.expires_at is null or s.expires_at > @now), 0), 9223372036854775807)::bigint as pending,
			least(sum(s.redeemed), 9223372036854775807)::bigint as redeemed`

// CouponUses is what coupons brought and cost in a range of days. The earlier period ends as in Comparison.
//
// Vouchers count on the days on which they were sent and redeemed, sales on their own. A sale with vouchers of several coupons counts for
// each of them, and once in all.
type CouponUses struct {
	Period
	Against  *Period // the earlier period; nil: not compared
	Step     Step
	Total    CouponUse
	Previous CouponUse
	Rows     []CouponUse // the highest spend first
	Buckets  []Bucket[CouponStep]
	Longer   []Bucket[CouponStep] // as in Comparison

	Without         SalesWithout // sales without any voucher
	PreviousWithout SalesWithout
}

// CouponUse is the use of a coupon, or of all.
type CouponUse struct {
	ID   core.ID
	Name string

	// Vouchers that were sent in the range, by their status now.
	Sent         int64
	SentPending  int64
	SentRedeemed int64

	Redeemed          int64 // vouchers, whenever they were sent
	TransactionsCount int64 // completed sales with vouchers
	SpendTotalCents   int64
	DiscountCents     int64 // that the till took off these sales
	RewardsCount      int64 // that vouchers redeemed in the range gave
	PointsGiven       int64 // likewise
	StampsGiven       int64

	AgainCount       int64 // of these sales, those that aren't the first of their customer
	AgainSpendCents  int64
	BeforeSpendCents int64 // of each one's sale before

	Cost     Cost  // of what is known
	Unpriced int64 // redeemed vouchers and rewards given without a known cost

	PreviousSpendCents int64
}

// SentExpired is how many of the vouchers sent have expired unused.
func (u CouponUse) SentExpired() int64 { return u.Sent - u.SentPending - u.SentRedeemed }

// CouponStep is the use of coupons in a step of time.
type CouponStep struct {
	Redeemed        int64
	SpendTotalCents int64
}

// SalesWithout is the completed sales without a voucher.
type SalesWithout struct {
	TransactionsCount int64
	SpendTotalCents   int64
}

// CouponUse returns what coupons brought and cost. Costs are by present costs of rewards: those of points and stamps lie between the
// cheapest and the dearest of them, as for what is outstanding.
func (s *Service) CouponUse(ctx context.Context, by core.Actor, sel Selection) (CouponUses, error) {
	picked, err := s.resolveSelection(by, sel)
	if err != nil {
		return CouponUses{}, err
	}
	now := s.db.Now()
	t := picked.timetable(picked.step, picked.against, now)
	var used []couponUseRow
	var sent []couponSentRow
	var points, stamps []RewardCost
	err = s.together(ctx, by,
		db.AllInto(&used, couponUseSQL, t.args()),
		db.AllInto(&sent, couponSentSQL, t.sentArgs(now)),
		db.AllInto(&points, costsSQL, db.Args{"unit": ledger.Points}),
		db.AllInto(&stamps, costsSQL, db.Args{"unit": ledger.Stamps}))
	if err != nil {
		return CouponUses{}, err
	}
	u := CouponUses{Period: Period{picked.from, picked.to}, Against: t.against, Step: t.step}
	u.count(used, sent, map[ledger.Unit][]RewardCost{ledger.Points: points, ledger.Stamps: stamps})
	steps := newBuckets[CouponStep](t)
	for _, row := range used {
		if row.Period != nil {
			steps.set(*row.Period, row.Bucket, CouponStep{row.Redeemed, row.SpendTotalCents})
		}
	}
	u.Buckets, u.Longer = steps.split(t)
	return u, nil
}

// couponUseRow is the use of a coupon in a part, of all of them in a part, or of all in a bucket.
type couponUseRow struct {
	Part              *int64
	Period            *int64
	Bucket            *int64
	CouponID          *core.ID
	Name              *string
	BenefitType       *string
	BenefitValue      *int64
	RewardCostCents   *int64
	Redeemed          int64
	TransactionsCount int64
	SpendTotalCents   int64
	DiscountCents     int64
	RewardsCount      int64
	Unpriced          int64
	AgainCount        int64
	AgainSpendCents   int64
	BeforeSpendCents  int64

	WithoutTransactions int64 // of all coupons in a part: other sales
	WithoutSpend        int64
}

// couponSentRow is the vouchers of a coupon that were sent in a part.
type couponSentRow struct {
	Part     int64
	CouponID core.ID
	Name     string
	Sent     int64
	Pending  int64
	Redeemed int64
}

// count arranges what was sent and used, and adds up the costs of coupons.
func (u *CouponUses) count(used []couponUseRow, sent []couponSentRow, costs map[ledger.Unit][]RewardCost) {
	of := map[part]map[core.ID]*CouponUse{inRange: {}, before: {}}
	coupon := func(p part, id core.ID, name string) *CouponUse {
		if of[p][id] == nil {
			of[p][id] = &CouponUse{ID: id, Name: name}
		}
		return of[p][id]
	}
	totals := map[part]*CouponUse{inRange: &u.Total, before: &u.Previous}
	without := map[part]*SalesWithout{inRange: &u.Without, before: &u.PreviousWithout}
	for _, row := range sent {
		for _, c := range []*CouponUse{coupon(part(row.Part), row.CouponID, row.Name), totals[part(row.Part)]} {
			c.Sent, c.SentPending, c.SentRedeemed = plus(c.Sent, row.Sent), plus(c.SentPending, row.Pending), plus(c.SentRedeemed, row.Redeemed)
		}
	}
	for _, row := range used {
		if row.Part == nil {
			continue
		}
		c, total := totals[part(*row.Part)], totals[part(*row.Part)]
		if row.CouponID != nil {
			c = coupon(part(*row.Part), *row.CouponID, core.OrZero(row.Name))
		} else {
			*without[part(*row.Part)] = SalesWithout{row.WithoutTransactions, row.WithoutSpend}
		}
		c.Redeemed, c.TransactionsCount, c.SpendTotalCents = row.Redeemed, row.TransactionsCount, row.SpendTotalCents
		c.DiscountCents, c.RewardsCount = row.DiscountCents, row.RewardsCount
		c.AgainCount, c.AgainSpendCents, c.BeforeSpendCents = row.AgainCount, row.AgainSpendCents, row.BeforeSpendCents
		if row.CouponID != nil {
			c.give(row, costs)
			total.PointsGiven, total.StampsGiven = plus(total.PointsGiven, c.PointsGiven), plus(total.StampsGiven, c.StampsGiven)
			total.Cost = Cost{plus(total.Cost.Least, c.Cost.Least), plus(total.Cost.Most, c.Cost.Most)}
			total.Unpriced = plus(total.Unpriced, c.Unpriced)
		}
	}
	for id, c := range of[before] {
		coupon(inRange, id, c.Name).PreviousSpendCents = c.SpendTotalCents
	}
	u.Total.PreviousSpendCents = u.Previous.SpendTotalCents
	for _, c := range of[inRange] {
		u.Rows = append(u.Rows, *c)
	}
	slices.SortFunc(u.Rows, func(a, b CouponUse) int {
		return cmp.Or(cmp.Compare(b.SpendTotalCents, a.SpendTotalCents), cmp.Compare(b.Redeemed, a.Redeemed), cmp.Compare(b.Sent, a.Sent),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID.String(), b.ID.String()))
	})
}

// give adds what a coupon gave, and what that cost. Its benefit can't have changed since it was sent.
func (u *CouponUse) give(row couponUseRow, costs map[ledger.Unit][]RewardCost) {
	cost := &Cost{row.DiscountCents, row.DiscountCents}
	u.Unpriced = row.Unpriced
	switch core.OrZero(row.BenefitType) {
	case "points":
		u.PointsGiven = times(row.Redeemed, core.OrZero(row.BenefitValue))
		cost = costOf(costs[ledger.Points], u.PointsGiven)
	case "stamps":
		u.StampsGiven = times(row.Redeemed, core.OrZero(row.BenefitValue))
		cost = costOf(costs[ledger.Stamps], u.StampsGiven)
	case "reward":
		cost = nil
		if row.RewardCostCents != nil {
			each := times(row.RewardsCount, *row.RewardCostCents)
			cost = &Cost{each, each}
		} else {
			u.Unpriced = row.RewardsCount
		}
	}
	switch {
	case cost != nil:
		u.Cost = *cost
	case u.PointsGiven > 0 || u.StampsGiven > 0:
		u.Unpriced = row.Redeemed
	}
}

// times multiplies what isn't below zero. Like sums, it saturates.
func times(a, b int64) int64 {
	return rounded(big.NewInt(a), big.NewInt(b), big.NewInt(1))
}

// sentArgs are the time that each part of a timetable takes.
func (t timetable) sentArgs(now time.Time) db.Args {
	parts, starts, ends := []part{inRange}, []time.Time{t.startOf(t.from)}, []time.Time{t.next}
	if t.against != nil {
		parts, starts, ends = append(parts, before), append(starts, t.startOf(t.against.From)), append(ends, t.until)
	}
	return db.Args{"parts": parts, "starts": starts, "ends": ends, "now": now}
}

// A part in all counts each sale once, and so do buckets. What isn't a coupon's is all sales.
const couponUseSQL = daily.Spans + `, used as (
		select part, period, bucket, coupon_id, sum(redeemed) as redeemed,
			case when grouping(coupon_id) = 0 then sum(transactions) else sum(transactions_once) end as transactions,
			case when grouping(coupon_id) = 0 then sum(spend) else sum(spend_once) end as spend,
			sum(discount) as discount, sum(granted) as granted, sum(unpriced) as unpriced,
			case when grouping(coupon_id) = 0 then sum(again) else sum(again_once) end as again,
			case when grouping(coupon_id) = 0 then sum(again_spend) else sum(again_spend_once) end as again_spend,
			case when grouping(coupon_id) = 0 then sum(before_spend) else sum(before_spend_once) end as before_spend,
			sum(sales) - sum(transactions_once) as without_transactions, sum(sales_spend) - sum(spend_once) as without_spend
		from (
			select *, 0 as sales, 0 as sales_spend
			from (` + daily.CouponsOfSpans + `
			) u
			union all
			select part, period, bucket, null, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, transactions, spend
			from (` + daily.SalesOfSpans + `
			) s
			where part in (1, 2)
		) u
		group by grouping sets ((part), (part, coupon_id), (period, bucket))
		having grouping(coupon_id) = 1
			or coupon_id is not null and part in (1, 2) and (sum(redeemed) > 0 or sum(transactions) > 0)
	)
	select u.part, u.period, u.bucket, u.coupon_id, c.name, c.benefit_type, c.benefit_value, r.cost_cents as reward_cost_cents,
		u.redeemed::bigint as redeemed, u.transactions::bigint as transactions_count,
		least(u.spend, 9223372036854775807)::bigint as spend_total_cents, least(u.discount, 9223372036854775807)::bigint as discount_cents,
		u.granted::bigint as rewards_count, u.unpriced::bigint as unpriced, u.again::bigint as again_count,
		least(u.again_spend, 9223372036854775807)::bigint as again_spend_cents, least(u.before_spend, 9223372036854775807)::bigint as before_spend_cents,
		u.without_transactions::bigint as without_transactions,
		least(u.without_spend, 9223372036854775807)::bigint as without_spend
	from used u
	left join loyalty.coupon c on c.tenant_id = @tenant_id and c.id = u.coupon_id
	left join loyalty.reward r on r.tenant_id = @tenant_id and r.id = c.benefit_reward_id
	where u.part is null
		or u.part in (1, 2)`

// A send creates all of its vouchers when it is evaluated.
const couponSentSQL = `
	select v.part, v.coupon_id, c.name, v.sent, v.pending, v.redeemed
	from (
		select p.part, s.coupon_id,` + vouchersOfSends + `
		from unnest(@parts::bigint[], @starts::timestamptz[], @ends::timestamptz[]) as p (part, starts, ends)
		join loyalty.coupon_send s on s.tenant_id = @tenant_id and s.evaluated_at >= p.starts and s.evaluated_at < p.ends and s.sent > 0
		group by p.part, s.coupon_id
	) v
	join loyalty.coupon c on c.tenant_id = @tenant_id and c.id = v.coupon_id`
