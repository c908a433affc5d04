package mail

const insertSQL = `
	insert into loyalty.mail (tenant_id, id, recipient, subject, text, html, created_at)
	values (nullif(@tenant::bigint, 0), @id, @recipient, @subject, @text, @html, @now)`

const findQueuedSQL = `
	select id, recipient, subject, text, html
	from loyalty.mail
	where id = @id
		and status = 'queued'`

const markSQL = `
	update loyalty.mail
	set status = @status,
		done_at = @now
	where id = @id`
