package ledger

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Of returns how a unit of a business ends.
func (u Unit) Of(t core.Tenant) core.Expiry {
	if u == Stamps {
		return t.StampsExpiry
	}
	return t.PointsExpiry
}

// Today returns the local day of a transaction.
func today(tx *db.Tx, by core.Actor) time.Time { return core.DateOf(tx.Now, by.Tenant.TimeZone) }

// lastDay returns the last day of an award, or nil.
func (e Entry) lastDay(tx *db.Tx, by core.Actor) any {
	if e.Lasts {
		return infinity
	}
	if !e.Earned.IsZero() {
		return e.Unit.Of(by.Tenant).LastDay(core.DateOf(e.Earned, by.Tenant.TimeZone))
	}
	return e.Unit.Of(by.Tenant).LastDay(today(tx, by))
}

// infinity is the day of what never ends, as PostgreSQL spells it.
const infinity = "infinity"

// addIdleDays adds the days on which an account's points and stamps end if nothing happens after this. What is no activity
// leaves them as they are.
func addIdleDays(args db.Args, tx *db.Tx, by core.Actor, active bool) {
	var points, stamps *time.Time
	if active {
		points, stamps = IdleDays(by, tx.Now)
	}
	args["points_idle_on"], args["stamps_idle_on"] = points, stamps
}

// IdleDays returns the days on which points and stamps end if a customer does nothing after an instant; nil by a rule that
// doesn't ask.
func IdleDays(by core.Actor, active time.Time) (points, stamps *time.Time) {
	day := core.DateOf(active, by.Tenant.TimeZone)
	return by.Tenant.PointsExpiry.IdleDay(day), by.Tenant.StampsExpiry.IdleDay(day)
}

// In a statement of its own: one that waited for a lock would still see the entries and lots of before.
const lockSQL = `
	select
	from loyalty.account
	where tenant_id = @tenant_id
		and customer_id = any (@customers::uuid[])
	order by customer_id
	for no key update`

// heldLots adds to "due" what is left of each last day, as of the last entry (held), also of what isn't in a lot yet.
//
// The first lot is what was there before awards had a last day. An award adds to the lot of its day what it left above zero,
// since a debt is paid first: this needs only the entry itself, so it doesn't matter when lots are brought up to date. What was
// deducted before there were lots was there before the rule, whatever its time says.
const heldLots = `
	), begun as materialized (
		select d.*, coalesce(d.lots_seq, d.first_seq) as held_seq
		from (
			select d.*, coalesce(d.lots_from, (
				select greatest(
					least(min(e.seq) filter (where e.expires_on is not null) - 1,
						coalesce(max(e.seq) filter (where d.begun_at is null or e.created_at <= d.begun_at), 0)),
					max(e.seq) filter (where e.amount < 0))
				from loyalty.ledger_entry e
				where e.tenant_id = @tenant_id
					and e.customer_id = d.customer_id
					and e.unit = d.unit
			)) as first_seq
			from due d
		) d
	), held as materialized (
		select h.customer_id, h.unit, h.expires_on, sum(h.remaining)::bigint as remaining, bool_or(h.is_new) as is_new
		from (
			select d.customer_id, d.unit, l.expires_on, l.remaining, false as is_new
			from begun d
			join loyalty.lot l on l.tenant_id = @tenant_id and l.customer_id = d.customer_id and l.unit = d.unit
			union all
			select d.customer_id, d.unit, coalesce(d.opening_expires_on, 'infinity'), opening.balance_after, true
			from begun d
			cross join lateral (
				select e.balance_after
				from loyalty.ledger_entry e
				where e.tenant_id = @tenant_id
					and e.customer_id = d.customer_id
					and e.unit = d.unit
					and e.seq <= d.first_seq
				order by e.seq desc
				limit 1
			) opening
			where d.lots_from is null
			union all
			select d.customer_id, d.unit, coalesce(e.expires_on, 'infinity'), least(e.amount, e.balance_after), true
			from begun d
			join loyalty.ledger_entry e on e.tenant_id = @tenant_id and e.customer_id = d.customer_id and e.seq > d.held_seq
			where e.unit = d.unit
				and e.amount > 0
				and e.lot_dates is null
		) h
		where h.remaining > 0
		group by h.customer_id, h.unit, h.expires_on`

// settleSQL brings the lots of locked accounts up to their last entry, and expires what is due, of the units that have a rule.
const settleSQL = `
	with due as materialized (
		select a.customer_id, u.unit, u.balance, a.entries, u.lots_from, u.lots_seq, u.idle_on, p.begun_at, p.opening_expires_on,
			case when coalesce(p.hold_until, '-infinity') < @today::date then @today end as today,
			p.expiry = 'inactive' as ends_idle
		from loyalty.account a
		cross join lateral (values
			('points', a.points, a.points_lots_from, a.points_lots_seq, a.points_expire_on, a.points_idle_on),
			('stamps', a.stamps, a.stamps_lots_from, a.stamps_lots_seq, a.stamps_expire_on, a.stamps_idle_on)
		) u (unit, balance, lots_from, lots_seq, expire_on, idle_on)
		join loyalty.programme p on p.tenant_id = a.tenant_id and p.unit = u.unit
		where a.tenant_id = @tenant_id
			and a.customer_id = any (@customers::uuid[])
			and (u.lots_seq is distinct from a.entries or least(u.expire_on, u.idle_on) < @today)` + heldLots + `
	), ended as materialized (
		select h.customer_id, h.unit, h.expires_on, h.remaining, case when h.expires_on = 'infinity' then d.idle_on else h.expires_on end as day,
			row_number() over (partition by h.customer_id order by h.expires_on, h.unit) as turn,
			d.balance - sum(h.remaining) over (partition by h.customer_id, h.unit order by h.expires_on) as balance_after,
			d.entries, loyalty.new_ulid(@now) as id
		from held h
		join begun d on d.customer_id = h.customer_id and d.unit = h.unit
		where case when h.expires_on < 'infinity' then h.expires_on when d.ends_idle then d.idle_on end < d.today
	), posted as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
			kind, actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on, lot_dates, lot_amounts)
		select c.tenant_id, e.id, c.id, e.unit, -e.remaining,
			'expiry', 'system', '', 'points expiry', @now, e.entries + e.turn, e.balance_after, e.day, array[e.expires_on], array[-e.remaining]
		from ended e
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = e.customer_id
	), kept as (
		insert into loyalty.lot (tenant_id, customer_id, unit, expires_on, remaining)
		select c.tenant_id, c.id, h.unit, h.expires_on, h.remaining
		from held h
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = h.customer_id
		where h.is_new
			and not exists (select from ended e where e.customer_id = h.customer_id and e.unit = h.unit and e.expires_on = h.expires_on)
		on conflict (tenant_id, customer_id, unit, expires_on) do update
		set remaining = excluded.remaining
	), dropped as (
		delete from loyalty.lot l
		using ended e
		where l.tenant_id = @tenant_id
			and l.customer_id = e.customer_id
			and l.unit = e.unit
			and l.expires_on = e.expires_on
	), changed as materialized (
		select d.customer_id, d.unit, d.first_seq, g.amount, g.entries,
			(
				select min(h.expires_on)
				from held h
				where h.customer_id = d.customer_id
					and h.unit = d.unit
					and h.expires_on < 'infinity'
					and (d.today is null or h.expires_on >= d.today)
			) as expire_on,
			case when d.ends_idle and (d.today is null or d.idle_on >= d.today) then d.idle_on end as idle_on
		from begun d
		cross join lateral (
			select coalesce(sum(e.remaining) filter (where e.unit = d.unit), 0)::bigint as amount, count(e) as entries
			from ended e
			where e.customer_id = d.customer_id
		) g
	), moved as (
		update loyalty.account a
		set points = a.points - c.points,
			stamps = a.stamps - c.stamps,
			entries = a.entries + c.entries,
			points_lots_from = coalesce(c.points_from, a.points_lots_from),
			stamps_lots_from = coalesce(c.stamps_from, a.stamps_lots_from),
			points_lots_seq = case when c.points_from is null then a.points_lots_seq else a.entries + c.entries end,
			stamps_lots_seq = case when c.stamps_from is null then a.stamps_lots_seq else a.entries + c.entries end,
			points_expire_on = case when c.points_from is null then a.points_expire_on else c.points_expire_on end,
			stamps_expire_on = case when c.stamps_from is null then a.stamps_expire_on else c.stamps_expire_on end,
			points_idle_on = case when c.points_from is null then a.points_idle_on else c.points_idle_on end,
			stamps_idle_on = case when c.stamps_from is null then a.stamps_idle_on else c.stamps_idle_on end
		from (
			select customer_id, max(entries) as entries,
				coalesce(sum(amount) filter (where unit = 'points'), 0)::bigint as points,
				coalesce(sum(amount) filter (where unit = 'stamps'), 0)::bigint as stamps,
				max(first_seq) filter (where unit = 'points') as points_from,
				max(first_seq) filter (where unit = 'stamps') as stamps_from,
				max(expire_on) filter (where unit = 'points') as points_expire_on,
				max(expire_on) filter (where unit = 'stamps') as stamps_expire_on,
				max(idle_on) filter (where unit = 'points') as points_idle_on,
				max(idle_on) filter (where unit = 'stamps') as stamps_idle_on
			from changed
			group by customer_id
		) c
		where a.tenant_id = @tenant_id
			and a.customer_id = c.customer_id
		returning c.points, c.stamps, c.entries
	)
	select count(*) filter (where entries > 0) as customers, coalesce(sum(points), 0)::bigint as points, coalesce(sum(stamps), 0)::bigint as stamps
	from moved`

// queueSettlement queues the lock of customers' accounts and what is due of them, so that what has ended can't be spent or
// returned, even if the job is late (programme.md).
func queueSettlement(tx *db.Tx, by core.Actor, customers ...core.ID) error {
	if err := db.Queue(tx, lockSQL, db.Args{"customers": customers}); err != nil {
		return err
	}
	return db.Queue(tx, settleSQL, settleArgs(tx, by, customers))
}

func settleArgs(tx *db.Tx, by core.Actor, customers []core.ID) db.Args {
	return db.Args{"customers": customers, "today": today(tx, by), "now": tx.Now}
}

// endedOfAward adds to "given", an amount to take back of an award, what has ended of it and comes back before (back).
const endedOfAward = `
	), award as materialized (
		select ` + dayOfAward + ` as lot, e.created_at
		from given g
		join loyalty.ledger_entry e on e.tenant_id = @tenant_id and e.cause = g.award and e.turn = g.turn
		where e.kind in ('earn', 'voucher')
	), family as materialized (
		select customer_id as id
		from given
		union all
		select c.id
		from given g
		join loyalty.customer c on c.tenant_id = @tenant_id and c.merged_into = g.customer_id
	), gone as materialized (
		select e.expires_on as day, e.lot_dates[1] as lot, -sum(e.amount)::bigint as amount, max(e.created_at) filter (where e.kind = 'expiry') as expired_at
		from family f
		join loyalty.ledger_entry e on e.tenant_id = @tenant_id and e.customer_id = f.id
		where e.unit = (select unit from given)
			and e.kind in ('expiry', 'expiry_return')
		group by e.expires_on, e.lot_dates[1]
	), back as materialized (
		select g.day, g.lot, least((select amount from given), g.amount) as amount
		from award a
		join gone g on g.lot = a.lot and g.expired_at >= a.created_at
		order by g.day
		limit 1`

// Of an award whose day has ended, what expired of that day comes back before the award is taken back: the customer isn't
// charged twice. What came back of a day never exceeds what ended on it, also of sales that moved with a merge. Without a day
// of its own, an award ended with everything that was idle first after it.
const returnSQL = `
	with given as materialized (
		select @award::uuid as award, @turn::int as turn, @customer::uuid as customer_id, @unit::text as unit, @amount::bigint as amount` + endedOfAward + `
	), moved as (
		update loyalty.account a
		set points = a.points + case when @unit = 'points' then b.amount else 0 end,
			stamps = a.stamps + case when @unit = 'stamps' then b.amount else 0 end,
			entries = a.entries + 1,
			points_lots_seq = case when @unit = 'points' then a.entries + 1 else a.points_lots_seq end,
			stamps_lots_seq = case when @unit = 'stamps' then a.entries + 1 else a.stamps_lots_seq end
		from back b
		where a.tenant_id = @tenant_id
			and a.customer_id = @customer
			and b.amount > 0
		returning a.tenant_id, a.customer_id, a.entries, case when @unit = 'points' then a.points else a.stamps end as balance,
			b.day, b.lot, b.amount, greatest(0, least(b.amount, case when @unit = 'points' then a.points else a.stamps end)) as kept
	), entry as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, seq, unit, amount, balance_after,
			kind, cause, actor_kind, actor_id, actor_name, created_at, turn, expires_on, lot_dates, lot_amounts)
		select c.tenant_id, @id, c.id, m.entries, @unit, m.amount, m.balance,
			'expiry_return', @cause, @actor_kind, @actor_id, @actor_name, @now, @turn, m.day, array[m.lot], array[m.kept]
		from moved m
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = m.customer_id
	), lot as (
		insert into loyalty.lot as l (tenant_id, customer_id, unit, expires_on, remaining)
		select c.tenant_id, c.id, @unit, m.lot, m.kept
		from moved m
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = m.customer_id
		where m.kept > 0
		on conflict (tenant_id, customer_id, unit, expires_on) do update
		set remaining = l.remaining + excluded.remaining
	)
	select
	from moved`

const endedSQL = `
	with given as materialized (
		select id as award, 1 as turn, customer_id, rule_type as unit, coalesce(points_awarded, stamps_awarded) - refunded_award as amount
		from loyalty.transaction
		where tenant_id = @tenant_id
			and id = @sale` + endedOfAward + `
	)
	select greatest(0, coalesce((select amount from back), 0)) as amount`

// ReadEnded returns a reading of what has ended of a sale's award, and would come back before a void takes the award.
func ReadEnded(to *int64, sale core.ID) db.Reading {
	return db.OneInto(to, endedSQL, db.Args{"sale": sale})
}

// queueReturn queues the return of what has ended of the award that an entry takes back.
func queueReturn(tx *db.Tx, by core.Actor, e Entry) error {
	return db.Queue(tx, returnSQL, db.Args{
		"id": core.NewID(tx.Now), "customer": e.Customer, "unit": e.Unit, "amount": -e.Amount,
		"award": e.reverses(), "cause": e.Cause, "turn": max(e.Turn, 1),
		"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
	})
}

// The cost of a voided redemption goes back to the days that it came from, and what was spent before there were lots to the
// day of the first lot. A day that has passed is replaced by one in grace_days, because the shop cancelled, not the customer.
// What pays a debt is taken from the soonest of them.
const giveBackSQL = `
	with spent as materialized (
		select x.expires_on, -x.amount as amount
		from loyalty.ledger_entry e
		cross join lateral unnest(e.lot_dates, e.lot_amounts) x (expires_on, amount)
		where e.tenant_id = @tenant_id
			and e.cause = @cause
			and e.kind = 'redemption'
	), held as materialized (
		select @today::date + p.grace_days as grace_day, coalesce(p.opening_expires_on, 'infinity') as first_day,
			least(@amount::bigint, greatest(0, case when @unit::text = 'points' then a.points else a.stamps end + @amount)) as kept
		from loyalty.account a
		join loyalty.programme p on p.tenant_id = a.tenant_id and p.unit = @unit
		where a.tenant_id = @tenant_id
			and a.customer_id = @customer
	), day as materialized (
		select d.expires_on, sum(d.amount)::bigint as amount
		from (
			select case when s.expires_on < @today then h.grace_day else s.expires_on end as expires_on, s.amount
			from held h
			cross join (
				select expires_on, amount
				from spent
				union all
				select (select first_day from held), @amount - coalesce((select sum(amount) from spent), 0)
			) s
		) d
		where d.amount > 0
		group by d.expires_on
	), given as materialized (
		select g.expires_on, g.amount
		from (
			select d.expires_on, least(d.amount, greatest(0, h.kept - (sum(d.amount) over (order by d.expires_on desc) - d.amount)))::bigint as amount
			from day d
			cross join held h
		) g
		where g.amount > 0
	), lot as (
		insert into loyalty.lot as l (tenant_id, customer_id, unit, expires_on, remaining)
		select c.tenant_id, c.id, @unit, g.expires_on, g.amount
		from given g
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = @customer
		on conflict (tenant_id, customer_id, unit, expires_on) do update
		set remaining = l.remaining + excluded.remaining
	), moved as (
		update loyalty.account a
		set points = a.points + case when @unit = 'points' then @amount else 0 end,
			stamps = a.stamps + case when @unit = 'stamps' then @amount else 0 end,
			entries = a.entries + 1,
			points_lots_seq = case when @unit = 'points' and a.points_lots_from is not null then a.entries + 1 else a.points_lots_seq end,
			stamps_lots_seq = case when @unit = 'stamps' and a.stamps_lots_from is not null then a.entries + 1 else a.stamps_lots_seq end,
			points_expire_on = case when @unit = 'points' then least(a.points_expire_on, next.expires_on) else a.points_expire_on end,
			stamps_expire_on = case when @unit = 'stamps' then least(a.stamps_expire_on, next.expires_on) else a.stamps_expire_on end
		from (select min(expires_on) as expires_on from given where expires_on < 'infinity') next
		where a.tenant_id = @tenant_id
			and a.customer_id = @customer
		returning a.customer_id, a.entries, case when @unit = 'points' then a.points else a.stamps end as balance,
			case when @unit = 'points' then a.points_lots_from else a.stamps_lots_from end is not null as has_lots
	), entry as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
			kind, cause, actor_kind, actor_id, actor_name, created_at, seq, balance_after, lot_dates, lot_amounts)
		select c.tenant_id, @id, c.id, @unit, @amount,
			'redemption_refund', @cause, @actor_kind, @actor_id, @actor_name, @now, m.entries, m.balance,
			case when m.has_lots then coalesce((select array_agg(expires_on order by expires_on) from given), '{}') end,
			case when m.has_lots then coalesce((select array_agg(amount order by expires_on) from given), '{}') end
		from moved m
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = m.customer_id
	)` + failUnmoved

// queueGivingBack queues the return of a voided redemption's cost.
func queueGivingBack(tx *db.Tx, by core.Actor, e Entry) error {
	return db.Queue(tx, giveBackSQL, db.Args{
		"id": core.NewID(tx.Now), "customer": e.Customer, "unit": e.Unit, "amount": e.Amount, "cause": e.Cause, "today": today(tx, by),
		"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
	})
}
