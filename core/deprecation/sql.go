package deprecation

const columns = `id, method, path, sunset, link, created_at`

const insertSQL = `
	insert into loyalty.deprecation (method, path, sunset, link, created_at)
	values (@method, @path, @sunset, @link, @now)
	returning ` + columns

const allSQL = `
	select ` + columns + `
	from loyalty.deprecation`

const listSQL = `
	select ` + columns + `,
		(select count(*) from loyalty.deprecation_notice n where n.deprecation_id = d.id) as told
	from loyalty.deprecation d
	order by id desc`

const findSQL = allSQL + `
	where id = @id`

// recipient is a tenant and its owner's address.
type recipient struct{ Name, Email string }

// Notes and returns tenants with a working token that were not told yet.
const tellSQL = `
	with due as (
		select n.id, n.name, n.email
		from loyalty.tenant n
		where n.status = 'active'
			and exists (
				select
				from loyalty.token t
				join loyalty.staff s on s.id = t.staff_id
				where t.tenant_id = n.id
					and t.revoked_at is null
					and (t.expires_at is null or t.expires_at > @now)
					and s.status = 'active'
					and s.role = 'owner'
			)
			and not exists (
				select
				from loyalty.deprecation_notice
				where deprecation_id = @id
					and tenant_id = n.id
			)
		order by n.id
		limit @up_to
	), told as (
		insert into loyalty.deprecation_notice (deprecation_id, tenant_id, created_at)
		select @id, id, @now
		from due
		on conflict do nothing
		returning tenant_id
	)
	select due.name, due.email
	from due
	join told on told.tenant_id = due.id
	order by due.id`
