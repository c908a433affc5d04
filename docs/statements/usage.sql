-- The statements of core/usage, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/usage.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- limitsSQL (core/usage/sql.go), for limited: limited returns the uses that have a limit, in one round trip: the limits
-- with the cached counts or, if one is missing, with new ones.
-- $1=tenant_id
prepare limitsSQL as
  select l.kind, l."limit", 0::bigint as used
  from loyalty.tenant t
  join loyalty.plan p on p.id = t.plan_id
  cross join lateral (values ('customers', p.customers_limit), ('staff', p.staff_limit), ('sends', p.sends_limit)) l (kind, "limit")
  where t.id = $1
    and l."limit" is not null;

-- usesSQL (core/usage/sql.go): The uses of a kind (null: of each kind), with or without those that have no limit.
-- $1=tenant_id $2=kind $3=unlimited $4=now
prepare usesSQL as
  with own as (
    select p.*, t.timezone
    from loyalty.tenant t
    join loyalty.plan p on p.id = t.plan_id
    where t.id = $1
  )
  select 'customers' as kind, p.customers_limit as "limit",
    (
      select count(*)
      from (
        select
        from loyalty.customer
        where tenant_id = $1
          and status = 'active'
        limit coalesce(p.customers_limit * 2, 100000)
      ) c
    ) as used
  from own p
  where coalesce($2::text = 'customers', true)
    and ($3::boolean or p.customers_limit is not null)
  union all
  select 'staff', p.staff_limit,
    (
      select count(*)
      from loyalty.staff
      where tenant_id = $1
        and status = 'active'
    )
  from own p
  where coalesce($2 = 'staff', true)
    and ($3 or p.staff_limit is not null)
  union all
  select 'sends', p.sends_limit,
    (
      select count(*)
      from loyalty.coupon_send
      where tenant_id = $1
        and created_at >= date_trunc('month', $4::timestamptz at time zone p.timezone) at time zone p.timezone
        and status not in ('cancelled', 'failed')
    )
  from own p
  where coalesce($2 = 'sends', true)
    and ($3 or p.sends_limit is not null);
