package ledger

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// In one order, so that merges never wait for each other in a circle.
const lockPairSQL = `
	select customer_id, points, stamps
	from loyalty.account
	where tenant_id = @tenant_id
		and customer_id = any (@customers::uuid[])
	order by customer_id
	for update`

type lockedAccount struct {
	CustomerID     core.ID
	Points, Stamps int64
}

// LockPair locks the accounts of a duplicate and of the customer who is kept, and returns the duplicate's
// balances.
func LockPair(ctx context.Context, tx *db.Tx, merged, kept core.ID) (Account, error) {
	accounts, err := db.All[lockedAccount](ctx, tx, lockPairSQL, db.Args{"customers": []core.ID{merged, kept}})
	for _, a := range accounts {
		if a.CustomerID == merged {
			return Account{Points: a.Points, Stamps: a.Stamps}, err
		}
	}
	return Account{}, err
}

// The accounts are locked, so the balances are the arguments. A balance of zero has no entry.
const mergeSQL = `
	with moved as (
		select visits, spent_cents, (@points::bigint <> 0)::int + (@stamps::bigint <> 0)::int as entries
		from loyalty.account
		where tenant_id = @tenant_id
			and customer_id = @merged
	), emptied as (
		update loyalty.account
		set points = points - @points,
			stamps = stamps - @stamps,
			visits = 0,
			spent_cents = 0,
			entries = account.entries + moved.entries
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
			entries = account.entries + moved.entries
		from moved
		where tenant_id = @tenant_id
			and customer_id = @kept
		returning customer_id, points, stamps, account.entries, @points::bigint as points_moved, @stamps::bigint as stamps_moved
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
			kind, merge_id, actor_kind, actor_id, actor_name, created_at, seq, balance_after)
		select c.tenant_id, e.id, c.id, e.unit, e.amount,
			'merge', @merge, @actor_kind, @actor_id, @actor_name, @now, e.seq, e.balance
		from change e
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = e.customer_id
		returning 1
	)
	select`

// Merge queues the entries that move a duplicate's balances (from LockPair) to the customer who is kept, and
// moves the duplicate's visits and spend. Both ledgers stay as they are. An overflow of 64 bits fails the
// whole transaction.
func Merge(tx *db.Tx, by core.Actor, merge, merged, kept core.ID, balances Account) error {
	return db.Queue(tx, mergeSQL, db.Args{
		"merge": merge, "merged": merged, "kept": kept, "points": balances.Points, "stamps": balances.Stamps,
		"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
	})
}
