package level

import (
	"context"
	"slices"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Preview is what a change would do.
type Preview struct {
	Before, After Setup
	Customers     map[int64]int64 // who would have a level, by its ID; of the first one, and of a new one, by 0
	Rise          int64           // customers who would rise at once
	Asking        Asking          // what asks for a level that would be retired, or for any level if they would be switched off
	Short         int64           // customers with a level that they have earned, but would have to earn again by its last day
	Uncounted     bool            // there are too many sales to count them while a person waits: Customers, Rise and Short aren't known
}

// Asking counts the active rewards and coupons that ask for a level.
type Asking struct{ Rewards, Coupons int64 }

const askingSQL = `
	select (
			select count(*)
			from loyalty.reward
			where tenant_id = @tenant_id
				and active
				and (min_level_id = @level or @level::bigint is null and min_level_id is not null)
		) as rewards, (
			select count(*)
			from loyalty.coupon
			where tenant_id = @tenant_id
				and active
				and (min_level_id = @level or @level::bigint is null and min_level_id is not null)
		) as coupons`

// ChangesNothing reports whether the levels stay as they are.
func (p Preview) ChangesNothing() bool { return p.After.isLike(p.Before) }

// Customers are grouped by the thresholds that their sums reach: which sum of a group stands for it makes no difference. Those
// of sales that were never counted are counted here.
const (
	standingsSQL = `
	with s as (
		select a.level_year, coalesce(a.level_sum, 0) as this, coalesce(a.level_sum_before, 0) as before, a.level_id, a.level_until, a.level_by
		from loyalty.account a
		where a.tenant_id = @tenant_id
	)` + grouped

	soldStandingsSQL = `
	with sale as (
		select ` + saleColumns + `
		from loyalty.transaction t
		where t.tenant_id = @tenant_id
			and ` + counts + `
	),
	s as (
		select @year::int as level_year, coalesce(sold.this, 0) as this, coalesce(sold.before, 0) as before, a.level_id, a.level_until, a.level_by
		from loyalty.account a
		left join (` + sums + `) sold on sold.customer_id = a.customer_id
		where a.tenant_id = @tenant_id
	)` + grouped

	grouped = `
	select 0 as visits, null::date as earned_on, 0 as earned_points, 0 as earned_stamps, level_year, level_id, level_until, level_by, min(this) as level_sum, min(before) as level_sum_before, count(*) as customers
	from s
	group by level_year, level_id, level_until, level_by, width_bucket(this, @thresholds::bigint[]), width_bucket(before, @thresholds)`
)

// usualPreviewTime is how long a preview counts sales, which may be millions.
const usualPreviewTime = 5 * time.Second

const previewTimeSQL = `
	select set_config('statement_timeout', @milliseconds::text, true) as set`

// Preview returns what a change would do now, for owners, or the refusal of Change.
func (s *Service) Preview(ctx context.Context, by core.Actor, c Change) (Preview, error) {
	if err := by.Require(core.Owner); err != nil {
		return Preview{}, err
	}
	scope := s.db.Tenant(by)
	var read stored
	if err := db.Together(ctx, scope, read.readings()...); err != nil {
		return Preview{}, err
	}
	p := Preview{Before: read.setup(), Customers: map[int64]int64{}}
	today := core.DateOf(s.db.Now(), by.Tenant.TimeZone)
	var err error
	if p.After, err = c.apply(p.Before, today); err != nil {
		return Preview{}, err
	}
	if p.ChangesNothing() {
		return p, nil
	}
	if c.Version != p.Before.Version {
		return Preview{}, ErrChanged
	}
	switchedOff := c.On != nil && !*c.On
	if c.Retire != nil || switchedOff {
		if p.Asking, err = db.One[Asking](ctx, scope, askingSQL, db.Args{"level": c.Retire}); err != nil {
			return Preview{}, err
		}
	}
	if switchedOff { // no customer has a level then
		return p, nil
	}
	// What a programme that is off would do is what it would do if it were launched.
	was, would := p.Before.inForce(), p.After
	would.Active = would.Active || !p.Before.Active
	will := would.inForce()
	will.Frozen = false
	statement, args := standingsSQL, db.Args{}
	recounted := !p.Before.Active || p.Before.Counting || p.After.Frozen
	if recounted {
		statement, args = soldStandingsSQL, sumArgs(will, today, by.Tenant.TimeZone)
		args["year"] = will.YearOf(today)
	}
	args["thresholds"] = thresholds(p.Before.Levels, p.After.Levels)
	var groups []struct {
		ledger.Standing
		Customers int64
	}
	err = db.Together(ctx, scope, db.OneInto(&struct{ Set string }{}, previewTimeSQL, db.Args{"milliseconds": strconv.FormatInt(s.previewTime.Milliseconds(), 10)}),
		db.AllInto(&groups, statement, args))
	if db.TookTooLong(err) {
		p.Uncounted = true
		return p, nil
	}
	if err != nil {
		return Preview{}, err
	}
	for _, g := range groups {
		now := g.Standing
		switch {
		case !was.Exist():
			now.LevelID = nil
		case !recounted:
			now, _ = was.Settle(now, today)
		}
		then, _ := will.Settle(g.Standing, today)
		if will.Rank(then.LevelID) > will.Rank(now.LevelID) {
			p.Rise += g.Customers
		}
		if will.Rank(then.LevelID) > 0 && isEqual(then.LevelBy, new(ledger.LevelEarned)) && !will.Earns(then, today) && (recounted || was.Earns(now, today)) {
			p.Short += g.Customers
		}
		id := will.All[0].ID
		if l := will.Find(then.LevelID); l != nil {
			id = l.ID
		}
		p.Customers[id] += g.Customers
	}
	return p, nil
}

// thresholds returns those of levels, each once, the lowest first.
func thresholds(of ...[]award.Level) (all []int64) {
	for _, levels := range of {
		for _, l := range levels {
			all = append(all, l.Threshold)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
