package report

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/big"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Balances selects a statement of points or stamps.
type Balances struct {
	Range
	Against      *string // nil: PreviousPeriod
	Unit         *string // nil: points
	Step         Step    // "": as fits the length of the range
	ValueCents   *int64  // the owner's own value of a hundred points or stamps; nil: none
	ExpectedRate *int64  // the share that is expected to be redeemed, in hundredths of a percent; nil: the measured one
}

// Statement says how the balances of all customers changed in a range of days. Opening and Total add up to Closing, and so
// does each step.
type Statement struct {
	Period
	Against *Period // the earlier period; nil: not compared
	Unit    ledger.Unit
	Step    Step
	Movement
	Before Movement // of the earlier period, up to the same time of day
	Steps  []Bucket[Movement]
	Longer []Bucket[Movement] // as in Comparison
	Owed   Owed

	SlowEndings bool // Endings takes seconds: the business is large, and they weren't counted in the last hour
}

// Movement is how the balances of all customers changed in some time.
type Movement struct {
	Opening int64 // the sum of all balances before it, those below zero included
	Total   Flow
	Closing int64
}

// Flow is what changed balances, by the kind of its entries. What was taken is below zero.
type Flow struct {
	Earned         int64
	Vouchers       int64
	Imported       int64
	Reversed       int64 // of voided sales, and of vouchers that are valid again
	Refunded       int64
	Redeemed       int64
	Returned       int64 // of voided redemptions
	Expired        int64
	ExpiryReturned int64 // before the award was taken back
	Adjusted       int64
	Merged         int64 // from one customer to another: it adds up to nothing
}

// of is the part of a flow that entries of a kind add up to.
func (f *Flow) of(kind ledger.Kind) *int64 {
	switch kind {
	case ledger.Earn:
		return &f.Earned
	case ledger.VoucherAward:
		return &f.Vouchers
	case ledger.Opened:
		return &f.Imported
	case ledger.Reversal:
		return &f.Reversed
	case ledger.Refunded:
		return &f.Refunded
	case ledger.Redemption:
		return &f.Redeemed
	case ledger.RedemptionRefund:
		return &f.Returned
	case ledger.Expired:
		return &f.Expired
	case ledger.ExpiryReturned:
		return &f.ExpiryReturned
	case ledger.Adjustment:
		return &f.Adjusted
	case ledger.Merged:
		return &f.Merged
	}
	return new(int64)
}

// Issued is what sales and vouchers awarded. Like the others, it saturates.
func (f Flow) Issued() int64 { return plus(f.Earned, f.Vouchers) }

// NetRedeemed is what was redeemed less what was returned.
func (f Flow) NetRedeemed() int64 { return -plus(f.Redeemed, f.Returned) }

// NetExpired is what expired less what was returned.
func (f Flow) NetExpired() int64 { return -plus(f.Expired, f.ExpiryReturned) }

// Owed is what customers could spend at the end of a statement, and what that is worth. Spendable, Erased and Below add up
// to the statement's Closing.
type Owed struct {
	Spendable int64
	Erased    int64 // of customers who were erased by then, which can't be spent
	Below     int64 // of customers below zero
	Cost      *Cost // at present: nil if no active reward for the unit has a cost
	Rewards   SpentOn
	Spent     Spent // in the year up to the end of the statement
	OwnValue  *OwnValue
}

// SpentOn is what a unit can be spent on at present: active rewards.
type SpentOn struct {
	Count    int64
	Unpriced int64       // of these, without a cost
	Cheapest *RewardCost // for the business, for a point or a stamp; nil: none has a cost
	Dearest  *RewardCost // likewise
}

// RewardCost is what a reward costs the business and the customer.
type RewardCost struct {
	ID        core.ID
	Name      string
	CostCents int64
	Units     int64
}

// Spent is how balances were used in a year.
type Spent struct {
	Redeemed int64 // less what was returned
	Expired  int64 // likewise
}

// Rate returns the redeemed share, in hundredths of a percent. Without anything that was redeemed or expired, all is
// expected to be redeemed.
func (s Spent) Rate() int64 {
	redeemed, expired := max(s.Redeemed, 0), max(s.Expired, 0)
	if redeemed == 0 && expired == 0 {
		return wholeRate
	}
	whole := new(big.Int).Add(big.NewInt(redeemed), big.NewInt(expired))
	return rounded(big.NewInt(redeemed), big.NewInt(wholeRate), whole)
}

// wholeRate is 100 %, in hundredths of a percent.
const wholeRate = 10_000

// OwnValue is what spendable points or stamps are worth by the owner's own value.
type OwnValue struct {
	ValueCents int64 // of a hundred
	Rate       int64 // the share that is expected to be redeemed, in hundredths of a percent
	WholeCents int64 // if all were redeemed
	Cents      int64 // as expected
}

// rounded returns a × b ÷ c, rounded half up, and at most what 64 bits hold. None is below zero.
func rounded(a, b, c *big.Int) int64 {
	n := new(big.Int).Mul(a, b)
	n.Add(n.Lsh(n, 1), c)
	if n.Div(n, new(big.Int).Lsh(c, 1)); !n.IsInt64() {
		return math.MaxInt64
	}
	return n.Int64()
}

func newOwnValue(spendable, valueCents, rate int64) *OwnValue {
	whole := new(big.Int).Mul(big.NewInt(spendable), big.NewInt(valueCents))
	return &OwnValue{
		ValueCents: valueCents, Rate: rate,
		WholeCents: rounded(whole, big.NewInt(1), big.NewInt(100)),
		Cents:      rounded(whole, big.NewInt(rate), big.NewInt(100*wholeRate)),
	}
}

// maxValueCents is the highest value of a hundred points or stamps.
const maxValueCents = 1_000_000_000_000

// Points returns the statement of a unit.
func (s *Service) Points(ctx context.Context, by core.Actor, b Balances) (Statement, error) {
	if err := by.Require(core.Manager); err != nil {
		return Statement{}, err
	}
	now, check := s.db.Now(), core.NewCheck(b.Malformed)
	picked := b.days(check, now, by.Tenant.TimeZone)
	unit := unitOf(check, b.Unit)
	against := againstOf(check, b.Against)
	if b.ValueCents != nil {
		check.Range("value", *b.ValueCents, 0, maxValueCents)
	}
	if b.ExpectedRate != nil && (*b.ExpectedRate < 0 || *b.ExpectedRate > wholeRate) {
		check.Add("rate", core.Max(100))
	}
	if err := check.Err(); err != nil {
		return Statement{}, err
	}
	t := picked.timetable(cmp.Or(b.Step, picked.step()), against, now)
	lastYear := Period{picked.to.AddDate(-1, 0, 1), picked.to}
	var rows, earlier []statementRow
	var spent Spent
	var rewards struct{ Count, Unpriced int64 }
	var costs []RewardCost
	var large bool
	readings := []db.Reading{
		db.AllInto(&rows, statementSQL, t.statementArgs(unit)),
		db.OneInto(&spent, spentSQL, picked.spentArgs(lastYear, unit)),
		db.OneInto(&rewards, rewardsOfUnitSQL, db.Args{"unit": unit}),
		db.AllInto(&costs, costsSQL, db.Args{"unit": unit}),
	}
	if t.against != nil {
		readings = append(readings, db.AllInto(&earlier, earlierSQL, t.earlierArgs(unit)))
	}
	if _, kept := s.endings.of(endingsKey{by.Tenant.ID, unit}, now, by.Tenant.TimeZone); !kept {
		readings = append(readings, db.OneInto(&large, isLargeSQL, db.Args{"many": s.manyAccounts}))
	}
	if err := s.together(ctx, by, readings...); err != nil {
		return Statement{}, err
	}
	st := newStatement(picked, t, unit, rows, earlier)
	st.SlowEndings = large
	st.Owed.Spent, st.Owed.Cost = spent, costOf(costs, st.Owed.Spendable)
	st.Owed.Rewards = SpentOn{Count: rewards.Count, Unpriced: rewards.Unpriced}
	if len(costs) > 0 {
		st.Owed.Rewards.Cheapest, st.Owed.Rewards.Dearest = &costs[0], &costs[len(costs)-1]
	}
	if b.ValueCents != nil {
		rate := spent.Rate()
		if b.ExpectedRate != nil {
			rate = *b.ExpectedRate
		}
		st.Owed.OwnValue = newOwnValue(st.Owed.Spendable, *b.ValueCents, rate)
	}
	return st, nil
}

// unitOf checks the unit of a report. nil is points.
func unitOf(check *core.Check, chosen *string) ledger.Unit {
	unit := ledger.Points
	if chosen != nil {
		unit = ledger.Unit(*chosen)
		core.OneOf(check, "unit", unit, ledger.Points, ledger.Stamps)
	}
	return unit
}

// of are the arguments about a timetable and a unit.
func (t timetable) of(unit ledger.Unit) db.Args {
	args := t.args()
	args["unit"] = unit
	return args
}

// only is a timetable with the spans of some parts.
func (t timetable) only(parts ...part) timetable {
	t.spans = slices.DeleteFunc(slices.Clone(t.spans), func(s span) bool { return !slices.Contains(parts, s.part) })
	return t
}

// statementArgs are those of the range, with the time before and after it.
func (t timetable) statementArgs(unit ledger.Unit) db.Args {
	args := t.only(inRange).of(unit)
	maps.Copy(args, t.before(t.from))
	args["steps"], args["next_id"], args["end"] = int64(len(t.cuts)), core.FirstID(t.next), t.next
	return args
}

// earlierArgs are those of the earlier period, with the time before it.
func (t timetable) earlierArgs(unit ledger.Unit) db.Args {
	args := t.only(before, later).of(unit)
	maps.Copy(args, t.before(t.against.From))
	args["steps"] = int64(len(t.beside))
	return args
}

// spentArgs are the arguments about a unit in some days.
func (d days) spentArgs(of Period, unit ledger.Unit) db.Args {
	args := d.before(of.To.AddDate(0, 0, 1))
	args["after"], args["after_id"], args["unit"] = of.From, core.FirstID(d.startOf(of.From)), unit
	return args
}

// statementRow is the sum of a kind in a step or in all, or the balances around a step or all.
type statementRow struct {
	Step      *int64       // from 0; nil: in all
	Kind      *ledger.Kind // nil: the balances
	Amount    int64
	Opening   int64
	Closing   int64
	Spendable int64
	Erased    int64
	Below     int64
}

func newStatement(picked days, t timetable, unit ledger.Unit, rows, earlier []statementRow) Statement {
	st := Statement{Period: Period{picked.from, picked.to}, Against: t.against, Unit: unit, Step: t.step}
	steps := newBuckets[Movement](t)
	for _, row := range rows {
		if row.Step != nil {
			row.addTo(&steps[*row.Step].Current)
			continue
		}
		row.addTo(&st.Movement)
		if row.Kind == nil {
			st.Owed.Spendable, st.Owed.Erased, st.Owed.Below = row.Spendable, row.Erased, row.Below
		}
	}
	for _, row := range earlier {
		if row.Step == nil {
			row.addTo(&st.Before)
		} else if previous := steps[*row.Step].Previous; previous != nil {
			row.addTo(previous)
		}
	}
	st.Steps, st.Longer = steps.split(t)
	return st
}

func (r statementRow) addTo(m *Movement) {
	if r.Kind != nil {
		*m.Total.of(*r.Kind) = r.Amount
		return
	}
	m.Opening, m.Closing = r.Opening, r.Closing
}

// balances follows the balances of all customers through steps, and what of them was below zero.
const balances = daily.Spans + `,` + daily.FlowsBefore + `, moved as materialized (
		select part, bucket, kind, sum(amount) as amount, sum(below) as below
		from (` + daily.FlowsOfSpans + `
		) f
		where unit = @unit::text
		group by part, bucket, kind
	), opened as materialized (
		select coalesce(sum(amount), 0) as amount, coalesce(sum(below), 0) as below
		from flow
		where unit = @unit
	), step as (
		select n.step, coalesce(sum(m.amount), 0) as amount, coalesce(sum(m.below), 0) as below
		from generate_series(0, @steps::bigint - 1) n (step)
		left join moved m on m.bucket = n.step
		group by n.step
	), around as (
		select s.step, opened.amount + sum(s.amount) over so_far - s.amount as opening, opened.amount + sum(s.amount) over so_far as closing,
			opened.below + sum(s.below) over so_far as below
		from step s
		cross join opened
		window so_far as (order by s.step)
		union all
		select null, o.amount, o.amount + coalesce(sum(m.amount), 0), o.below + coalesce(sum(m.below), 0)
		from opened o
		left join moved m on m.part < 3
		group by o.amount, o.below
	)`

const statementSQL = balances + `, erased as materialized (
		select coalesce(sum(e.balance_after) filter (where e.balance_after > 0), 0) as amount
		from loyalty.customer c
		cross join lateral (
			select balance_after
			from loyalty.ledger_entry
			where tenant_id = @tenant_id
				and customer_id = c.id
				and unit = @unit
				and id < @next_id::uuid
			order by seq desc
			limit 1
		) e
		where c.tenant_id = @tenant_id
			and c.phone_key is null
			and c.email_key is null
			and c.merged_into is null
			and c.updated_at < @end::timestamptz
	)
	select a.step, null::text as kind, 0::bigint as amount, ` + openingAndClosing + `
		greatest(least(a.closing - a.below - erased.amount, 9223372036854775807), -9223372036854775807)::bigint as spendable,
		greatest(least(erased.amount, 9223372036854775807), -9223372036854775807)::bigint as erased,
		greatest(least(a.below, 9223372036854775807), -9223372036854775807)::bigint as below
	from around a
	cross join erased` + movedByKind

// Of an earlier period, what could be spent isn't asked. Its later days are in its steps alone.
const earlierSQL = balances + `
	select a.step, null::text as kind, 0::bigint as amount, ` + openingAndClosing + `
		0::bigint as spendable, 0::bigint as erased, 0::bigint as below
	from around a` + movedByKind

const (
	openingAndClosing = `
		greatest(least(a.opening, 9223372036854775807), -9223372036854775807)::bigint as opening,
		greatest(least(a.closing, 9223372036854775807), -9223372036854775807)::bigint as closing,`

	movedByKind = `
	union all
	select bucket, kind, greatest(least(sum(amount), 9223372036854775807), -9223372036854775807)::bigint, 0, 0, 0, 0, 0
	from moved
	where bucket is not null
	group by bucket, kind
	union all
	select null, kind, greatest(least(sum(amount), 9223372036854775807), -9223372036854775807)::bigint, 0, 0, 0, 0, 0
	from moved
	where part < 3
	group by kind`
)

// What was redeemed less what was returned, and likewise what expired.
const spentSQL = `
	with` + daily.FlowsBetween + `
	select greatest(least(coalesce(-sum(amount) filter (where kind in ('redemption', 'redemption_refund')), 0), 9223372036854775807), -9223372036854775807)::bigint as redeemed,
		greatest(least(coalesce(-sum(amount) filter (where kind in ('expiry', 'expiry_return')), 0), 9223372036854775807), -9223372036854775807)::bigint as expired
	from flow
	where unit = @unit`

const rewardsOfUnitSQL = `
	select count(*) as count, count(*) filter (where cost_cents is null) as unpriced
	from loyalty.reward
	where tenant_id = @tenant_id
		and active
		and case when @unit::text = 'points' then points_cost else stamps_cost end > 0`

// The active rewards that cost the least and the most for a point or a stamp.
const costsSQL = `
	with priced as (
		select id, name, cost_cents, case when @unit::text = 'points' then points_cost else stamps_cost end as units
		from loyalty.reward
		where tenant_id = @tenant_id
			and active
			and cost_cents is not null
	)
	(
		select id, name, cost_cents, units
		from priced
		where units > 0
		order by cost_cents::numeric / units, id
		limit 1
	) union all (
		select id, name, cost_cents, units
		from priced
		where units > 0
		order by cost_cents::numeric / units desc, id
		limit 1
	)`

// costOf returns what rewards for so much would cost, or nil.
func costOf(costs []RewardCost, amount int64) *Cost {
	if len(costs) == 0 {
		return nil
	}
	of := func(c RewardCost) int64 {
		return rounded(big.NewInt(max(amount, 0)), big.NewInt(c.CostCents), big.NewInt(c.Units))
	}
	return &Cost{Least: of(costs[0]), Most: of(costs[len(costs)-1])}
}
