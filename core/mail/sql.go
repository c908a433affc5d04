package mail

const insertSQL = `
	insert into loyalty.mail (tenant_id, id, recipient, subject, text, html, created_at)
	values (nullif(@tenant::bigint, 0), @id, @recipient, @subject, @text, @html, @now)`

const selectMail = `
	select id, recipient, subject, text, html, created_at
	from loyalty.mail
	where id = @id`

const findQueuedSQL = selectMail + `
		and status = 'queued'`

const findUnsentSQL = selectMail + `
		and status in ('queued', 'kept')`

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
		done_at = @now
	where id = @id`

const giveUpAbandonedSQL = `
	update loyalty.mail
	set status = 'failed',
		error = 'Its delivery was cancelled, or failed too often.',
		text = '',
		html = '',
		done_at = @now
	where status = 'queued'
		and created_at < @before`

const selectUnsent = `
	select id, recipient, subject, created_at
	from loyalty.mail
	where status in ('queued', 'kept')`

const listSQL = selectUnsent + `
	order by created_at desc, id desc
	limit @limit`

const listAfterSQL = selectUnsent + `
		and (created_at, id) < (@at, @id)
	order by created_at desc, id desc
	limit @limit`

const listBeforeSQL = selectUnsent + `
		and (created_at, id) > (@at, @id)
	order by created_at, id
	limit @limit`
