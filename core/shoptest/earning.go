package shoptest

import (
	"cmp"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
)

// Promote stores a promotion of today and all days after, unless it says otherwise, and returns its ID. Without a unit it is of points.
func (s Shop) Promote(p award.Promotion) int64 {
	s.T.Helper()
	if p.StartsOn.IsZero() {
		p.StartsOn = core.DateOf(s.DB.Now(), s.By.Tenant.TimeZone)
	}
	if p.Unit == "" {
		p.Unit = ledger.Points
	}
	if p.Audience == "" {
		p.Audience = award.Everyone
	}
	id := Query[int64](s, `
		insert into loyalty.promotion (tenant_id, name, unit, percent, extra, type_ids, location_ids, category_ids, min_spend_cents, starts_on, ends_on,
			windows, audience, level_id, birthday_days, limit_times, limit_per, created_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12::jsonb, '[]'), $13, $14, $15, $16, $17, $18)
		returning id`,
		s.By.Tenant.ID, cmp.Or(p.Name, "Promotion"), p.Unit, p.Percent, p.Extra, p.TypeIDs, p.LocationIDs, p.CategoryIDs, p.MinSpendCents, p.StartsOn, p.EndsOn,
		append([]award.Window{}, p.Windows...), p.Audience, p.LevelID, p.BirthdayDays, p.LimitTimes, p.LimitPer, s.DB.Now())
	s.RulesChanged()
	return id
}

// EndPromotion deactivates a promotion.
func (s Shop) EndPromotion(id int64) {
	s.T.Helper()
	s.Exec("update loyalty.promotion set active = false where tenant_id = $1 and id = $2", s.By.Tenant.ID, id)
	s.RulesChanged()
}

// Cap sets the caps of a day; nil: none.
func (s Shop) Cap(points, stamps *int64) {
	s.T.Helper()
	s.Exec("update loyalty.tenant set points_day_cap = $2, stamps_day_cap = $3 where id = $1", s.By.Tenant.ID, points, stamps)
	s.RulesChanged()
}

// Category stores a category with its codes, and returns its ID.
func (s Shop) Category(name string, codes ...string) int64 {
	s.T.Helper()
	id := Query[int64](s, "insert into loyalty.category (tenant_id, name, created_at) values ($1, $2, now()) returning id", s.By.Tenant.ID, name)
	for _, code := range codes {
		s.Exec("insert into loyalty.category_code (tenant_id, code, category_id) values ($1, $2, $3)", s.By.Tenant.ID, award.CodeKey(code), id)
	}
	s.RulesChanged()
	return id
}

// Levels stores rules of levels and the levels by rank, and returns their IDs.
func (s Shop) Levels(rules award.LevelRules, levels ...award.Level) []int64 {
	s.T.Helper()
	rules.Month, rules.Day = max(rules.Month, 1), max(rules.Day, 1)
	if rules.StartsOn.IsZero() {
		rules.StartsOn = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	s.Exec(`
		insert into loyalty.level_programme (tenant_id, basis, period, year_month, year_day, drops, starts_on, counting, begun_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, false, now(), now())`,
		s.By.Tenant.ID, rules.Basis, rules.Period, rules.Month, rules.Day, rules.Drops, rules.StartsOn)
	ids := make([]int64, len(levels))
	for i, l := range levels {
		ids[i] = Query[int64](s, "insert into loyalty.level (tenant_id, name, rank, threshold, percent) values ($1, $2, $3, $4, $5) returning id",
			s.By.Tenant.ID, l.Name, i, l.Threshold, max(100, l.Percent))
	}
	s.RulesChanged()
	return ids
}

// RulesChanged raises the version of what sales earn.
func (s Shop) RulesChanged() {
	s.T.Helper()
	s.Exec("update loyalty.tenant set earning_version = earning_version + 1 where id = $1", s.By.Tenant.ID)
}
