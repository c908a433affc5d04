package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
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
	LevelsAt time.Time // when their customers were counted: of a large business, up to an hour ago
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
	var earned []earnedRow
	var known struct {
		HasRules  bool
		FirstSale *core.ID
	}
	var promotions []storedPromotion
	levels := readLevels{holders: asOf[[]levelHolders]{at: now}}
	readings := []db.Reading{
		db.AllInto(&earned, earnedSQL, t.at(picked.location)), db.OneInto(&known, knownRulesSQL, nil),
		db.AllInto(&promotions, timedPromotionsSQL, db.Args{"from": picked.from, "to": picked.to, "limit": MaxCompared}),
	}
	today := picked.dayOf(now)
	if picked.location == nil {
		kept, known := s.holders.of(by.Tenant.ID, now, by.Tenant.TimeZone)
		if known {
			levels.holders = kept
		}
		readings = append(readings, levels.readings(t, today, s.manyAccounts, known)...)
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
	if levels.large {
		s.holders.keep(by.Tenant.ID, levels.holders)
	}
	e.Levels, e.LevelsOn, e.LevelsAt = levels.moves(today), len(levels.rules) > 0, levels.holders.at
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

const earnedSQL = daily.Spans + `
	select s.unit, k.kind, case k.kind when 'promotion' then s.promotion_id when 'level' then s.level_id end as id,
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
			coalesce(sum(transactions) filter (where part = 1), 0)::bigint as transactions,
			least(coalesce(sum(spend) filter (where part = 1), 0), 9223372036854775807)::bigint as spend,
			least(coalesce(sum(issued) filter (where part = 1), 0), 9223372036854775807)::bigint as issued,
			least(coalesce(sum(base) filter (where part = 1), 0), 9223372036854775807)::bigint as base,
			least(coalesce(sum(promotion) filter (where part = 1), 0), 9223372036854775807)::bigint as promotion,
			least(coalesce(sum(level) filter (where part = 1), 0), 9223372036854775807)::bigint as level,
			coalesce(sum(capped_sales) filter (where part = 1), 0)::bigint as capped_sales,
			least(coalesce(sum(capped_off) filter (where part = 1), 0), 9223372036854775807)::bigint as capped_off,
			least(coalesce(sum(issued) filter (where part = 2), 0), 9223372036854775807)::bigint as issued_before,
			least(coalesce(sum(base) filter (where part = 2), 0), 9223372036854775807)::bigint as base_before,
			least(coalesce(sum(promotion) filter (where part = 2), 0), 9223372036854775807)::bigint as promotion_before,
			least(coalesce(sum(level) filter (where part = 2), 0), 9223372036854775807)::bigint as level_before
		from (
			select part, unit, promotion_id, level_id, sum(transactions) as transactions, sum(spend) as spend, sum(issued) as issued, sum(base) as base,
				sum(promotion) as promotion, sum(level) as level, sum(capped_sales) as capped_sales, sum(capped_off) as capped_off
			from (` + daily.RulesOfSpans + `
			) sold
			where part in (1, 2)
				and @location::bigint in (0, location_id)
			group by part, unit, promotion_id, level_id
			having sum(transactions) > 0
		) earned
		group by grouping sets ((unit), (unit, promotion_id), (unit, level_id))
	) s
	cross join lateral (
		select case
			when s.any_promotion = 1 and s.any_level = 1 then 'all'
			when s.promotion_id > 0 then 'promotion'
			when s.level_id > 0 then 'level'
		end as kind
	) k
	where k.kind is not null
	order by s.unit, k.kind, id`

// The first sale is searched in order of ID, as in Overview.
const knownRulesSQL = `
	select (select id from loyalty.promotion where tenant_id = @tenant_id order by id limit 1) is not null
			or exists (select from loyalty.level_programme where tenant_id = @tenant_id) as has_rules,
		(select id from loyalty.transaction where tenant_id = @tenant_id order by id limit 1) as first_sale`
