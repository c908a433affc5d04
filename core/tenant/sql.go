package tenant

const insertSQL = `
	insert into loyalty.tenant (name, slug, email, plan_id, billing_cycle, payment_method, timezone, currency, country, created_at)
	values (@name, @slug, @email, @plan, @billing_cycle, @payment_method, @timezone, @currency, nullif(@country, ''), @now)
	returning id`

const selectTenant = `
	select id, name, slug, timezone, currency, coalesce(country, '') as country
	from loyalty.tenant`

const bySlugSQL = selectTenant + `
	where slug = @slug`

const byIDSQL = selectTenant + `
	where id = @id`

const setStatusSQL = `
	update loyalty.tenant
	set status = @status
	where id = @id`
