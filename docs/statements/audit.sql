-- The statements of core/audit, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/audit.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- insertSQL (core/audit/audit.go): The customer's name is read under a lock that erasing them waits for: otherwise an
-- entry written at the same time would keep their name.
-- $1=tenant_id $2=id $3=action $4=subject_kind $5=subject_id $6=subject_name $7=customer $8=old $9=new $10=actor_kind
-- $11=actor_id $12=actor_name $13=address $14=request_id $15=now
prepare insertSQL as
  insert into loyalty.audit_entry (tenant_id, id, action, subject_kind, subject_id, subject_name, customer_id, customer_name,
    old, new, actor_kind, actor_id, actor_name, address, request_id, created_at)
  select $1, $2, $3, $4, $5, $6, $7::uuid, coalesce((
      select case when coalesce(phone_key, email_key) is null then first_name else first_name || ' ' || last_name end
      from loyalty.customer
      where tenant_id = $1
        and id = $7
      for key share
    ), ''),
    $8, $9, $10, $11, $12, $13, $14, $15
  returning 1;

-- insertPlatformSQL (core/audit/audit.go), for Write: Write queues an entry of the audit log of the transaction's
-- tenant, or of the platform.
-- $1=id $2=action $3=subject_kind $4=subject_id $5=subject_name $6=old $7=new $8=actor_kind $9=actor_id $10=actor_name
-- $11=address $12=request_id $13=now
prepare insertPlatformSQL as
  insert into loyalty.platform_audit_entry (id, action, subject_kind, subject_id, subject_name,
    old, new, actor_kind, actor_id, actor_name, address, request_id, created_at)
  values ($1, $2, $3, $4, $5,
    $6, $7, $8, $9, $10, $11, $12, $13);

-- entryList (core/audit/list.go): The whole log, or the entries about one record, which are few.
-- $1=tenant_id $2=limit
-- filter: and actor_kind = @actor_kind and actor_id = @actor_id
-- filter: and id < @before
-- filter: and id >= @from
-- filter: and subject_kind = @subject and subject_id = @subject_id and action = any(@actions::text[])
prepare entryList as
  select e.id, e.created_at as at, e.action, e.subject_kind as subject, e.subject_id,
    case when e.subject_kind = 'customer' then e.customer_name else e.subject_name end as subject_name, e.customer_id, e.customer_name,
    case when e.action in ('transaction.void', 'transaction.refund') then (e.new ->> 'spend_amount_cents')::bigint end as spend_cents,
    jsonb_build_array(e.old, e.new) as changes,
    e.actor_kind || ':' || e.actor_id as actor, e.actor_name, e.address, e.request_id
  from loyalty.audit_entry e
  where tenant_id = $1
  order by id desc
  limit $2;

-- actionList (core/audit/list.go): Takes the last page of each action from its index, and the page from these.
-- $1=tenant_id $2=actions $3=limit
-- filter: and actor_kind = @actor_kind and actor_id = @actor_id
-- filter: and id < @before
-- filter: and id >= @from
-- filter: and subject_kind = @subject and subject_id = @subject_id and action = any(@actions::text[])
prepare actionList as
  select e.id, e.created_at as at, e.action, e.subject_kind as subject, e.subject_id,
    case when e.subject_kind = 'customer' then e.customer_name else e.subject_name end as subject_name, e.customer_id, e.customer_name,
    case when e.action in ('transaction.void', 'transaction.refund') then (e.new ->> 'spend_amount_cents')::bigint end as spend_cents,
    jsonb_build_array(e.old, e.new) as changes,
    e.actor_kind || ':' || e.actor_id as actor, e.actor_name, e.address, e.request_id
  from loyalty.audit_entry e
  where tenant_id = $1
    and id = any(array(
      select found.id
      from unnest($2::text[]) as wanted (action)
      cross join lateral (
        select id
        from loyalty.audit_entry
        where tenant_id = $1
          and action = wanted.action
        order by id desc
        limit $3
      ) found
      order by id desc
      limit $3
    ))
  order by id desc
  limit $3;

-- peopleSQL (core/audit/list.go), for People: People returns the staff, including former staff, and for owners the
-- tokens in use, by name.
-- $1=tenant_id $2=tokens
prepare peopleSQL as
  select actor, name
  from (
    select 'staff' as kind, 'staff:' || id as actor, name
    from loyalty.staff
    where tenant_id = $1
    union all
    select 'token', 'token:' || t.id, t.name
    from loyalty.staff s
    join loyalty.token t on t.staff_id = s.id
    where $2::boolean
      and s.tenant_id = $1
      and t.tenant_id = $1
      and t.revoked_at is null
  ) person
  order by kind, name, actor;

-- filterSubjectsSQL (core/audit/platform.go), for platformArgs: platformArgs checks a filter and returns the arguments
-- of its statement.
-- $1=slug $2=email
prepare filterSubjectsSQL as
  select (select id from loyalty.tenant where slug = $1::text) as tenant,
    coalesce(array_agg(p.kind), '{}') as kinds,
    coalesce(array_agg(p.id), '{}') as people
  from (
    select case when tenant_id is null then 'admin' else 'staff' end as kind, id::text
    from loyalty.staff
    where email_key = $2::text
    order by id
    limit 100
  ) p;

-- platformList (core/audit/platform.go): The function takes the two ids between which the entries of a page lie, and
-- their order.
-- $1=tenant $2=actions $3=kinds $4=actors $5=from $6=before $7=limit
prepare platformList as
  select e.id, e.created_at as at, e.action, e.subject_kind as subject, e.subject_id,
    case when e.subject_kind = 'customer' then e.customer_name else e.subject_name end as subject_name, e.customer_id, e.customer_name,
    case when e.action in ('transaction.void', 'transaction.refund') then (e.new ->> 'spend_amount_cents')::bigint end as spend_cents,
    jsonb_build_array(e.old, e.new) as changes,
    e.actor_kind || ':' || e.actor_id as actor, e.actor_name, e.address, e.request_id, coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
    coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
    coalesce(n.confirm_above_cents, 0) as confirm_above_cents, coalesce(n.status, 'active') <> 'active' as suspended,
    coalesce(n.phone_optional, false) as phone_optional, coalesce(n.test, false) as test,
    coalesce(n.programme, '{}') as programme, coalesce(n.earning_version, 0) as earning_version
  from loyalty.audit_page(
    of_tenant => $1,
    of_actions => $2::text[],
    of_actor_kinds => $3::text[],
    of_actor_ids => $4::text[],
    after_id => coalesce($5, '00000000-0000-0000-0000-000000000000'::uuid), before_id => coalesce($6, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid), oldest => false,
    up_to => $7
  ) e
  left join loyalty.tenant n on n.id = e.tenant_id
  order by e.id desc
  limit $7;

-- deleteOldSQL (core/audit/retention.go), for DeleteOlder: DeleteOlder deletes entries older than the period; 0: none.
-- $1=before $2=up_to
prepare deleteOldSQL as
  select loyalty.forget_audit($1, $2);
