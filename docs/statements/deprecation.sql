-- The statements of core/deprecation, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/deprecation.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- insertSQL (core/deprecation/sql.go), for Add: Add deprecates a request, for super-admins: its answers say so, and the
-- owner of every tenant with a working token is mailed once.
-- $1=method $2=path $3=sunset $4=link $5=now
prepare insertSQL as
  insert into loyalty.deprecation (method, path, sunset, link, created_at)
  values ($1, $2, $3, $4, $5)
  returning id, method, path, sunset, link, created_at;

-- allSQL (core/deprecation/sql.go), for read: read reads all deprecations.
prepare allSQL as
  select id, method, path, sunset, link, created_at
  from loyalty.deprecation;

-- listSQL (core/deprecation/sql.go), for List: List returns all deprecations, newest first, for super-admins.
prepare listSQL as
  select id, method, path, sunset, link, created_at,
    (select count(*) from loyalty.deprecation_notice n where n.deprecation_id = d.id) as told
  from loyalty.deprecation d
  order by id desc;

-- findSQL (core/deprecation/sql.go), for notify: notify mails the tenants with a working token, in batches.
-- $1=id
prepare findSQL as
  select id, method, path, sunset, link, created_at
  from loyalty.deprecation
  where id = $1;

-- tellSQL (core/deprecation/sql.go): Notes and returns tenants with a working token that were not told yet.
-- $1=now $2=id $3=up_to
prepare tellSQL as
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
          and (t.expires_at is null or t.expires_at > $1)
          and s.status = 'active'
          and s.role = 'owner'
      )
      and not exists (
        select
        from loyalty.deprecation_notice
        where deprecation_id = $2
          and tenant_id = n.id
      )
    order by n.id
    limit $3
  ), told as (
    insert into loyalty.deprecation_notice (deprecation_id, tenant_id, created_at)
    select $2, id, $1
    from due
    on conflict do nothing
    returning tenant_id
  )
  select due.name, due.email
  from due
  join told on told.tenant_id = due.id
  order by due.id;
