package coupon

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
)

// The columns of a coupon c.
const columns = `c.id, c.name, c.description, c.benefit_type, c.benefit_value, c.benefit_reward_id, c.max_per_customer,
		c.max_redemptions, c.redemptions_count, c.starts_at, c.expires_at, c.voucher_valid_days, c.active, c.created_at,
		c.min_level_id, (select l.name from loyalty.level l where l.tenant_id = @tenant_id and l.id = c.min_level_id) as level_name`

const insertSQL = `
	insert into loyalty.coupon as c (tenant_id, id, name, description, benefit_type, benefit_value, benefit_reward_id,
		max_per_customer, max_redemptions, starts_at, expires_at, voucher_valid_days, min_level_id, created_at)
	values (@tenant_id, @id, @name, @description, @benefit_type, @benefit_value, @benefit_reward,
		@max_per_customer, @max_redemptions, @starts_at, @expires_at, @voucher_valid_days, @min_level, @now)
	returning ` + columns

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

// The columns of a send s.
const sendColumns = `s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = @tenant_id and c.id = s.coupon_id) as coupon_name,
		s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
		s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure`

// An audience has those who are in it when the send is stored, however many: they are named by the database.
const (
	insertSendSQL       = insertSend + `@customers, null` + ofForm
	insertLapsedSendSQL = insertSend + ofAudienceNow + daily.HasLapsed + `), @audience` + ofForm
	insertGroupSendSQL  = insertSend + ofAudienceNow + daily.InGroup + `), @audience` + ofForm

	insertSend = `
	with s as (
		insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, send_at, subject, message,
			actor_kind, actor_id, actor_name, created_at, customer_ids, audience)
		values (@tenant_id, @id, @coupon, @segment, @form_key, @send_at, @subject, @message,
			@actor_kind, @actor_id, @actor_name, @now, `

	ofAudienceNow = `array(
			select c.id
			from loyalty.customer c
			where c.tenant_id = @tenant_id
				and c.merged_into is null
				and `

	ofForm = `)
		on conflict (tenant_id, form_key) do nothing
		returning *
	)
	select ` + sendColumns + `
	from s`
)

const selectSend = `
	select ` + sendColumns + `
	from loyalty.coupon_send s
	where s.tenant_id = @tenant_id`

const findSendSQL = selectSend + `
		and s.id = @send`

const findSendByFormSQL = selectSend + `
		and s.form_key = @form_key`

const cancelSendSQL = haltSend + `
		and s.begun_at is null
	returning ` + sendColumns

const beginSendSQL = `
	update loyalty.coupon_send
	set begun_at = coalesce(begun_at, @now)
	where tenant_id = @tenant_id
		and id = @send
		and status = 'waiting'
		and held_at is null`

// One that had begun can be cancelled again: its job has ended without vouchers.
const holdSendSQL = `
	update loyalty.coupon_send s
	set held_at = @now,
		begun_at = case when s.status = 'mailing' then s.begun_at end
	where s.tenant_id = @tenant_id
		and s.id = @send
		and s.status in ('waiting', 'mailing')
		and s.held_at is null
	returning ` + sendColumns

// The segment and the vouchers' expiry are those of the time at which it goes on.
const continueSendSQL = `
	update loyalty.coupon_send s
	set held_at = null,
		send_at = case when s.status = 'waiting' then greatest(s.send_at, @now) else s.send_at end
	where s.tenant_id = @tenant_id
		and s.id = @send
		and s.status in ('waiting', 'mailing')
		and s.held_at is not null
	returning ` + sendColumns

const failSendSQL = `
	update loyalty.coupon_send s
	set status = 'failed',
		failure = @failure,
		ended_at = @now
	where s.tenant_id = @tenant_id
		and s.id = @send
	returning ` + detailColumns

const detailColumns = sendColumns + `, s.redeemed, s.expires_at, s.actor_kind, s.actor_id, s.actor_name`

const selectDetail = `
	select ` + detailColumns + `
	from loyalty.coupon_send s
	where s.tenant_id = @tenant_id`

const findDetailSQL = selectDetail + `
		and s.id = @send`

var sendList = db.NewList(selectDetail+`
		and s.coupon_id = @coupon {position}
	{page}`, db.Descending("s.id", "@id"), nil)

const unknownCustomersSQL = `
	select given.id
	from unnest(@ids::uuid[]) given (id)
	left join loyalty.customer c on c.tenant_id = @tenant_id and c.id = given.id and c.merged_into is null
	where c.id is null
	order by given.id`

// An advisory lock, and not one of the coupon's row, which tills need to redeem.
const lockSendsSQL = `
	select pg_advisory_xact_lock(hashtextextended('send ' || coupon_id::text, 8))
	from loyalty.coupon_send
	where tenant_id = @tenant_id
		and id = @send`

// evaluation is a send to evaluate, and its coupon.
type evaluation struct {
	Coupon
	Segment     Segment
	CustomerIDs []core.ID // of a manual segment
	Status      SendStatus
	SendAt      time.Time
	HeldAt      *time.Time
}

// A separate statement after the lock: it sees what the previous holder committed.
const evaluationSQL = `
	select ` + columns + `, s.segment, s.customer_ids, s.status, s.send_at, s.held_at
	from loyalty.coupon_send s
	join loyalty.coupon c on c.tenant_id = s.tenant_id and c.id = s.coupon_id
	where s.tenant_id = @tenant_id
		and s.id = @send`

// Counting a segment and creating its vouchers share the text that decides which members get one. A
// preview is a send without the inserts.
const (
	withMembers = `
	with member as (
		select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
		from loyalty.customer c
		where c.tenant_id = @tenant_id
			and c.merged_into is null
			and `

	ofAll          = `c.status = 'active' and c.created_at <= @at`
	ofLongStanding = `c.created_at < @before`

	// Ids are created at created_at: the bound of ids uses an index, that of times is exact.
	ofRecentPurchase = `c.id in (
				select t.customer_id
				from loyalty.transaction t
				where t.tenant_id = @tenant_id
					and t.id >= @since_id
					and t.created_at between @since and @at
					and t.status = 'completed'
			)`

	// A customer who was merged after the send was confirmed is the one who was kept.
	// An array, so that the index is used.
	ofManual = `c.id = any (array(
				select coalesce(g.merged_into, g.id)
				from loyalty.customer g
				where g.tenant_id = @tenant_id
					and g.id = any (@customers::uuid[])
			))`

	judged = `
	), holding as (
		select customer_id, count(*) as vouchers
		from loyalty.voucher
		where tenant_id = @tenant_id
			and coupon_id = @coupon
		group by customer_id
	), judged as (
		select m.id, m.active, m.has_email, m.unsubscribed, coalesce(h.vouchers, 0) >= @max_per_customer as limit_reached
		from member m
		left join holding h on h.customer_id = m.id
	)`

	countJudged = `
	select count(*) as matched,
		count(*) filter (where active and not limit_reached) as sent,
		count(*) filter (where not active) as skipped_inactive,
		count(*) filter (where active and limit_reached) as skipped_limit,
		count(*) filter (where active and not limit_reached and not has_email) as no_email,
		count(*) filter (where active and not limit_reached and has_email and unsubscribed) as unsubscribed
	from judged`

	// Because this joins the coupon, a distributed database inserts on the tenant's node and needs no other.
	createVouchers = judged + `, recipient as materialized (
		select loyalty.new_ulid(@now) as voucher_id, id as customer_id, has_email and not unsubscribed as mailed
		from judged
		where active and not limit_reached
	), created as (
		insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, expires_at, created_at)
		select c.tenant_id, voucher_id, c.id, @send, customer_id, @expires_at, @now
		from recipient
		join loyalty.coupon c on c.tenant_id = @tenant_id and c.id = @coupon
		returning 1
	), queued as (
		insert into loyalty.voucher_mail (tenant_id, voucher_id, send_id, due_at)
		select c.tenant_id, voucher_id, @send, @now
		from recipient
		join loyalty.coupon c on c.tenant_id = @tenant_id and c.id = @coupon
		where mailed
		returning 1
	)` + countJudged

	// A level that ended before today counts as lost, also if the job of the day is going to keep it.
	countAtLevel = `
	select case when exists (
			select
			from loyalty.level_programme
			where tenant_id = @tenant_id
				and active
		) then count(*) end as customers
	from judged j
	join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = j.id
	where j.active
		and not j.limit_reached
		and coalesce(a.level_until >= @today, true)
		and a.level_id in (
			select higher.id
			from loyalty.level least
			join loyalty.level higher on higher.tenant_id = @tenant_id and higher.rank >= least.rank
			where least.tenant_id = @tenant_id
				and least.id = @level
		)`

	previewAllSQL            = withMembers + ofAll + judged + countJudged
	previewLongStandingSQL   = withMembers + ofLongStanding + judged + countJudged
	previewRecentPurchaseSQL = withMembers + ofRecentPurchase + judged + countJudged
	previewManualSQL         = withMembers + ofManual + judged + countJudged
	previewLapsedSQL         = withMembers + daily.HasLapsed + judged + countJudged
	previewGroupSQL          = withMembers + daily.InGroup + judged + countJudged

	levelOfAllSQL            = withMembers + ofAll + judged + countAtLevel
	levelOfLongStandingSQL   = withMembers + ofLongStanding + judged + countAtLevel
	levelOfRecentPurchaseSQL = withMembers + ofRecentPurchase + judged + countAtLevel
	levelOfManualSQL         = withMembers + ofManual + judged + countAtLevel
	levelOfLapsedSQL         = withMembers + daily.HasLapsed + judged + countAtLevel
	levelOfGroupSQL          = withMembers + daily.InGroup + judged + countAtLevel

	sendToAllSQL            = withMembers + ofAll + createVouchers
	sendToLongStandingSQL   = withMembers + ofLongStanding + createVouchers
	sendToRecentPurchaseSQL = withMembers + ofRecentPurchase + createVouchers
	sendToManualSQL         = withMembers + ofManual + createVouchers

	audiencesSQL = `
	select count(*) filter (where ` + ofAll + `) as "all",
		count(*) filter (where ` + ofLongStanding + `) as long_standing,
		count(*) filter (where recent.customer_id is not null) as recent_purchase
	from loyalty.customer c
	left join (
		select distinct t.customer_id
		from loyalty.transaction t
		where t.tenant_id = @tenant_id
			and t.id >= @since_id
			and t.created_at between @since and @at
			and t.status = 'completed'
	) recent on recent.customer_id = c.id
	where c.tenant_id = @tenant_id
		and c.merged_into is null`
)

var (
	previews = map[Segment]string{
		All: previewAllSQL, LongStanding: previewLongStandingSQL, RecentPurchase: previewRecentPurchaseSQL, Manual: previewManualSQL,
	}
	atLevel = map[Segment]string{
		All: levelOfAllSQL, LongStanding: levelOfLongStandingSQL, RecentPurchase: levelOfRecentPurchaseSQL, Manual: levelOfManualSQL,
	}
	creations = map[Segment]string{
		All: sendToAllSQL, LongStanding: sendToLongStandingSQL, RecentPurchase: sendToRecentPurchaseSQL, Manual: sendToManualSQL,
	}
)

const evaluatedSQL = `
	update loyalty.coupon_send s
	set status = case when @mails::bigint > 0 then 'mailing' else 'done' end,
		matched = @matched,
		sent = @sent,
		skipped_inactive = @inactive,
		skipped_limit = @limit,
		no_email = @no_email,
		unsubscribed = @unsubscribed,
		mails = @mails,
		expires_at = @expires_at,
		begun_at = coalesce(begun_at, @now),
		evaluated_at = @now,
		ended_at = case when @mails::bigint > 0 then null else @now::timestamptz end
	where s.tenant_id = @tenant_id
		and s.id = @send
		and s.status = 'waiting'
	returning ` + sendColumns

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
