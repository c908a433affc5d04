package auth

import (
	"time"

	"example.com/loyalty/core"
)

// foundSession is the tenant of a host, its session with that hash if one is live, and the
// session's person if they are active. On the platform's host there is no tenant.
type foundSession struct {
	TenantID          core.TenantID
	TenantName        string
	TenantSlug        string
	Timezone          string
	Currency          string
	Country           string
	ConfirmAboveCents int64
	Suspended         bool
	Data              []byte
	LastSeenAt        *time.Time // nil: no session
	StaffID           *int64     // nil: no one has signed in
	PersonID          *int64     // nil: no one, or a person who was deactivated
	PersonName        string
	Email             string
	Role              core.Role
	TwoFactor         bool
}

const foundPerson = `s.data, s.last_seen_at, s.staff_id,
		p.id as person_id, coalesce(p.name, '') as person_name, coalesce(p.email, '') as email,
		coalesce(p.role, '') as role, c.totp_secret is not null as two_factor`

// At a suspended business no one is signed in.
const findSessionSQL = `
	select n.id as tenant_id, n.name as tenant_name, n.slug as tenant_slug,
		n.timezone, n.currency, coalesce(n.country, '') as country, coalesce(n.confirm_above_cents, 0) as confirm_above_cents,
		n.status <> 'active' as suspended,
		` + foundPerson + `
	from loyalty.tenant n
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
	select 0::bigint as tenant_id, '' as tenant_name, '' as tenant_slug,
		'' as timezone, '' as currency, '' as country, 0::bigint as confirm_above_cents,
		false as suspended,
		` + foundPerson + `
	from loyalty.session s
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

// How long a session lives is fixed by its first writing.
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

// A password that is being set meanwhile is waited for: its transaction ends the sessions that
// it can see, and this one is not among them yet.
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

type sessionRow struct {
	Hash       []byte
	UserAgent  string
	Address    string
	CreatedAt  time.Time
	LastSeenAt time.Time
}

const sessionColumns = `hash, user_agent, address, created_at, last_seen_at`

const whereSessionLive = `
	where staff_id = @staff
		and ended_at is null
		and expires_at > @now
		and last_seen_at > @seen`

const listSessionsSQL = `
	select ` + sessionColumns + `
	from loyalty.session` + whereSessionLive + `
	order by last_seen_at desc, created_at desc, hash`

const endSessionSQL = `
	update loyalty.session
	set ended_at = @now` + whereSessionLive + `
		and encode(substr(hash, 1, 8), 'hex') = @id
	returning ` + sessionColumns

const endOtherSessionsSQL = `
	update loyalty.session
	set ended_at = @now` + whereSessionLive + `
		and encode(substr(hash, 1, 8), 'hex') <> @current`

const endSessionsSQL = `
	update loyalty.session
	set ended_at = @now
	where staff_id = @staff
		and ended_at is null`

const forgetSessionsSQL = `
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
