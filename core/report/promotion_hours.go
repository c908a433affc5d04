package report

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// PromotionHours compares the times of the week at which a promotion is on with the other hours of the same weekdays, and with
// the four weeks before it began. It counts all sales whose type and location the promotion is for, on whole days.
type PromotionHours struct {
	award.Promotion
	Since           time.Time // the first day on which sales could earn by it
	Inside, Outside HourFigures
	InsideBefore    HourFigures // in the four weeks before
	OutsideBefore   HourFigures
}

// HourFigures are the sales of some hours of some days.
type HourFigures struct {
	Days              int64
	TransactionsCount int64
	SpendTotalCents   int64
}

const comparedWeeks = 4 // before a promotion

// MaxCompared is how many promotions have their hours compared: those that began last.
const MaxCompared = 20

// storedPromotion is a promotion with what isn't about its awards.
type storedPromotion struct {
	award.Promotion
	CreatedAt time.Time
}

// Since when an inactive promotion is off isn't known, so it can't be compared.
const timedPromotionsSQL = `
	select ` + award.PromotionColumns + `, created_at
	from loyalty.promotion
	where tenant_id = @tenant_id
		and active
		and windows <> '[]'
		and starts_on <= @to::date
		and coalesce(ends_on, 'infinity') >= @from::date
	order by starts_on desc, id desc
	limit @limit`

// comparison is a promotion whose hours are compared, on days from the first to the last.
type comparison struct {
	promotion     award.Promotion
	since         time.Time
	during, prior award.Promotion // the same on the days that are compared, and on those before it began
	always        award.Promotion // the same on all days
	from, to      time.Time
	priorFrom     time.Time
	priorTo       time.Time
}

// compare returns the days on which the hours of a promotion are compared, or false if there is no whole one yet.
func (d days) compare(stored storedPromotion, firstSale, now time.Time) (c comparison, ok bool) {
	latest := func(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }
	p := stored.InUTC()
	c = comparison{promotion: p, since: latest(p.StartsOn, d.dayOf(stored.CreatedAt)), to: d.dayOf(now).AddDate(0, 0, -1)}
	if d.to.Before(c.to) {
		c.to = d.to
	}
	if p.EndsOn != nil && p.EndsOn.Before(c.to) {
		c.to = *p.EndsOn
	}
	c.from = latest(c.since, d.from)
	c.priorFrom, c.priorTo = latest(c.since.AddDate(0, 0, -7*comparedWeeks), d.dayOf(firstSale)), c.since.AddDate(0, 0, -1)
	on := func(from time.Time, to *time.Time) award.Promotion {
		p := p
		p.StartsOn, p.EndsOn = from, to
		return p
	}
	c.during, c.prior, c.always = on(c.from, &c.to), on(c.priorFrom, &c.priorTo), on(time.Time{}, nil)
	return c, c.days(c.from, c.to) > 0
}

// days counts the days between two that have a window.
func (c comparison) days(from, to time.Time) (n int64) {
	for day := from; !day.After(to); day = day.AddDate(0, 0, 1) {
		if c.always.Begins(day) {
			n++
		}
	}
	return n
}

// isFor reports whether a promotion is for sales of a type at a location.
func (c comparison) isFor(r hourRow) bool {
	p := c.promotion
	return p.Unit == r.Unit && (p.TypeIDs == nil || slices.Contains(p.TypeIDs, r.TypeID)) &&
		(p.LocationIDs == nil || r.LocationID != nil && slices.Contains(p.LocationIDs, *r.LocationID))
}

// hours says which of a comparison's figures count an instant.
type hours byte

const (
	notCompared hours = iota
	inside
	outside
	insideBefore
	outsideBefore
)

// at returns which figures count an instant. A window over midnight belongs to the day on which it begins, like in award.
func (c *comparison) at(instant time.Time) hours {
	if c.always.IsOn(instant) {
		switch {
		case c.during.IsOn(instant):
			return inside
		case c.prior.IsOn(instant):
			return insideBefore
		}
		return notCompared
	}
	day := core.DateOf(instant, instant.Location())
	switch {
	case !c.always.Begins(day):
		return notCompared
	case !day.Before(c.from) && !day.After(c.to):
		return outside
	case !day.Before(c.priorFrom) && !day.After(c.priorTo):
		return outsideBefore
	}
	return notCompared
}

type hourRow struct {
	Class             int64
	Unit              ledger.Unit
	TypeID            int64
	LocationID        *int64
	TransactionsCount int64
	SpendTotalCents   int64
}

// promotionHours compares the hours of promotions, for a report that the gate has admitted. Time is divided where one of them begins or
// ends, and each piece is counted once, however many promotions it is about.
func (s *Service) promotionHours(ctx context.Context, by core.Actor, picked selected, stored []storedPromotion, firstSale, now time.Time) ([]PromotionHours, error) {
	var compared []comparison
	for _, p := range stored {
		elsewhere := picked.location != nil && p.LocationIDs != nil && !slices.Contains(p.LocationIDs, *picked.location)
		if c, ok := picked.compare(p, firstSale, now); ok && !elsewhere {
			compared = append(compared, c)
		}
	}
	if len(compared) == 0 {
		return nil, nil
	}
	counted, classes := picked.ofHours(compared, now)
	var rows []hourRow
	if err := s.read(ctx, by, counted(&rows)); err != nil {
		return nil, err
	}
	figures := make([]PromotionHours, len(compared))
	for i, c := range compared {
		h := PromotionHours{Promotion: c.promotion, Since: c.since}
		h.Inside.Days = c.days(c.from, c.to)
		h.InsideBefore.Days = c.days(c.priorFrom, c.priorTo)
		h.Outside.Days, h.OutsideBefore.Days = h.Inside.Days, h.InsideBefore.Days
		for _, r := range rows {
			to := h.of(hours(classes.all[r.Class][i]))
			if to == nil || !c.isFor(r) {
				continue
			}
			to.TransactionsCount = plus(to.TransactionsCount, r.TransactionsCount)
			to.SpendTotalCents = plus(to.SpendTotalCents, r.SpendTotalCents)
		}
		figures[i] = h
	}
	return figures, nil
}

// of returns the figures that hours count for, or nil.
func (h *PromotionHours) of(which hours) *HourFigures {
	switch which {
	case inside:
		return &h.Inside
	case outside:
		return &h.Outside
	case insideBefore:
		return &h.InsideBefore
	case outsideBefore:
		return &h.OutsideBefore
	case notCompared:
	}
	return nil
}

// ofHours returns what reads the sales of each class: from hours that were counted, as long as all windows begin and end with one.
func (d selected) ofHours(compared []comparison, now time.Time) (read func(*[]hourRow) db.Reading, of *classes) {
	of = &classes{compared: compared, numbers: map[string]int64{}}
	clocks := clocksOf(compared)
	if !slices.ContainsFunc(clocks, func(c award.Clock) bool { return c%60 != 0 }) {
		args := d.clockHours(of, clocks, now)
		return func(rows *[]hourRow) db.Reading { return db.AllInto(rows, promotionHoursSQL, args) }, of
	}
	slots := d.slots(of, clocks, now)
	sql, args := promotionSlotsSQL, db.Args{
		"classes":   db.Column(slots, func(s slot) int64 { return s.class }),
		"first_ids": db.Column(slots, func(s slot) core.ID { return core.FirstID(s.start) }),
		"next_ids":  db.Column(slots, func(s slot) core.ID { return core.FirstID(s.end) }),
	}
	if d.location != nil {
		sql, args["location"] = promotionSlotsAtSQL, *d.location
	}
	return func(rows *[]hourRow) db.Reading { return db.AllInto(rows, sql, args) }, of
}

// classes are the different sets of figures that time counts for: which ones of each comparison.
type classes struct {
	compared []comparison
	all      []string // a byte for each comparison
	numbers  map[string]int64
}

// uncounted is no class: no comparison counts the time.
const uncounted int64 = -1

// at returns the class of an instant, of which only the date and what a clock shows matter.
func (c *classes) at(local time.Time) int64 {
	class, counts := make([]byte, len(c.compared)), false
	for i := range c.compared {
		class[i] = byte(c.compared[i].at(local))
		counts = counts || class[i] != byte(notCompared)
	}
	if !counts {
		return uncounted
	}
	number, isKnown := c.numbers[string(class)]
	if !isKnown {
		number = int64(len(c.all))
		c.numbers[string(class)], c.all = number, append(c.all, string(class))
	}
	return number
}

// clockHours divides the days of comparisons by the hours that clocks show, and returns the arguments of promotionHoursSQL. Days whose
// hours have the same classes share a bucket.
func (d selected) clockHours(of *classes, clocks []award.Clock, now time.Time) db.Args {
	t := timetable{days: d.days}
	buckets := map[[24]int64]int{}
	var inBucket, shown, class []int64
	type bucketDays struct {
		bucket int
		Period
	}
	var days []bucketDays
	for _, date := range datesOf(of.compared) {
		if !d.startOf(date).Before(now) {
			break
		}
		var hours [24]int64
		for i, c := range clocks {
			next := award.EndOfDay
			if i+1 < len(clocks) {
				next = clocks[i+1]
			}
			same := of.at(date.Add(time.Duration(c) * time.Minute))
			for hour := c / 60; hour < next/60; hour++ {
				hours[hour] = same
			}
		}
		bucket, isKnown := buckets[hours]
		if !isKnown {
			bucket = len(buckets)
			buckets[hours] = bucket
			for hour, c := range hours {
				if c != uncounted {
					inBucket, shown, class = append(inBucket, int64(bucket)), append(shown, int64(hour)), append(class, c)
				}
			}
		}
		if last := len(days) - 1; last >= 0 && days[last].bucket == bucket && days[last].To.Equal(date.AddDate(0, 0, -1)) {
			days[last].To = date
		} else {
			days = append(days, bucketDays{bucket, Period{date, date}})
		}
	}
	for _, alike := range days {
		t.add(inRange, alike.bucket, alike.Period, alike.From)
	}
	args := t.at(d.location)
	args["in_bucket"], args["shown"], args["classes"] = inBucket, shown, class
	return args
}

// slot is a stretch of time of a class.
type slot struct {
	class      int64
	start, end time.Time
}

// slots divides the days of comparisons where a window begins or ends.
func (d days) slots(of *classes, clocks []award.Clock, now time.Time) (slots []slot) {
	for _, date := range datesOf(of.compared) {
		moments := d.moments(date, clocks)
		for i, start := range moments[:len(moments)-1] {
			end := moments[i+1]
			if !start.Before(now) {
				break
			}
			class := of.at(start.In(d.zone))
			if class == uncounted {
				continue
			}
			if last := len(slots) - 1; last >= 0 && slots[last].class == class && slots[last].end.Equal(start) {
				slots[last].end = end
			} else {
				slots = append(slots, slot{class, start, end})
			}
		}
	}
	return slots
}

// clocksOf returns the times of day at which windows begin or end, in order, from midnight.
func clocksOf(compared []comparison) []award.Clock {
	clocks := []award.Clock{0}
	for _, c := range compared {
		for _, w := range c.promotion.Windows {
			clocks = append(clocks, w.From, w.To%award.EndOfDay)
		}
	}
	slices.Sort(clocks)
	return slices.Compact(clocks)
}

// datesOf returns the days with something to compare, in order. A window may end on the day after its own.
func datesOf(compared []comparison) []time.Time {
	dates := map[time.Time]bool{}
	for _, c := range compared {
		for _, p := range []Period{{c.from, c.to}, {c.priorFrom, c.priorTo}} {
			for day := p.From; !day.After(p.To); day = day.AddDate(0, 0, 1) {
				if c.always.Begins(day) {
					dates[day], dates[day.AddDate(0, 0, 1)] = true, true
				}
			}
		}
	}
	ordered := make([]time.Time, 0, len(dates))
	for day := range dates {
		ordered = append(ordered, day)
	}
	slices.SortFunc(ordered, time.Time.Compare)
	return ordered
}

// moments returns when clocks show the times of day, and the end of the day. On a day on which clocks change it is every minute,
// because times are skipped or shown twice.
func (d days) moments(date time.Time, clocks []award.Clock) (moments []time.Time) {
	start, end := d.startOf(date), d.startOf(date.AddDate(0, 0, 1))
	if end.Sub(start) != 24*time.Hour {
		for at := start; at.Before(end); at = at.Add(time.Minute) {
			moments = append(moments, at)
		}
		return append(moments, end)
	}
	for _, c := range clocks {
		moments = append(moments, start.Add(time.Duration(c)*time.Minute))
	}
	return append(moments, end)
}

// A sale's unit is that of its type, which can't change once it has sales.
const promotionHoursSQL = daily.Spans + `
	select sold.class, k.rule_type as unit, k.id as type_id, nullif(sold.location_id, 0) as location_id, sold.transactions::bigint as transactions_count,
		least(sold.spend, 9223372036854775807)::bigint as spend_total_cents
	from (
		select c.class, h.transaction_type_id, h.location_id, sum(h.transactions) as transactions, sum(h.spend) as spend
		from (
			select bucket, hour, transaction_type_id, location_id, sum(transactions) as transactions, sum(spend) as spend
			from (` + daily.HoursOfSpans + `
			) counted
			where @location::bigint in (0, location_id)
			group by bucket, hour, transaction_type_id, location_id
		) h
		join unnest(@in_bucket::bigint[], @shown::bigint[], @classes::bigint[]) as c (bucket, hour, class) on c.bucket = h.bucket and c.hour = h.hour
		group by c.class, h.transaction_type_id, h.location_id
	) sold
	join loyalty.transaction_type k on k.tenant_id = @tenant_id and k.id = sold.transaction_type_id`

const (
	promotionSlotsSQL   = promotionHourSales + promotionHourTotals
	promotionSlotsAtSQL = promotionHourSales + `
				and location_id = @location` + promotionHourTotals

	promotionHourSales = `
	select slot.class, sold.unit, sold.type_id, sold.location_id, sum(sold.transactions)::bigint as transactions_count,
		least(sum(sold.spend), 9223372036854775807)::bigint as spend_total_cents
	from unnest(@classes::bigint[], @first_ids::uuid[], @next_ids::uuid[]) as slot (class, first_id, next_id)
	cross join lateral (
		select rule_type as unit, transaction_type_id as type_id, location_id, count(*) as transactions, sum(spend_amount_cents) as spend
		from loyalty.transaction
		where tenant_id = @tenant_id
				and id >= slot.first_id
				and id < slot.next_id
				and status = 'completed'`

	promotionHourTotals = `
		group by rule_type, transaction_type_id, location_id
	) sold
	group by slot.class, sold.unit, sold.type_id, sold.location_id`
)
