package mail

import "example.com/loyalty/core/db"

const insertSQL = `
	insert into loyalty.mail (tenant_id, id, recipient, subject, text, html, attachment_name, attachment, unsubscribe, status, created_at, done_at)
	values (nullif(@tenant::bigint, 0), @id, @recipient, @subject, @text, @html, @attachment_name, @attachment, nullif(@unsubscribe, ''),
		@status::text, @now, case when @status = 'kept' then @now::timestamptz end)
	on conflict (id) do nothing`

const (
	selectMail = `
	select ` + mailColumns + fromMail

	mailColumns = `m.id, m.recipient, m.subject, m.text, m.html, m.attachment_name, m.attachment, coalesce(m.unsubscribe, '') as unsubscribe, m.created_at,
		s.mail_name as sender_name, s.mail_address as sender_address`

	fromMail = `
	from loyalty.mail m
	cross join loyalty.platform_setting s
	where m.id = @id`
)

// queuedMail is a mail to deliver, and whether its business is suspended.
type queuedMail struct {
	Mail
	Suspended bool
}

const findQueuedSQL = `
	select ` + mailColumns + `,
		coalesce((select t.status = 'suspended' from loyalty.tenant t where t.id = m.tenant_id), false) as suspended` + fromMail + `
		and (@tenant::bigint = 0 or m.tenant_id = @tenant)
		and status = 'queued'`

const findUnsentSQL = selectMail + `
		and status in ('queued', 'kept')
		and text <> ''`

const keepSQL = `
	update loyalty.mail
	set status = 'kept',
		done_at = @now
	where id = @id`

const endSQL = `
	update loyalty.mail
	set status = @status,
		error = @error,
		text = '',
		html = '',
		attachment = null,
		unsubscribe = null,
		done_at = @now
	where id = @id`

const giveUpAbandonedSQL = `
	update loyalty.mail
	set status = 'failed',
		error = 'Its delivery was cancelled, or failed too often.',
		text = '',
		html = '',
		attachment = null,
		unsubscribe = null,
		done_at = @now
	where id in (
		select id
		from loyalty.mail
		where status = 'queued'
			and created_at < @before
		limit @up_to
		for update skip locked
	)`

// These mails are for reading in development, so they keep their text longer than others.
const blankKeptSQL = `
	update loyalty.mail
	set text = '',
		html = '',
		attachment = null,
		unsubscribe = null
	where id in (
		select id
		from loyalty.mail
		where status = 'kept'
			and text <> ''
			and created_at < @before
		limit @up_to
		for update skip locked
	)`

const deleteEndedSQL = `
	delete from loyalty.mail
	where id in (
		select id
		from loyalty.mail
		where status <> 'queued'
			and created_at < @before
		order by created_at
		limit @up_to
	)`

// A mail without its text can't be read.
var unsentList = db.NewList(`
	select id, recipient, subject, created_at
	from loyalty.mail
	where status in ('queued', 'kept')
		and text <> '' {position}
	{page}`, db.Descending("created_at, id", "@at, @id"), nil)
