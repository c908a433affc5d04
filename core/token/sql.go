package token

const columns = `id, name, abilities, last_used_at, expires_at, created_at`

const insertSQL = `
	insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, expires_at, created_at)
	values (nullif(@tenant::bigint, 0), @staff, @name, @hash, @abilities, @expires_at, @now)
	returning ` + columns

const ownerSQL = `
	select name, email
	from loyalty.staff
	where id = @id`

const credentialSQL = `
	select t.hash, t.name, t.abilities, t.last_used_at, t.expires_at, t.revoked_at, t.staff_id,
		s.role, s.status = 'active' as staff_active,
		coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
		coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
		coalesce(n.status, 'active') = 'active' as open_tenant
	from loyalty.token t
	join loyalty.staff s on s.id = t.staff_id
	left join loyalty.tenant n on n.id = t.tenant_id
	where t.id = @id`

const usedSQL = `
	update loyalty.token
	set last_used_at = @now
	where id = (
		select id
		from loyalty.token
		where id = @id
			and (last_used_at is null or last_used_at <= @now::timestamptz - interval '1 minute')
		for no key update skip locked
	)`

const listSQL = `
	select ` + columns + `
	from loyalty.token
	where staff_id = @staff
		and revoked_at is null
	order by created_at desc, id desc
	limit @limit`

const listAfterSQL = `
	select ` + columns + `
	from loyalty.token
	where staff_id = @staff
		and revoked_at is null
		and (created_at, id) < (@at, @id)
	order by created_at desc, id desc
	limit @limit`

const listBeforeSQL = `
	select ` + columns + `
	from loyalty.token
	where staff_id = @staff
		and revoked_at is null
		and (created_at, id) > (@at, @id)
	order by created_at, id
	limit @limit`

const findSQL = `
	select ` + columns + `
	from loyalty.token
	where staff_id = @staff
		and id = @id
		and revoked_at is null`

const revokeSQL = `
	update loyalty.token
	set revoked_at = @now
	where staff_id = @staff
		and id = @id
		and revoked_at is null
	returning ` + columns
