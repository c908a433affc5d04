-- The statements of core/demo, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/demo.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- balancesSQL (core/demo/cafe.go), for expire: expire posts what ended before a night.
-- $1=tenant_id
prepare balancesSQL as
  select customer_id, points, stamps
  from loyalty.account
  where tenant_id = $1;

-- findPeopleSQL (core/demo/demo.go): findPeopleSQL also recognises the demo: its e-mail addresses are reserved for
-- examples, and can't be changed.
-- $1=tenant_id $2=emails
prepare findPeopleSQL as
  select id, role, name, email
  from loyalty.staff
  where tenant_id = $1
    and email_key = any($2::text[])
  order by id;
