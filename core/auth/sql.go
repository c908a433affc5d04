package auth

const selectAccount = `
	select p.id, p.role, p.name, p.email, p.status = 'active' and coalesce(n.status, 'active') = 'active' as active,
		c.password_hash, c.password_set_at, c.totp_secret
	from loyalty.staff p
	join loyalty.credential c on c.staff_id = p.id
	left join loyalty.tenant n on n.id = p.tenant_id`

// In a transaction of the platform, before it is known who asks.
const accountByEmailSQL = selectAccount + `
	where p.tenant_id = @tenant
		and p.email_key = @email_key`

const adminByEmailSQL = selectAccount + `
	where p.tenant_id is null
		and p.email_key = @email_key`

const accountSQL = selectAccount + `
	where p.id = @id
		and p.tenant_id is not distinct from nullif(@tenant::bigint, 0)`

const lockAccountSQL = accountSQL + `
	for no key update of p, c`

// The credential c of a person of a tenant, or of the platform.
const wherePerson = `c.staff_id = @id
		and c.tenant_id is not distinct from nullif(@tenant::bigint, 0)`

const addCredentialSQL = `
	insert into loyalty.credential (staff_id, tenant_id, password_hash)
	values (@id, nullif(@tenant::bigint, 0), @hash)`

const setPasswordSQL = `
	update loyalty.credential c
	set password_hash = @hash,
		password_set_at = @now
	from loyalty.staff p
	where p.id = c.staff_id
		and ` + wherePerson + `
		and p.status = 'active'
		and (@old::text is null or c.password_hash = @old)`

// No code of a new secret has been used.
const enrolTwoFactorSQL = `
	update loyalty.credential
	set totp_secret = @secret,
		totp_step = 0
	where staff_id = @id
		and tenant_id is not distinct from nullif(@tenant::bigint, 0)`

const twoFactorSQL = `
	select c.totp_secret is not null as "on", c.totp_pending is not null as pending,
		(select count(*) from loyalty.recovery_code r where r.staff_id = c.staff_id) as recovery_codes
	from loyalty.credential c
	where ` + wherePerson

const beginTwoFactorSQL = `
	update loyalty.credential c
	set totp_pending = @secret,
		totp_pending_at = @now
	from loyalty.staff p
	where p.id = c.staff_id
		and ` + wherePerson + `
		and (c.totp_secret is null or @renew::bool)
	returning p.email`

// A set-up was allowed by a password, for a limited time.
const whereTwoFactorPending = `
		and ` + wherePerson + `
		and c.totp_pending is not null
		and c.totp_pending_at > @since`

const pendingTwoFactorSQL = `
	select p.id, p.role, p.name, p.email, c.totp_secret is not null as "on", c.totp_pending
	from loyalty.credential c
	join loyalty.staff p on p.id = c.staff_id
	where p.tenant_id is not distinct from c.tenant_id` + whereTwoFactorPending

// This uses up the code.
const confirmTwoFactorSQL = `
	update loyalty.credential c
	set totp_secret = c.totp_pending,
		totp_pending = null,
		totp_pending_at = null,
		totp_step = @step
	where c.totp_pending = @pending` + whereTwoFactorPending

const removeTwoFactorSQL = `
	update loyalty.credential c
	set totp_secret = null,
		totp_step = 0
	from loyalty.staff p
	where p.id = c.staff_id
		and ` + wherePerson + `
		and c.totp_secret is not null
	returning p.id, p.role, p.name, p.email`

// Steps only increase: neither this code nor an earlier one works again.
const useStepSQL = `
	update loyalty.credential
	set totp_step = @step
	where staff_id = @id
		and totp_secret = @secret
		and totp_step < @step`

const useRecoveryCodeSQL = `
	delete from loyalty.recovery_code
	where staff_id = @id
		and hash = @hash`

const dropRecoveryCodesSQL = `
	delete from loyalty.recovery_code
	where staff_id = @id`

const addRecoveryCodesSQL = `
	insert into loyalty.recovery_code (tenant_id, staff_id, hash)
	select nullif(@tenant::bigint, 0), @id, hash
	from unnest(@hashes::bytea[]) as hash`

const inviteSQL = `
	insert into loyalty.invitation (tenant_id, id, staff_id, hash, expires_at, created_at)
	values (@tenant_id, @id, @staff, @hash, @expires_at, @now)`

const findInvitationSQL = `
	select p.id, p.role, p.name, p.email, i.expires_at
	from loyalty.invitation i
	join loyalty.staff p on p.id = i.staff_id
	join loyalty.credential c on c.staff_id = p.id
	where i.tenant_id = @tenant_id
		and i.hash = @hash
		and i.taken_at is null
		and i.expires_at > @now
		and p.status = 'active'
		and c.password_hash is null`

const useInvitationSQL = `
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

const resetRecipientSQL = `
	select p.id, p.role, p.name, p.email, c.password_hash is null as invited,
		n.name as tenant_name, n.slug as tenant_slug
	from loyalty.staff p
	join loyalty.credential c on c.staff_id = p.id
	join loyalty.tenant n on n.id = p.tenant_id
	where p.tenant_id = @tenant_id
		and p.email_key = @email_key
		and p.status = 'active'
		and n.status = 'active'`

const addResetSQL = `
	insert into loyalty.password_reset (tenant_id, id, staff_id, hash, expires_at, created_at)
	values (@tenant_id, @id, @staff, @hash, @expires_at, @now)`

const findResetSQL = `
	select p.id, p.role, p.name, p.email, r.expires_at,
		(
			select count(*)
			from loyalty.token t
			where t.tenant_id = @tenant_id
				and t.staff_id = p.id
				and t.revoked_at is null
				and (t.expires_at is null or t.expires_at > @now)
		) as live_tokens
	from loyalty.password_reset r
	join loyalty.staff p on p.id = r.staff_id
	where r.tenant_id = @tenant_id
		and r.hash = @hash
		and r.taken_at is null
		and r.expires_at > @now
		and p.status = 'active'`

const useResetSQL = `
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

// Locks each count, creates it if necessary and resets it when its period is over. Always in one
// order, against deadlocks.
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

// Locks in the same order as lockAttemptsSQL.
const forgiveAttemptsSQL = `
	with locked as (
		select key
		from loyalty.attempt
		where key = any(@all)
		order by key
		for update
	)
	update loyalty.attempt a
	set used = case when a.key = any(@own) then 0 else greatest(a.used - 1, 0) end
	from locked l
	where a.key = l.key`

const deleteOldAttemptsSQL = `
	delete from loyalty.attempt
	where key in (
		select key
		from loyalty.attempt
		where ends_at <= @now
		limit @up_to
		for update skip locked
	)`

const deleteOldLinksSQL = `
	select loyalty.forget_links(@before, @up_to)`
