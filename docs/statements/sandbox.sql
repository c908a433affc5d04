-- The statements of core/sandbox, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/sandbox.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- activeSQL (core/sandbox/send.go): The segments by the words of the specification, independent of the product's
-- statements.
-- $1=tenant_id
prepare activeSQL as
  select c.id
  from loyalty.customer c
  where c.tenant_id = $1
    and c.status = 'active'
  order by c.id;

-- longStandingSQL (core/sandbox/send.go): The segments by the words of the specification, independent of the product's
-- statements.
-- $1=tenant_id $2=zone $3=now
prepare longStandingSQL as
  select c.id
  from loyalty.customer c
  where c.tenant_id = $1
    and (c.created_at at time zone $2)::date < ($3::timestamptz at time zone $2)::date - 90
  order by c.id;

-- recentPurchaseSQL (core/sandbox/send.go): The segments by the words of the specification, independent of the product's
-- statements.
-- $1=tenant_id $2=now
prepare recentPurchaseSQL as
  select c.id
  from loyalty.customer c
  where c.tenant_id = $1
    and exists (
      select
      from loyalty.transaction t
      where t.tenant_id = $1
        and t.customer_id = c.id
        and t.status = 'completed'
        and t.created_at >= $2::timestamptz - interval '720 hours'
    )
  order by c.id;

-- inactiveSQL (core/sandbox/send.go): The segments by the words of the specification, independent of the product's
-- statements.
-- $1=tenant_id
prepare inactiveSQL as
  select c.id
  from loyalty.customer c
  where c.tenant_id = $1
    and c.status = 'inactive'
  order by c.id;

-- withoutEmailSQL (core/sandbox/send.go): The segments by the words of the specification, independent of the product's
-- statements.
-- $1=tenant_id
prepare withoutEmailSQL as
  select c.id
  from loyalty.customer c
  where c.tenant_id = $1
    and c.email is null
  order by c.id;

-- unsubscribedSQL (core/sandbox/send.go): The segments by the words of the specification, independent of the product's
-- statements.
-- $1=tenant_id
prepare unsubscribedSQL as
  select c.id
  from loyalty.customer c
  where c.tenant_id = $1
    and c.unsubscribed_at is not null
  order by c.id;
