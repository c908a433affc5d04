package token

import "example.com/loyalty/core/db"

const columns = `id, name, abilities, last_used_at, expires_at, created_at`

// Neither revoked nor expired. Whether a token works also depends on its person.
const whereLive = `
		and revoked_at is null
		and (expires_at is null or expires_at > @now)`

// Creating a token, changing a person's role and revoking all their tokens take this lock, so
// each of them sees what the previous one committed.
const lockOwnerSQL = `
	select p.id, p.role, p.name, p.email, p.status = 'active' and coalesce(n.status, 'active') = 'active' as active,
		coalesce(n.name, '') as tenant_name
	from loyalty.staff p
	left join loyalty.tenant n on n.id = p.tenant_id
	where p.id = @id
		and p.tenant_id is not distinct from nullif(@tenant::bigint, 0)
	for no key update of p`

// Inserts nothing if the person has reached the limit, or if the calling token was revoked since it was
// authenticated. told_at and waiting are of the other tokens.
const insertSQL = `
	insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, expires_at, actor_kind, actor_name, address, created_at)
	select nullif(@tenant::bigint, 0), @staff, @name, @hash, @abilities, @expires_at, @actor_kind, @actor_name, @address, @now
	where (
			select count(*)
			from loyalty.token
			where staff_id = @staff` + whereLive + `
		) < @most
		and (@caller::bigint = 0 or exists (` + callerSQL + `))
	returning ` + columns + `, ` + told

const callerSQL = `
	select true as live
	from loyalty.token
	where id = @caller
		and revoked_at is null`

// When a person was last mailed about new tokens, and whether they have to be told about others.
const told = `
		(
			select max(told_at)
			from loyalty.token
			where staff_id = @staff
		) as told_at,
		exists (
			select
			from loyalty.token
			where staff_id = @staff
				and told_at is null
		) as waiting`

const toldSQL = `
	select ` + told

const tellSQL = `
	with told as (
		update loyalty.token
		set told_at = @now
		where staff_id = @staff
			and told_at is null
		returning id, name, abilities, actor_kind, actor_name, address, revoked_at, created_at
	)
	select name as token, abilities, actor_kind, actor_name as by, address, revoked_at is not null as revoked, created_at as at
	from told
	order by created_at, id`

// For an array of unknown length PostgreSQL keeps one plan (db.NewFinder).
const (
	credentialSQL = selectCredentials + `
	where t.id = @id`

	credentialsSQL = selectCredentials + `
	where t.id = any (array(select unnest(@ids::bigint[])))`
)

const selectCredentials = `
	select t.id, t.hash, t.name, t.abilities, t.last_used_at, t.expires_at, t.revoked_at, t.staff_id,
		s.role, s.status = 'active' as staff_active,
		` + db.TenantColumns + `
	from loyalty.token t
	join loyalty.staff s on s.id = t.staff_id and s.tenant_id is not distinct from t.tenant_id
	left join loyalty.tenant n on n.id = t.tenant_id`

// If several processes do this at once, one writes and the others skip it.
const usedSQL = `
	update loyalty.token
	set last_used_at = @now
	where id in (
		select id
		from loyalty.token
		where id = any (@ids::bigint[])
			and (last_used_at is null or last_used_at <= @now::timestamptz - interval '1 minute')
		for no key update skip locked
	)`

var tokenList = db.NewList(`
	select `+columns+`
	from loyalty.token
	where staff_id = @staff
		and revoked_at is null {position}
	{page}`, db.Descending("created_at, id", "@at, @number"), nil)

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

const listLiveSQL = `
	select ` + columns + `
	from loyalty.token
	where tenant_id = @tenant_id
		and staff_id = @staff` + whereLive + `
	order by created_at desc, id desc`

const revokeAllSQL = `
	update loyalty.token
	set revoked_at = @now
	where staff_id = @staff` + whereLive + `
	returning ` + columns
