package report

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/big"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Balances selects a statement of points or stamps.
type Balances struct {
	Range
	Unit         *string // nil: points
	Step         Step    // "": as fits the length of the range
	ValueCents   *int64  // the owner's own value of a hundred points or stamps; nil: none
	ExpectedRate *int64  // the share that is expected to be redeemed, in hundredths of a percent; nil: the measured one
}

// Statement says how the balances of all customers changed in a range of days. Opening and Total add up to Closing, and so
// does each step.
type Statement struct {
	Period
	Unit    ledger.Unit
	Step    Step
	Opening int64 // the sum of all balances before the range, those below zero included
	Total   Flow
	Closing int64
	Steps   []StatementStep
	Owed    Owed
}

// StatementStep is a step of a statement.
type StatementStep struct {
	Bucket[Flow]
	Opening, Closing int64
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
	Spent     Spent // in the year up to the end of the statement
	OwnValue  *OwnValue
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
	if b.ValueCents != nil {
		check.Range("value", *b.ValueCents, 0, maxValueCents)
	}
	if b.ExpectedRate != nil && (*b.ExpectedRate < 0 || *b.ExpectedRate > wholeRate) {
		check.Add("rate", core.Max(100))
	}
	if err := check.Err(); err != nil {
		return Statement{}, err
	}
	t := picked.timetable(cmp.Or(b.Step, picked.step()), Nothing, now)
	lastYear := timetable{days: picked}
	lastYear.add(inRange, 0, Period{picked.to.AddDate(-1, 0, 1), picked.to}, picked.from)
	var rows []statementRow
	var spent Spent
	var costs []unitCost
	err := s.together(ctx, by,
		db.AllInto(&rows, statementSQL, t.statementArgs(unit)),
		db.OneInto(&spent, spentSQL, lastYear.of(unit)),
		db.AllInto(&costs, costsSQL, db.Args{"unit": unit}))
	if err != nil {
		return Statement{}, err
	}
	st := newStatement(picked, t, unit, rows)
	st.Owed.Spent, st.Owed.Cost = spent, costOf(costs, st.Owed.Spendable)
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

// statementArgs are those with the time before and after the steps.
func (t timetable) statementArgs(unit ledger.Unit) db.Args {
	args := t.of(unit)
	maps.Copy(args, t.before(t.from))
	args["steps"], args["next_id"], args["end"] = int64(len(t.cuts)), core.FirstID(t.next), t.next
	return args
}

// statementRow is the sum of a kind in a step or in all, or the balances around a step.
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

func newStatement(picked days, t timetable, unit ledger.Unit, rows []statementRow) Statement {
	st := Statement{Period: Period{picked.from, picked.to}, Unit: unit, Step: t.step}
	for _, b := range newBuckets[Flow](t) {
		st.Steps = append(st.Steps, StatementStep{Bucket: b})
	}
	last := int64(len(st.Steps)) - 1
	for _, row := range rows {
		switch {
		case row.Step == nil:
			*st.Total.of(*row.Kind) = row.Amount
			continue
		case row.Kind != nil:
			*st.Steps[*row.Step].Current.of(*row.Kind) = row.Amount
			continue
		}
		step := &st.Steps[*row.Step]
		step.Opening, step.Closing = row.Opening, row.Closing
		if *row.Step == 0 {
			st.Opening = row.Opening
		}
		if *row.Step == last {
			st.Closing, st.Owed.Spendable, st.Owed.Erased, st.Owed.Below = row.Closing, row.Spendable, row.Erased, row.Below
		}
	}
	return st
}

// What balances were below zero is followed like the balances.
const statementSQL = daily.Spans + `,` + daily.FlowsBefore + `, part as materialized (
		select bucket, kind, sum(amount) as amount, sum(below) as below
		from (` + daily.FlowsOfSpans + `
		) f
		where unit = @unit::text
		group by bucket, kind
	), erased as materialized (
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
	), opened as materialized (
		select coalesce(sum(amount), 0) as amount, coalesce(sum(below), 0) as below
		from flow
		where unit = @unit
	), step as (
		select n.step, coalesce(sum(p.amount), 0) as amount, coalesce(sum(p.below), 0) as below
		from generate_series(0, @steps::bigint - 1) n (step)
		left join part p on p.bucket = n.step
		group by n.step
	), around as (
		select s.step, s.amount, opened.amount + sum(s.amount) over so_far as closing, opened.below + sum(s.below) over so_far as below
		from step s
		cross join opened
		window so_far as (order by s.step)
	)
	select a.step, null::text as kind, 0::bigint as amount,
		greatest(least(a.closing - a.amount, 9223372036854775807), -9223372036854775807)::bigint as opening,
		greatest(least(a.closing, 9223372036854775807), -9223372036854775807)::bigint as closing,
		greatest(least(a.closing - a.below - erased.amount, 9223372036854775807), -9223372036854775807)::bigint as spendable,
		greatest(least(erased.amount, 9223372036854775807), -9223372036854775807)::bigint as erased,
		greatest(least(a.below, 9223372036854775807), -9223372036854775807)::bigint as below
	from around a
	cross join erased
	union all
	select bucket, kind, greatest(least(sum(amount), 9223372036854775807), -9223372036854775807)::bigint, 0, 0, 0, 0, 0
	from part
	group by grouping sets ((bucket, kind), (kind))`

// What was redeemed less what was returned, and likewise what expired.
const spentSQL = daily.Spans + `
	select greatest(least(coalesce(-sum(amount) filter (where kind in ('redemption', 'redemption_refund')), 0), 9223372036854775807), -9223372036854775807)::bigint as redeemed,
		greatest(least(coalesce(-sum(amount) filter (where kind in ('expiry', 'expiry_return')), 0), 9223372036854775807), -9223372036854775807)::bigint as expired
	from (` + daily.FlowsOfSpans + `
	) f
	where unit = @unit`

// unitCost is what a reward costs the business and the customer.
type unitCost struct {
	CostCents int64
	Units     int64
}

// The active rewards that cost the least and the most for a point or a stamp.
const costsSQL = `
	with priced as (
		select cost_cents, case when @unit::text = 'points' then points_cost else stamps_cost end as units
		from loyalty.reward
		where tenant_id = @tenant_id
			and active
			and cost_cents is not null
	)
	(
		select cost_cents, units
		from priced
		where units > 0
		order by cost_cents::numeric / units
		limit 1
	) union all (
		select cost_cents, units
		from priced
		where units > 0
		order by cost_cents::numeric / units desc
		limit 1
	)`

// costOf returns what rewards for so much would cost, or nil.
func costOf(costs []unitCost, amount int64) *Cost {
	if len(costs) == 0 {
		return nil
	}
	of := func(c unitCost) int64 {
		return rounded(big.NewInt(max(amount, 0)), big.NewInt(c.CostCents), big.NewInt(c.Units))
	}
	return &Cost{Least: of(costs[0]), Most: of(costs[len(costs)-1])}
}
