-- The statements of core/level, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/level.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- insertChangeSQL (core/level/change.go), for Queue: Queue queues changes of a customer's level, whose account the
-- transaction has locked.
-- $1=id $2=tenant_id $3=customer $4=from $5=to $6=reason $7=cause $8=note $9=from_until $10=until $11=actor_kind
-- $12=actor_id $13=actor_name $14=now
prepare insertChangeSQL as
  insert into loyalty.level_change (tenant_id, id, customer_id, seq, from_level, to_level, reason, cause, note, from_until, until,
    actor_kind, actor_id, actor_name, created_at)
  select c.tenant_id, $1, c.id, 1 + coalesce((
      select max(seq)
      from loyalty.level_change
      where tenant_id = $2
        and customer_id = $3
    ), 0), $4, $5, $6, $7, $8, $9, $10,
    $11, $12, $13, $14
  from loyalty.customer c
  where c.tenant_id = $2
    and c.id = $3;

-- changesSQL (core/level/change.go): The newest ones are enough to see how the customer got the level that they have:
-- each of this year's is of a higher level.
-- $1=tenant_id $2=customer
prepare changesSQL as
  select from_level, to_level, reason, from_until, until, note, created_at
  from loyalty.level_change
  where tenant_id = $1
    and customer_id = $2
  order by seq desc
  limit 50;
