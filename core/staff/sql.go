package staff

const insertSQL = `
	insert into loyalty.staff (tenant_id, role, name, email, email_key, password_hash, created_at)
	values (nullif(@tenant::bigint, 0), @role, @name, @email, @email_key, @password_hash, @now)
	returning id, role, name, email`

const deactivateSQL = `
	update loyalty.staff
	set status = 'inactive'
	where tenant_id = @tenant_id
		and id = @id
		and status = 'active'`

// A new secret has taken no code yet.
const enrolTOTPSQL = `
	update loyalty.staff
	set totp_secret = @secret,
		totp_step = 0
	where id = @id
		and tenant_id is not distinct from nullif(@tenant::bigint, 0)`

const inviteSQL = `
	insert into loyalty.invitation (tenant_id, id, staff_id, hash, expires_at, created_at)
	values (@tenant_id, @id, @staff, @hash, @expires_at, @now)`
