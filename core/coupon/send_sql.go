package coupon

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
)

// The columns of a send s.
const sendColumns = `s.id, s.coupon_id, (select c.name from loyalty.coupon c where c.tenant_id = @tenant_id and c.id = s.coupon_id) as coupon_name,
		s.segment, s.audience, s.status, s.subject, s.message, s.matched, s.sent, s.skipped_inactive, s.skipped_limit,
		s.no_email, s.unsubscribed, s.mails, s.delivered, s.failed, s.send_at, s.held_at, s.created_at, s.begun_at, s.evaluated_at, s.ended_at, s.failure`

// An audience has those who are in it when the send is stored, however many: they are named by the database.
// The coupon is read so that a distributed database inserts on the tenant's node.
const (
	insertSendSQL       = insertSend + `@customers, null` + ofForm
	insertLapsedSendSQL = insertSend + ofAudienceNow + daily.HasLapsed + `), @audience` + ofForm
	insertGroupSendSQL  = insertSend + ofAudienceNow + daily.InGroup + `), @audience` + ofForm

	insertSend = `
	with s as (
		insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, send_at, subject, message,
			actor_kind, actor_id, actor_name, created_at, customer_ids, audience)
		select @tenant_id, @id, k.id, @segment, @form_key, @send_at, @subject, @message,
			@actor_kind, @actor_id, @actor_name, @now, `

	ofAudienceNow = `array(
			select c.id
			from loyalty.customer c
			where c.tenant_id = @tenant_id
				and c.merged_into is null
				and `

	ofForm = `
		from loyalty.coupon k
		where k.tenant_id = @tenant_id
			and k.id = @coupon
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
