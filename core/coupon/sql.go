package coupon

import "example.com/loyalty/core/db"

// The columns of a coupon c.
const columns = `c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
		c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
		c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = @tenant_id and l.id = c.min_level_id) as level_name`

const insertSQL = `
	with c as (
		insert into loyalty.coupon (tenant_id, id, name, description, benefit_type, benefit_value, benefit_reward_id,
			max_per_customer, max_redemptions, starts_at, expires_at, voucher_valid_days, min_level_id, created_at)
		values (@tenant_id, @id, @name, @description, @benefit_type, @benefit_value, @benefit_reward,
			@max_per_customer, @max_redemptions, @starts_at, @expires_at, @voucher_valid_days, @min_level, @now)
		returning *
	)
	select ` + columns + `
	from c`

const rewardSQL = `
	select true
	from loyalty.reward
	where tenant_id = @tenant_id
		and id = @reward`

const setActiveSQL = `
	update loyalty.coupon c
	set active = @active
	where c.tenant_id = @tenant_id
		and c.id = @id
		and c.active <> @active
	returning ` + columns

// Tills wait for an edit, so that it sees all redemptions; a send that is being stored does not.
const lockSQL = `
	select ` + columns + `, ` + wasSent + ` as sent
	from loyalty.coupon c
	where c.tenant_id = @tenant_id
		and c.id = @id
	for no key update`

const wasSent = `exists (
			select
			from loyalty.coupon_send
			where tenant_id = @tenant_id
				and coupon_id = @id
		)`

// A send's row refers to the coupon: this waits for sends that are being stored, and makes later
// ones wait.
const keepSendsOutSQL = `
	select
	from loyalty.coupon
	where tenant_id = @tenant_id
		and id = @id
	for update`

const (
	update = `
	update loyalty.coupon c
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
		min_level_id = @min_level,
		active = @active
	where c.tenant_id = @tenant_id
		and c.id = @id`

	updateSQL = update + `
	returning ` + columns

	updateUnsentSQL = update + `
		and not ` + wasSent + `
	returning ` + columns
)

const findSQL = `
	select ` + columns + `
	from loyalty.coupon c
	where c.tenant_id = @tenant_id
		and c.id = @id`

var newestFirst = db.Descending("created_at, id", "@at, @id")

var couponList = db.NewList(`
	select `+columns+`
	from loyalty.coupon c
	where tenant_id = @tenant_id {position}
	{page}`, newestFirst, nil)

// Vouchers are counted from the sends, which are few, and not one by one: they may be millions.
const (
	withCounts = `
	left join loyalty.reward r on r.tenant_id = @tenant_id and r.id = c.benefit_reward_id
	cross join lateral (
		select count(*) as sends,
			least(coalesce(sum(sent), 0), 9223372036854775807)::bigint as sent,
			least(coalesce(sum(sent - redeemed) filter (where expires_at is null or expires_at > @now), 0), 9223372036854775807)::bigint as pending,
			least(coalesce(sum(redeemed), 0), 9223372036854775807)::bigint as redeemed,
			least(coalesce(sum(sent - redeemed) filter (where expires_at <= @now), 0), 9223372036854775807)::bigint as expired,
			max(expires_at) filter (where expires_at > @now and sent > redeemed) as pending_until,
			coalesce(bool_or(expires_at is null and sent > redeemed), false) as pending_onward
		from loyalty.coupon_send
		where tenant_id = @tenant_id
			and coupon_id = c.id
	) s`

	withState = `
	select ` + columns + `, c.state, r.name as reward_name, s.sends, s.sent, s.pending, s.redeemed, s.expired, s.pending_until, s.pending_onward
	from (
		select *
		from (
			select *,
				case
					when expires_at <= @now then 'expired'
					when not active then 'inactive'
					when starts_at > @now then 'upcoming'
					else 'active'
				end as state
			from loyalty.coupon
			where tenant_id = @tenant_id
		) c`

	findCountedSQL = withState + `
		where id = @id
	) c` + withCounts
)

var countedList = db.NewList(withState+`
		where true {filters} {position}
		{page}
	) c`+withCounts+`
	{page}`, newestFirst, db.Filters{
	"state": "state = @state", "sendable": "(state in ('active', 'upcoming')) = @sendable",
})

// A voucher past its expiry is expired, whatever status is stored.
const voucherColumns = `v.id, v.coupon_id, v.customer_id,
		case when v.status = 'pending' and v.expires_at <= @now then 'expired' else v.status end as status,
		c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at`

// The customer is locked as a redemption's foreign key locks them: a merge at the same time waits, or the
// voucher is found with the customer who is kept, at a second look.
const redeemableSQL = `
	select ` + voucherColumns + `,
		c.name as coupon_name, c.active as coupon_active, coalesce(c.redemptions_count >= c.max_redemptions, false) as cap_reached, c.min_level_id,
		exists (
			select
			from loyalty.transaction t
			where t.tenant_id = @tenant_id
				and t.id = @sale::uuid
				and t.customer_id = v.customer_id
				and t.status = 'completed'
		) as sale_found
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
	where v.tenant_id = @tenant_id
		and v.id = @id
		and k.merged_into is null
	for key share of k`

// The coupon is updated first: a redemption that waits for it sees afterwards whether limit and
// voucher are still available. The send is updated last, while the coupon is locked. A voucher that an undo at the same
// time makes valid again isn't counted until it is redeemed, at another try.
const redeemSQL = `
	with c as (
		update loyalty.coupon
		set redemptions_count = redemptions_count + 1
		where tenant_id = @tenant_id
			and id = @coupon
			and active
			and (max_redemptions is null or redemptions_count < max_redemptions)
			and exists (
				select
				from loyalty.voucher
				where tenant_id = @tenant_id
					and id = @id
					and status = 'pending'
			)
		returning benefit_type, benefit_value, benefit_reward_id
	), redeemed as (
		update loyalty.voucher v
		set status = 'redeemed',
			redeemed_at = @now,
			redemption_id = @redemption,
			transaction_id = @transaction::uuid
		from c
		where v.tenant_id = @tenant_id
			and v.id = @id
			and v.status = 'pending'
			and (v.expires_at is null or v.expires_at > @now)
		returning v.send_id, ` + voucherColumns + `, v.turn
	), counted as (
		update loyalty.coupon_send s
		set redeemed = s.redeemed + 1
		from redeemed
		where s.tenant_id = @tenant_id
			and s.id = redeemed.send_id
	)
	select id, coupon_id, customer_id, status, benefit_type, benefit_value, benefit_reward_id,
		redemption_id, transaction_id, expires_at, redeemed_at, restored_at, created_at, turn
	from redeemed`

var redeemedList = db.NewList(`
	select v.id, v.coupon_id, v.customer_id, v.status, c.benefit_type, c.benefit_value, c.benefit_reward_id,
		v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at, k.first_name || ' ' || k.last_name as customer_name
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
	where v.tenant_id = @tenant_id
		and v.coupon_id = @coupon
		and v.status = 'redeemed' {position}
	{page}`, db.Descending("v.redeemed_at, v.id", "@at, @id"), nil)

const customerSQL = `
	select
	from loyalty.customer
	where tenant_id = @tenant_id
		and id = @customer
		and merged_into is null`

var customerList = db.NewList(`
	select `+voucherColumns+`, c.name as coupon_name, r.name as reward_name,
		v.status = 'pending' and coalesce(v.expires_at > @now, true) and c.active
			and coalesce(c.redemptions_count < c.max_redemptions, true) as redeemable, c.min_level_id
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	left join loyalty.reward r on r.tenant_id = c.tenant_id and r.id = c.benefit_reward_id
	where v.tenant_id = @tenant_id
		and v.customer_id = @customer {position}
	{page}`, newestVoucherFirst, nil)

var sentList = db.NewList(`
	select `+voucherColumns+`, k.first_name || ' ' || k.last_name as customer_name, m.status as mail_status
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
	left join loyalty.voucher_mail m on m.tenant_id = v.tenant_id and m.voucher_id = v.id
	where v.tenant_id = @tenant_id
		and v.send_id = @send {position}
	{page}`, newestVoucherFirst, nil)

// Ids are created at created_at, so they are in order of time.
var newestVoucherFirst = db.Descending("v.id", "@id")

// SelectShown selects vouchers (v) as ShownVoucher; conditions may follow.
const SelectShown = `
	select ` + voucherColumns + `, c.name as coupon_name, c.description, r.name as reward_name,
		k.first_name || ' ' || k.last_name as customer_name, k.link_version + v.link_shift as link_version,
		k.status = 'active' as customer_active, coalesce(k.phone_key, k.email_key) is null as erased,
		c.active as coupon_active, coalesce(c.redemptions_count >= c.max_redemptions, false) as cap_reached,
		coalesce(r.stock = 0, false) as out_of_stock, c.min_level_id,
		coalesce(case c.benefit_type when 'points' then a.points when 'stamps' then a.stamps end::numeric + c.benefit_value > 9223372036854775807, false) as too_large
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
	left join loyalty.account a on a.tenant_id = v.tenant_id and a.customer_id = v.customer_id
	left join loyalty.reward r on r.tenant_id = c.tenant_id and r.id = c.benefit_reward_id
	where v.tenant_id = @tenant_id`

const shownVoucherSQL = SelectShown + `
		and v.id = @id`

const expireSQL = `
	select loyalty.expire_vouchers(@now, @up_to)`

// Read from the index of a coupon's vouchers alone.
const countHoldersSQL = `
	select count(distinct customer_id) as customers, count(*) as vouchers
	from (
		select customer_id
		from loyalty.voucher
		where tenant_id = @tenant_id
			and coupon_id = @id
			and status = 'pending'
			and expires_at > @now
		limit @limit
	) held`
