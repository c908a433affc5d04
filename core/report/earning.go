package report

import (
	"cmp"
	"context"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Earning says by which rules the sales of a selection earned: those of types, promotions and levels. It counts completed sales at
// their gross figures, like every breakdown. Of a capped award, the base counts first, then the promotion,
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
				and status = 'completed'`

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
