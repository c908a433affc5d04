package staff

const insertSQL = `
	insert into loyalty.staff (tenant_id, role, name, email, email_key, password_hash, created_at)
	values (nullif(@tenant::bigint, 0), @role, @name, @email, @email_key, @password_hash, @now)
	returning id, role, name, email`

const selectAccount = `
	select p.id, p.role, p.name, p.email, p.status = 'active' and n.status = 'active' as active,
		p.password_hash, p.password_set_at, p.totp_secret
	from loyalty.staff p
	join loyalty.tenant n on n.id = p.tenant_id`

// Before anybody is known, in a transaction of the platform.
const accountByEmailSQL = selectAccount + `
	where p.tenant_id = @tenant
		and p.email_key = @email_key`

const accountSQL = selectAccount + `
	where p.tenant_id = @tenant_id
		and p.id = @id`

const lockAccountSQL = accountSQL + `
	for no key update of p`

// In one order, whoever is changed: two changes must not wait for each other.
const lockPeopleSQL = selectAccount + `
	where p.tenant_id = @tenant_id
		and (p.id = @id or p.role = 'owner' and p.status = 'active')
	order by p.id
	for no key update of p`

const selectMember = `
	select p.id, p.role, p.name, p.email, p.status = 'active' as active, p.password_hash is null as invited,
		(
			select max(i.expires_at)
			from loyalty.invitation i
			where i.tenant_id = @tenant_id
				and i.staff_id = p.id
				and i.taken_at is null
				and i.expires_at > @now
		) as invited_until,
		p.totp_secret is not null as second_factor, ` + liveTokens + `, p.created_at
	from loyalty.staff p
	where p.tenant_id = @tenant_id`

const liveTokens = `(
			select count(*)
			from loyalty.token t
			where t.tenant_id = @tenant_id
				and t.staff_id = p.id
				and t.revoked_at is null
				and (t.expires_at is null or t.expires_at > @now)
		) as live_tokens`

const listSQL = selectMember + `
	order by p.status, lower(p.name), p.id`

const findSQL = selectMember + `
		and p.id = @id`

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
	where tenant_id = @tenant_id
		and id = @id`

const setPasswordSQL = `
	update loyalty.staff
	set password_hash = @hash,
		password_set_at = @now
	where tenant_id = @tenant_id
		and id = @id
		and status = 'active'
		and (@old::text is null or password_hash = @old)`

// A new secret has taken no code yet.
const enrolTOTPSQL = `
	update loyalty.staff
	set totp_secret = @secret,
		totp_step = 0
	where id = @id
		and tenant_id is not distinct from nullif(@tenant::bigint, 0)`

const factorSQL = `
	select p.totp_secret is not null as "on", p.totp_pending is not null as begun,
		(select count(*) from loyalty.recovery_code c where c.staff_id = p.id) as recovery_codes
	from loyalty.staff p
	where p.tenant_id = @tenant_id
		and p.id = @id`

const beginFactorSQL = `
	update loyalty.staff
	set totp_pending = @secret
	where tenant_id = @tenant_id
		and id = @id
		and totp_secret is null
	returning email`

const pendingFactorSQL = `
	select email, totp_pending
	from loyalty.staff
	where tenant_id = @tenant_id
		and id = @id
		and totp_pending is not null`

// The code that confirms it is taken with that.
const confirmFactorSQL = `
	update loyalty.staff
	set totp_secret = totp_pending,
		totp_pending = null,
		totp_step = @step
	where tenant_id = @tenant_id
		and id = @id
		and totp_pending = @pending`

const dropFactorSQL = `
	update loyalty.staff
	set totp_secret = null,
		totp_step = 0
	where tenant_id = @tenant_id
		and id = @id
		and totp_secret is not null
	returning id, role, name, email`

// Steps only go on: neither this code nor one from before it is taken again.
const takeStepSQL = `
	update loyalty.staff
	set totp_step = @step
	where id = @id
		and totp_secret = @secret
		and totp_step < @step`

const takeRecoveryCodeSQL = `
	delete from loyalty.recovery_code
	where staff_id = @id
		and hash = @hash`

const dropRecoveryCodesSQL = `
	delete from loyalty.recovery_code
	where staff_id = @id`

const addRecoveryCodesSQL = `
	insert into loyalty.recovery_code (tenant_id, staff_id, hash)
	select @tenant_id, @id, hash
	from unnest(@hashes::bytea[]) as hash`

const inviteSQL = `
	insert into loyalty.invitation (tenant_id, id, staff_id, hash, expires_at, created_at)
	values (@tenant_id, @id, @staff, @hash, @expires_at, @now)`

const findInvitationSQL = `
	select p.id, p.role, p.name, p.email, i.expires_at
	from loyalty.invitation i
	join loyalty.staff p on p.id = i.staff_id
	where i.tenant_id = @tenant_id
		and i.hash = @hash
		and i.taken_at is null
		and i.expires_at > @now
		and p.status = 'active'
		and p.password_hash is null`

const takeInvitationSQL = `
	update loyalty.invitation
	set taken_at = @now
	where tenant_id = @tenant_id
		and hash = @hash
		and taken_at is null
		and expires_at > @now`

const withdrawInvitationsSQL = `
	update loyalty.invitation
	set taken_at = @now
	where tenant_id = @tenant_id
		and staff_id = @id
		and taken_at is null`

const forgetfulSQL = `
	select p.id, p.role, p.name, p.email, p.password_hash is null as invited,
		n.name as tenant_name, n.slug as tenant_slug
	from loyalty.staff p
	join loyalty.tenant n on n.id = p.tenant_id
	where p.tenant_id = @tenant_id
		and p.email_key = @email_key
		and p.status = 'active'
		and n.status = 'active'`

const addResetSQL = `
	insert into loyalty.password_reset (tenant_id, id, staff_id, hash, expires_at, created_at)
	values (@tenant_id, @id, @staff, @hash, @expires_at, @now)`

const findResetSQL = `
	select p.id, p.role, p.name, p.email, r.expires_at, ` + liveTokens + `
	from loyalty.password_reset r
	join loyalty.staff p on p.id = r.staff_id
	where r.tenant_id = @tenant_id
		and r.hash = @hash
		and r.taken_at is null
		and r.expires_at > @now
		and p.status = 'active'`

const takeResetSQL = `
	update loyalty.password_reset
	set taken_at = @now
	where tenant_id = @tenant_id
		and hash = @hash
		and taken_at is null
		and expires_at > @now`

const withdrawResetsSQL = `
	update loyalty.password_reset
	set taken_at = @now
	where tenant_id = @tenant_id
		and staff_id = @id
		and taken_at is null`

// Each count is locked, made if need be, and begun anew where its while is over; always
// in one order, so that no two wait for each other.
const lockAttemptsSQL = `
	insert into loyalty.attempt as a (key, used, ends_at)
	select t.key, 0, t.ends_at
	from unnest(@keys::bytea[], @ends::timestamptz[]) as t (key, ends_at)
	order by t.key
	on conflict (key) do update
	set used = case when a.ends_at <= @now then 0 else a.used end,
		ends_at = case when a.ends_at <= @now then excluded.ends_at else a.ends_at end
	returning key, used, ends_at`

const countAttemptsSQL = `
	update loyalty.attempt
	set used = used + 1
	where key = any(@keys)`

const forgiveAttemptsSQL = `
	update loyalty.attempt
	set used = case when key = any(@account) then 0 else greatest(used - 1, 0) end
	where key = any(@all)`

const forgetAttemptsSQL = `
	delete from loyalty.attempt
	where ends_at <= @now`
