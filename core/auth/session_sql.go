package auth

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// foundSession is the tenant of a host, its live session with a hash, and the session's person if
// they are active. On the platform's host there is no tenant.
type foundSession struct {
	db.TenantRow
	core.Theme
	Data       []byte
	LastSeenAt *time.Time // nil: no session
	StaffID    *int64     // nil: not signed in
	PersonID   *int64     // nil: not signed in, or the person was deactivated
	PersonName string
	Email      string
	Role       core.Role
	TwoFactor  bool
}

const foundColumns = db.TenantColumns + `, ` + db.ThemeColumns + `, s.data, s.last_seen_at, s.staff_id,
		p.id as person_id, coalesce(p.name, '') as person_name, coalesce(p.email, '') as email,
		coalesce(p.role, '') as role, c.totp_secret is not null as two_factor`

// At a suspended business no one is signed in.
const findSessionSQL = `
	select ` + foundColumns + `
	from loyalty.tenant n
	` + db.ThemeOf + `
	left join loyalty.session s on s.hash = @hash
		and s.tenant_id = n.id
		and s.ended_at is null
		and s.expires_at > @now
		and s.last_seen_at > @seen
	left join loyalty.staff p on p.id = s.staff_id
		and p.tenant_id = n.id
		and p.status = 'active'
		and n.status = 'active'
	left join loyalty.credential c on c.staff_id = p.id
	where n.slug = @slug`

const findAdminSessionSQL = `
	select ` + foundColumns + `
	from loyalty.session s
	left join loyalty.tenant n on false
	` + db.ThemeOf + `
	left join loyalty.staff p on p.id = s.staff_id
		and p.tenant_id is null
		and p.role = 'super_admin'
		and p.status = 'active'
	left join loyalty.credential c on c.staff_id = p.id
	where s.hash = @hash
		and s.tenant_id is null
		and s.ended_at is null
		and s.expires_at > @now
		and s.last_seen_at > @seen`

const sessionSeenSQL = `
	update loyalty.session
	set last_seen_at = @now,
		address = @address,
		user_agent = @user_agent
	where hash = (
		select hash
		from loyalty.session
		where hash = @hash
			and last_seen_at <= @now::timestamptz - interval '1 minute'
		for no key update skip locked
	)`

// The expiry of a session is set when it is created.
const saveSessionSQL = `
	insert into loyalty.session as s (hash, tenant_id, data, created_at, last_seen_at, expires_at, address, user_agent)
	select @hash, n.id, @data, @now, @now, @expires_at, @address, @user_agent
	from (select @slug::text as slug) host
	left join loyalty.tenant n on n.slug = host.slug
	where n.id is not null
		or host.slug = ''
	on conflict (hash) do update
	set data = excluded.data
	where s.ended_at is null`

// Waits for a password that is being set: its transaction ends the sessions it can see, and can't
// see this one yet.
const signInSQL = `
	insert into loyalty.session (hash, tenant_id, staff_id, data, created_at, last_seen_at, expires_at, address, user_agent)
	select @hash, n.id, p.id, @data, @now, @now, @expires_at, @address, @user_agent
	from loyalty.staff p
	join loyalty.credential c on c.staff_id = p.id
	left join loyalty.tenant n on n.id = p.tenant_id
	where p.id = @staff
		and (p.tenant_id is null or n.id is not null)
		and coalesce(n.slug, '') = @slug
		and p.status = 'active'
		and (c.password_set_at is null or c.password_set_at <= @proved_at)
		and (c.totp_secret is null or @code)
	for share of p, c`

const deleteSessionSQL = `
	update loyalty.session
	set ended_at = @now
	where hash = @hash
		and ended_at is null`

const idOfSession = `encode(substr(hash, 1, 8), 'hex')`

const sessionColumns = idOfSession + ` as id, user_agent, address, created_at, last_seen_at`

const whereSessionLive = `
	where staff_id = @staff
		and ended_at is null
		and expires_at > @now
		and last_seen_at > @seen`

const listSessionsSQL = `
	select ` + sessionColumns + `, ` + idOfSession + ` = @current as current
	from loyalty.session` + whereSessionLive + `
	order by last_seen_at desc, created_at desc, hash`

const endSessionSQL = `
	update loyalty.session
	set ended_at = @now` + whereSessionLive + `
		and ` + idOfSession + ` = @id
	returning ` + sessionColumns + `, false as current`

const endOtherSessionsSQL = `
	update loyalty.session
	set ended_at = @now` + whereSessionLive + `
		and ` + idOfSession + ` <> @current`

const endSessionsSQL = `
	update loyalty.session
	set ended_at = @now
	where staff_id = @staff
		and ended_at is null`

const deleteOldSessionsSQL = `
	delete from loyalty.session
	where hash in (
		select hash
		from loyalty.session
		where expires_at < @before
			or last_seen_at < @seen
			or ended_at < @before
		limit @up_to
		for update skip locked
	)`
