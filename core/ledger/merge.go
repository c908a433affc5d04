package ledger

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

const pairSQL = `
	select a.customer_id, a.points, a.stamps, ` + StandingColumns + `
	from loyalty.account a
	where a.tenant_id = @tenant_id
		and a.customer_id in (@merged, @kept)`

// Pair is the accounts of a duplicate and of the customer who is kept.
type Pair struct{ Merged, Kept Held }

// Held is what an account has.
type Held struct {
	CustomerID core.ID
	Account
	Standing
}

// LockPair locks and settles the accounts of a duplicate and of the customer who is kept, and returns them. Further readings travel with it.
func LockPair(ctx context.Context, tx *db.Tx, by core.Actor, merged, kept core.ID, also ...db.Reading) (p Pair, err error) {
	if err := queueSettlement(tx, by, merged, kept); err != nil {
		return Pair{}, err
	}
	var found []Held
	err = db.Together(ctx, tx, append([]db.Reading{db.AllInto(&found, pairSQL, db.Args{"merged": merged, "kept": kept})}, also...)...)
	for _, h := range found {
		if h.CustomerID == kept {
			p.Kept = h
		} else {
			p.Merged = h
		}
	}
	return p, err
}

// The accounts are locked and settled, so the duplicate's balances are the arguments. A balance of zero has no entry.
//
// The duplicate's lots move. A debt on either side is paid from what ends the soonest.
const mergeSQL = `
	with moved as (
		select visits, spent_cents, points_idle_on, stamps_idle_on, (@points::bigint <> 0)::int + (@stamps::bigint <> 0)::int as entries
		from loyalty.account
		where tenant_id = @tenant_id
			and customer_id = @merged
	), unit as materialized (
		select u.unit, greatest(0, u.balance) + greatest(0, u.moved) - greatest(0, u.balance + u.moved) as debt
		from loyalty.account a
		cross join lateral (values ('points', a.points, @points), ('stamps', a.stamps, @stamps)) u (unit, balance, moved)
		where a.tenant_id = @tenant_id
			and a.customer_id = @kept
	), held as materialized (
		select l.unit, l.expires_on, sum(l.remaining)::bigint as remaining,
			coalesce(sum(l.remaining) filter (where l.customer_id = @kept), 0)::bigint as own
		from loyalty.lot l
		where l.tenant_id = @tenant_id
			and l.customer_id in (@merged, @kept)
		group by l.unit, l.expires_on
	), lot as materialized (
		select h.unit, h.expires_on, h.own, h.remaining - h.own as brought,
			h.remaining - least(h.remaining, greatest(0, u.debt - (sum(h.remaining) over soonest - h.remaining)))::bigint as remaining
		from held h
		join unit u on u.unit = h.unit
		window soonest as (partition by h.unit order by h.expires_on)
	), next as materialized (
		select min(expires_on) filter (where unit = 'points') as points_expire_on, min(expires_on) filter (where unit = 'stamps') as stamps_expire_on
		from lot
		where remaining > 0
			and expires_on < 'infinity'
	), emptied as (
		update loyalty.account
		set points = points - @points,
			stamps = stamps - @stamps,
			visits = 0,
			spent_cents = 0,
			entries = account.entries + moved.entries,
			points_expire_on = null,
			stamps_expire_on = null,
			points_idle_on = null,
			stamps_idle_on = null,
			points_lots_seq = case when points_lots_from is not null then account.entries + moved.entries end,
			stamps_lots_seq = case when stamps_lots_from is not null then account.entries + moved.entries end
		from moved
		where tenant_id = @tenant_id
			and customer_id = @merged
		returning customer_id, points, stamps, account.entries, -@points::bigint as points_moved, -@stamps::bigint as stamps_moved
	), filled as (
		update loyalty.account
		set points = points + @points,
			stamps = stamps + @stamps,
			visits = account.visits + moved.visits,
			spent_cents = account.spent_cents + moved.spent_cents,
			entries = account.entries + moved.entries,
			points_expire_on = next.points_expire_on,
			stamps_expire_on = next.stamps_expire_on,
			points_idle_on = greatest(account.points_idle_on, moved.points_idle_on),
			stamps_idle_on = greatest(account.stamps_idle_on, moved.stamps_idle_on),
			points_lots_seq = case when points_lots_from is not null then account.entries + moved.entries end,
			stamps_lots_seq = case when stamps_lots_from is not null then account.entries + moved.entries end
		from moved
		cross join next
		where tenant_id = @tenant_id
			and customer_id = @kept
		returning customer_id, points, stamps, account.entries, @points::bigint as points_moved, @stamps::bigint as stamps_moved
	), taken as (
		delete from loyalty.lot l
		where l.tenant_id = @tenant_id
			and l.customer_id = @merged
	), spent as (
		delete from loyalty.lot l
		using lot
		where l.tenant_id = @tenant_id
			and l.customer_id = @kept
			and l.unit = lot.unit
			and l.expires_on = lot.expires_on
			and lot.remaining = 0
	), put as (
		insert into loyalty.lot (tenant_id, customer_id, unit, expires_on, remaining)
		select c.tenant_id, c.id, lot.unit, lot.expires_on, lot.remaining
		from lot
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = @kept
		where lot.remaining > 0
			and lot.remaining <> lot.own
		on conflict (tenant_id, customer_id, unit, expires_on) do update
		set remaining = excluded.remaining
	), change as materialized (
		select loyalty.new_ulid(@now) as id, a.customer_id, e.unit, e.amount, e.seq, e.balance
		from (select * from emptied union all select * from filled) a
		cross join lateral (values
			('points', a.points_moved, a.entries - (a.stamps_moved <> 0)::int, a.points),
			('stamps', a.stamps_moved, a.entries, a.stamps)
		) e (unit, amount, seq, balance)
		where e.amount <> 0
	), entry as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
			kind, merge_id, actor_kind, actor_id, actor_name, created_at, seq, balance_after, lot_dates, lot_amounts)
		select c.tenant_id, e.id, c.id, e.unit, e.amount,
			'merge', @merge, @actor_kind, @actor_id, @actor_name, @now, e.seq, e.balance, coalesce(x.dates, '{}'), coalesce(x.amounts, '{}')
		from change e
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = e.customer_id
		cross join lateral (
			select array_agg(l.expires_on order by l.expires_on) as dates, array_agg(l.amount order by l.expires_on) as amounts
			from (
				select lot.expires_on, case when e.customer_id = @kept then lot.remaining - lot.own else -lot.brought end as amount
				from lot
				where lot.unit = e.unit
			) l
			where l.amount <> 0
		) x
		returning 1
	)
	select`

// Merge queues the entries that move a duplicate's balances (from LockPair) to the customer who is kept, and
// moves the duplicate's lots, visits and spend. Both ledgers stay as they are. An overflow of 64 bits fails the
// whole transaction.
func Merge(tx *db.Tx, by core.Actor, merge, merged, kept core.ID, balances Account) error {
	return db.Queue(tx, mergeSQL, db.Args{
		"merge": merge, "merged": merged, "kept": kept, "points": balances.Points, "stamps": balances.Stamps,
		"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
	})
}
