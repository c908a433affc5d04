package report

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
)

// Against says with which period a range of days is compared.
type Against string

// The choices of a comparison.
const (
	PreviousPeriod Against = "previous"  // the days before, as Period.Earlier chooses them
	LastYear       Against = "last-year" // the same dates a year earlier
	Nothing        Against = "none"
)

// Selection selects the days of a report and what they are compared with.
type Selection struct {
	Range
	Against  *string // nil: PreviousPeriod
	Location *int64  // nil: all locations
	Step     Step    // "": as fits the length of the range
}

// Period is a range of days, each as its midnight in UTC.
type Period struct{ From, To time.Time }

// Earlier returns the period that a period is compared with, as of today. The previous one is as many calendar
// months for whole months, and for a month or more up to today their same days; the same dates a year earlier
// for a year up to today; the same weekdays for weeks from a Monday up to today; otherwise as many days right
// before.
func (p Period) Earlier(against Against, today time.Time) Period {
	return p.before(p.distance(against, today))
}

// distance is how far an earlier period lies back: a year, months or days.
type distance struct {
	years, months, days int
	sameDay             bool // months up to today, even if it is their last day, end on the same day of an earlier one
}

func (p Period) distance(against Against, today time.Time) distance {
	if against == LastYear {
		return distance{years: 1}
	}
	length, months := p.length(), p.months()
	isToDate, isFromFirst := !p.To.Before(today), p.From.Day() == 1
	switch {
	case isToDate && isFromFirst && p.From.Month() == time.January && 1 < months && months <= 12:
		return distance{years: 1}
	case isFromFirst && (isToDate || p.endsMonth()):
		return distance{months: months, sameDay: p.To.Equal(today)}
	case isToDate && p.From.Weekday() == time.Monday && length > 1:
		return distance{days: (length + 6) / 7 * 7}
	}
	return distance{days: length}
}

func (p Period) length() int { return int(p.To.Sub(p.From)/(24*time.Hour)) + 1 }

// months counts the calendar months that have days of the period.
func (p Period) months() int {
	return 12*(p.To.Year()-p.From.Year()) + int(p.To.Month()-p.From.Month()) + 1
}

func (p Period) endsMonth() bool { return p.To.AddDate(0, 0, 1).Day() == 1 }

// before returns the period at a distance from another one. Whole months that are over stay whole.
func (p Period) before(d distance) Period {
	if d.sameDay || d.months > 0 && !p.endsMonth() {
		return Period{d.back(p.From), d.back(p.To)}
	}
	return Period{d.back(p.From), d.back(p.To.AddDate(0, 0, 1)).AddDate(0, 0, -1)}
}

// back returns the day at a distance before another one. 29 February is a year after 1 March; a month before a
// day that the month doesn't have is the month's last day.
func (d distance) back(day time.Time) time.Time {
	earlier := day.AddDate(-d.years, -d.months, -d.days)
	if d.months > 0 && earlier.Day() != day.Day() {
		return earlier.AddDate(0, 0, -earlier.Day())
	}
	return earlier
}

// Comparison is the figures of a range of days beside those of an earlier period.
//
// A range that includes today is not over, so the earlier period isn't counted in full either: Previous
// ends at the same time of day. On the 10th at noon, nine and a half days are compared with nine and a
// half days. The buckets show the earlier days as they were, in full.
//
// With a location, only figures of sales are counted: redemptions, vouchers and new customers aren't
// recorded by location, so those figures are zero.
type Comparison struct {
	Period
	Against  *Period // the earlier period; nil: not compared
	Current  Total
	Previous Total
	Buckets  []Bucket[Figures]
	Longer   []Bucket[Figures] // steps that only a longer earlier period has, such as 31 August beside September
	Step     Step
}

// Total is the figures of a whole period.
type Total struct {
	Figures
	ActiveCustomers int64 // with a completed sale
}

// selected is a selection that was checked.
type selected struct {
	days
	against  Against
	location *int64
	step     Step
}

func (s *Service) resolveSelection(by core.Actor, sel Selection) (selected, error) {
	if err := by.Require(core.Manager); err != nil {
		return selected{}, err
	}
	check := core.NewCheck(sel.Malformed)
	picked := selected{
		days: sel.days(check, s.db.Now(), by.Tenant.TimeZone), against: againstOf(check, sel.Against), location: sel.Location, step: sel.Step,
	}
	if picked.step == "" {
		picked.step = picked.days.step()
	}
	return picked, check.Err()
}

// againstOf checks what is compared. nil is PreviousPeriod.
func againstOf(check *core.Check, chosen *string) Against {
	against := PreviousPeriod
	if chosen != nil {
		against = Against(*chosen)
		core.OneOf(check, "compare", against, PreviousPeriod, LastYear, Nothing)
	}
	return against
}

// Compare returns the figures of a selection, in all and for each step of time.
func (s *Service) Compare(ctx context.Context, by core.Actor, sel Selection) (Comparison, error) {
	picked, err := s.resolveSelection(by, sel)
	if err != nil {
		return Comparison{}, err
	}
	t := picked.timetable(picked.step, picked.against, s.db.Now())
	rows, err := count[comparedRow](ctx, s, by, comparedSQL, t.at(picked.location))
	return t.compare(rows), err
}

// compare arranges rows of comparedSQL.
func (t timetable) compare(rows []comparedRow) Comparison {
	c := Comparison{Period: Period{t.from, t.to}, Against: t.against, Step: t.step}
	buckets := newBuckets[Figures](t)
	for _, row := range rows {
		switch {
		case row.Part != nil && part(*row.Part) == inRange:
			c.Current = row.Total
		case row.Part != nil && part(*row.Part) == before:
			c.Previous = row.Total
		case row.Period != nil:
			buckets.set(*row.Period, row.Bucket, row.Figures)
		}
	}
	c.Buckets, c.Longer = buckets.split(t)
	return c
}

type comparedRow struct {
	Part   *int64
	Period *int64 // of a bucket: the range (1) or the earlier period (2)
	Bucket *int64 // nil: what no bucket contains
	Total
}

// part is what a span counts towards.
type part int64

const (
	inRange part = 1
	before  part = 2 // the earlier period, up to the same time of day
	later   part = 3 // a day of the earlier period that isn't compared, or not all of it: only its buckets contain it
)

// span is days, or a part of one, whose records are counted together.
type span struct {
	part       part
	bucket     *int // nil: none contains it
	days       Period
	hour       *int // of a day up to an hour
	isRest     bool // of a day: only from its start on
	counts     daily.Counts
	start, end time.Time
	since      time.Time // the first day of its part
	step       time.Time // the first day of its bucket
}

// timetable is the spans of a range and of the earlier period.
type timetable struct {
	days
	step    Step
	cuts    []cut    // the buckets of the range
	beside  []Period // of each cut, the days that it is compared with; then days of the earlier period beside no cut
	against *Period
	spans   []span
	next    time.Time // the first instant after the range
	until   time.Time // the first instant after what is compared of the earlier period
}

func (d days) timetable(step Step, against Against, now time.Time) timetable {
	t := timetable{days: d, step: step, next: d.end(), cuts: d.cuts(step, now)}
	for i, c := range t.cuts {
		t.add(inRange, i, Period{c.from, c.to}, d.from)
	}
	if against == Nothing {
		return t
	}
	picked, today := Period{d.from, d.to}, d.dayOf(now)
	far := picked.distance(against, today)
	earlier := picked.before(far)
	t.against = &earlier
	until := d.startOf(earlier.To.AddDate(0, 0, 1))
	if !now.Before(d.startOf(d.from)) && now.Before(t.next) {
		if sameTime := d.sameTime(now, far.back(today)); sameTime.Before(until) {
			until = sameTime
		}
	}
	t.beside = picked.beside(earlier, far, step, t.cuts)
	for i, b := range t.beside {
		t.add(before, i, b, earlier.From)
	}
	t.until = until
	t.end(before, until)
	return t
}

// add adds the days of a bucket, if it has any.
func (t *timetable) add(p part, bucket int, days Period, since time.Time) {
	if days.To.Before(days.From) {
		return
	}
	t.spans = append(t.spans, span{
		part: p, bucket: &bucket, days: days, start: t.startOf(days.From), end: t.startOf(days.To.AddDate(0, 0, 1)), since: since, step: days.From,
	})
}

// end ends a part at an instant. The day that is divided there counts up to it. For a bucket of the earlier period it counts whole, because
// that was counted.
func (t *timetable) end(p part, until time.Time) {
	var ended []span
	for _, s := range t.spans {
		if s.part != p || !s.end.After(until) {
			ended = append(ended, s)
			continue
		}
		rest := s
		for day := s.days.From; rest.start.Before(until); day = day.AddDate(0, 0, 1) {
			next := t.startOf(day.AddDate(0, 0, 1))
			if next.After(until) {
				break
			}
			rest.days.From, rest.start = day.AddDate(0, 0, 1), next
		}
		if rest.start.After(s.start) {
			s.days.To, s.end = rest.days.From.AddDate(0, 0, -1), rest.start
			ended = append(ended, s)
		}
		if rest.start.Before(until) {
			divided := rest
			divided.days.To = rest.days.From
			if p == before {
				divided.bucket = nil
			}
			ended = append(ended, t.upTo(divided, until)...)
		}
		rest.part = later
		ended = append(ended, rest)
	}
	t.spans = ended
}

// upTo divides a day up to an instant: sales are kept by the hour, and those of the rest of an hour are counted; who came is kept. All other
// figures are counted, or those of the whole day are kept and what came after the instant is counted and taken off.
func (t *timetable) upTo(s span, until time.Time) []span {
	hour := until.In(t.zone).Hour()
	came, rest, others := s, s, s
	came.end, came.counts = until, daily.Visits
	rest.isRest, rest.end, rest.counts = true, until, daily.Sales
	others.counts = daily.Others
	pieces := []span{came}
	if hour > 0 {
		rest.start = t.clock(s.days.From, hour)
		sold := s
		sold.hour, sold.end, sold.counts = &hour, rest.start, daily.Sales
		pieces = append(pieces, sold)
	}
	if hour < afternoon {
		others.end = until
		return append(pieces, rest, others)
	}
	after := s
	after.isRest, after.start, after.counts = true, until, daily.LessOthers
	return append(pieces, rest, others, after)
}

// afternoon is the hour from which on a day has fewer sales left than it had, so that these are counted.
const afternoon = 14

// clock returns when a clock showed an hour of a day.
func (t *timetable) clock(day time.Time, hour int) time.Time {
	at, _ := core.LocalTime(day.Add(time.Duration(hour)*time.Hour), t.zone)
	return at
}

// beside returns the days of the earlier period that each cut is compared with, none where the earlier period is
// too short, and after them each day that is left where it is longer. Months stand beside months; days and weeks
// count from the first day, so that the 3rd is beside the 3rd.
func (p Period) beside(earlier Period, far distance, step Step, cuts []cut) []Period {
	back := func(day time.Time) time.Time { return day.Add(earlier.From.Sub(p.From)) }
	if far.years > 0 || step == Monthly && far.months > 0 {
		back = far.back
	}
	next := earlier.To.AddDate(0, 0, 1)
	day := func(of time.Time) time.Time { return slices.MinFunc([]time.Time{back(of), next}, time.Time.Compare) }
	end := next
	var list []Period
	for _, c := range cuts {
		end = day(c.to.AddDate(0, 0, 1))
		list = append(list, Period{day(c.from), end.AddDate(0, 0, -1)})
	}
	for ; end.Before(next); end = end.AddDate(0, 0, 1) {
		list = append(list, Period{end, end})
	}
	return list
}

// dayOf returns the local day of an instant, as a midnight in UTC.
func (d days) dayOf(at time.Time) time.Time {
	year, month, day := at.In(d.zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// sameTime returns when a clock showed the present time on another day.
func (d days) sameTime(now, date time.Time) time.Time {
	year, month, day := date.Date()
	local := now.In(d.zone)
	hour, minute, second := local.Clock()
	at, _ := core.LocalTime(time.Date(year, month, day, hour, minute, second, local.Nanosecond(), time.UTC), d.zone)
	return at
}

// args are the arguments that every statement about a timetable has (daily.Spans).
func (t timetable) args() db.Args {
	fromDay, midnights := t.midnights()
	isPart := func(s span) bool { return s.end.Before(t.startOf(s.days.To.AddDate(0, 0, 1))) }
	return db.Args{
		"zone": t.zone.String(), "from_day": fromDay, "midnights": midnights,
		"parts":      db.Column(t.spans, func(s span) int64 { return int64(s.part) }),
		"periods":    db.Column(t.spans, func(s span) int64 { return int64(min(s.part, before)) }),
		"buckets":    db.Column(t.spans, func(s span) *int { return s.bucket }),
		"first_days": db.Column(t.spans, func(s span) time.Time { return s.days.From }),
		"last_days":  db.Column(t.spans, func(s span) time.Time { return s.days.To }),
		"hours":      db.Column(t.spans, func(s span) *int { return s.hour }),
		"starts":     db.Column(t.spans, func(s span) *time.Time { return orNil(s.isRest, s.start) }),
		"ends":       db.Column(t.spans, func(s span) *time.Time { return orNil(isPart(s), s.end) }),
		"since":      db.Column(t.spans, func(s span) time.Time { return s.since }),
		"since_ids":  db.Column(t.spans, func(s span) core.ID { return core.FirstID(t.startOf(s.since)) }),
		"step_days":  db.Column(t.spans, func(s span) time.Time { return s.step }),
		"counts":     db.Column(t.spans, func(s span) daily.Counts { return s.counts }),
	}
}

// orNil returns an instant if it is needed.
func orNil(needed bool, at time.Time) *time.Time {
	if needed {
		return &at
	}
	return nil
}

// midnights returns when each day of the spans begins, and the day after them. from is the first of these days.
func (t timetable) midnights() (from time.Time, midnights []time.Time) {
	if len(t.spans) == 0 {
		return from, nil
	}
	from, to := t.spans[0].days.From, t.spans[0].days.To
	for _, s := range t.spans {
		if s.days.From.Before(from) {
			from = s.days.From
		}
		if s.days.To.After(to) {
			to = s.days.To
		}
	}
	for day := from; !day.After(to.AddDate(0, 0, 1)); day = day.AddDate(0, 0, 1) {
		midnights = append(midnights, t.startOf(day))
	}
	return from, midnights
}

// at are the arguments about a timetable and a location, or all of them.
func (t timetable) at(location *int64) db.Args {
	args := t.args()
	args["location"] = core.OrZero(location)
	return args
}

// comparedSQL counts each part in all, and each bucket of the range and of the earlier period. With a location, only sales count. Sums
// of bigints are numeric and saturate, so that no record can break a report.
const comparedSQL = daily.Spans + `, came as materialized (
		select part, sum(customers) as customers
		from (` + daily.VisitorsOfSpans + `
		) visitor
		where part in (1, 2)
		group by part
	), figure as (
		select part, period, bucket, sum(transactions) as transactions, sum(voided) as voided, sum(spend) as spend, sum(points) as points, sum(stamps) as stamps,
			sum(reversed) as reversed, sum(refunds) as refunds, sum(refunded) as refunded, sum(points_refunded) as points_refunded,
			0 as redeemed, 0 as redemptions, 0 as vouchers, 0 as joined, 0 as expired, 0 as returned
		from (` + daily.SalesOfSpans + `
		) sold
		where @location::bigint in (0, location_id)
		group by part, period, bucket
		union all
		select part, period, bucket, 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(points), sum(redemptions), 0, 0, 0, 0
		from (` + daily.RewardsOfSpans + `
		) redeemed
		where @location = 0
		group by part, period, bucket
		union all
		select part, period, bucket, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(redeemed), 0, 0, 0
		from (` + daily.VouchersOfSpans + `
		) used
		where @location = 0
		group by part, period, bucket
		union all
		select part, period, bucket, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(customers), 0, 0
		from (` + daily.JoinedOfSpans + `
		) joined
		where @location = 0
		group by part, period, bucket
		union all
		select part, period, bucket, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			coalesce(sum(-amount) filter (where kind = 'expiry'), 0), coalesce(sum(amount) filter (where kind = 'expiry_return'), 0)
		from (` + daily.FlowsOfSpans + `
		) ended
		where @location = 0
			and unit = 'points'
			and kind in ('expiry', 'expiry_return')
		group by part, period, bucket
	)
	select part, period, bucket,
		sum(transactions)::bigint as transactions_count,
		sum(voided)::bigint as voided_count,
		least(sum(spend), 9223372036854775807)::bigint as spend_total_cents,
		least(sum(points), 9223372036854775807)::bigint as points_awarded,
		least(sum(stamps), 9223372036854775807)::bigint as stamps_awarded,
		least(sum(reversed), 9223372036854775807)::bigint as points_reversed,
		least(sum(redeemed), 9223372036854775807)::bigint as points_redeemed,
		sum(redemptions)::bigint as redemptions_count,
		sum(vouchers)::bigint as vouchers_redeemed,
		sum(joined)::bigint as new_customers,
		least(sum(expired), 9223372036854775807)::bigint as points_expired,
		least(sum(returned), 9223372036854775807)::bigint as points_expiry_returned,
		least(sum(points_refunded), 9223372036854775807)::bigint as points_refunded,
		sum(refunds)::bigint as refunds_count,
		least(sum(refunded), 9223372036854775807)::bigint as refunded_total_cents,
		least(sum(spend) - sum(refunded), 9223372036854775807)::bigint as net_spend_total_cents,
		coalesce((select customers from came where came.part = figure.part), 0)::bigint as active_customers
	from figure
	group by grouping sets ((part), (period, bucket))`
