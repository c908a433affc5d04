package coupon

import (
	"time"

	"example.com/loyalty/core"
)

const columns = `id, name, description, benefit_type, benefit_value, benefit_reward_id, max_per_customer,
		max_redemptions, redemptions_count, starts_at, expires_at, voucher_valid_days, active, created_at`

const insertSQL = `
	insert into loyalty.coupon (tenant_id, id, name, description, benefit_type, benefit_value, benefit_reward_id,
		max_per_customer, max_redemptions, starts_at, expires_at, voucher_valid_days, created_at)
	values (@tenant_id, @id, @name, @description, @benefit_type, @benefit_value, @benefit_reward,
		@max_per_customer, @max_redemptions, @starts_at, @expires_at, @voucher_valid_days, @now)
	returning ` + columns

const rewardSQL = `
	select true
	from loyalty.reward
	where tenant_id = @tenant_id
		and id = @reward`

// One that is so already is not touched.
const setActiveSQL = `
	update loyalty.coupon
	set active = @active
	where tenant_id = @tenant_id
		and id = @id
		and active <> @active
	returning ` + columns

// Tills wait for an edit, so that it knows how often the coupon was redeemed; a send
// that is being made does not.
const lockSQL = `
	select ` + columns + `,
		exists (
			select
			from loyalty.coupon_send
			where tenant_id = @tenant_id
				and coupon_id = @id
		) as sent
	from loyalty.coupon
	where tenant_id = @tenant_id
		and id = @id
	for no key update`

// The row of a send refers to the coupon: this waits until one that is being stored is
// committed, and keeps the next one out.
const keepSendsOutSQL = `
	select
	from loyalty.coupon
	where tenant_id = @tenant_id
		and id = @id
	for update`

const (
	update = `
	update loyalty.coupon
	set name = @name,
		description = @description,
		benefit_type = @benefit_type,
		benefit_value = @benefit_value,
		benefit_reward_id = @benefit_reward,
		max_per_customer = @max_per_customer,
		max_redemptions = @max_redemptions,
		starts_at = @starts_at,
		expires_at = @expires_at,
		voucher_valid_days = @voucher_valid_days,
		active = @active
	where tenant_id = @tenant_id
		and id = @id`

	updateSQL = update + `
	returning ` + columns

	updateUnsentSQL = update + `
		and not exists (
			select
			from loyalty.coupon_send
			where tenant_id = @tenant_id
				and coupon_id = @id
		)
	returning ` + columns
)

const findSQL = `
	select ` + columns + `
	from loyalty.coupon
	where tenant_id = @tenant_id
		and id = @id`

const listSQL = `
	select ` + columns + `
	from loyalty.coupon
	where tenant_id = @tenant_id
	order by created_at desc, id desc
	limit @limit`

const listAfterSQL = `
	select ` + columns + `
	from loyalty.coupon
	where tenant_id = @tenant_id
		and (created_at, id) < (@at, @id)
	order by created_at desc, id desc
	limit @limit`

const listBeforeSQL = `
	select ` + columns + `
	from loyalty.coupon
	where tenant_id = @tenant_id
		and (created_at, id) > (@at, @id)
	order by created_at, id
	limit @limit`

// What became of a coupon's vouchers is told by its sends, which are few, and not
// counted from the vouchers, which may be millions.
const (
	countedColumns = `c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
		c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
		c.state, r.name as reward_name, s.sends, s.sent, s.pending, s.redeemed, s.expired`

	withCounts = `
	left join loyalty.reward r on r.tenant_id = @tenant_id and r.id = c.benefit_reward_id
	cross join lateral (
		select count(*) as sends,
			coalesce(sum(sent), 0)::bigint as sent,
			coalesce(sum(sent - redeemed) filter (where expires_at is null or expires_at > @now), 0)::bigint as pending,
			coalesce(sum(redeemed), 0)::bigint as redeemed,
			coalesce(sum(sent - redeemed) filter (where expires_at <= @now), 0)::bigint as expired
		from loyalty.coupon_send
		where tenant_id = @tenant_id
			and coupon_id = c.id
	) s`

	withState = `
	select ` + countedColumns + `
	from (
		select ` + columns + `, state
		from (
			select ` + columns + `,
				case
					when expires_at <= @now then 'expired'
					when not active then 'inactive'
					when starts_at > @now then 'upcoming'
					else 'active'
				end as state
			from loyalty.coupon
			where tenant_id = @tenant_id
		) c`

	inState = withState + `
		where (@state::text is null or state = @state)`

	listCountedSQL = inState + `
		order by created_at desc, id desc
		limit @limit
	) c` + withCounts + `
	order by c.created_at desc, c.id desc`

	listCountedAfterSQL = inState + `
			and (created_at, id) < (@at, @id)
		order by created_at desc, id desc
		limit @limit
	) c` + withCounts + `
	order by c.created_at desc, c.id desc`

	listCountedBeforeSQL = inState + `
			and (created_at, id) > (@at, @id)
		order by created_at, id
		limit @limit
	) c` + withCounts + `
	order by c.created_at, c.id`

	findCountedSQL = withState + `
		where id = @id
	) c` + withCounts
)

const sendColumns = `id, coupon_id, segment, status, matched, sent, skipped_inactive, skipped_limit, created_at, evaluated_at`

const insertSendSQL = `
	insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, customer_ids, form_key,
		actor_kind, actor_id, actor_name, created_at)
	values (@tenant_id, @id, @coupon, @segment, @customers, @form_key, @actor_kind, @actor_id, @actor_name, @now)
	on conflict (tenant_id, form_key) do nothing
	returning ` + sendColumns

const findSendSQL = `
	select ` + sendColumns + `
	from loyalty.coupon_send
	where tenant_id = @tenant_id
		and id = @send`

const findSendByFormSQL = `
	select ` + sendColumns + `
	from loyalty.coupon_send
	where tenant_id = @tenant_id
		and form_key = @form_key`

const sends = `
	select ` + sendColumns + `, redeemed, expires_at, actor_kind, actor_name
	from loyalty.coupon_send
	where tenant_id = @tenant_id
		and coupon_id = @coupon`

const listSendsSQL = sends + `
	order by id desc
	limit @limit`

const listSendsAfterSQL = sends + `
		and id < @id
	order by id desc
	limit @limit`

const listSendsBeforeSQL = sends + `
		and id > @id
	order by id
	limit @limit`

const unknownCustomersSQL = `
	select given.id
	from unnest(@ids::uuid[]) given (id)
	left join loyalty.customer c on c.tenant_id = @tenant_id and c.id = given.id
	where c.id is null
	order by given.id`

// Of the coupon, not of its row: tills go on redeeming meanwhile.
const lockSendsSQL = `
	select pg_advisory_xact_lock(hashtextextended('send ' || coupon_id::text, 8))
	from loyalty.coupon_send
	where tenant_id = @tenant_id
		and id = @send`

type evaluation struct {
	CouponID         core.ID
	Segment          Segment
	Status           SendStatus
	CreatedAt        time.Time
	MaxPerCustomer   int64
	ExpiresAt        *time.Time
	VoucherValidDays *int64
}

// A statement of its own, after the lock: it sees what the last holder committed.
const evaluationSQL = `
	select s.coupon_id, s.segment, s.status, s.created_at, c.max_per_customer, c.expires_at, c.voucher_valid_days
	from loyalty.coupon_send s
	join loyalty.coupon c on c.tenant_id = s.tenant_id and c.id = s.coupon_id
	where s.tenant_id = @tenant_id
		and s.id = @send`

type counts struct {
	Matched, Sent, SkippedInactive, SkippedLimit int64
}

// A segment is evaluated and its vouchers are made by one statement: its members,
// those of them who are active and hold fewer vouchers of the coupon than they may,
// and how many were left out and why.
const (
	withMembers = `
	with member as (
		select c.id, c.status = 'active' as active
		from loyalty.customer c
		where c.tenant_id = @tenant_id
			and `

	makeVouchers = `
	), holding as (
		select customer_id, count(*) as vouchers
		from loyalty.voucher
		where tenant_id = @tenant_id
			and coupon_id = @coupon
		group by customer_id
	), judged as (
		select m.id, m.active, coalesce(h.vouchers, 0) >= @max_per_customer as full_hands
		from member m
		left join holding h on h.customer_id = m.id
	), made as (
		insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, expires_at, created_at)
		select @tenant_id, loyalty.new_ulid(@now), @coupon, @send, id, @expires_at, @now
		from judged
		where active and not full_hands
	)
	select count(*) as matched,
		count(*) filter (where active and not full_hands) as sent,
		count(*) filter (where not active) as skipped_inactive,
		count(*) filter (where active and full_hands) as skipped_limit
	from judged`

	sendToAllSQL = withMembers + `c.status = 'active'
			and c.created_at <= @at` + makeVouchers

	sendToLongStandingSQL = withMembers + `c.created_at < @before` + makeVouchers

	// Ids are made at created_at: the first bound finds them, the second is exact.
	sendToRecentPurchaseSQL = withMembers + `exists (
				select
				from loyalty.transaction t
				where t.tenant_id = @tenant_id
					and t.customer_id = c.id
					and t.id >= @since_id
					and t.created_at between @since and @at
					and t.status = 'completed'
			)` + makeVouchers

	sendToManualSQL = withMembers + `c.id = any (
				select unnest(customer_ids)
				from loyalty.coupon_send
				where tenant_id = @tenant_id
					and id = @send
			)` + makeVouchers
)

var segments = map[Segment]string{
	All: sendToAllSQL, LongStanding: sendToLongStandingSQL, RecentPurchase: sendToRecentPurchaseSQL, Manual: sendToManualSQL,
}

const evaluatedSQL = `
	update loyalty.coupon_send
	set status = 'mailing',
		matched = @matched,
		sent = @sent,
		skipped_inactive = @inactive,
		skipped_limit = @limit,
		expires_at = @expires_at,
		evaluated_at = @now
	where tenant_id = @tenant_id
		and id = @send
	returning ` + sendColumns

// A voucher past its expiry is expired, whatever is stored.
const voucherColumns = `v.id, v.coupon_id, v.customer_id,
		case when v.status = 'pending' and v.expires_at <= @now then 'expired' else v.status end as status,
		c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.expires_at, v.redeemed_at, v.created_at`

const standingSQL = `
	select ` + voucherColumns + `,
		c.active as coupon_active, coalesce(c.redemptions_count >= c.max_redemptions, false) as cap_reached
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	where v.tenant_id = @tenant_id
		and v.id = @id`

// The redemption is counted first: whoever waits for the coupon here sees, when it is
// let go, what became of cap and voucher meanwhile, and touches no row if either is gone.
// The send is counted up last: whoever is here holds the coupon.
const redeemSQL = `
	with c as (
		update loyalty.coupon
		set redemptions_count = redemptions_count + 1
		where tenant_id = @tenant_id
			and id = @coupon
			and active
			and (max_redemptions is null or redemptions_count < max_redemptions)
		returning benefit_type, benefit_value, benefit_reward_id
	), redeemed as (
		update loyalty.voucher v
		set status = 'redeemed',
			redeemed_at = @now,
			redemption_id = @redemption
		from c
		where v.tenant_id = @tenant_id
			and v.id = @id
			and v.status = 'pending'
			and (v.expires_at is null or v.expires_at > @now)
		returning v.send_id, ` + voucherColumns + `
	), counted as (
		update loyalty.coupon_send s
		set redeemed = s.redeemed + 1
		from redeemed
		where s.tenant_id = @tenant_id
			and s.id = redeemed.send_id
	)
	select id, coupon_id, customer_id, status, benefit_type, benefit_value, benefit_reward_id,
		redemption_id, expires_at, redeemed_at, created_at
	from redeemed`

const redeemedVouchers = `
	select v.id, v.coupon_id, v.customer_id, v.status, c.benefit_type, c.benefit_value, c.benefit_reward_id,
		v.redemption_id, v.expires_at, v.redeemed_at, v.created_at, k.first_name || ' ' || k.last_name as customer_name
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
	where v.tenant_id = @tenant_id
		and v.coupon_id = @coupon
		and v.status = 'redeemed'`

const listRedeemedSQL = redeemedVouchers + `
	order by v.redeemed_at desc, v.id desc
	limit @limit`

const listRedeemedAfterSQL = redeemedVouchers + `
		and (v.redeemed_at, v.id) < (@at, @id)
	order by v.redeemed_at desc, v.id desc
	limit @limit`

const listRedeemedBeforeSQL = redeemedVouchers + `
		and (v.redeemed_at, v.id) > (@at, @id)
	order by v.redeemed_at, v.id
	limit @limit`

type holder struct{ ID core.ID }

const customerSQL = `
	select id
	from loyalty.customer
	where tenant_id = @tenant_id
		and id = @customer`

const heldVouchers = `
	select ` + voucherColumns + `, c.name as coupon_name, r.name as reward_name,
		v.status = 'pending' and coalesce(v.expires_at > @now, true) and c.active
			and coalesce(c.redemptions_count < c.max_redemptions, true) as redeemable
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	left join loyalty.reward r on r.tenant_id = c.tenant_id and r.id = c.benefit_reward_id
	where v.tenant_id = @tenant_id
		and v.customer_id = @customer`

const listHeldSQL = heldVouchers + `
	order by v.id desc
	limit @limit`

const listHeldAfterSQL = heldVouchers + `
		and v.id < @id
	order by v.id desc
	limit @limit`

const listHeldBeforeSQL = heldVouchers + `
		and v.id > @id
	order by v.id
	limit @limit`

const sentVouchers = `
	select ` + voucherColumns + `
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	where v.tenant_id = @tenant_id
		and v.send_id = @send`

const listSentSQL = sentVouchers + `
	order by v.id desc
	limit @limit`

const listSentAfterSQL = sentVouchers + `
		and v.id < @id
	order by v.id desc
	limit @limit`

const listSentBeforeSQL = sentVouchers + `
		and v.id > @id
	order by v.id
	limit @limit`

const expireSQL = `
	select loyalty.expire_vouchers(@now, @up_to)`
