package report

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
)

// Overview is the figures of the dashboard for a range of days, compared like those of Compare with the
// previous period.
type Overview struct {
	Period
	Against  Period
	Current  Activity
	Previous Activity

	Buckets     []Bucket[PointsFlow]
	Longer      []Bucket[PointsFlow] // as in Comparison
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
	var rows []comparedRow
	o := Overview{Period: Period{picked.from, picked.to}, Against: *t.against, Step: t.step}
	var owed owedRow
	err := s.together(ctx, by,
		db.AllInto(&rows, comparedSQL, t.at(nil)),
		db.OneInto(&owed, owedSQL, t.before(daily.EndOfTime)),
		db.OneInto(&o.Has, firstStepsSQL, nil))
	if err != nil {
		return Overview{}, err
	}
	c := t.compare(rows)
	o.Current, o.Previous, o.Outstanding = c.Current.activity(), c.Previous.activity(), owed.outstanding()
	o.Buckets, o.Longer = flows(c.Buckets), flows(c.Longer)
	return o, nil
}

func flows(buckets []Bucket[Figures]) (list []Bucket[PointsFlow]) {
	for _, b := range buckets {
		flow := Bucket[PointsFlow]{Period: b.Period, Current: b.Current.flow(), Beside: b.Beside, SoFar: b.SoFar, Partial: b.Partial}
		if b.Previous != nil {
			flow.Previous = new(b.Previous.flow())
		}
		list = append(list, flow)
	}
	return list
}

func (t Total) activity() Activity {
	return Activity{
		ActiveCustomers: t.ActiveCustomers, PointsAwarded: t.PointsAwarded, PointsRedeemed: t.PointsRedeemed,
		RedemptionsCount: t.RedemptionsCount, SpendTotalCents: t.SpendTotalCents,
	}
}

func (f Figures) flow() PointsFlow { return PointsFlow{f.PointsAwarded, f.PointsRedeemed} }

// The first sale is searched in order of ID: for a plain "exists", PostgreSQL may read the sales of all
// other tenants.
const firstStepsSQL = `
	select (select id from loyalty.transaction_type where tenant_id = @tenant_id order by id limit 1) is not null as transaction_type,
		(select id from loyalty.customer where tenant_id = @tenant_id order by id limit 1) is not null as customer,
		(select id from loyalty.transaction where tenant_id = @tenant_id order by id limit 1) is not null as sale,
		(select id from loyalty.reward where tenant_id = @tenant_id order by id limit 1) is not null as reward`
