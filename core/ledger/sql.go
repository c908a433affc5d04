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
	move = `
	update loyalty.account
	set points = points + case when @unit::text = 'points' then @amount::bigint else 0 end,
		stamps = stamps + case when @unit = 'stamps' then @amount else 0 end,
		entries = entries + 1
	where tenant_id = @tenant_id
		and customer_id = @customer
		and (@amount::bigint > 0
			or @kind::text = 'reversal'
			or case when @unit = 'points' then points else stamps end + @amount >= 0)`

	moveSQL = move + `
	returning points, stamps`

	// A queued statement returns no result, so a balance that was not changed must fail the transaction: then this
	// divides by zero.
	moveOrFailSQL = `
	with moved as (` + move + `
		returning 1
	)
	select 1 / count(*)
	from moved`

	// After the balance was changed, and in the same transaction.
	insertEntrySQL = `
	insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
		kind, cause, turn, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after)
	select a.tenant_id, @id, a.customer_id, @unit, @amount,
		@kind, @cause, @turn, @reason, @actor_kind, @actor_id, @actor_name, @now, a.entries, case when @unit = 'points' then a.points else a.stamps end
	from loyalty.account a
	where a.tenant_id = @tenant_id
		and a.customer_id = @customer`
)

// VisitsCountedSQL has the transaction count visits and spend itself. Without it, triggers do, for an earlier build that
// serves during an upgrade.
const VisitsCountedSQL = `
	select set_config('app.visits_counted', 'yes', true) as set`

const countVisitSQL = `
	update loyalty.account
	set visits = visits + @visits,
		spent_cents = spent_cents + @spend::bigint
	where tenant_id = @tenant_id
		and customer_id = @customer`

// AwardEach awards the sales in "accepted", each of another customer: it changes the customers' accounts, counts their visits and spend, and
// writes an entry for each award. The accounts are locked, and "accepted" has their points, stamps and entries.
const AwardEach = `
	moved as (
		update loyalty.account a
		set points = a.points + case when s.unit = 'points' then s.award else 0 end,
			stamps = a.stamps + case when s.unit = 'stamps' then s.award else 0 end,
			entries = a.entries + case when s.award > 0 then 1 else 0 end,
			visits = a.visits + 1,
			spent_cents = a.spent_cents + s.spend
		from accepted s
		where a.tenant_id = @tenant_id
			and a.customer_id = s.customer_id
	),
	entry as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, cause,
			actor_kind, actor_id, actor_name, created_at, seq, balance_after)
		select tenant_id, entry, customer_id, unit, award, 'earn', id,
			actor_kind, actor_id, actor_name, created_at, entries + 1,
			case when unit = 'points' then points else stamps end + award
		from accepted
		where award > 0
		returning 1
	)`

// AwardOne is AwardEach for a single sale, whose account isn't locked before. A missing account leaves an entry without a
// number, which its column refuses.
const AwardOne = `
	moved as (
		update loyalty.account a
		set points = a.points + case when s.unit = 'points' then s.award else 0 end,
			stamps = a.stamps + case when s.unit = 'stamps' then s.award else 0 end,
			entries = a.entries + case when s.award > 0 then 1 else 0 end,
			visits = a.visits + 1,
			spent_cents = a.spent_cents + s.spend
		from accepted s
		where a.tenant_id = @tenant_id
			and a.customer_id = s.customer_id
		returning a.entries, case when s.unit = 'points' then a.points else a.stamps end as balance
	),
	entry as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, cause,
			actor_kind, actor_id, actor_name, created_at, seq, balance_after)
		select s.tenant_id, s.entry, s.customer_id, s.unit, s.award, 'earn', s.id,
			s.actor_kind, s.actor_id, s.actor_name, s.created_at, m.entries, m.balance
		from accepted s
		left join moved m on true
		where s.award > 0
		returning 1
	)`
