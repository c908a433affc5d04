package coupon

import "example.com/loyalty/core/db"

const staffSQL = `
	select name, email
	from loyalty.staff
	where tenant_id = @tenant_id
		and id = @id
		and status = 'active'`

const mailingSQL = `
	select s.subject, s.message, c.benefit_type, c.benefit_value, c.benefit_reward_id, r.name as reward_name, l.name as level_name
	from loyalty.coupon_send s
	join loyalty.coupon c on c.tenant_id = s.tenant_id and c.id = s.coupon_id
	left join loyalty.level_programme p on p.tenant_id = c.tenant_id and p.active
	left join loyalty.level l on l.tenant_id = p.tenant_id and l.id = c.min_level_id
	left join loyalty.reward r on r.tenant_id = c.tenant_id and r.id = c.benefit_reward_id
	where s.tenant_id = @tenant_id
		and s.id = @send`

// Claimed mails are due again after a while, so that another process sends those of a killed one.
// Two jobs of one send never claim the same mail.
const claimMailsSQL = `
	with due as (
		select m.voucher_id
		from loyalty.voucher_mail m
		where m.tenant_id = @tenant_id
			and m.send_id = @send
			and m.status = 'queued'
			and m.due_at <= @now
			and exists (
				select
				from loyalty.coupon_send s
				where s.tenant_id = @tenant_id
					and s.id = @send
					and s.status = 'mailing'
					and s.held_at is null
			)
		order by m.due_at, m.voucher_id
		limit @limit
		for no key update of m skip locked
	), claimed as (
		update loyalty.voucher_mail m
		set due_at = @again
		from due
		where m.tenant_id = @tenant_id
			and m.voucher_id = due.voucher_id
		returning m.voucher_id, m.attempts
	)
	select m.voucher_id, k.id as customer_id,
		case when k.unchecked_since is null then k.first_name else '' end as first_name, k.email, k.link_version + v.link_shift as link_version, k.unsubscribed_at is not null as unsubscribed,
		v.status = 'pending' and coalesce(v.expires_at > @now, true) as pending, v.expires_at, m.attempts
	from claimed m
	join loyalty.voucher v on v.tenant_id = @tenant_id and v.id = m.voucher_id
	join loyalty.customer k on k.tenant_id = @tenant_id and k.id = v.customer_id
	order by m.voucher_id`

const releaseMailsSQL = `
	update loyalty.voucher_mail
	set due_at = @now
	where tenant_id = @tenant_id
		and voucher_id = any (@ids::uuid[])
		and status = 'queued'`

// Stores the result of an attempt: the mail was delivered, has failed, or is still queued for another one.
const storeAttemptSQL = `
	with tried as (
		update loyalty.voucher_mail
		set status = @status::text,
			attempts = attempts + case when @error::text is null then 0 else 1 end,
			due_at = coalesce(@again::timestamptz, due_at),
			error = @error,
			recipient = @recipient,
			permanent = @permanent,
			done_at = case when @status = 'queued' then null else @now::timestamptz end
		where tenant_id = @tenant_id
			and voucher_id = @voucher
			and status = 'queued'
		returning status
	)
	update loyalty.coupon_send s
	set delivered = s.delivered + case when t.status = 'delivered' then 1 else 0 end,
		failed = s.failed + case when t.status = 'failed' then 1 else 0 end
	from tried t
	where s.tenant_id = @tenant_id
		and s.id = @send
		and t.status <> 'queued'`

// The voucher of a dropped mail counts among those without an e-mail.
const dropMailSQL = `
	with dropped as (
		delete from loyalty.voucher_mail
		where tenant_id = @tenant_id
			and voucher_id = @voucher
			and status = 'queued'
		returning voucher_id
	)
	update loyalty.coupon_send s
	set mails = s.mails - 1,
		unsubscribed = s.unsubscribed + case when @unsubscribed::boolean then 1 else 0 end,
		no_email = s.no_email + case when @unsubscribed::boolean then 0 else 1 end
	from dropped
	where s.tenant_id = @tenant_id
		and s.id = @send`

const lockSendSQL = findSendSQL + `
	for no key update`

const nextMailSQL = `
	select min(due_at)
	from loyalty.voucher_mail
	where tenant_id = @tenant_id
		and send_id = @send
		and status = 'queued'`

const finishSendSQL = `
	update loyalty.coupon_send s
	set status = 'done',
		ended_at = @now
	where s.tenant_id = @tenant_id
		and s.id = @send
	returning ` + detailColumns

const switchMailsSQL = `
	update loyalty.coupon_send s
	set status = @to,
		held_at = null
	where s.tenant_id = @tenant_id
		and s.id = @send
		and s.status = @from
	returning ` + sendColumns

const retryMailsSQL = `
	update loyalty.voucher_mail m
	set status = 'queued',
		attempts = 0,
		due_at = @now,
		permanent = false,
		done_at = null
	from loyalty.voucher v, loyalty.customer k
	where m.tenant_id = @tenant_id
		and m.send_id = @send
		and m.status = 'failed'
		and v.tenant_id = @tenant_id
		and v.id = m.voucher_id
		and k.tenant_id = @tenant_id
		and k.id = v.customer_id
		and k.email is not null
		and (@voucher::uuid is null and not m.permanent
			or m.voucher_id = @voucher and (not m.permanent or k.email is distinct from m.recipient))`

const retriedSQL = `
	update loyalty.coupon_send
	set failed = failed - @count,
		status = 'mailing',
		ended_at = null
	where tenant_id = @tenant_id
		and id = @send`

const countRetryableSQL = `
	select count(*)
	from loyalty.voucher_mail m
	join loyalty.voucher v on v.tenant_id = @tenant_id and v.id = m.voucher_id
	join loyalty.customer k on k.tenant_id = @tenant_id and k.id = v.customer_id
	where m.tenant_id = @tenant_id
		and m.send_id = @send
		and m.error is not null
		and m.status = 'failed'
		and not m.permanent
		and k.email is not null`

const markDeliveredSQL = `
	with noted as (
		update loyalty.voucher_mail
		set status = 'delivered',
			done_at = @now
		where tenant_id = @tenant_id
			and send_id = @send
			and status = 'queued'
		returning voucher_id
	)
	update loyalty.coupon_send
	set delivered = delivered + (select count(*) from noted),
		status = 'done',
		ended_at = coalesce(ended_at, @now)
	where tenant_id = @tenant_id
		and id = @send
		and status in ('mailing', 'done')`

var problemList = db.NewList(`
	select m.voucher_id, k.id as customer_id, k.first_name || ' ' || k.last_name as customer_name, k.email, m.recipient, m.error as reply,
		m.status = 'failed' as failed, m.permanent, m.due_at, m.attempts, v.created_at
	from loyalty.voucher_mail m
	join loyalty.voucher v on v.tenant_id = @tenant_id and v.id = m.voucher_id
	join loyalty.customer k on k.tenant_id = @tenant_id and k.id = v.customer_id
	where m.tenant_id = @tenant_id
		and m.send_id = @send
		and m.error is not null {position}
	{page}`, db.Descending("m.voucher_id", "@id"), nil)
