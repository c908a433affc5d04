package verify

// opened has the units of accounts that have lots.
const opened = `
	with opened as not materialized (
		select a.tenant_id, a.customer_id, u.unit, u.balance, u.lots_from, u.lots_seq, u.expire_on
		from loyalty.account a
		cross join lateral (values
			('points', a.points, a.points_lots_from, a.points_lots_seq, a.points_expire_on),
			('stamps', a.stamps, a.stamps_lots_from, a.stamps_lots_seq, a.stamps_expire_on)
		) u (unit, balance, lots_from, lots_seq, expire_on)
		where u.lots_from is not null
	)`

// kept is what an award e left above zero, since a debt is paid first.
const kept = `greatest(0, least(e.amount, e.balance_after))`

// What was there at entry lots_from is the first lot. After it, an entry does to lots what it says, and an award is in the lot
// of its last day. An account's later awards aren't in lots yet. Most entries say nothing, so those that do are read apart.
const lotSQL = opened + `, change as (
		select e.tenant_id, e.customer_id, e.unit,
			case when e.seq <= o.lots_from then '-infinity' else coalesce(e.expires_on, 'infinity') end as day,
			case when e.seq <= o.lots_from then e.amount else ` + kept + ` end as amount
		from loyalty.ledger_entry e
		join opened o on o.customer_id = e.customer_id and o.tenant_id = e.tenant_id and o.unit = e.unit
		where e.seq <= o.lots_seq
			and (e.seq <= o.lots_from or e.lot_dates is null)
		union all
		select e.tenant_id, e.customer_id, e.unit, x.day, x.amount
		from loyalty.ledger_entry e
		join opened o on o.customer_id = e.customer_id and o.tenant_id = e.tenant_id and o.unit = e.unit
		cross join lateral unnest(e.lot_dates, e.lot_amounts) x (day, amount)
		where e.seq <= o.lots_seq
			and e.seq > o.lots_from
			and e.lot_dates is not null
	), summed as (
		select tenant_id, customer_id, unit, day, sum(amount) as amount
		from change
		group by tenant_id, customer_id, unit, day
	), told as (
		select s.tenant_id, s.customer_id, s.unit, coalesce(nullif(s.day, '-infinity'), p.opening_expires_on, 'infinity') as day,
			sum(case s.day when '-infinity' then greatest(0, s.amount) else s.amount end) as amount
		from summed s
		left join loyalty.programme p on p.tenant_id = s.tenant_id and p.unit = s.unit
		group by s.tenant_id, s.customer_id, s.unit, 4
	), judged as (
		select coalesce(l.tenant_id, t.tenant_id) as tenant_id,
			coalesce(l.customer_id, t.customer_id) as id,
			coalesce(l.remaining, 0) <> coalesce(t.amount, 0) as wrong
		from loyalty.lot l
		full join told t on t.customer_id = l.customer_id and t.tenant_id = l.tenant_id and t.unit = l.unit and t.day = l.expires_on
	)` + tally

// waiting are awards of accounts with lots that aren't in them yet.
const waiting = `
		from opened o
		join loyalty.ledger_entry e on e.customer_id = o.customer_id and e.tenant_id = o.tenant_id and e.unit = o.unit and e.seq > o.lots_seq
		where e.amount > 0
			and e.lot_dates is null`

const lotsSQL = opened + `, held as (
		select l.tenant_id, l.customer_id, l.unit, l.remaining as amount
		from loyalty.lot l
		union all
		select o.tenant_id, o.customer_id, o.unit, ` + kept + waiting + `
	), told as (
		select tenant_id, customer_id, unit, sum(amount) as amount
		from held
		group by tenant_id, customer_id, unit
	), judged as (
		select coalesce(o.tenant_id, t.tenant_id) as tenant_id,
			coalesce(o.customer_id, t.customer_id) as id,
			greatest(0, o.balance) is distinct from coalesce(t.amount, 0) or o.customer_id is null as wrong
		from opened o
		full join told t on t.customer_id = o.customer_id and t.tenant_id = o.tenant_id and t.unit = o.unit
	)` + tally

// A run gives every account that it looks at a later next day. While a rule is on hold, nothing ends.
const dayOverSQL = `
	with rule as not materialized (
		select tenant_id, unit, expired_through, expiry = 'inactive' as ends_idle
		from loyalty.programme
		where expired_through >= coalesce(hold_until, '-infinity')
	), judged as (
		select l.tenant_id, l.customer_id as id, l.expires_on <= r.expired_through as wrong
		from loyalty.lot l
		join rule r on r.tenant_id = l.tenant_id and r.unit = l.unit
		union all
		select a.tenant_id, a.customer_id,
			coalesce(least(u.expire_on, case when r.ends_idle then u.idle_on end) <= r.expired_through, false)
		from loyalty.account a
		cross join lateral (values
			('points', a.points_expire_on, a.points_idle_on),
			('stamps', a.stamps_expire_on, a.stamps_idle_on)
		) u (unit, expire_on, idle_on)
		join rule r on r.tenant_id = a.tenant_id and r.unit = u.unit
	)` + tally

// A merge leaves expiries in the duplicate's ledger, and what comes back later is in the kept one's.
const returnedSQL = `
	with gone as (
		select tenant_id, id, merged_into
		from loyalty.customer
		where merged_into is not null
	), judged as (
		select e.tenant_id, coalesce(g.merged_into, e.customer_id) as id, sum(e.amount) > 0 as wrong
		from loyalty.ledger_entry e
		left join gone g on g.id = e.customer_id and g.tenant_id = e.tenant_id
		where e.kind in ('expiry', 'expiry_return')
		group by e.tenant_id, 2, e.unit, e.expires_on, e.lot_dates[1]
	)` + tally

const takenBackSQL = `
	with judged as (
		select r.tenant_id, r.id, e.id is null or e.seq < r.seq or r.amount > -e.amount as wrong
		from loyalty.ledger_entry r
		left join loyalty.ledger_entry e on e.cause = r.cause and e.tenant_id = r.tenant_id and e.customer_id = r.customer_id
			and e.unit = r.unit and e.turn = r.turn and e.kind in ('reversal', 'refund')
		where r.kind = 'expiry_return'
	)` + tally

// Of awards, only those since the account's last settlement count, because a settlement sets the day. An award that went
// to pay a debt may have left an earlier one.
const nextSQL = opened + `, first as (
		select tenant_id, customer_id, unit, expires_on as day
		from loyalty.lot
		where expires_on < 'infinity'
		union all
		select o.tenant_id, o.customer_id, o.unit, e.expires_on` + waiting + `
			and e.balance_after > 0
			and e.expires_on < 'infinity'
	), told as (
		select tenant_id, customer_id, unit, min(day) as day
		from first
		group by tenant_id, customer_id, unit
	), judged as (
		select t.tenant_id, t.customer_id as id, coalesce(u.expire_on > t.day, true) as wrong
		from told t
		left join opened u on u.customer_id = t.customer_id and u.tenant_id = t.tenant_id and u.unit = t.unit
	)` + tally

// A sale moves with a merge, and what its earlier refunds took stays in the duplicate's ledger.
const saleRefundSQL = `
	with due as (
		select r.tenant_id, r.id, t.customer_id, case when r.stamps is null then 'points' else 'stamps' end as unit,
			-coalesce(r.points, r.stamps) as amount, 1 as turn
		from loyalty.refund r
		left join loyalty.transaction t on t.id = r.transaction_id and t.tenant_id = r.tenant_id` + postedAs + `'refund'` + compared

const refundedSQL = `
	with told as (
		select tenant_id, transaction_id, sum(amount_cents) as cents, sum(coalesce(points, 0)) as points, sum(coalesce(stamps, 0)) as stamps
		from loyalty.refund
		group by tenant_id, transaction_id
	), judged as (
		select t.tenant_id, t.id,
			t.refunded_cents <> coalesce(r.cents, 0)
				or t.refunded_cents > t.spend_amount_cents
				or t.refunded_award > coalesce(t.points_awarded, t.stamps_awarded)
				or t.refunded_award <> case t.rule_type when 'points' then coalesce(r.points, 0) else coalesce(r.stamps, 0) end as wrong
		from loyalty.transaction t
		left join told r on r.transaction_id = t.id and r.tenant_id = t.tenant_id
	)` + tally

const sharedSQL = `
	with judged as (
		select id as tenant_id, slug as id, programme::text is distinct from loyalty.programme_of(id)::text as wrong
		from loyalty.tenant
	)` + tally
