package billing

const listSQL = `
	select id, number, tenant_id, status, currency, lines, amount_cents, tax_cents, total_cents,
		period_start, period_end, issued_at, due_at, paid_at, created_at
	from loyalty.invoice
	where true`

const (
	whereTenant = ` and tenant_id = @tenant`
	whereStatus = ` and status = @status`
	whereOlder  = ` and (created_at, id) < (@at, @id)`
	whereNewer  = ` and (created_at, id) > (@at, @id)`
	newestFirst = ` order by created_at desc, id desc limit @limit`
	oldestFirst = ` order by created_at, id limit @limit`
)
