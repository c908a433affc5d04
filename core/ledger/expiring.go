package ledger

import (
	"context"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Ending is an amount and its last day, without the hold of a rule (core.Expiry.Shown).
type Ending struct {
	Unit      Unit
	Amount    int64
	ExpiresOn *time.Time // nil: no last day
	Idle      bool       // by a rule that ends what is idle: an activity moves the day
}

// endingsSQL computes what settleSQL would store, and stores nothing. Of a unit without a rule, everything is in one ending.
const endingsSQL = `
	with due as materialized (
		select a.customer_id, u.unit, a.entries, u.lots_from, u.lots_seq, case when p.expiry = 'inactive' then u.idle_on end as idle_on, p.begun_at, p.opening_expires_on
		from loyalty.account a
		cross join lateral (values
			('points', a.points_lots_from, a.points_lots_seq, a.points_idle_on),
			('stamps', a.stamps_lots_from, a.stamps_lots_seq, a.stamps_idle_on)
		) u (unit, lots_from, lots_seq, idle_on)
		left join loyalty.programme p on p.tenant_id = a.tenant_id and p.unit = u.unit
		where a.tenant_id = @tenant_id
			and a.customer_id = @customer` + heldLots + `
	)
	select h.unit, h.remaining as amount, case when h.expires_on = 'infinity' then d.idle_on else h.expires_on end as expires_on,
		h.expires_on = 'infinity' and d.idle_on is not null as idle
	from held h
	join due d on d.unit = h.unit
	order by h.unit, case when h.expires_on = 'infinity' then d.idle_on else h.expires_on end nulls last, idle`

// ReadEndings returns a reading of what a customer has of each last day, the soonest first, points before stamps. The amounts
// of a unit add up to its balance, or to nothing below zero.
func ReadEndings(to *[]Ending, customer core.ID) db.Reading {
	return db.AllInto(to, endingsSQL, db.Args{"customer": customer})
}

// Shown returns endings with the days to show (core.Expiry.Shown). Those of one day are one.
func Shown(t core.Tenant, endings []Ending) (shown []Ending) {
	for _, e := range endings {
		e.ExpiresOn = e.Unit.Of(t).Shown(e.ExpiresOn)
		e.Idle = e.Idle && e.ExpiresOn != nil
		if last := len(shown) - 1; last >= 0 && shown[last].Unit == e.Unit && sameDay(shown[last].ExpiresOn, e.ExpiresOn) {
			shown[last].Amount += e.Amount
			shown[last].Idle = shown[last].Idle && e.Idle
			continue
		}
		shown = append(shown, e)
	}
	return shown
}

// Dated returns the endings of the units of which something has a last day.
func Dated(shown []Ending) (list []Ending) {
	for _, e := range shown {
		sameUnit := func(other Ending) bool { return other.Unit == e.Unit && other.ExpiresOn != nil }
		if slices.ContainsFunc(shown, sameUnit) {
			list = append(list, e)
		}
	}
	return list
}

func sameDay(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// SoonDays is how many days ahead pages say that something ends.
const SoonDays = 60

// Soon returns what ends next of a unit, if that is within SoonDays of a local day.
func Soon(shown []Ending, unit Unit, today time.Time) (next Ending, soon bool) {
	for _, e := range shown {
		if e.Unit == unit {
			return e, e.ExpiresOn != nil && !e.ExpiresOn.After(today.AddDate(0, 0, SoonDays))
		}
	}
	return Ending{}, false
}

// Expiry is what ended of a number of customers.
type Expiry struct {
	Customers, Points, Stamps int64
}

// A till that serves a customer at this moment keeps them from others, and settles the account itself.
const lockDuePointsSQL = `
	select customer_id
	from loyalty.account
	where tenant_id = @tenant_id
		and least(points_expire_on, points_idle_on) < @today::date
	order by least(points_expire_on, points_idle_on)
	limit @limit
	for no key update skip locked`

var lockDueStampsSQL = ofStamps(lockDuePointsSQL)

func ofStamps(pointsSQL string) string { return strings.ReplaceAll(pointsSQL, "points_", "stamps_") }

// ExpireDue expires what is due of at most limit customers, in the caller's transaction, and returns how many accounts it
// looked at. Their last days of the unit are before the transaction's day.
func ExpireDue(ctx context.Context, tx *db.Tx, by core.Actor, unit Unit, limit int) (looked int, expired Expiry, err error) {
	statement := lockDuePointsSQL
	if unit == Stamps {
		statement = lockDueStampsSQL
	}
	due, err := db.All[core.ID](ctx, tx, statement, db.Args{"today": today(tx, by), "limit": limit})
	if err != nil || len(due) == 0 {
		return 0, Expiry{}, err
	}
	expired, err = db.One[Expiry](ctx, tx, settleSQL, settleArgs(tx, by, due))
	return len(due), expired, err
}

const anyDuePointsSQL = `
	select exists (
		select
		from loyalty.account
		where tenant_id = @tenant_id
			and least(points_expire_on, points_idle_on) < @today::date
	) as due`

var anyDueStampsSQL = ofStamps(anyDuePointsSQL)

// AnyDue reports whether a customer has something of a unit whose last day is before the transaction's day.
func AnyDue(ctx context.Context, tx *db.Tx, by core.Actor, unit Unit) (bool, error) {
	statement := anyDuePointsSQL
	if unit == Stamps {
		statement = anyDueStampsSQL
	}
	return db.One[bool](ctx, tx, statement, db.Args{"today": today(tx, by)})
}

// What was there before the first rule: its last day, or the day on which it ends if it stays idle. A customer who had nothing
// then may have earned since.
const openPointsSQL = `
	with next as materialized (
		select customer_id
		from loyalty.account
		where tenant_id = @tenant_id
			and customer_id > @after
			and points > 0
			and points_lots_from is null
		order by customer_id
		limit @limit
		for no key update
	), moved as (
		update loyalty.account a
		set points_expire_on = least(a.points_expire_on, @expires_on::date),
			points_idle_on = greatest(a.points_idle_on, @idle_on::date)
		from next
		where a.tenant_id = @tenant_id
			and a.customer_id = next.customer_id
			and coalesce((
				select e.balance_after > e.amount
				from loyalty.ledger_entry e
				where e.tenant_id = @tenant_id
					and e.customer_id = next.customer_id
					and e.unit = 'points'
					and e.expires_on is not null
				order by e.seq
				limit 1
			), true)
	)
	select customer_id
	from next
	order by customer_id`

var openStampsSQL = strings.NewReplacer("points >", "stamps >", "'points'", "'stamps'").Replace(ofStamps(openPointsSQL))

// OpenBefore dates what customers had before the first rule of a unit, of at most limit customers in the order of their IDs
// after one, in the caller's transaction. It returns the last of them, or the zero ID after the last of all. One of the days is nil.
func OpenBefore(ctx context.Context, tx *db.Tx, unit Unit, expiresOn, idleOn *time.Time, after core.ID, limit int) (core.ID, error) {
	statement := openPointsSQL
	if unit == Stamps {
		statement = openStampsSQL
	}
	opened, err := db.All[core.ID](ctx, tx, statement, db.Args{"expires_on": expiresOn, "idle_on": idleOn, "after": after, "limit": limit})
	if err != nil || len(opened) == 0 {
		return core.ID{}, err
	}
	return opened[len(opened)-1], nil
}
