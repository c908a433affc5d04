package staff

const insertSQL = `
	insert into loyalty.staff (tenant_id, role, name, email, email_key, created_at)
	values (nullif(@tenant::bigint, 0), @role, @name, @email, @email_key, @now)
	returning id, role, name, email`

const selectForChange = `
	select p.id, p.role, p.name, p.status = 'active' as active, c.password_hash is not null as joined
	from loyalty.staff p
	join loyalty.credential c on c.staff_id = p.id`

const lockPersonSQL = selectForChange + `
	where p.id = @id
		and p.tenant_id is not distinct from nullif(@tenant::bigint, 0)
	for no key update of p`

// Always in one order, against deadlocks.
const lockPeopleSQL = selectForChange + `
	where p.tenant_id = @tenant_id
		and (p.id = @id or p.role = 'owner' and p.status = 'active')
	order by p.id
	for no key update of p`

const selectMember = `
	select p.id, p.role, p.name, p.email, p.status = 'active' as active, c.password_hash is null as invited,
		(
			select max(i.expires_at)
			from loyalty.invitation i
			where i.tenant_id = @tenant_id
				and i.staff_id = p.id
				and i.taken_at is null
				and i.expires_at > @now
		) as invited_until,
		c.totp_secret is not null as two_factor,
		(
			select count(*)
			from loyalty.token t
			where t.tenant_id = @tenant_id
				and t.staff_id = p.id
				and t.revoked_at is null
				and (t.expires_at is null or t.expires_at > @now)
		) as live_tokens,
		p.created_at
	from loyalty.staff p
	join loyalty.credential c on c.staff_id = p.id
	where p.tenant_id = @tenant_id`

const listSQL = selectMember + `
	order by p.status, lower(p.name), p.id`

const findSQL = selectMember + `
		and p.id = @id`

const findAdminSQL = `
	select id, role, name, email
	from loyalty.staff
	where tenant_id is null
		and email_key = @email_key`

const setRoleSQL = `
	update loyalty.staff
	set role = @role
	where tenant_id = @tenant_id
		and id = @id`

const setStatusSQL = `
	update loyalty.staff
	set status = @status
	where tenant_id = @tenant_id
		and id = @id`

const renameSQL = `
	update loyalty.staff
	set name = @name
	where id = @id
		and tenant_id is not distinct from nullif(@tenant::bigint, 0)`
