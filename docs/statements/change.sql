-- The statements of core/change, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/change.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- settleSQL (core/change/sql.go), for List: List returns a page of what changed in records of some kinds, the oldest
-- first: after the page's cursor, or since an instant.
prepare settleSQL as
  select loyalty.settle_changes();

-- changesSQL (core/change/sql.go): Each source is read from its index, after a position and before the one that
-- settleSQL set, and gives at most a page.
-- $1=customer $2=tenant_id $3=after $4=limit $5=transaction $6=redemption $7=voucher $8=actions
prepare changesSQL as
  with settled as materialized (
    select current_setting('app.settled')::uuid as before
  )
  select place, kind, id, kept_id, action, subject
  from (
    (
      select id as place, 'customer' as kind, id, null::uuid as kept_id, '' as action, '' as subject
      from loyalty.customer
      where $1
        and tenant_id = $2
        and id > $3
        and id < (select before from settled)
      order by id
      limit $4
    )
    union all
    (
      select id, 'customer', merged_id, kept_id, '', ''
      from loyalty.customer_merge
      where $1
        and tenant_id = $2
        and id > $3
        and id < (select before from settled)
      order by id
      limit $4
    )
    union all
    (
      select id, 'customer', customer_id, null, 'unlogged', ''
      from loyalty.ledger_entry
      where $1
        and tenant_id = $2
        and id > $3
        and id < (select before from settled)
      order by id
      limit $4
    )
    union all
    (
      select id, 'customer', customer_id, null, 'unlogged', ''
      from loyalty.level_change
      where $1
        and tenant_id = $2
        and id > $3
        and id < (select before from settled)
      order by id
      limit $4
    )
    union all
    (
      select id, 'transaction', id, null, '', ''
      from loyalty.transaction
      where $5
        and tenant_id = $2
        and id > $3
        and id < (select before from settled)
      order by id
      limit $4
    )
    union all
    (
      select id, 'redemption', id, null, '', ''
      from loyalty.redemption
      where $6
        and tenant_id = $2
        and id > $3
        and id < (select before from settled)
      order by id
      limit $4
    )
    union all
    (
      select id, 'voucher', id, null, '', ''
      from loyalty.voucher
      where $7
        and tenant_id = $2
        and id > $3
        and id < (select before from settled)
      order by id
      limit $4
    )
    union all
    select logged.id, '', null, null, wanted.action, logged.subject_id
    from unnest($8::text[]) wanted (action)
    cross join lateral (
      select id, subject_id
      from loyalty.audit_entry
      where action = wanted.action
        and tenant_id = $2
        and id > $3
        and id < (select before from settled)
      order by id
      limit $4
    ) logged
  ) change
  order by place
  limit $4;
