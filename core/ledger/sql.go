package ledger

const postedSQL = `
	select kind, unit, amount, balance_after, created_at
	from loyalty.ledger_entry
	where tenant_id = @tenant_id
		and cause = @cause
	order by seq`

const openSQL = `
	insert into loyalty.account (tenant_id, customer_id)
	values (@tenant_id, @customer)`

const (
	// The update locks the account, checks the balance and numbers the entry.
	moveBalance = `
	with moved as (
		update loyalty.account
		set points = points + case when @unit::text = 'points' then @amount::bigint else 0 end,
			stamps = stamps + case when @unit = 'stamps' then @amount else 0 end,
			entries = entries + 1
		where tenant_id = @tenant_id
			and customer_id = @customer
			and (@amount::bigint > 0
				or @kind::text = 'reversal'
				or case when @unit = 'points' then points else stamps end + @amount >= 0)
		returning points, stamps, entries, case when @unit = 'points' then points else stamps end as balance
	)`

	insertEntry = `insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
			kind, cause, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after)
		select @tenant_id, @id, @customer, @unit, @amount,
			@kind, @cause, @reason, @actor_kind, @actor_id, @actor_name, @now, `
)

// The entry is inserted only if the balance was changed.
const postSQL = moveBalance + `, entry as (
		` + insertEntry + `entries, balance
		from moved
	)
	select points, stamps
	from moved`

// A queued statement returns no result, so a balance that was not changed must fail the transaction:
// then seq is null, which its column refuses.
const queueSQL = moveBalance + `, entry as (
		` + insertEntry + `(select entries from moved), (select balance from moved)
	)
	select`
