package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Earning says by which rules the sales of a selection earned: those of types, promotions and levels. It counts completed sales
// without those that were refunded in full, at their gross figures. Of a capped award, the base counts first, then the promotion,
// then the level, so that the rules add up to what was issued.
//
// Levels aren't recorded by location, so a selection with a location is without them.
type Earning struct {
	Period
	Against  *Period // the earlier period; nil: not compared
	HasRules bool    // the business has promotions or levels, or had some
	Units    []UnitEarning
	Hours    []PromotionHours
	Levels   []LevelMoves // by rank; none if levels are off, unless customers moved
	LevelsOn bool
}

// UnitEarning is what sales earned of a unit. Its rules add up to Total.
type UnitEarning struct {
	Unit  ledger.Unit
	Total RuleEarning
	Rules []RuleEarning // what added most first

	CappedSales int64 // that a cap reduced
	CappedOff   int64 // of the sum of their parts
}

// RuleKind is what a rule belongs to.
type RuleKind string

// The kinds.
const (
	AllRules    RuleKind = "all"
	OfTypes     RuleKind = "type"
	OfPromotion RuleKind = "promotion"
	OfLevel     RuleKind = "level"
)

// RuleEarning is what a rule gave, and the sales to which it did.
type RuleEarning struct {
	Kind              RuleKind
	ID                *int64  // of the promotion or the level; nil: the rules of all types
	Name              *string // likewise
	TransactionsCount int64
	SpendTotalCents   int64
	Awarded           int64
	PreviousAwarded   int64
}

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

// LevelMoves is the customers who have a level now, and how customers came to it in the range. Each change counts, so a
// customer may count twice.
type LevelMoves struct {
	award.Level
	Customers int64
	Moves     map[award.Reason]int64 // changes to this level
}

const comparedWeeks = 4 // before a promotion

// MaxCompared is how many promotions have their hours compared: those that began last.
const MaxCompared = 20

// Earning returns by which rules the sales of a selection earned.
func (s *Service) Earning(ctx context.Context, by core.Actor, sel Selection) (Earning, error) {
	picked, err := s.resolveSelection(by, sel)
	if err != nil {
		return Earning{}, err
	}
	now := s.db.Now()
	t := picked.timetable(picked.step, picked.against, now)
	sql, args := earnedSQL, db.Args{
		"first_ids": []core.ID{core.FirstID(t.first), core.FirstID(t.before)},
		"next_ids":  []core.ID{core.FirstID(t.next), core.FirstID(t.until)},
	}
	if picked.location != nil {
		sql, args["location"] = earnedAtSQL, *picked.location
	}
	var earned []earnedRow
	var known struct {
		HasRules  bool
		FirstSale *core.ID
	}
	var promotions []storedPromotion
	var levels readLevels
	readings := []db.Reading{
		db.AllInto(&earned, sql, args), db.OneInto(&known, knownRulesSQL, nil),
		db.AllInto(&promotions, timedPromotionsSQL, db.Args{"from": picked.from, "to": picked.to, "limit": MaxCompared}),
	}
	today := picked.dayOf(now)
	if picked.location == nil {
		readings = append(readings, levels.readings(t, today)...)
	}
	leave, err := s.gate.Enter(ctx, by.Tenant.ID)
	if err != nil {
		return Earning{}, err
	}
	defer leave()
	if err := s.read(ctx, by, readings...); err != nil {
		return Earning{}, err
	}
	e := Earning{Period: Period{picked.from, picked.to}, Against: t.against, HasRules: known.HasRules, Units: byUnit(earned)}
	e.Levels, e.LevelsOn = levels.moves(today), len(levels.rules) > 0
	if known.FirstSale != nil {
		e.Hours, err = s.promotionHours(ctx, by, picked, promotions, known.FirstSale.Time(), now)
	}
	return e, err
}

type earnedRow struct {
	Unit              ledger.Unit
	Kind              RuleKind
	ID                *int64
	Name              *string
	TransactionsCount int64
	SpendTotalCents   int64
	Issued            int64 // by all rules
	Base              int64
	Added             int64 // by the promotion or the level of the row
	CappedSales       int64
	CappedOff         int64
	PreviousIssued    int64
	PreviousBase      int64
	PreviousAdded     int64
}

// byUnit arranges rows by unit. The row of all rules comes first of each.
func byUnit(rows []earnedRow) (units []UnitEarning) {
	for _, r := range rows {
		rule := RuleEarning{Kind: r.Kind, ID: r.ID, Name: r.Name, TransactionsCount: r.TransactionsCount, SpendTotalCents: r.SpendTotalCents}
		if r.Kind == AllRules {
			total, base := rule, rule
			total.Awarded, total.PreviousAwarded = r.Issued, r.PreviousIssued
			base.Kind, base.Awarded, base.PreviousAwarded = OfTypes, r.Base, r.PreviousBase
			units = append(units, UnitEarning{Unit: r.Unit, Total: total, Rules: []RuleEarning{base}, CappedSales: r.CappedSales, CappedOff: r.CappedOff})
			continue
		}
		rule.Awarded, rule.PreviousAwarded = r.Added, r.PreviousAdded
		last := &units[len(units)-1]
		last.Rules = append(last.Rules, rule)
	}
	for _, u := range units {
		slices.SortStableFunc(u.Rules, func(a, b RuleEarning) int { return cmp.Compare(b.Awarded, a.Awarded) })
	}
	return units
}

// notRefunded leaves out sales of which nothing is left. A sale of 0 has nothing to refund.
const notRefunded = `
				and refunded_cents < greatest(spend_amount_cents, 1)`

const (
	earnedSQL   = earnedSales + earnedTotals
	earnedAtSQL = earnedSales + `
				and location_id = @location` + earnedTotals

	// What an earlier build recorded, and most sales, have no parts: all of the award is its base.
	earnedSales = `
	with sold as (
		select span.current, sale.*` + spans + `
		cross join lateral (
			select rule_type as unit, promotion_id, level_id, count(*) as transactions, sum(spend_amount_cents) as spend,
				sum(award) as issued, sum(base) as base, sum(promotion) as promotion, sum(award - base - promotion) as level,
				count(*) filter (where capped) as capped_sales,
				sum(coalesce(base_award, award) + coalesce(promotion_award, 0) + coalesce(level_award, 0) - award) as capped_off
			from loyalty.transaction
			cross join lateral (select coalesce(points_awarded, stamps_awarded) as award) a
			cross join lateral (select least(coalesce(base_award, award), award) as base) b
			cross join lateral (select least(coalesce(promotion_award, 0), award - base) as promotion) p
			where tenant_id = @tenant_id
				and id >= span.first_id
				and id < span.next_id
				and status = 'completed'` + notRefunded

	earnedTotals = `
			group by rule_type, promotion_id, level_id
		) sale
	)
	select s.unit, k.kind, coalesce(s.promotion_id, s.level_id) as id,
		case k.kind
			when 'promotion' then (select name from loyalty.promotion where tenant_id = @tenant_id and id = s.promotion_id)
			when 'level' then (select name from loyalty.level where tenant_id = @tenant_id and id = s.level_id)
		end as name,
		s.transactions as transactions_count, s.spend as spend_total_cents, s.issued, s.base,
		case k.kind when 'promotion' then s.promotion when 'level' then s.level else 0 end as added, s.capped_sales, s.capped_off,
		s.issued_before as previous_issued, s.base_before as previous_base,
		case k.kind when 'promotion' then s.promotion_before when 'level' then s.level_before else 0 end as previous_added
	from (
		select unit, promotion_id, level_id, grouping(promotion_id) as any_promotion, grouping(level_id) as any_level,
			coalesce(sum(transactions) filter (where current), 0)::bigint as transactions,
			least(coalesce(sum(spend) filter (where current), 0), 9223372036854775807)::bigint as spend,
			least(coalesce(sum(issued) filter (where current), 0), 9223372036854775807)::bigint as issued,
			least(coalesce(sum(base) filter (where current), 0), 9223372036854775807)::bigint as base,
			least(coalesce(sum(promotion) filter (where current), 0), 9223372036854775807)::bigint as promotion,
			least(coalesce(sum(level) filter (where current), 0), 9223372036854775807)::bigint as level,
			coalesce(sum(capped_sales) filter (where current), 0)::bigint as capped_sales,
			least(coalesce(sum(capped_off) filter (where current), 0), 9223372036854775807)::bigint as capped_off,
			least(coalesce(sum(issued) filter (where not current), 0), 9223372036854775807)::bigint as issued_before,
			least(coalesce(sum(base) filter (where not current), 0), 9223372036854775807)::bigint as base_before,
			least(coalesce(sum(promotion) filter (where not current), 0), 9223372036854775807)::bigint as promotion_before,
			least(coalesce(sum(level) filter (where not current), 0), 9223372036854775807)::bigint as level_before
		from sold
		group by grouping sets ((unit), (unit, promotion_id), (unit, level_id))
	) s
	cross join lateral (
		select case
			when s.any_promotion = 1 and s.any_level = 1 then 'all'
			when s.promotion_id is not null then 'promotion'
			when s.level_id is not null then 'level'
		end as kind
	) k
	where k.kind is not null
	order by s.unit, k.kind, id`
)

// The first sale is searched in order of ID, as in Overview.
const knownRulesSQL = `
	select (select id from loyalty.promotion where tenant_id = @tenant_id order by id limit 1) is not null
			or exists (select from loyalty.level_programme where tenant_id = @tenant_id) as has_rules,
		(select id from loyalty.transaction where tenant_id = @tenant_id order by id limit 1) as first_sale`

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

// promotionHours compares the hours of promotions, for a report that the gate has admitted. Time is divided where one of them begins or ends, and each piece is counted
// once, however many promotions it is about.
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
	slots, classes := picked.slots(compared, now)
	sql, args := promotionHoursSQL, db.Args{
		"classes":   db.Column(slots, func(s slot) int64 { return s.class }),
		"first_ids": db.Column(slots, func(s slot) core.ID { return core.FirstID(s.start) }),
		"next_ids":  db.Column(slots, func(s slot) core.ID { return core.FirstID(s.end) }),
	}
	if picked.location != nil {
		sql, args["location"] = promotionHoursAtSQL, *picked.location
	}
	var rows []hourRow
	if err := s.read(ctx, by, db.AllInto(&rows, sql, args)); err != nil {
		return nil, err
	}
	figures := make([]PromotionHours, len(compared))
	for i, c := range compared {
		h := PromotionHours{Promotion: c.promotion, Since: c.since}
		h.Inside.Days = c.days(c.from, c.to)
		h.InsideBefore.Days = c.days(c.priorFrom, c.priorTo)
		h.Outside.Days, h.OutsideBefore.Days = h.Inside.Days, h.InsideBefore.Days
		for _, r := range rows {
			to := h.of(hours(classes[r.Class][i]))
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

// slot is a stretch of time that counts for the same figures of each promotion.
type slot struct {
	class      int64
	start, end time.Time
}

// slots divides the days of comparisons. A class has which figures of each comparison its slots count for.
func (d days) slots(compared []comparison, now time.Time) (slots []slot, classes []string) {
	known := map[string]int64{}
	clocks := clocksOf(compared)
	for _, date := range datesOf(compared) {
		moments := d.moments(date, clocks)
		for i, start := range moments[:len(moments)-1] {
			end := moments[i+1]
			if !start.Before(now) {
				break
			}
			local, class, counts := start.In(d.zone), make([]byte, len(compared)), false
			for j := range compared {
				class[j] = byte(compared[j].at(local))
				counts = counts || class[j] != byte(notCompared)
			}
			if !counts {
				continue
			}
			number, isKnown := known[string(class)]
			if !isKnown {
				number = int64(len(classes))
				known[string(class)], classes = number, append(classes, string(class))
			}
			if last := len(slots) - 1; last >= 0 && slots[last].class == number && slots[last].end.Equal(start) {
				slots[last].end = end
			} else {
				slots = append(slots, slot{number, start, end})
			}
		}
	}
	return slots, classes
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

const (
	promotionHoursSQL   = promotionHourSales + promotionHourTotals
	promotionHoursAtSQL = promotionHourSales + `
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
				and status = 'completed'` + notRefunded

	promotionHourTotals = `
		group by rule_type, transaction_type_id, location_id
	) sold
	group by slot.class, sold.unit, sold.type_id, sold.location_id`
)

// readLevels is what is read about levels.
type readLevels struct {
	levels  []award.Level
	rules   []award.LevelRules // none: they are off
	holders []levelHolders
	changes []levelChanges
}

// levelHolders are customers for whom awards know the same about levels.
type levelHolders struct {
	LevelID   *int64
	LevelBy   *ledger.LevelBy
	LevelYear *int
	Ended     bool  // the last day of the level is over
	Sum       int64 // rounded down to the threshold that it reaches
	SumBefore int64 // likewise
	Customers int64
}

type levelChanges struct {
	ToLevel *int64
	Reason  award.Reason
	Changes int64
}

const (
	reportedLevelsSQL = `
	select ` + award.LevelColumns + `
	from loyalty.level
	where tenant_id = @tenant_id
	order by rank, id`

	levelsInForceSQL = `
	select basis, period, year_month as month, year_day as day, drops, starts_on, frozen
	from loyalty.level_programme
	where tenant_id = @tenant_id
		and active`

	// Customers are counted by what a level follows from. Sums are compared with thresholds alone, so only those that they reach
	// matter.
	levelHoldersSQL = `
	select a.level_id, a.level_by, a.level_year, coalesce(a.level_until < @today::date, false) as ended,
		coalesce(r.thresholds[width_bucket(a.level_sum, r.thresholds)], 0) as sum,
		coalesce(r.thresholds[width_bucket(a.level_sum_before, r.thresholds)], 0) as sum_before,
		count(*) as customers
	from loyalty.customer c
	left join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = c.id
	cross join (
		select array_agg(threshold order by threshold) as thresholds
		from loyalty.level
		where tenant_id = @tenant_id
			and retired_at is null
	) r
	where c.tenant_id = @tenant_id
		and c.merged_into is null
		and coalesce(c.phone_key, c.email_key) is not null
		and exists (select from loyalty.level_programme where tenant_id = @tenant_id and active)
	group by a.level_id, a.level_by, a.level_year, ended, sum, sum_before`

	levelChangesSQL = `
	select to_level, reason, count(*) as changes
	from loyalty.level_change
	where tenant_id = @tenant_id
		and id >= @first_id
		and id < @next_id
	group by to_level, reason`
)

func (l *readLevels) readings(t timetable, today time.Time) []db.Reading {
	return []db.Reading{
		db.AllInto(&l.levels, reportedLevelsSQL, nil), db.AllInto(&l.rules, levelsInForceSQL, nil),
		db.AllInto(&l.holders, levelHoldersSQL, db.Args{"today": today}),
		db.AllInto(&l.changes, levelChangesSQL, db.Args{"first_id": core.FirstID(t.first), "next_id": core.FirstID(t.next)}),
	}
}

// moves returns the levels that can be reached, and others with customers or moves. A level may have ended before the job of the
// night settled it, so award.Levels says who has it.
func (l *readLevels) moves(today time.Time) (moves []LevelMoves) {
	if len(l.levels) == 0 {
		return nil
	}
	customers := map[int64]int64{}
	if len(l.rules) > 0 {
		inForce := award.Levels{LevelRules: l.rules[0], All: l.levels}
		for _, h := range l.holders {
			customers[inForce.Progress(h.standing(today), today).Level.ID] += h.Customers
		}
	}
	came := map[int64]map[award.Reason]int64{}
	for _, c := range l.changes {
		to := l.levels[0].ID
		if c.ToLevel != nil {
			to = *c.ToLevel
		}
		if came[to] == nil {
			came[to] = map[award.Reason]int64{}
		}
		came[to][c.Reason] += c.Changes
	}
	if len(l.rules) == 0 && len(came) == 0 {
		return nil
	}
	for _, level := range l.levels {
		if m := (LevelMoves{level, customers[level.ID], came[level.ID]}); !level.Retired || m.Customers > 0 || len(m.Moves) > 0 {
			moves = append(moves, m)
		}
	}
	return moves
}

// standing returns a standing for which the levels are the same as for these customers.
func (h levelHolders) standing(today time.Time) ledger.Standing {
	s := ledger.Standing{LevelID: h.LevelID, LevelBy: h.LevelBy, LevelYear: h.LevelYear, LevelSum: h.Sum, LevelSumBefore: h.SumBefore}
	if h.Ended {
		s.LevelUntil = new(today.AddDate(0, 0, -1))
	}
	return s
}
