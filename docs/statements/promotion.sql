-- The statements of core/promotion, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/promotion.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- noteCodesSQL (core/promotion/codes.go): The rows are in order, so that processes that write the same ones wait for
-- each other, and never both.
-- $1=sightings $2=tenant_id $3=most
prepare noteCodesSQL as
  insert into loyalty.unmapped_code as u (tenant_id, code, first_seen_at, last_seen_at, sales)
  select n.id, s.code, s.first_seen, s.last_seen, s.sales
  from jsonb_to_recordset($1::jsonb) s (code text, first_seen timestamptz, last_seen timestamptz, sales bigint)
  join loyalty.tenant n on n.id = $2
  where not exists (select from loyalty.category_code where tenant_id = $2 and code = s.code)
    and (exists (select from loyalty.unmapped_code where tenant_id = $2 and code = s.code)
      or (select count(*) from loyalty.unmapped_code where tenant_id = $2) < $3)
  order by s.code
  limit $3
  on conflict (tenant_id, code) do update
  set first_seen_at = least(u.first_seen_at, excluded.first_seen_at),
    last_seen_at = greatest(u.last_seen_at, excluded.last_seen_at),
    sales = u.sales + excluded.sales;

-- raiseVersionSQL (core/promotion/version.go), for RulesChanged: RulesChanged queues what each change of the rules by
-- which sales earn does: it raises their version, so no process computes a further award by the rules that it remembers.
-- $1=tenant
prepare raiseVersionSQL as
  select loyalty.raise_earning_version($1);
