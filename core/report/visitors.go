package report

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
)

// Visitors says who came, who stopped coming, and who comes again. A visit is a day with a completed sale.
type Visitors struct {
	Period
	Against  *Period // the earlier period; nil: not compared
	Current  Attendance
	Previous Attendance
	Buckets  []Bucket[Attendance] // a customer who came in two of them counts in both
	Longer   []Bucket[Attendance] // as in Comparison
	Step     Step

	AsOf    time.Time // the last day of the range, or today if that is earlier
	Lapsed  []LapsedCustomers
	Cohorts []Cohort // the twelve months up to that of AsOf
	Groups  YearGroups
}

// Attendance is the customers of a number of days.
type Attendance struct {
	Customers    int64 // each once
	NewCustomers int64 // among them: on their first visit ever
	Repeat       int64 // among them: who had come before these days, or came on more than one of them
	Visits       int64
}

// Returning is the customers who had come before these days.
func (a Attendance) Returning() int64 { return a.Customers - a.NewCustomers }

// LapsedCustomers is how many customers came once, but not in the last days.
type LapsedCustomers struct {
	Days     daily.Lapsed // as of Visitors.AsOf
	Count    int64
	Previous int64 // as of the end of what is compared
}

// Cohort is the customers whose first visit was in a month.
type Cohort struct {
	Month     time.Time // its first day
	Customers int64
	Again     []int64 // of them, how many came in each month after it, up to that of Visitors.AsOf
}

// YearGroups divides the customers who came in the 365 days up to the last one that was counted.
type YearGroups struct {
	AsOf   *time.Time // the last of these days; nil: they aren't counted yet
	High   int64      // cents: twice what a customer spent on average
	Groups []YearGroup
	Total  YearGroup
}

// From is the first of the days.
func (g YearGroups) From() time.Time { return g.AsOf.AddDate(0, 0, 1-daily.YearDays) }

// YearGroup is a group of customers.
type YearGroup struct {
	Name       daily.Group
	Customers  int64
	SpendCents int64
}

const cohortMonths = 12

// Visitors returns the customers of a selection. Those who lapsed, months of first visits and groups are of all locations.
func (s *Service) Visitors(ctx context.Context, by core.Actor, sel Selection) (Visitors, error) {
	picked, err := s.resolveSelection(by, sel)
	if err != nil {
		return Visitors{}, err
	}
	now := s.db.Now()
	t := picked.timetable(picked.step, picked.against, now)
	v := Visitors{Period: Period{picked.from, picked.to}, Against: t.against, Step: t.step, AsOf: picked.asOf(now)}
	var came []visitorsRow
	var groups []groupRow
	err = s.together(ctx, by, db.AllInto(&came, visitorsSQL, t.visitArgs(v.AsOf, picked.location)), db.AllInto(&groups, yearGroupsSQL, nil))
	if err != nil {
		return Visitors{}, err
	}
	buckets := newBuckets[Attendance](t)
	for _, row := range came {
		switch {
		case part(row.Part) == inBuckets:
			buckets.set(*row.Period, row.Bucket, row.Attendance)
		case part(row.Part) == inRange:
			v.Current = row.Attendance
		case part(row.Part) == before:
			v.Previous = row.Attendance
		}
	}
	v.Buckets, v.Longer = buckets.split(t)
	v.Lapsed, v.Cohorts, v.Groups = lapsedOf(came), cohortsOf(came, v.AsOf), groupsOf(groups)
	return v, nil
}

// asOf is the last of the days, or today if that is earlier.
func (d days) asOf(now time.Time) time.Time {
	if today := d.dayOf(now); today.Before(d.to) {
		return today
	}
	return d.to
}

// Parts of visitorsSQL, beside those of a timetable.
const (
	inBuckets  part = 0 // of a row
	lapsedNow  part = 4 // the days without a visit of customers who lapsed
	lapsedThen part = 5 // likewise, as of the end of what is compared
	cohorts    part = 6
)

// visitArgs are the arguments of visitorsSQL about a timetable, with what is counted as of a day. No customer came later, and there may be centuries
// between that day and a range after it.
func (t timetable) visitArgs(asOf time.Time, location *int64) db.Args {
	t.spans = slices.DeleteFunc(slices.Clone(t.spans), func(s span) bool { return s.days.From.After(asOf) })
	parts, ends := []int64{int64(lapsedNow)}, []time.Time{asOf}
	late := timetable{days: t.days}
	late.lapse(lapsedNow, asOf)
	if t.against != nil {
		end := t.dayOf(t.until.Add(-time.Nanosecond))
		if end.After(asOf) {
			end = asOf
		}
		parts, ends = append(parts, int64(lapsedThen)), append(ends, end)
		late.lapse(lapsedThen, end)
		late.end(lapsedThen, t.until)
	}
	late = late.only(lapsedNow, lapsedThen)
	late.addMonths(asOf)
	t.spans = slices.Concat(t.spans, late.spans)
	args := t.at(location)
	args["end_parts"], args["end_days"], args["lapsed"] = parts, ends, daily.LapsedDays
	first := daily.LapsedDays[0].Since(asOf)
	args["before"], args["before_id"] = first, core.FirstID(t.startOf(first))
	args["first_month"] = firstMonth(asOf)
	return args
}

// lapse adds the days on which customers would have come who lapsed as of a day.
func (t *timetable) lapse(p part, asOf time.Time) {
	since := slices.Max(daily.LapsedDays).Since(asOf)
	t.add(p, 0, Period{since, asOf}, since)
}

// addMonths adds the months of cohorts as of a day. A bucket is a month.
func (t *timetable) addMonths(asOf time.Time) {
	for i := range cohortMonths {
		from := firstMonth(asOf).AddDate(0, i, 0)
		to := from.AddDate(0, 1, -1)
		if to.After(asOf) {
			to = asOf
		}
		t.add(cohorts, i, Period{from, to}, from)
	}
}

// firstMonth is the month of the earliest cohort as of a day.
func firstMonth(asOf time.Time) time.Time { return Monthly.start(asOf).AddDate(0, 1-cohortMonths, 0) }

func lapsedOf(rows []visitorsRow) []LapsedCustomers {
	list := make([]LapsedCustomers, len(daily.LapsedDays))
	for i, days := range daily.LapsedDays {
		list[i].Days = days
		for _, row := range rows {
			switch {
			case row.Bucket == nil || *row.Bucket != int64(days):
			case part(row.Part) == lapsedNow:
				list[i].Count = row.Customers
			case part(row.Part) == lapsedThen:
				list[i].Previous = row.Customers
			}
		}
	}
	return list
}

func cohortsOf(rows []visitorsRow, asOf time.Time) []Cohort {
	first := firstMonth(asOf)
	list := make([]Cohort, cohortMonths)
	for i := range list {
		list[i] = Cohort{Month: first.AddDate(0, i, 0), Again: make([]int64, cohortMonths-1-i)}
	}
	for _, row := range rows {
		if part(row.Part) != cohorts {
			continue
		}
		c := &list[monthsBetween(first, *row.FirstMonth)]
		if after := monthsBetween(c.Month, first.AddDate(0, int(*row.Bucket), 0)); after > 0 {
			c.Again[after-1] = row.Customers
		} else {
			c.Customers = row.Customers
		}
	}
	return list
}

type groupRow struct {
	AsOf time.Time
	High int64
	YearGroup
}

func groupsOf(rows []groupRow) (g YearGroups) {
	for _, name := range daily.Groups {
		found := YearGroup{Name: name}
		for _, row := range rows {
			g.AsOf, g.High = &row.AsOf, row.High
			if row.Name == name {
				found = row.YearGroup
			}
		}
		g.Groups = append(g.Groups, found)
		g.Total.Customers += found.Customers
		g.Total.SpendCents = plus(g.Total.SpendCents, found.SpendCents)
	}
	return g
}

type visitorsRow struct {
	Part       int64
	Period     *int64 // of a bucket
	Bucket     *int64
	FirstMonth *time.Time // of a cohort
	Attendance
}

// Customers count on their first visit of a part, or of a bucket: each day is added up for both at once. Those who lapsed came before a day,
// less those of them who came since then.
const visitorsSQL = daily.Spans + daily.VisitsNotKept + `, figure as materialized (
		select part, period, bucket, sum(customers) as customers, sum(step_customers) as step_customers, sum(new) as new_customers,
			sum(second) as second, sum(step_second) as step_second, sum(visits) as visits
		from (` + daily.AttendanceOfSpans + `
		) came
		where part in (1, 2, 3)
		group by part, period, bucket
	), back as materialized (
		select part, day, sum(customers) as customers
		from (` + daily.ReturnsOfSpans + `
		) returned
		where part in (4, 5)
		group by part, day
	),` + daily.FirstVisitsBefore + `
	select part, null::bigint as period, null::bigint as bucket, null::date as first_month,
		coalesce(sum(customers), 0)::bigint as customers,
		coalesce(sum(new_customers), 0)::bigint as new_customers,
		(coalesce(sum(customers), 0) - coalesce(sum(new_customers), 0) + coalesce(sum(second), 0))::bigint as repeat,
		coalesce(sum(visits), 0)::bigint as visits
	from figure
	where part in (1, 2)
	group by part
	union all
	select 0, period, bucket, null,
		coalesce(sum(step_customers), 0)::bigint,
		coalesce(sum(new_customers), 0)::bigint,
		(coalesce(sum(step_customers), 0) - coalesce(sum(new_customers), 0) + coalesce(sum(step_second), 0))::bigint,
		coalesce(sum(visits), 0)::bigint
	from figure
	group by period, bucket
	union all
	select e.part, null, n.days, null, (
			coalesce((
				select sum(f.customers)
				from first_visit f
				where f.day <= e.day - n.days
			), 0) - coalesce((
				select sum(b.customers)
				from back b
				where b.part = e.part
					and b.day > e.day - n.days
			), 0)
		)::bigint, 0, 0, 0
	from unnest(@end_parts::bigint[], @end_days::date[]) e (part, day)
	cross join unnest(@lapsed::int[]) n (days)
	union all
	select part, null, bucket, first_month, sum(customers)::bigint, 0, 0, 0
	from (` + daily.CohortsOfSpans + `
	) came
	where part = 6
		and first_month >= @first_month::date
	group by part, bucket, first_month`

// While days are still to be counted, the groups wait for them.
const yearGroupsSQL = `
	select k.as_of, least(k.high, 9223372036854775807)::bigint as high, coalesce(g.name, '') as name, coalesce(g.customers, 0) as customers,
		least(coalesce(g.spend, 0), 9223372036854775807)::bigint as spend_cents
	from loyalty.year_counted k
	join loyalty.days_counted d on d.tenant_id = @tenant_id and d.zone <> '' and k.as_of = (d.ends_at at time zone split_part(d.zone, ' ', 1))::date - 1
	left join loyalty.year_group g on g.tenant_id = @tenant_id
	where k.tenant_id = @tenant_id`

// Groups returns the groups of customers of a year.
func (s *Service) Groups(ctx context.Context, by core.Actor) (YearGroups, error) {
	if err := by.Require(core.Manager); err != nil {
		return YearGroups{}, err
	}
	rows, err := db.All[groupRow](ctx, s.db.Tenant(by), yearGroupsSQL, nil)
	return groupsOf(rows), err
}
