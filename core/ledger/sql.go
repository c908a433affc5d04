package ledger

const openSQL = `
	insert into loyalty.account (tenant_id, customer_id)
	values (@tenant_id, @customer)`

const (
	// The update locks the account, checks the balance and numbers the entry.
	moveBalance = `
	with moved as (
		update loyalty.account
		set points = points + case @unit::text when 'points' then @amount::bigint else 0 end,
			stamps = stamps + case @unit when 'stamps' then @amount else 0 end,
			entries = entries + 1
		where tenant_id = @tenant_id
			and customer_id = @customer
			and (@amount::bigint > 0
				or @kind::text = 'reversal'
				or case @unit when 'points' then points else stamps end + @amount >= 0)
		returning points, stamps, entries, case @unit when 'points' then points else stamps end as balance
	)`

	insertEntry = `insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
			kind, cause, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after)
		select @tenant_id, @id, @customer, @unit, @amount,
			@kind, @cause, @reason, @actor_kind, @actor_id, @actor_name, @now, `
)

// The entry is inserted only if the balance was moved.
const postSQL = moveBalance + `, entry as (
		` + insertEntry + `entries, balance
		from moved
	)
	select points, stamps
	from moved`

// Nobody waits for an answer, so a balance that was not moved must refuse the whole
// transaction: seq is null then, which no entry may have.
const queueSQL = moveBalance + `
		` + insertEntry + `(select entries from moved), (select balance from moved)`
