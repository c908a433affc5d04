package walkin

import (
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/reward"
)

const replaceSQL = `
	update loyalty.pin
	set status = 'replaced',
		ended_at = @now
	where tenant_id = @tenant_id
		and issuer = @issuer
		and status = 'open'
	returning id, renewals`

// Uses the first of the random PINs that isn't in use. It returns no row if the issuer, or another one with
// that PIN, was faster.
const issueSQL = `
	insert into loyalty.pin (tenant_id, id, direction, issuer, pin_hash, code_hash, customer_id,
		transaction_type_id, spend_amount_cents, location_id, items, actor_id, actor_name, created_at, expires_at, renewals)
	select @tenant_id, @id, @direction, @issuer, drawn.hash, @code_hash, @customer::uuid,
		@type::bigint, @spend::bigint, @location::bigint, @items::jsonb, @actor_id, @actor_name, @now, @expires_at,
		coalesce((
			select renewals + 1
			from loyalty.pin
			where tenant_id = @tenant_id
				and id = @renews::uuid
				and issuer = @issuer
				and status = 'replaced'
		), 0)
	from unnest(@hashes::bytea[]) with ordinality drawn (hash, place)
	where not exists (
			select
			from loyalty.pin
			where tenant_id = @tenant_id
				and pin_hash = drawn.hash
				and status in ('open', 'taken')
		)
	order by drawn.place
	limit 1
	on conflict do nothing
	returning pin_hash, renewals`

// The next PIN has its number of renewals, and another page that renews the same PIN counts none of them again.
const carriedSQL = `
	update loyalty.pin
	set renewals = 0
	where tenant_id = @tenant_id
		and id = @renews`

// Taking a PIN again gives its taker no more time, and ends no showing, which the first take has logged.
const (
	takeSQL = `
	update loyalty.pin
	set status = 'taken',
		taken_by = @taker,
		taken_at = coalesce(taken_at, @now),
		complete_before = coalesce(complete_before, @complete_before),
		renewals = case when status = 'open' then renewals else 0 end
	where tenant_id = @tenant_id
		and direction = @direction
		and (status = 'open' and expires_at > @now or status = 'taken' and taken_by = @taker and complete_before > @now)`

	takeDigitsSQL = takeSQL + `
		and pin_hash = any (@hashes::bytea[])
		and status in ('open', 'taken')
	returning id, customer_id, complete_before, renewals`

	takeCodeSQL = takeSQL + `
		and code_hash = any (@hashes::bytea[])
	returning id, customer_id, complete_before, renewals`
)

const cancelSQL = `
	update loyalty.pin
	set status = 'cancelled',
		ended_at = @now
	where tenant_id = @tenant_id
		and id = @id
		and issuer = @issuer
		and status in ('open', 'taken')`

// Waits for a PIN that is being completed.
const lockShownSQL = `
	select status, transaction_type_id, spend_amount_cents, location_id, items
	from loyalty.pin
	where tenant_id = @tenant_id
		and id = @id
		and issuer = @issuer
		and direction = 'till'
	for no key update`

const replaceOneSQL = `
	update loyalty.pin
	set status = 'replaced',
		ended_at = @now
	where tenant_id = @tenant_id
		and id = @id
		and status in ('open', 'taken')`

// completedSQL adds the sale once it is recorded, in the same transaction.
const completeSQL = `
	update loyalty.pin
	set status = 'used',
		ended_at = @now
	where tenant_id = @tenant_id
		and id = @id
		and direction = 'card'
		and status = 'taken'
		and taken_by = @taker
		and complete_before > @now
	returning customer_id`

const completedSQL = `
	update loyalty.pin
	set transaction_id = @transaction
	where tenant_id = @tenant_id
		and id = @id`

const stateOfPIN = `
		case
			when p.status = 'used' then 'completed'
			when p.status in ('replaced', 'cancelled') then p.status
			when p.status = 'open' and p.expires_at > @now then 'waiting'
			when p.status = 'taken' and p.complete_before > @now then 'taken'
			else 'expired'
		end`

const progressSQL = `
	select p.id,` + stateOfPIN + ` as state, p.expires_at,
		p.transaction_type_id, p.spend_amount_cents, p.location_id, p.items,
		p.transaction_id, p.customer_id,
		coalesce(c.first_name || ' ' || c.last_name, '') as customer_name,
		coalesce(t.points_awarded, t.stamps_awarded, 0) as award, coalesce(t.rule_type, '') as rule_type
	from loyalty.pin p
	left join loyalty.customer c on p.status = 'used' and c.tenant_id = p.tenant_id and c.id = p.customer_id
	left join loyalty.transaction t on t.tenant_id = p.tenant_id and t.id = p.transaction_id
	where p.tenant_id = @tenant_id
		and p.id = @id
		and p.issuer = @issuer`

const deleteOldPINsSQL = `
	select loyalty.forget_pins(@before, @up_to)`

// A till's sale and its earning rule, for a browser that can claim it.
const (
	selectClaimable = `
	select p.id, p.spend_amount_cents, p.location_id, p.items, l.name as location_name, t.id as type_id, t.rule_type, t.points_per_unit, t.unit_cents,
		t.stamps_per_transaction, t.min_spend_cents, t.max_award, t.excluded_categories, n.earning_version
	from loyalty.pin p
	join loyalty.transaction_type t on t.tenant_id = p.tenant_id and t.id = p.transaction_type_id
	join loyalty.tenant n on n.id = p.tenant_id
	left join loyalty.location l on l.tenant_id = p.tenant_id and l.id = p.location_id
	where p.tenant_id = @tenant_id
		and p.direction = 'till'`

	peekSQL = selectClaimable + `
		and p.code_hash = any (@hashes::bytea[])
		and p.status = 'open'
		and p.expires_at > @now`

	heldSQL = selectClaimable + `
		and p.taken_by = @taker
		and p.status = 'taken'
		and p.complete_before > @now
	order by p.taken_at desc
	limit 1`
)

const claimSQL = `
	update loyalty.pin
	set status = 'used',
		ended_at = @now
	where tenant_id = @tenant_id
		and id = (
			select id
			from loyalty.pin
			where tenant_id = @tenant_id
				and taken_by = @taker
				and direction = 'till'
				and status = 'taken'
				and complete_before > @now
			order by taken_at desc
			limit 1
		)
		and status = 'taken'
	returning id, transaction_type_id, spend_amount_cents, location_id, items, actor_id, actor_name`

const claimedSQL = `
	update loyalty.pin
	set transaction_id = @transaction,
		customer_id = @customer,
		new_customer = @new
	where tenant_id = @tenant_id
		and id = @id`

// The last claim of a browser.
const lastClaimSQL = `
	select t.rule_type, coalesce(t.points_awarded, t.stamps_awarded, 0) as award, t.spend_amount_cents, p.new_customer, p.customer_id
	from loyalty.pin p
	join loyalty.transaction t on t.tenant_id = p.tenant_id and t.id = p.transaction_id
	where p.tenant_id = @tenant_id
		and p.taken_by = @taker
		and p.direction = 'till'
		and p.status = 'used'
		and p.ended_at > @since
	order by p.taken_at desc
	limit 1`

const offeredSQL = `
	select r.id, r.name, r.points_cost, r.stamps_cost, encode(r.picture_hash, 'hex') as picture,
		case when r.stamps_cost is null then r.points_cost <= a.points else r.stamps_cost <= a.stamps end as affordable,
		` + reward.TermColumns + `
	from loyalty.reward r
	join loyalty.account a on a.tenant_id = r.tenant_id and a.customer_id = @customer
	where r.tenant_id = @tenant_id
		and r.active
		and (r.stock is null or r.stock > 0)
		and coalesce(r.ends_on >= @today, true)
	order by r.stamps_cost is null desc, coalesce(r.points_cost, r.stamps_cost), r.id
	limit @limit`

const pendingSQL = `
	select r.id, w.name as reward_name, r.created_at
	from loyalty.redemption r
	join loyalty.reward w on w.tenant_id = r.tenant_id and w.id = r.reward_id
	where r.tenant_id = @tenant_id
		and r.customer_id = @customer
		and r.status = 'pending'
	order by r.id
	limit @limit`

const (
	usableVouchersSQL = coupon.SelectShown + `
		and v.customer_id = @customer
		and v.status = 'pending'
		and (v.expires_at is null or v.expires_at > @now)
		and c.active
		and (c.max_redemptions is null or c.redemptions_count < c.max_redemptions)
	order by v.expires_at nulls last, v.id
	limit @limit`

	usedVouchersSQL = coupon.SelectShown + `
		and v.id = any (array(
			select voucher_id
			from loyalty.checkout_item
			where tenant_id = @tenant_id
				and checkout_id = @id
		))`
)

// Each customer's last sale out of the latest hundred, so that few are read even at a busy till.
const recentSQL = `
	select c.id, c.first_name, c.last_name, served.at
	from (
		select customer_id, max(created_at) as at
		from (
			select customer_id, created_at
			from loyalty.transaction
			where tenant_id = @tenant_id
				and id >= @since
				and status = 'completed'
				and (@location::bigint is null or location_id = @location)
			order by id desc
			limit 100
		) newest
		group by customer_id
	) served
	join loyalty.customer c on c.tenant_id = @tenant_id and c.id = served.customer_id
	where c.status = 'active'
	order by served.at desc, c.id desc
	limit @limit`
