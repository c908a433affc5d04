package report

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Endings says when what customers can spend ends, and what happened to the rest, by its last day. Erased customers can't
// spend, so theirs isn't in it.
type Endings struct {
	Unit      ledger.Unit
	CountedAt time.Time // of a large business, up to an hour ago
	Due       int64     // has ended, and isn't posted yet
	Months    []Ending  // the present one and the eleven after it
	Later     Ending
	Never     int64
	Total     int64 // of all of these
	Outcomes  []Outcome
	Earned    Earned
}

// Soon is what ends in the months.
func (e Endings) Soon() (n int64) {
	for _, m := range e.Months {
		n = plus(n, m.Amount)
	}
	return n
}

// Idle is what ends only if its customers do nothing until then.
func (e Endings) Idle() int64 {
	n := e.Later.Idle
	for _, m := range e.Months {
		n = plus(n, m.Idle)
	}
	return n
}

// Ending is what ends in a month, on the days that a hold has left it.
type Ending struct {
	Month  time.Time // its first day
	Amount int64
	Idle   int64 // the part that ends only if its customers do nothing until then
}

// Outcome is what happened to points (or stamps) with a last day in some time, apart from what was taken back: voids, refunds,
// adjustments and debts. Redemptions that were voided don't count, nor what had expired and was returned.
//
// It follows the last day that an award was given, from which redemptions and expiries took. So it is exact for days, and for
// the months of earning as far as each has its own last day.
type Outcome struct {
	Until    OutcomeTime
	Month    time.Time // its first day, of InMonth
	Redeemed int64
	Expired  int64
	Open     int64
}

// Whole is what the shares of an outcome are parts of. It saturates.
func (o Outcome) Whole() int64 { return plus(plus(o.Redeemed, o.Expired), o.Open) }

// OutcomeTime says which last days an outcome is about.
type OutcomeTime int

// The times, in order.
const (
	Earlier    OutcomeTime = iota // more than a year before the present month
	InMonth                       // one of the 24 months around the present day
	Afterwards                    // later than in eleven months
	WithoutEnd                    // no last day, or spent before awards had one
)

// monthsShown is how many months before the present one have an outcome, and how many from it on.
const monthsShown = 12

// endingsKey is a tenant's unit.
type endingsKey struct {
	tenant core.TenantID
	unit   ledger.Unit
}

// countedEndings are the figures of a tenant's unit by day. What isn't in lots yet may be the awards of months.
type countedEndings struct {
	left []leftOfDay
	used []usedOfDay

	rules     []datingRule
	forgotten bool       // the rules aren't known
	begun     time.Time  // the local day of the first rule
	opening   *time.Time // the last day of what was there before it
}

// leftOfDay is what is left of a last day.
type leftOfDay struct {
	Day    *time.Time // nil: none
	Idle   bool
	Apart  bool // of a customer who has something of that day which no rule dated
	Amount int64
}

// usedOfDay is what was redeemed and expired of a last day.
type usedOfDay struct {
	Day      *time.Time // nil: none
	Redeemed int64
	Expired  int64
}

// Endings returns when a unit ends.
func (s *Service) Endings(ctx context.Context, by core.Actor, unit *string) (Endings, error) {
	if err := by.Require(core.Manager); err != nil {
		return Endings{}, err
	}
	check := core.NewCheck(nil)
	chosen := unitOf(check, unit)
	if err := check.Err(); err != nil {
		return Endings{}, err
	}
	counted, err := s.countEndings(ctx, by, chosen)
	if err != nil {
		return Endings{}, err
	}
	return newEndings(chosen, counted.at, counted.figures, chosen.Of(by.Tenant), core.DateOf(s.db.Now(), by.Tenant.TimeZone)), nil
}

func (s *Service) countEndings(ctx context.Context, by core.Actor, unit ledger.Unit) (asOf[countedEndings], error) {
	key, now := endingsKey{by.Tenant.ID, unit}, s.db.Now()
	if kept, known := s.endings.of(key, now, by.Tenant.TimeZone); known {
		return kept, nil
	}
	c, left := asOf[countedEndings]{at: now}, leftPointsSQL
	if unit == ledger.Stamps {
		left = leftStampsSQL
	}
	var large bool
	var rules []unitRule
	var changes []ruleChange
	err := s.together(ctx, by,
		db.OneInto(&large, isLargeSQL, db.Args{"many": s.manyAccounts}),
		db.OneInto(&struct{ Set string }{}, hashSQL, nil),
		db.AllInto(&c.figures.left, left, nil),
		db.AllInto(&c.figures.used, usedSQL, db.Args{"unit": unit}),
		db.AllInto(&rules, unitRuleSQL, db.Args{"unit": unit}),
		db.AllInto(&changes, ruleChangesSQL, db.Args{"unit": unit}))
	for _, rule := range rules {
		c.figures.follow(rule, changes, now, by.Tenant.TimeZone)
	}
	if err == nil && large {
		s.endings.keep(key, c)
	}
	return c, err
}

func newEndings(unit ledger.Unit, at time.Time, c countedEndings, rule core.Expiry, today time.Time) Endings {
	first := Monthly.start(today)
	e := Endings{Unit: unit, CountedAt: at}
	outcomes := []Outcome{{Until: Earlier}}
	for i := range 2 * monthsShown {
		outcomes = append(outcomes, Outcome{Until: InMonth, Month: first.AddDate(0, i-monthsShown, 0)})
	}
	outcomes = append(outcomes, Outcome{Until: Afterwards}, Outcome{Until: WithoutEnd})
	of := func(day *time.Time) *Outcome {
		if day == nil {
			return &outcomes[len(outcomes)-1]
		}
		return &outcomes[1+min(max(monthsBetween(first, *day), -monthsShown-1), monthsShown)+monthsShown]
	}
	for i := range monthsShown {
		e.Months = append(e.Months, Ending{Month: first.AddDate(0, i, 0)})
	}
	e.Later.Month = first.AddDate(0, monthsShown, 0)
	for _, l := range c.left {
		e.Total = plus(e.Total, l.Amount)
		e.add(rule.Shown(l.Day), l, today, first)
		if l.Idle {
			l.Day = nil
		}
		o := of(l.Day)
		o.Open = plus(o.Open, l.Amount)
	}
	for _, u := range c.used {
		o := of(u.Day)
		o.Redeemed, o.Expired = plus(o.Redeemed, u.Redeemed), plus(o.Expired, u.Expired)
	}
	e.Earned = newEarned(c, today)
	e.Outcomes = slices.DeleteFunc(outcomes, func(o Outcome) bool { return o.Redeemed == 0 && o.Expired == 0 && o.Open == 0 })
	return e
}

// add adds what is left of a day to the month in which it ends.
func (e *Endings) add(day *time.Time, l leftOfDay, today, first time.Time) {
	switch {
	case day == nil:
		e.Never = plus(e.Never, l.Amount)
		return
	case day.Before(today):
		e.Due = plus(e.Due, l.Amount)
		return
	}
	ending := &e.Later
	if month := monthsBetween(first, *day); month < len(e.Months) {
		ending = &e.Months[month]
	}
	ending.Amount = plus(ending.Amount, l.Amount)
	if l.Idle {
		ending.Idle = plus(ending.Idle, l.Amount)
	}
}

// monthsBetween counts the months from a month to that of a day.
func monthsBetween(first, day time.Time) int {
	return 12*(day.Year()-first.Year()) + int(day.Month()-first.Month())
}

// plus adds, and saturates.
func plus(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < -math.MaxInt64-b:
		return -math.MaxInt64
	}
	return a + b
}

// What ledger.ReadEndings reads of one customer, of all at once: the lots, and the awards that aren't in them yet. What has no
// last day is the rest of the balance, since nothing was taken from an account without lots after the entries that are its first
// one (ledger.heldLots).
//
// What voided redemptions returned to a day of its own, and what was imported, stands apart: its day says nothing about its earning. So does
// what the customer has of that day besides. A balance that was imported is one of the account's first two entries.
//
// Each unit has its own statement: of columns that an argument chooses, the planner would know nothing.
const leftPointsSQL = `
	with due as (
		select a.customer_id, a.points as balance, a.entries, a.points_lots_from as lots_from, a.points_lots_seq as lots_seq,
			case when a.points_lots_from is null then coalesce(p.opening_expires_on, 'infinity') else 'infinity' end as opening_expires_on,
			case when p.expiry = 'inactive' then a.points_idle_on end as idle_on
		from loyalty.account a
		join loyalty.customer c on c.tenant_id = a.tenant_id and c.id = a.customer_id
		left join loyalty.programme p on p.tenant_id = a.tenant_id and p.unit = 'points'
		where a.tenant_id = @tenant_id
			and a.points > 0
			and coalesce(c.phone_key, c.email_key) is not null
	), begun as materialized (
		select d.*, coalesce(d.lots_seq, f.first_seq, d.entries) as after_seq
		from due d
		left join (
			select a.customer_id,
				greatest(
					least(min(e.seq) filter (where e.expires_on is not null) - 1,
						coalesce(max(e.seq) filter (where p.begun_at is null or e.created_at <= p.begun_at), 0)),
					max(e.seq) filter (where e.amount < 0)) as first_seq
			from loyalty.account a
			join loyalty.programme p on p.tenant_id = a.tenant_id and p.unit = 'points'
			join loyalty.ledger_entry e on e.tenant_id = a.tenant_id and e.customer_id = a.customer_id
			where a.tenant_id = @tenant_id
				and a.points > 0
				and a.points_lots_from is null
				and (a.points_expire_on is not null or p.opening_expires_on is not null)
				and e.unit = 'points'
			group by a.customer_id
		) f on f.customer_id = d.customer_id
	), dated as materialized (
		select b.customer_id, l.expires_on, l.remaining
		from begun b
		join loyalty.lot l on l.tenant_id = @tenant_id and l.customer_id = b.customer_id
		where l.unit = 'points'
			and l.expires_on < 'infinity'
		union all
		select b.customer_id, coalesce(e.expires_on, 'infinity'), least(e.amount, e.balance_after)
		from begun b
		join loyalty.ledger_entry e on e.tenant_id = @tenant_id and e.customer_id = b.customer_id and e.seq > b.after_seq
		where e.unit = 'points'
			and e.amount > 0
			and e.balance_after > 0
			and e.lot_dates is null
			and (e.expires_on < 'infinity' or b.lots_from is null)
	), apart as materialized (
		select coalesce(c.merged_into, c.id) as customer_id, d.expires_on
		from loyalty.ledger_entry e
		join loyalty.customer c on c.tenant_id = e.tenant_id and c.id = e.customer_id
		cross join lateral unnest(e.lot_dates) d (expires_on)
		where e.tenant_id = @tenant_id
			and e.kind = 'redemption_refund'
			and e.unit = 'points'
			and not exists (
				select
				from loyalty.ledger_entry r
				where r.tenant_id = @tenant_id
					and r.cause = e.cause
					and r.kind = 'redemption'
					and d.expires_on = any (r.lot_dates)
			)
		union
		select coalesce(c.merged_into, c.id), e.expires_on
		from loyalty.customer c
		join loyalty.ledger_entry e on e.tenant_id = c.tenant_id and e.customer_id = c.id and e.seq <= 2
		where c.tenant_id = @tenant_id
			and c.imported_at is not null
			and e.kind = 'opening'
			and e.unit = 'points'
	), held as (
		select d.customer_id, case when d.expires_on = 'infinity' then b.idle_on else d.expires_on end as day, d.expires_on = 'infinity' as undated,
			d.remaining
		from dated d
		join begun b on b.customer_id = d.customer_id
		union all
		select b.customer_id, case when b.opening_expires_on = 'infinity' then b.idle_on else b.opening_expires_on end, b.opening_expires_on = 'infinity',
			b.balance - coalesce(d.remaining, 0)
		from begun b
		left join (
			select customer_id, sum(remaining) as remaining
			from dated
			group by customer_id
		) d on d.customer_id = b.customer_id
	)
	select h.day, h.undated and h.day is not null as idle, not h.undated and a.customer_id is not null as apart,
		least(sum(h.remaining), 9223372036854775807)::bigint as amount
	from held h
	left join apart a on a.customer_id = h.customer_id and a.expires_on = h.day
	where h.remaining > 0
	group by 1, 2, 3`

var leftStampsSQL = strings.ReplaceAll(leftPointsSQL, "points", "stamps")

// The awards of hundreds of thousands of customers are hashed in half the time that merging them in order takes.
const hashSQL = `
	select set_config('enable_mergejoin', 'off', true) as set`

// What was taken from no lot has no day: it was spent before awards had one.
const usedSQL = `
	select nullif(x.expires_on, 'infinity') as day,
		least(coalesce(sum(x.amount) filter (where e.kind = 'redemption'), 0), 9223372036854775807)::bigint as redeemed,
		greatest(least(coalesce(sum(x.amount) filter (where e.kind <> 'redemption'), 0), 9223372036854775807), -9223372036854775807)::bigint as expired
	from loyalty.ledger_entry e
	cross join lateral (
		select d.expires_on, -d.amount::numeric as amount
		from unnest(e.lot_dates, e.lot_amounts) d (expires_on, amount)
		where e.kind = 'redemption'
		union all
		select null, (select coalesce(sum(d.amount), 0) from unnest(e.lot_amounts) d (amount)) - e.amount
		where e.kind = 'redemption'
		union all
		select e.lot_dates[1], -e.amount
		where e.kind <> 'redemption'
	) x
	where e.tenant_id = @tenant_id
		and e.kind in ('redemption', 'expiry', 'expiry_return')
		and e.unit = @unit
		and x.amount <> 0
		and not (e.kind = 'redemption' and exists (
			select
			from loyalty.ledger_entry r
			where r.tenant_id = @tenant_id
				and r.cause = e.cause
				and r.kind = 'redemption_refund'
		))
	group by nullif(x.expires_on, 'infinity')`
