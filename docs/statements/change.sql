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
-- $1=tenant_id $2=customer $3=after $4=limit $5=transaction $6=redemption $7=voucher $8=actions
prepare changesSQL as
  with settled as materialized (
    select current_setting('app.settled')::uuid as before
  )
  select place, kind, id, kept_id, action, subject
  from (
    (
      select c.id as place, 'customer' as kind, c.id, null::uuid as kept_id, '' as action, '' as subject
      from loyalty.customer c
      where c.tenant_id = $1
        and $2
        and c.id > $3
        and c.id < (select before from settled)
      order by c.id
      limit $4
    )
    union all
    (
      select m.id, 'customer', m.merged_id, m.kept_id, '', ''
      from loyalty.customer_merge m
      where m.tenant_id = $1
        and $2
        and m.id > $3
        and m.id < (select before from settled)
      order by m.id
      limit $4
    )
    union all
    (
      select e.id, 'customer', e.customer_id, null, 'balance', ''
      from loyalty.ledger_entry e
      where e.tenant_id = $1
        and $2
        and e.id > $3
        and e.id < (select before from settled)
      order by e.id
      limit $4
    )
    union all
    (
      select t.id, 'transaction', t.id, null, '', ''
      from loyalty.transaction t
      where t.tenant_id = $1
        and $5
        and t.id > $3
        and t.id < (select before from settled)
      order by t.id
      limit $4
    )
    union all
    (
      select r.id, 'redemption', r.id, null, '', ''
      from loyalty.redemption r
      where r.tenant_id = $1
        and $6
        and r.id > $3
        and r.id < (select before from settled)
      order by r.id
      limit $4
    )
    union all
    (
      select v.id, 'voucher', v.id, null, '', ''
      from loyalty.voucher v
      where v.tenant_id = $1
        and $7
        and v.id > $3
        and v.id < (select before from settled)
      order by v.id
      limit $4
    )
    union all
    select logged.id, '', null, null, wanted.action, logged.subject_id
    from unnest($8::text[]) wanted (action)
    cross join lateral (
      select a.id, a.subject_id
      from loyalty.audit_entry a
      where a.tenant_id = $1
        and a.action = wanted.action
        and a.id > $3
        and a.id < (select before from settled)
      order by a.id
      limit $4
    ) logged
  ) change
  order by place
  limit $4;
