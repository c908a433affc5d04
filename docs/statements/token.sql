-- The statements of core/token, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/token.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- deleteOldSQL (core/token/revoke.go)
-- $1=before $2=up_to
prepare deleteOldSQL as
  delete from loyalty.token
  where id in (
    select id
    from loyalty.token
    where revoked_at < $1
      or expires_at < $1
    limit $2
  );

-- lockOwnerSQL (core/token/sql.go): Creating a token, changing a person's role and revoking all their tokens take this
-- lock, so each of them sees what the previous one committed.
-- $1=id $2=tenant
prepare lockOwnerSQL as
  select p.id, p.role, p.name, p.email, p.status = 'active' and coalesce(n.status, 'active') = 'active' as active,
    coalesce(n.name, '') as tenant_name
  from loyalty.staff p
  left join loyalty.tenant n on n.id = p.tenant_id
  where p.id = $1
    and p.tenant_id is not distinct from nullif($2::bigint, 0)
  for no key update of p;

-- insertSQL (core/token/sql.go): Inserts nothing if the person has reached the limit, or if the calling token was
-- revoked since it was authenticated.
-- $1=tenant $2=staff $3=name $4=hash $5=abilities $6=expires_at $7=actor_kind $8=actor_name $9=address $10=now $11=most
-- $12=caller
prepare insertSQL as
  insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, expires_at, actor_kind, actor_name, address, created_at)
  select nullif($1::bigint, 0), $2, $3, $4, $5, $6, $7, $8, $9, $10
  where (
      select count(*)
      from loyalty.token
      where staff_id = $2
    and revoked_at is null
    and (expires_at is null or expires_at > $10)
    ) < $11
    and ($12::bigint = 0 or exists (
      select true as live
      from loyalty.token
      where id = $12
      and revoked_at is null))
  returning id, name, abilities, last_used_at, expires_at, created_at,
    (
      select max(told_at)
      from loyalty.token
      where staff_id = $2
    ) as told_at,
    exists (
      select
      from loyalty.token
      where staff_id = $2
        and told_at is null
    ) as waiting;

-- callerSQL (core/token/sql.go), for insertRefusal: insertRefusal returns the reason why no token was inserted.
-- $1=caller
prepare callerSQL as
  select true as live
  from loyalty.token
  where id = $1
    and revoked_at is null;

-- toldSQL (core/token/sql.go), for announce: announce runs the job.
-- $1=staff
prepare toldSQL as
  select
    (
      select max(told_at)
      from loyalty.token
      where staff_id = $1
    ) as told_at,
    exists (
      select
      from loyalty.token
      where staff_id = $1
        and told_at is null
    ) as waiting;

-- tellSQL (core/token/sql.go), for mailUnannounced: mailUnannounced mails a person all tokens they have not been told
-- about, and marks them, so that none is mailed twice.
-- $1=now $2=staff
prepare tellSQL as
  with told as (
    update loyalty.token
    set told_at = $1
    where staff_id = $2
      and told_at is null
    returning id, name, abilities, actor_kind, actor_name, address, revoked_at, created_at
  )
  select name as token, abilities, actor_kind, actor_name as by, address, revoked_at is not null as revoked, created_at as at
  from told
  order by created_at, id;

-- credentialSQL (core/token/sql.go): For an array of unknown length PostgreSQL keeps one plan (db.NewFinder).
-- $1=id
prepare credentialSQL as
  select t.id, t.hash, t.name, t.abilities, t.last_used_at, t.expires_at, t.revoked_at, t.staff_id,
    s.role, s.status = 'active' as staff_active,
    coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
    coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
    coalesce(n.confirm_above_cents, 0) as confirm_above_cents, coalesce(n.status, 'active') <> 'active' as suspended,
    coalesce(n.phone_optional, false) as phone_optional, coalesce(n.programme, '{}') as programme
  from loyalty.token t
  join loyalty.staff s on s.id = t.staff_id and s.tenant_id is not distinct from t.tenant_id
  left join loyalty.tenant n on n.id = t.tenant_id
  where t.id = $1;

-- credentialsSQL (core/token/sql.go): For an array of unknown length PostgreSQL keeps one plan (db.NewFinder).
-- $1=ids
prepare credentialsSQL as
  select t.id, t.hash, t.name, t.abilities, t.last_used_at, t.expires_at, t.revoked_at, t.staff_id,
    s.role, s.status = 'active' as staff_active,
    coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
    coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
    coalesce(n.confirm_above_cents, 0) as confirm_above_cents, coalesce(n.status, 'active') <> 'active' as suspended,
    coalesce(n.phone_optional, false) as phone_optional, coalesce(n.programme, '{}') as programme
  from loyalty.token t
  join loyalty.staff s on s.id = t.staff_id and s.tenant_id is not distinct from t.tenant_id
  left join loyalty.tenant n on n.id = t.tenant_id
  where t.id = any (array(select unnest($1::bigint[])));

-- usedSQL (core/token/sql.go): If several processes do this at once, one writes and the others skip it.
-- $1=now $2=ids
prepare usedSQL as
  update loyalty.token
  set last_used_at = $1
  where id in (
    select id
    from loyalty.token
    where id = any ($2::bigint[])
      and (last_used_at is null or last_used_at <= $1::timestamptz - interval '1 minute')
    for no key update skip locked
  );

-- tokenList (core/token/sql.go), for List: List returns a page of the tokens of the actor's person.
-- $1=staff $2=limit
prepare tokenList as
  select id, name, abilities, last_used_at, expires_at, created_at
  from loyalty.token
  where staff_id = $1
    and revoked_at is null
  order by created_at desc, id desc
  limit $2;

-- findSQL (core/token/sql.go), for Find: Find returns a token of the actor's person.
-- $1=staff $2=id
prepare findSQL as
  select id, name, abilities, last_used_at, expires_at, created_at
  from loyalty.token
  where staff_id = $1
    and id = $2
    and revoked_at is null;

-- revokeSQL (core/token/sql.go)
-- $1=now $2=staff $3=id
prepare revokeSQL as
  update loyalty.token
  set revoked_at = $1
  where staff_id = $2
    and id = $3
    and revoked_at is null
  returning id, name, abilities, last_used_at, expires_at, created_at;

-- listLiveSQL (core/token/sql.go), for ListLive: ListLive returns all live tokens of a person of the actor's tenant,
-- newest first.
-- $1=tenant_id $2=staff $3=now
prepare listLiveSQL as
  select id, name, abilities, last_used_at, expires_at, created_at
  from loyalty.token
  where tenant_id = $1
    and staff_id = $2
    and revoked_at is null
    and (expires_at is null or expires_at > $3)
  order by created_at desc, id desc;

-- revokeAllSQL (core/token/sql.go), for RevokeAll: RevokeAll revokes all live tokens of a person and returns their
-- number.
-- $1=now $2=staff
prepare revokeAllSQL as
  update loyalty.token
  set revoked_at = $1
  where staff_id = $2
    and revoked_at is null
    and (expires_at is null or expires_at > $1)
  returning id, name, abilities, last_used_at, expires_at, created_at;
