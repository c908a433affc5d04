package ledger

const openSQL = `
	insert into loyalty.account (tenant_id, customer_id)
	values (@tenant_id, @customer)`

// The update locks the account, checks the balance and numbers the entry; the
// insert happens only if the update did.
const postSQL = `
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
		returning points, stamps, entries
	), entry as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, seq, unit, amount, balance_after,
			kind, cause, reason, actor_kind, actor_id, actor_name, created_at)
		select @tenant_id, @id, @customer, entries, @unit, @amount, case @unit when 'points' then points else stamps end,
			@kind, @cause, @reason, @actor_kind, @actor_id, @actor_name, @now
		from moved
	)
	select points, stamps
	from moved`
