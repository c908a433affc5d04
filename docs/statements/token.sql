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

-- addRequestsSQL (core/token/meter.go): Days and endpoints are few, so rows are: one for each that a token had.
-- $1=counts
prepare addRequestsSQL as
  insert into loyalty.token_request as r (tenant_id, token_id, day, method, endpoint, status, requests)
  select t.tenant_id, t.id, (to_timestamp(c.at) at time zone coalesce(n.timezone, 'UTC'))::date as day, c.method, c.endpoint, c.status, sum(c.requests)
  from jsonb_to_recordset($1::jsonb) c (token bigint, at bigint, method text, endpoint text, status int, requests bigint)
  join loyalty.token t on t.id = c.token
  left join loyalty.tenant n on n.id = t.tenant_id
  group by t.tenant_id, t.id, day, c.method, c.endpoint, c.status
  order by t.id, day, c.method, c.endpoint, c.status
  on conflict (token_id, day, method, endpoint, status) do update
  set requests = r.requests + excluded.requests;

-- addressesSQL (core/token/meter.go): A token whose row another transaction has locked keeps its address until the next
-- write.
-- $1=addresses
prepare addressesSQL as
  update loyalty.token t
  set last_address = l.address
  from (
    select u.id, a.address
    from jsonb_to_recordset($1::jsonb) a (token bigint, address text)
    join loyalty.token u on u.id = a.token
    where u.last_address <> a.address
    order by u.id
    for no key update of u skip locked
  ) l
  where t.id = l.id;

-- addRefusalsSQL (core/token/meter.go), for write: write writes sums in one transaction of the platform, whatever
-- tenants the tokens are of.
-- $1=refusals
prepare addRefusalsSQL as
  insert into loyalty.token_refusal (tenant_id, token_id, id, at, request_id, method, endpoint, status, title, detail, code, fields)
  select t.tenant_id, t.id, f.id, f.at, f.request_id, f.method, f.endpoint, f.status, f.title, f.detail, f.code, f.fields
  from jsonb_to_recordset($1::jsonb) f (
    token bigint, id uuid, at timestamptz, request_id text, method text, endpoint text, status int, title text, detail text, code text, fields text[]
  )
  join loyalty.token t on t.id = f.token
  on conflict do nothing;

-- trimRefusalsSQL (core/token/meter.go), for write: write writes sums in one transaction of the platform, whatever
-- tenants the tokens are of.
-- $1=refusals $2=keep
prepare trimRefusalsSQL as
  delete from loyalty.token_refusal r
  using (
    select old.token_id, old.id
    from (
      select distinct token
      from jsonb_to_recordset($1::jsonb) f (token bigint)
    ) f
    cross join lateral (
      select token_id, id
      from loyalty.token_refusal
      where token_id = f.token
      order by id desc
      offset $2
    ) old
  ) old
  where r.token_id = old.token_id
    and r.id = old.id;

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
    coalesce(n.phone_optional, false) as phone_optional, coalesce(n.test, false) as test,
    coalesce(n.programme, '{}') as programme, coalesce(n.earning_version, 0) as earning_version
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
    coalesce(n.phone_optional, false) as phone_optional, coalesce(n.test, false) as test,
    coalesce(n.programme, '{}') as programme, coalesce(n.earning_version, 0) as earning_version
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

-- findUseSQL (core/token/use.go), for FindUse: FindUse returns what a token of the actor's person was used for, also
-- after it was revoked.
-- $1=staff $2=id
prepare findUseSQL as
  select id, name, abilities, last_used_at, expires_at, created_at, revoked_at, last_address, case when actor_kind = 'token' then actor_name else '' end as created_by
  from loyalty.token
  where staff_id = $1
    and id = $2;

-- requestsSQL (core/token/use.go), for FindUse: FindUse returns what a token of the actor's person was used for, also
-- after it was revoked.
-- $1=staff $2=id $3=since
prepare requestsSQL as
  select day, method, endpoint, status, requests
  from loyalty.token_request
  where token_id = (select id from loyalty.token where staff_id = $1 and id = $2)
    and day between $3::date and $3::date + 7
  order by day;

-- refusalsSQL (core/token/use.go), for FindUse: FindUse returns what a token of the actor's person was used for, also
-- after it was revoked.
-- $1=staff $2=id $3=keep
prepare refusalsSQL as
  select at, request_id, method, endpoint, status, title, detail, code, fields
  from loyalty.token_refusal
  where token_id = (select id from loyalty.token where staff_id = $1 and id = $2)
  order by id desc
  limit $3;

-- deleteOldRequestsSQL (core/token/use.go)
-- $1=before $2=up_to
prepare deleteOldRequestsSQL as
  delete from loyalty.token_request
  where (token_id, day, method, endpoint, status) in (
    select token_id, day, method, endpoint, status
    from loyalty.token_request
    where day < $1::timestamptz::date
    limit $2
  );

-- deleteOldRefusalsSQL (core/token/use.go)
-- $1=before $2=up_to
prepare deleteOldRefusalsSQL as
  delete from loyalty.token_refusal
  where (token_id, id) in (
    select token_id, id
    from loyalty.token_refusal
    where at < $1
    limit $2
  );

-- dueSQL (core/token/warn.go): Locks tokens whose owners weren't told yet, and returns them once for each owner; one of
-- the platform only for its person.
-- $1=now $2=first $3=last $4=up_to
prepare dueSQL as
  with due as materialized (
    select t.id, t.tenant_id, t.staff_id, t.name, t.expires_at, t.last_used_at
    from loyalty.token t
    join loyalty.staff s on s.id = t.staff_id and s.tenant_id is not distinct from t.tenant_id
    left join loyalty.tenant n on n.id = t.tenant_id
    where t.revoked_at is null
      and t.expires_at > $1
      and t.expires_at <= $1::timestamptz + make_interval(days => $2::int)
      and (t.warned_days is null or t.warned_days > case when t.expires_at <= $1::timestamptz + make_interval(days => $3::int) then $3::int else $2::int end)
      and t.created_at <= t.expires_at - make_interval(days => case when t.expires_at <= $1::timestamptz + make_interval(days => $3::int) then $3::int else $2::int end)
      and s.status = 'active'
      and s.role = case when t.tenant_id is null then 'super_admin' else 'owner' end
      and coalesce(n.status, 'active') = 'active'
    order by t.id
    limit $4
    for no key update of t
  )
  select d.id, d.name as token, d.expires_at, d.last_used_at, d.staff_id, o.name as owner,
    coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug, coalesce(n.timezone, 'UTC') as timezone,
    p.id as reader_id, p.name as reader_name, p.email as reader_email
  from due d
  join loyalty.staff o on o.id = d.staff_id
  join loyalty.staff p on p.id = d.staff_id or p.tenant_id = d.tenant_id and p.role = 'owner' and p.status = 'active'
  left join loyalty.tenant n on n.id = d.tenant_id
  order by p.id, d.expires_at, d.id;

-- warnedSQL (core/token/warn.go)
-- $1=now $2=last $3=first $4=tokens
prepare warnedSQL as
  update loyalty.token t
  set warned_days = case when t.expires_at <= $1::timestamptz + make_interval(days => $2::int) then $2::int else $3::int end
  where t.id = any ($4::bigint[]);
