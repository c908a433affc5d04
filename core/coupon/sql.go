package coupon

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
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

var newestFirst = db.Descending("created_at, id", "@at, @id")

var couponList = db.NewList(`
	select `+columns+`
	from loyalty.coupon
	where tenant_id = @tenant_id {position}
	{page}`, newestFirst, nil)

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
			least(coalesce(sum(sent), 0), 9223372036854775807)::bigint as sent,
			least(coalesce(sum(sent - redeemed) filter (where expires_at is null or expires_at > @now), 0), 9223372036854775807)::bigint as pending,
			least(coalesce(sum(redeemed), 0), 9223372036854775807)::bigint as redeemed,
			least(coalesce(sum(sent - redeemed) filter (where expires_at <= @now), 0), 9223372036854775807)::bigint as expired
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

	findCountedSQL = withState + `
		where id = @id
	) c` + withCounts
)

var countedList = db.NewList(withState+`
		where true {filters} {position}
		{page}
	) c`+withCounts+`
	{page}`, newestFirst, db.Filters{"state": "state = @state"})

const sendColumns = `id, coupon_id,
		(select c.name from loyalty.coupon c where c.tenant_id = @tenant_id and c.id = coupon_id) as coupon_name, segment, status, subject, message, matched, sent, skipped_inactive, skipped_limit,
		no_email, unsubscribed, mails, delivered, failed, send_at, created_at, begun_at, evaluated_at, ended_at, failure`

const insertSendSQL = `
	insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, customer_ids, form_key, send_at, subject, message,
		actor_kind, actor_id, actor_name, created_at)
	values (@tenant_id, @id, @coupon, @segment, @customers, @form_key, @send_at, @subject, @message,
		@actor_kind, @actor_id, @actor_name, @now)
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

const cancelSendSQL = `
	update loyalty.coupon_send
	set status = 'cancelled',
		ended_at = @now
	where tenant_id = @tenant_id
		and id = @send
		and status = 'waiting'
		and begun_at is null
	returning ` + sendColumns

const beginSendSQL = `
	update loyalty.coupon_send
	set begun_at = coalesce(begun_at, @now)
	where tenant_id = @tenant_id
		and id = @send
		and status = 'waiting'`

const failSendSQL = `
	update loyalty.coupon_send s
	set status = 'failed',
		failure = @failure,
		ended_at = @now
	from loyalty.coupon c
	where s.tenant_id = @tenant_id
		and s.id = @send
		and c.tenant_id = s.tenant_id
		and c.id = s.coupon_id
	returning ` + detailColumns

const (
	detailed = `
	select s.id, s.coupon_id, s.segment, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
		s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at,
		s.failure, s.redeemed, s.expires_at, s.actor_kind, s.actor_name, c.name as coupon_name
	from loyalty.coupon_send s
	join loyalty.coupon c on c.tenant_id = s.tenant_id and c.id = s.coupon_id
	where s.tenant_id = @tenant_id`

	findDetailSQL = detailed + `
		and s.id = @send`
)

var sendList = db.NewList(detailed+`
		and s.coupon_id = @coupon {position}
	{page}`, db.Descending("s.id", "@id"), nil)

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
	CustomerIDs      []core.ID // of a manual segment
	Status           SendStatus
	SendAt           time.Time
	MaxPerCustomer   int64
	Active           bool
	StartsAt         *time.Time
	ExpiresAt        *time.Time
	VoucherValidDays *int64
}

// A statement of its own, after the lock: it sees what the last holder committed.
const evaluationSQL = `
	select s.coupon_id, s.segment, s.customer_ids, s.status, s.send_at, c.max_per_customer, c.active, c.starts_at, c.expires_at,
		c.voucher_valid_days
	from loyalty.coupon_send s
	join loyalty.coupon c on c.tenant_id = s.tenant_id and c.id = s.coupon_id
	where s.tenant_id = @tenant_id
		and s.id = @send`

type counts struct {
	Matched, Sent, SkippedInactive, SkippedLimit, NoEmail, Unsubscribed int64
}

// Mails is how many of the vouchers are mailed.
func (c counts) Mails() int64 { return c.Sent - c.NoEmail - c.Unsubscribed }

// A segment is counted, and its vouchers are created, by the same text: its members, those
// of them who are active and hold fewer vouchers of the coupon than they may, and how many
// are skipped and why. A preview is that without the insert.
const (
	withMembers = `
	with member as (
		select c.id, c.status = 'active' as active, c.email is not null as has_email, c.unsubscribed_at is not null as unsubscribed
		from loyalty.customer c
		where c.tenant_id = @tenant_id
			and `

	ofAll          = `c.status = 'active' and c.created_at <= @at`
	ofLongStanding = `c.created_at < @before`

	// Ids are made at created_at: the first bound finds them, the second is exact.
	ofRecentPurchase = `c.id in (
				select t.customer_id
				from loyalty.transaction t
				where t.tenant_id = @tenant_id
					and t.id >= @since_id
					and t.created_at between @since and @at
					and t.status = 'completed'
			)`

	ofManual = `c.id = any (@customers::uuid[])`

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

	createVouchers = judged + `, recipient as materialized (
		select loyalty.new_ulid(@now) as voucher_id, id as customer_id, has_email and not unsubscribed as mailed
		from judged
		where active and not limit_reached
	), created as (
		insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, expires_at, created_at)
		select @tenant_id, voucher_id, @coupon, @send, customer_id, @expires_at, @now
		from recipient
	), queued as (
		insert into loyalty.voucher_mail (tenant_id, voucher_id, send_id, due_at)
		select @tenant_id, voucher_id, @send, @now
		from recipient
		where mailed
	)` + countJudged

	previewAllSQL            = withMembers + ofAll + judged + countJudged
	previewLongStandingSQL   = withMembers + ofLongStanding + judged + countJudged
	previewRecentPurchaseSQL = withMembers + ofRecentPurchase + judged + countJudged
	previewManualSQL         = withMembers + ofManual + judged + countJudged

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
	where c.tenant_id = @tenant_id`
)

var (
	previews = map[Segment]string{
		All: previewAllSQL, LongStanding: previewLongStandingSQL, RecentPurchase: previewRecentPurchaseSQL, Manual: previewManualSQL,
	}
	creations = map[Segment]string{
		All: sendToAllSQL, LongStanding: sendToLongStandingSQL, RecentPurchase: sendToRecentPurchaseSQL, Manual: sendToManualSQL,
	}
)

const evaluatedSQL = `
	update loyalty.coupon_send
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
	where tenant_id = @tenant_id
		and id = @send
	returning ` + sendColumns

// A voucher past its expiry is expired, whatever is stored.
const voucherColumns = `v.id, v.coupon_id, v.customer_id,
		case when v.status = 'pending' and v.expires_at <= @now then 'expired' else v.status end as status,
		c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.expires_at, v.redeemed_at, v.created_at`

const standingSQL = `
	select ` + voucherColumns + `,
		c.name as coupon_name, c.active as coupon_active, coalesce(c.redemptions_count >= c.max_redemptions, false) as cap_reached
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

var redeemedList = db.NewList(`
	select v.id, v.coupon_id, v.customer_id, v.status, c.benefit_type, c.benefit_value, c.benefit_reward_id,
		v.redemption_id, v.expires_at, v.redeemed_at, v.created_at, k.first_name || ' ' || k.last_name as customer_name
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
		and id = @customer`

var heldList = db.NewList(`
	select `+voucherColumns+`, c.name as coupon_name, r.name as reward_name,
		v.status = 'pending' and coalesce(v.expires_at > @now, true) and c.active
			and coalesce(c.redemptions_count < c.max_redemptions, true) as redeemable
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	left join loyalty.reward r on r.tenant_id = c.tenant_id and r.id = c.benefit_reward_id
	where v.tenant_id = @tenant_id
		and v.customer_id = @customer {position}
	{page}`, newestVoucherFirst, nil)

var sentList = db.NewList(`
	select `+voucherColumns+`, k.first_name || ' ' || k.last_name as customer_name, m.status as mail_status, m.done_at as mailed_at
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
	left join loyalty.voucher_mail m on m.tenant_id = v.tenant_id and m.voucher_id = v.id
	where v.tenant_id = @tenant_id
		and v.send_id = @send {position}
	{page}`, newestVoucherFirst, nil)

// Ids are made at created_at, so their order is the order in time.
var newestVoucherFirst = db.Descending("v.id", "@id")

const shownSQL = `
	select ` + voucherColumns + `, c.name as coupon_name, c.description, r.name as reward_name,
		k.first_name || ' ' || k.last_name as customer_name, k.link_version,
		c.active as coupon_active, coalesce(c.redemptions_count >= c.max_redemptions, false) as cap_reached
	from loyalty.voucher v
	join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
	join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
	left join loyalty.reward r on r.tenant_id = c.tenant_id and r.id = c.benefit_reward_id
	where v.tenant_id = @tenant_id
		and v.id = @id`

const expireSQL = `
	select loyalty.expire_vouchers(@now, @up_to)`
