-- The statements of core/location, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/location.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- listSQL (core/location/sql.go), for List: List returns the tenant's locations by name.
-- $1=tenant_id
prepare listSQL as
  select id, name, active
  from loyalty.location
  where tenant_id = $1
  order by name_key;

-- pages (core/location/sql.go): By name, which is unique.
-- $1=tenant_id $2=limit
prepare pages as
  select id, name, active
  from loyalty.location
  where tenant_id = $1
  order by name_key
  limit $2;

-- insertSQL (core/location/sql.go), for Add: Add creates a location.
-- $1=tenant_id $2=name
prepare insertSQL as
  insert into loyalty.location (tenant_id, name)
  values ($1, $2)
  returning id, name, active;

-- lockSQL (core/location/sql.go), for Edit: Edit changes the fields that are set.
-- $1=tenant_id $2=id
prepare lockSQL as
  select id, name, active
  from loyalty.location
  where tenant_id = $1
    and id = $2
  for no key update;

-- updateSQL (core/location/sql.go), for Edit: Edit changes the fields that are set.
-- $1=name $2=active $3=tenant_id $4=id
prepare updateSQL as
  update loyalty.location
  set name = $1,
    active = $2
  where tenant_id = $3
    and id = $4
  returning id, name, active;
