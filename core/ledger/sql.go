package ledger

const postedSQL = `
	select kind, unit, amount, balance_after, created_at
	from loyalty.ledger_entry
	where tenant_id = @tenant_id
		and cause = @cause
	order by seq`

// In the order of time: a merge may have given the later entries to another customer.
const postedOfSaleSQL = `
	select kind, unit, amount, balance_after, created_at
	from loyalty.ledger_entry
	where tenant_id = @tenant_id
		and cause = any (array(
			select @sale::uuid
			union all
			select id
			from loyalty.refund
			where tenant_id = @tenant_id
				and transaction_id = @sale
		))
	order by created_at, seq`

const openSQL = `
	insert into loyalty.account (tenant_id, customer_id)
	values (@tenant_id, @customer)`

// An award is in the lot of its last day from the next settlement on (settleSQL). One that only pays a debt is in no lot.
const (
	award = `
	with moved as (
		update loyalty.account
		set points = points + case when @unit::text = 'points' then @amount::bigint else 0 end,
			stamps = stamps + case when @unit = 'stamps' then @amount else 0 end,
			entries = entries + 1,
			points_expire_on = case when @unit = 'points' and points + @amount > 0 then least(points_expire_on, nullif(@expires_on::date, 'infinity')) else points_expire_on end,
			stamps_expire_on = case when @unit = 'stamps' and stamps + @amount > 0 then least(stamps_expire_on, nullif(@expires_on::date, 'infinity')) else stamps_expire_on end,
			points_idle_on = greatest(points_idle_on, @points_idle_on::date),
			stamps_idle_on = greatest(stamps_idle_on, @stamps_idle_on::date)
		where tenant_id = @tenant_id
			and customer_id = @customer
		returning tenant_id, customer_id, entries, points, stamps
	), entry as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
			kind, cause, turn, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
		select c.tenant_id, @id, c.id, @unit, @amount,
			@kind, @cause, @turn, @reason, @actor_kind, @actor_id, @actor_name, @now, m.entries, case when @unit = 'points' then m.points else m.stamps end, @expires_on
		from moved m
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = m.customer_id
	)`

	awardSQL = award + returnMoved

	awardOrFailSQL = award + failUnmoved
)

const (
	returnMoved = `
	select points, stamps
	from moved`

	// A queued statement returns no result, so a balance that was not changed must fail the transaction: then this
	// divides by zero.
	failUnmoved = `
	select 1 / count(*)
	from moved`
)

// dayOfAward is the day of the lot to which the entry e of an award added. One from before there were lots is in the first.
const dayOfAward = `coalesce(e.expires_on, (
					select p.opening_expires_on
					from loyalty.account f
					join loyalty.programme p on p.tenant_id = f.tenant_id and p.unit = e.unit
					where f.tenant_id = @tenant_id
						and f.customer_id = e.customer_id
						and e.seq <= coalesce(case when e.unit = 'points' then f.points_lots_from else f.stamps_lots_from end, e.seq)
				), 'infinity')`

// A deduction, from an account that is locked and settled. It takes from the lot of the award that it reverses first, then
// from the one that ends the soonest.
const (
	deduct = `
	with part as materialized (
		select l.expires_on, l.remaining,
			least(l.remaining, greatest(0, -@amount::bigint - (sum(l.remaining) over soonest - l.remaining)))::bigint as taken
		from loyalty.lot l
		where l.tenant_id = @tenant_id
			and l.customer_id = @customer
			and l.unit = @unit::text
		window soonest as (
			order by l.expires_on is distinct from (
				select ` + dayOfAward + `
				from loyalty.ledger_entry e
				where e.tenant_id = @tenant_id
					and e.cause = @award::uuid
					and e.kind in ('earn', 'voucher')
					and e.turn = @turn
			), l.expires_on
		)
	), moved as (
		update loyalty.account
		set points = points + case when @unit = 'points' then @amount else 0 end,
			stamps = stamps + case when @unit = 'stamps' then @amount else 0 end,
			entries = entries + 1,
			points_lots_seq = case when @unit = 'points' and points_lots_from is not null then entries + 1 else points_lots_seq end,
			stamps_lots_seq = case when @unit = 'stamps' and stamps_lots_from is not null then entries + 1 else stamps_lots_seq end,
			points_expire_on = case when @unit = 'points' and points_lots_from is not null then next.expires_on else points_expire_on end,
			stamps_expire_on = case when @unit = 'stamps' and stamps_lots_from is not null then next.expires_on else stamps_expire_on end,
			points_idle_on = greatest(points_idle_on, @points_idle_on::date),
			stamps_idle_on = greatest(stamps_idle_on, @stamps_idle_on::date)
		from (select min(expires_on) as expires_on from part where remaining > taken and expires_on < 'infinity') next
		where tenant_id = @tenant_id
			and customer_id = @customer
			and (@kind::text in ('reversal', 'refund') or case when @unit = 'points' then points else stamps end + @amount >= 0)
		returning tenant_id, customer_id, entries, points, stamps
	), emptied as (
		delete from loyalty.lot l
		using part p, moved m
		where l.tenant_id = @tenant_id
			and l.customer_id = @customer
			and l.unit = @unit
			and l.expires_on = p.expires_on
			and p.taken = p.remaining
	), lessened as (
		update loyalty.lot l
		set remaining = l.remaining - p.taken
		from part p, moved m
		where l.tenant_id = @tenant_id
			and l.customer_id = @customer
			and l.unit = @unit
			and l.expires_on = p.expires_on
			and p.taken > 0
			and p.taken < p.remaining
	), taken as (
		select coalesce(array_agg(expires_on order by expires_on), '{}') as dates, coalesce(array_agg(-taken order by expires_on), '{}') as amounts
		from part
		where taken > 0
	), entry as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
			kind, cause, turn, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after, lot_dates, lot_amounts)
		select c.tenant_id, @id, c.id, @unit, @amount,
			@kind, @cause, @turn, @reason, @actor_kind, @actor_id, @actor_name, @now, m.entries, case when @unit = 'points' then m.points else m.stamps end,
			t.dates, t.amounts
		from moved m
		join loyalty.customer c on c.tenant_id = @tenant_id and c.id = m.customer_id
		cross join taken t
	)`

	deductSQL = deduct + returnMoved

	deductOrFailSQL = deduct + failUnmoved
)

// VisitsCountedSQL has the transaction count visits and spend itself. Without it, triggers do, for an earlier build that
// serves during an upgrade.
const VisitsCountedSQL = `
	select set_config('app.visits_counted', 'yes', true) as set`

const (
	countVisitSQL = countVisit + ofCustomer

	countKnownSQL = countVisit + `,
		` + setStanding + ofCustomer

	countVisit = `
	update loyalty.account
	set visits = visits + @visits,
		spent_cents = spent_cents + @spend::bigint,
		points_idle_on = greatest(points_idle_on, @points_idle_on::date),
		stamps_idle_on = greatest(stamps_idle_on, @stamps_idle_on::date)`

	ofCustomer = `
	where tenant_id = @tenant_id
		and customer_id = @customer`
)

// moveBalance changes an account a by the sale s that it earned from: its award, its visit and its spend, and what ends when.
const moveBalance = `
		set points = a.points + case when s.unit = 'points' then s.award else 0 end,
			stamps = a.stamps + case when s.unit = 'stamps' then s.award else 0 end,
			entries = a.entries + case when s.award > 0 then 1 else 0 end,
			visits = a.visits + 1,
			spent_cents = a.spent_cents + s.spend,
			points_expire_on = case when s.unit = 'points' and s.award > 0 and a.points + s.award > 0 then least(a.points_expire_on, s.expires_on) else a.points_expire_on end,
			stamps_expire_on = case when s.unit = 'stamps' and s.award > 0 and a.stamps + s.award > 0 then least(a.stamps_expire_on, s.expires_on) else a.stamps_expire_on end,
			points_idle_on = greatest(a.points_idle_on, s.points_idle_on),
			stamps_idle_on = greatest(a.stamps_idle_on, s.stamps_idle_on)`

// keepStanding gives an account the standing k that its sale has made.
const keepStanding = `,
			` + keptColumns

const keptColumns = `earned_on = k.earned_on,
			earned_points = k.earned_points,
			earned_stamps = k.earned_stamps,
			level_year = k.level_year,
			level_sum = k.level_sum,
			level_sum_before = k.level_sum_before,
			level_id = k.level_id,
			level_until = k.level_until,
			level_by = k.level_by`

const keptRecord = `earned_on date, earned_points bigint, earned_stamps bigint,
			level_year int, level_sum bigint, level_sum_before bigint, level_id bigint, level_until date, level_by text`

// AwardEachKnown is AwardEach for accounts whose standing changes, too. The argument "standings" has it as JSON, by the sale's place.
const AwardEachKnown = `
	moved as (
		update loyalty.account a` + moveBalance + keepStanding + `
		from accepted s
		join jsonb_to_recordset(@standings::jsonb) k (place bigint, ` + keptRecord + `) on k.place = s.place
		where a.tenant_id = @tenant_id
			and a.customer_id = s.customer_id
	),` + entryEach

// AwardEach awards the sales in "accepted", each of another customer: it changes the customers' accounts, counts their visits and spend, and
// writes an entry for each award. The accounts are locked, and "accepted" has their points, stamps and entries.
const AwardEach = `
	moved as (
		update loyalty.account a` + moveBalance + `
		from accepted s
		where a.tenant_id = @tenant_id
			and a.customer_id = s.customer_id
	),` + entryEach

const entryEach = `
	entry as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, cause,
			actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
		select tenant_id, entry, customer_id, unit, award, 'earn', id,
			actor_kind, actor_id, actor_name, created_at, entries + 1,
			case when unit = 'points' then points else stamps end + award, expires_on
		from accepted
		where award > 0
		returning 1
	)`

// AwardOne is AwardEach for a single sale, whose account isn't locked before. A missing account leaves an entry without a
// number, which its column refuses.
const AwardOne = `
	moved as (
		update loyalty.account a` + moveBalance + `
		from accepted s
		where a.tenant_id = @tenant_id
			and a.customer_id = s.customer_id
		returning a.entries, case when s.unit = 'points' then a.points else a.stamps end as balance
	),
	entry as (
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, cause,
			actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
		select s.tenant_id, s.entry, s.customer_id, s.unit, s.award, 'earn', s.id,
			s.actor_kind, s.actor_id, s.actor_name, s.created_at, m.entries, m.balance, s.expires_on
		from accepted s
		left join moved m on true
		where s.award > 0
		returning 1
	)`
