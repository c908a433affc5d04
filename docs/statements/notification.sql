-- The statements of core/notification, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/notification.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- activeTenantsSQL (core/notification/sql.go)
prepare activeTenantsSQL as
  select coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
    coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
    coalesce(n.confirm_above_cents, 0) as confirm_above_cents, coalesce(n.status, 'active') <> 'active' as suspended,
    coalesce(n.phone_optional, false) as phone_optional, coalesce(n.test, false) as test,
    coalesce(n.programme, '{}') as programme, coalesce(n.earning_version, 0) as earning_version
  from loyalty.tenant n
  where n.status = 'active'
  order by n.id;

-- settingsSQL (core/notification/sql.go), for Settings: Settings returns the thresholds of the actor's business, for
-- owners.
-- $1=tenant_id
prepare settingsSQL as
  select coalesce(s.stock_low, 5) as stock_low, coalesce(s.coupon_percent, 90) as coupon_percent,
    coalesce(s.pending_days, 7) as pending_days, coalesce(s.staff_daily, 5) as staff_daily, coalesce(s.staff_factor, 3) as staff_factor
  from (select) one
  left join loyalty.notification_setting s on s.tenant_id = $1;

-- openSettingsSQL (core/notification/sql.go), for EditSettings: EditSettings changes thresholds, for owners.
-- $1=tenant_id $2=now
prepare openSettingsSQL as
  insert into loyalty.notification_setting (tenant_id, stock_low, coupon_percent, pending_days, staff_daily, staff_factor, updated_at)
  select $1, t.*, $2
  from (
    select coalesce(s.stock_low, 5) as stock_low, coalesce(s.coupon_percent, 90) as coupon_percent,
      coalesce(s.pending_days, 7) as pending_days, coalesce(s.staff_daily, 5) as staff_daily, coalesce(s.staff_factor, 3) as staff_factor
    from (select) one
    left join loyalty.notification_setting s on s.tenant_id = $1
  ) t
  on conflict (tenant_id) do nothing;

-- lockSettingsSQL (core/notification/sql.go), for EditSettings: EditSettings changes thresholds, for owners.
-- $1=tenant_id
prepare lockSettingsSQL as
  select stock_low, coupon_percent, pending_days, staff_daily, staff_factor
  from loyalty.notification_setting
  where tenant_id = $1
  for update;

-- updateSettingsSQL (core/notification/sql.go), for EditSettings: EditSettings changes thresholds, for owners.
-- $1=stock_low $2=coupon_percent $3=pending_days $4=staff_daily $5=staff_factor $6=now $7=tenant_id
prepare updateSettingsSQL as
  update loyalty.notification_setting
  set stock_low = $1,
    coupon_percent = $2,
    pending_days = $3,
    staff_daily = $4,
    staff_factor = $5,
    updated_at = $6
  where tenant_id = $7;

-- countsSQL (core/notification/sql.go), for Counts: Counts returns the figures beside the navigation, in one round trip.
-- $1=tenant_id $2=up_to $3=manages $4=now $5=lasting_since $6=staff
prepare countsSQL as
  select (
      select count(*)
      from (
        select
        from loyalty.redemption
        where tenant_id = $1
          and status = 'pending'
        limit $2
      ) waiting
    ) as pending,
    case when $3 then (
      select count(*)
      from (
        select
      from loyalty.notification n
      cross join (
        select coalesce(s.stock_low, 5) as stock_low, coalesce(s.coupon_percent, 90) as coupon_percent,
        coalesce(s.pending_days, 7) as pending_days, coalesce(s.staff_daily, 5) as staff_daily, coalesce(s.staff_factor, 3) as staff_factor
        from (select) one
        left join loyalty.notification_setting s on s.tenant_id = $1
      ) t
      left join loyalty.reward r on r.tenant_id = $1 and r.id = n.reward_id
      left join loyalty.coupon k on k.tenant_id = $1 and k.id = n.coupon_id
      left join loyalty.coupon_send m on m.tenant_id = $1 and m.id = n.send_id
      where n.tenant_id = $1
      and n.resolved_at is null
      and case
      when n.kind = 'stock_low' then r.active and r.stock between 1 and t.stock_low
      when n.kind = 'stock_empty' then r.active and r.stock = 0
      when n.kind = 'coupon_limit' then k.active
        and (k.expires_at is null or k.expires_at > $4)
        and k.redemptions_count::numeric * 100 >= k.max_redemptions::numeric * t.coupon_percent
      when n.kind = 'redemptions_pending' then (
        select id
        from loyalty.redemption
        where tenant_id = $1
          and status = 'pending'
        order by id
        limit 1
      ) < (lpad(to_hex(floor(extract(epoch from $4::timestamptz - t.pending_days * interval '1 day') * 1000)::bigint), 12, '0')
        || repeat('0', 20))::uuid
      when n.kind = 'send_failed' then (m.status = 'failed' or m.failed > 0) and n.created_at > $5
      when n.kind = 'send_held' then m.held_at is not null
        and m.status in ('waiting', 'mailing')
      when n.kind in ('staff_activity', 'joins_fast') then n.created_at > $5
      when n.kind = 'plan_limit' then n.figure * 5 >= (select l.customers_limit * 4
        from loyalty.tenant w
        join loyalty.plan l on l.id = w.plan_id
        where w.id = $1)
      end
          and not exists (select from loyalty.notification_read u where u.tenant_id = $1 and u.staff_id = $6 and u.notification_id = n.id)
        limit $2
      ) unread
    ) else 0 end as unread;

-- listSQL (core/notification/sql.go), for List: List returns the notifications that a person hasn't dismissed, the
-- newest first, and notes that they have seen them.
-- $1=tenant_id $2=now $3=lasting_since $4=staff $5=listed
prepare listSQL as
  with open as (
    select n.*, t.pending_days, r.stock, k.redemptions_count, k.max_redemptions, m.failed, m.mails
    from loyalty.notification n
    cross join (
      select coalesce(s.stock_low, 5) as stock_low, coalesce(s.coupon_percent, 90) as coupon_percent,
      coalesce(s.pending_days, 7) as pending_days, coalesce(s.staff_daily, 5) as staff_daily, coalesce(s.staff_factor, 3) as staff_factor
      from (select) one
      left join loyalty.notification_setting s on s.tenant_id = $1
    ) t
    left join loyalty.reward r on r.tenant_id = $1 and r.id = n.reward_id
    left join loyalty.coupon k on k.tenant_id = $1 and k.id = n.coupon_id
    left join loyalty.coupon_send m on m.tenant_id = $1 and m.id = n.send_id
    where n.tenant_id = $1
    and n.resolved_at is null
    and case
      when n.kind = 'stock_low' then r.active and r.stock between 1 and t.stock_low
      when n.kind = 'stock_empty' then r.active and r.stock = 0
      when n.kind = 'coupon_limit' then k.active
        and (k.expires_at is null or k.expires_at > $2)
        and k.redemptions_count::numeric * 100 >= k.max_redemptions::numeric * t.coupon_percent
      when n.kind = 'redemptions_pending' then (
        select id
        from loyalty.redemption
        where tenant_id = $1
          and status = 'pending'
        order by id
        limit 1
      ) < (lpad(to_hex(floor(extract(epoch from $2::timestamptz - t.pending_days * interval '1 day') * 1000)::bigint), 12, '0')
        || repeat('0', 20))::uuid
      when n.kind = 'send_failed' then (m.status = 'failed' or m.failed > 0) and n.created_at > $3
      when n.kind = 'send_held' then m.held_at is not null
        and m.status in ('waiting', 'mailing')
      when n.kind in ('staff_activity', 'joins_fast') then n.created_at > $3
      when n.kind = 'plan_limit' then n.figure * 5 >= (select l.customers_limit * 4
        from loyalty.tenant w
        join loyalty.plan l on l.id = w.plan_id
        where w.id = $1)
    end
  )
  select n.id, n.kind, n.reward_id, n.coupon_id, n.send_id, n.staff_id, n.day, n.name, n.created_at, u.read_at is null as unread,
    case
      when n.kind in ('stock_low', 'stock_empty') then n.stock
      when n.kind = 'coupon_limit' then n.redemptions_count
      when n.kind = 'redemptions_pending' then late.redemptions
      when n.kind = 'send_failed' then n.failed
      when n.kind = 'send_held' then n.mails
      else n.figure
    end as figure,
    case
      when n.kind = 'coupon_limit' then n.max_redemptions
      when n.kind = 'send_failed' then n.mails
      when n.kind = 'plan_limit' then (select l.customers_limit
        from loyalty.tenant w
        join loyalty.plan l on l.id = w.plan_id
        where w.id = $1)
      when n.kind = 'redemptions_pending' then n.pending_days
      else 0
    end as total,
    case when n.kind = 'redemptions_pending' then late.oldest end as since
  from open n
  left join loyalty.notification_read u on u.tenant_id = $1 and u.staff_id = $4 and u.notification_id = n.id
  cross join lateral (
    select count(*) as redemptions, min(created_at) as oldest
    from (
      select d.created_at
      from (
        select (lpad(to_hex(floor(extract(epoch from $2::timestamptz - t.pending_days * interval '1 day') * 1000)::bigint), 12, '0')
          || repeat('0', 20))::uuid as first_id
        from (select n.pending_days) t
        where n.kind = 'redemptions_pending'
        offset 0
      ) t
      join loyalty.redemption d on d.tenant_id = $1
        and d.status = 'pending'
        and d.id < t.first_id
      order by d.id
      limit 1001
    ) waiting
  ) late
  where u.dismissed_at is null
  order by n.created_at desc, n.id desc
  limit $5;

-- readSQL (core/notification/sql.go), for List: List returns the notifications that a person hasn't dismissed, the
-- newest first, and notes that they have seen them.
-- $1=tenant_id $2=staff $3=now
prepare readSQL as
  insert into loyalty.notification_read (tenant_id, staff_id, notification_id, read_at)
  select $1, $2, n.id, $3
  from loyalty.notification n
  where n.tenant_id = $1
    and n.resolved_at is null
    and n.created_at <= $3
  on conflict do nothing;

-- dismissSQL (core/notification/sql.go), for Dismiss: Dismiss removes a notification from the person's list.
-- $1=tenant_id $2=staff $3=now $4=id
prepare dismissSQL as
  insert into loyalty.notification_read as u (tenant_id, staff_id, notification_id, read_at, dismissed_at)
  select $1, $2, n.id, $3, $3
  from loyalty.notification n
  where n.tenant_id = $1
    and n.id = $4
  on conflict (tenant_id, staff_id, notification_id) do update
  set dismissed_at = coalesce(u.dismissed_at, excluded.dismissed_at)
  returning u.notification_id;

-- staffDaySQL (core/notification/sql.go), for FindStaffDay: FindStaffDay returns what a notification about a person is
-- about.
-- $1=tenant_id $2=id
prepare staffDaySQL as
  select staff_id, name, day
  from loyalty.notification
  where tenant_id = $1
    and id = $2
    and kind = 'staff_activity';

-- activitySQL (core/notification/sql.go), for FindStaffDay: FindStaffDay returns what a notification about a person is
-- about.
-- $1=tenant_id $2=staff $3=actions $4=first_id $5=next_id
prepare activitySQL as
  select e.action, e.created_at, e.subject_id, e.subject_name as name, e.customer_id, e.customer_name,
    (e.new ->> 'spend_amount_cents')::bigint as spend_cents, (e.new ->> 'amount_cents')::bigint as refund_cents, e.new ->> 'unit' as unit, (e.new ->> 'amount')::bigint as amount,
    e.new ->> 'reason' as reason
  from loyalty.audit_entry e
  where e.tenant_id = $1
    and e.actor_kind = 'staff'
    and e.actor_id = $2::bigint::text
    and e.action = any($3)
    and e.id >= $4
    and e.id < $5
  order by e.id desc
  limit 200;

-- activityBeforeSQL (core/notification/sql.go), for FindStaffDay: FindStaffDay returns what a notification about a
-- person is about.
-- $1=tenant_id $2=staff $3=actions $4=month_id $5=first_id
prepare activityBeforeSQL as
  select count(*) as entries
  from loyalty.audit_entry e
  where e.tenant_id = $1
    and e.actor_kind = 'staff'
    and e.actor_id = $2::bigint::text
    and e.action = any($3)
    and e.id >= $4
    and e.id < $5;

-- resolveSQL (core/notification/sql.go): A notification about pending redemptions ends after a week, so that a new one
-- is written while they wait.
-- $1=now $2=tenant_id $3=lasting_since $4=week
prepare resolveSQL as
  update loyalty.notification o
  set resolved_at = $1
  where o.tenant_id = $2
    and o.resolved_at is null
    and (o.id not in (select n.id
      from loyalty.notification n
      cross join (
        select coalesce(s.stock_low, 5) as stock_low, coalesce(s.coupon_percent, 90) as coupon_percent,
        coalesce(s.pending_days, 7) as pending_days, coalesce(s.staff_daily, 5) as staff_daily, coalesce(s.staff_factor, 3) as staff_factor
        from (select) one
        left join loyalty.notification_setting s on s.tenant_id = $2
      ) t
      left join loyalty.reward r on r.tenant_id = $2 and r.id = n.reward_id
      left join loyalty.coupon k on k.tenant_id = $2 and k.id = n.coupon_id
      left join loyalty.coupon_send m on m.tenant_id = $2 and m.id = n.send_id
      where n.tenant_id = $2
      and n.resolved_at is null
      and case
      when n.kind = 'stock_low' then r.active and r.stock between 1 and t.stock_low
      when n.kind = 'stock_empty' then r.active and r.stock = 0
      when n.kind = 'coupon_limit' then k.active
        and (k.expires_at is null or k.expires_at > $1)
        and k.redemptions_count::numeric * 100 >= k.max_redemptions::numeric * t.coupon_percent
      when n.kind = 'redemptions_pending' then (
        select id
        from loyalty.redemption
        where tenant_id = $2
          and status = 'pending'
        order by id
        limit 1
      ) < (lpad(to_hex(floor(extract(epoch from $1::timestamptz - t.pending_days * interval '1 day') * 1000)::bigint), 12, '0')
        || repeat('0', 20))::uuid
      when n.kind = 'send_failed' then (m.status = 'failed' or m.failed > 0) and n.created_at > $3
      when n.kind = 'send_held' then m.held_at is not null
        and m.status in ('waiting', 'mailing')
      when n.kind in ('staff_activity', 'joins_fast') then n.created_at > $3
      when n.kind = 'plan_limit' then n.figure * 5 >= (select l.customers_limit * 4
        from loyalty.tenant w
        join loyalty.plan l on l.id = w.plan_id
        where w.id = $2)
      end)
      or o.kind = 'redemptions_pending' and o.cause <> $4);

-- raiseStockSQL (core/notification/sql.go), for Check: Check writes a notification for each new cause at a business and
-- ends those without a cause.
-- $1=tenant_id $2=now
prepare raiseStockSQL as
  insert into loyalty.notification (tenant_id, id, kind, cause, reward_id, name, created_at)
  select $1, loyalty.new_ulid($2), case when r.stock = 0 then 'stock_empty' else 'stock_low' end, r.id::text, r.id, r.name, $2
  from loyalty.reward r
  cross join (
    select coalesce(s.stock_low, 5) as stock_low, coalesce(s.coupon_percent, 90) as coupon_percent,
      coalesce(s.pending_days, 7) as pending_days, coalesce(s.staff_daily, 5) as staff_daily, coalesce(s.staff_factor, 3) as staff_factor
    from (select) one
    left join loyalty.notification_setting s on s.tenant_id = $1
  ) t
  where r.tenant_id = $1
    and r.active
    and r.stock <= t.stock_low
  on conflict (tenant_id, kind, cause) where resolved_at is null do nothing;

-- raiseCouponSQL (core/notification/sql.go), for Check: Check writes a notification for each new cause at a business and
-- ends those without a cause.
-- $1=tenant_id $2=now
prepare raiseCouponSQL as
  insert into loyalty.notification (tenant_id, id, kind, cause, coupon_id, name, created_at)
  select $1, loyalty.new_ulid($2), 'coupon_limit', k.id::text, k.id, k.name, $2
  from loyalty.coupon k
  cross join (
    select coalesce(s.stock_low, 5) as stock_low, coalesce(s.coupon_percent, 90) as coupon_percent,
      coalesce(s.pending_days, 7) as pending_days, coalesce(s.staff_daily, 5) as staff_daily, coalesce(s.staff_factor, 3) as staff_factor
    from (select) one
    left join loyalty.notification_setting s on s.tenant_id = $1
  ) t
  where k.tenant_id = $1
    and k.active
        and (k.expires_at is null or k.expires_at > $2)
        and k.redemptions_count::numeric * 100 >= k.max_redemptions::numeric * t.coupon_percent
  on conflict (tenant_id, kind, cause) where resolved_at is null do nothing;

-- raisePendingSQL (core/notification/sql.go), for Check: Check writes a notification for each new cause at a business
-- and ends those without a cause.
-- $1=tenant_id $2=now $3=week
prepare raisePendingSQL as
  insert into loyalty.notification (tenant_id, id, kind, cause, created_at)
  select $1, loyalty.new_ulid($2), 'redemptions_pending', $3, $2
  from (
    select coalesce(s.stock_low, 5) as stock_low, coalesce(s.coupon_percent, 90) as coupon_percent,
      coalesce(s.pending_days, 7) as pending_days, coalesce(s.staff_daily, 5) as staff_daily, coalesce(s.staff_factor, 3) as staff_factor
    from (select) one
    left join loyalty.notification_setting s on s.tenant_id = $1
  ) t
  where (
        select id
        from loyalty.redemption
        where tenant_id = $1
          and status = 'pending'
        order by id
        limit 1
      ) < (lpad(to_hex(floor(extract(epoch from $2::timestamptz - t.pending_days * interval '1 day') * 1000)::bigint), 12, '0')
        || repeat('0', 20))::uuid
  on conflict (tenant_id, kind, cause) where resolved_at is null do nothing;

-- raiseSendSQL (core/notification/sql.go), for Check: Check writes a notification for each new cause at a business and
-- ends those without a cause.
-- $1=tenant_id $2=now $3=lasting_since
prepare raiseSendSQL as
  insert into loyalty.notification (tenant_id, id, kind, cause, coupon_id, send_id, name, created_at)
  select $1, loyalty.new_ulid($2), 'send_failed', m.id::text, m.coupon_id, m.id, k.name, $2
  from loyalty.coupon_send m
  join loyalty.coupon k on k.tenant_id = $1 and k.id = m.coupon_id
  where m.tenant_id = $1
    and (m.status = 'failed' or m.failed > 0)
    and coalesce(m.ended_at, m.evaluated_at, m.send_at) > $3
  on conflict (tenant_id, kind, cause) where resolved_at is null do nothing;

-- raiseHeldSQL (core/notification/sql.go), for Check: Check writes a notification for each new cause at a business and
-- ends those without a cause.
-- $1=tenant_id $2=now
prepare raiseHeldSQL as
  insert into loyalty.notification (tenant_id, id, kind, cause, coupon_id, send_id, name, created_at)
  select $1, loyalty.new_ulid($2), 'send_held', m.id::text, m.coupon_id, m.id, k.name, $2
  from loyalty.coupon_send m
  join loyalty.coupon k on k.tenant_id = $1 and k.id = m.coupon_id
  where m.tenant_id = $1
    and m.held_at is not null
        and m.status in ('waiting', 'mailing')
  on conflict (tenant_id, kind, cause) where resolved_at is null do nothing;

-- raiseStaffSQL (core/notification/sql.go): The voids, refunds and adjustments of two days are few: the log finds them
-- by action, and those of the 30 days before by person.
-- $1=tenant_id $2=now $3=days $4=first_ids $5=next_ids $6=month_ids $7=actions $8=least $9=average_days
prepare raiseStaffSQL as
  insert into loyalty.notification as n (tenant_id, id, kind, cause, staff_id, day, name, figure, created_at)
  select $1, loyalty.new_ulid($2), 'staff_activity', lately.actor_id || ' ' || lately.day, lately.actor_id::bigint, lately.day,
    lately.name, lately.entries, $2
  from (
    select d.day, d.first_id, d.month_id, e.actor_id, max(e.actor_name) as name, count(*) as entries
    from unnest($3::date[], $4::uuid[], $5::uuid[], $6::uuid[]) as d (day, first_id, next_id, month_id)
    join loyalty.audit_entry e on e.tenant_id = $1
      and e.action = any($7)
      and e.actor_kind = 'staff'
      and e.id >= d.first_id
      and e.id < d.next_id
    group by d.day, d.first_id, d.month_id, e.actor_id
  ) lately
  cross join (
    select coalesce(s.stock_low, 5) as stock_low, coalesce(s.coupon_percent, 90) as coupon_percent,
      coalesce(s.pending_days, 7) as pending_days, coalesce(s.staff_daily, 5) as staff_daily, coalesce(s.staff_factor, 3) as staff_factor
    from (select) one
    left join loyalty.notification_setting s on s.tenant_id = $1
  ) t
  cross join lateral (
    select count(*) as entries
    from loyalty.audit_entry e
    where e.tenant_id = $1
      and e.actor_kind = 'staff'
      and e.actor_id = lately.actor_id
      and e.action = any($7)
      and e.id >= lately.month_id
      and e.id < lately.first_id
  ) before
  where lately.entries > t.staff_daily
    or lately.entries >= $8
      and before.entries > 0
      and lately.entries * $9 > t.staff_factor * before.entries
  on conflict (tenant_id, kind, cause) where resolved_at is null do update
  set figure = excluded.figure
  where n.figure <> excluded.figure;

-- countCustomersSQL (core/notification/sql.go), for Check: Check writes a notification for each new cause at a business
-- and ends those without a cause.
-- $1=tenant_id
prepare countCustomersSQL as
  update loyalty.notification n
  set figure = u.used
  from (
    select count(*) as used, max(customers_limit) as "limit"
    from (
      select l.customers_limit
        from loyalty.tenant w
        join loyalty.plan l on l.id = w.plan_id
        where w.id = $1
      and l.customers_limit is not null
    ) own
    cross join lateral (
      select
      from loyalty.customer
      where tenant_id = $1
      and status = 'active'
      limit own.customers_limit + 1
    ) c
  ) u
  where n.tenant_id = $1
    and n.kind = 'plan_limit'
    and n.resolved_at is null
    and n.figure <> u.used;

-- raisePlanSQL (core/notification/sql.go), for Check: Check writes a notification for each new cause at a business and
-- ends those without a cause.
-- $1=tenant_id $2=now
prepare raisePlanSQL as
  insert into loyalty.notification (tenant_id, id, kind, cause, figure, created_at)
  select $1, loyalty.new_ulid($2), 'plan_limit', 'customers', u.used, $2
  from (
    select count(*) as used, max(customers_limit) as "limit"
    from (
      select l.customers_limit
        from loyalty.tenant w
        join loyalty.plan l on l.id = w.plan_id
        where w.id = $1
      and l.customers_limit is not null
    ) own
    cross join lateral (
      select
      from loyalty.customer
      where tenant_id = $1
      and status = 'active'
      limit own.customers_limit + 1
    ) c
  ) u
  where u.used * 5 >= u."limit" * 4
  on conflict (tenant_id, kind, cause) where resolved_at is null do nothing;

-- raiseJoinsSQL (core/notification/sql.go): What customers agreed to when they joined is in the log, found by its
-- action.
-- $1=tenant_id $2=now $3=day $4=hour_id $5=usual $6=week_id $7=hours $8=factor
prepare raiseJoinsSQL as
  insert into loyalty.notification as n (tenant_id, id, kind, cause, day, figure, created_at)
  select $1, loyalty.new_ulid($2), 'joins_fast', $3::date::text, $3::date, hour.joins, $2
  from (
    select count(*) as joins
    from loyalty.audit_entry e
    where e.tenant_id = $1
      and e.action = 'customer.consent'
      and e.id >= $4
      and e.new ->> 'source' = 'join'
  ) hour
  cross join lateral (
    select count(*) as joins
    from loyalty.audit_entry e
    where hour.joins > $5
      and e.tenant_id = $1
      and e.action = 'customer.consent'
      and e.id >= $6
      and e.id < $4
      and e.new ->> 'source' = 'join'
  ) week
  where hour.joins > $5
    and hour.joins * $7 > $8 * week.joins
  on conflict (tenant_id, kind, cause) where resolved_at is null do update
  set figure = excluded.figure
  where n.figure < excluded.figure;

-- deleteOldSQL (core/notification/sql.go), for Check: Check writes a notification for each new cause at a business and
-- ends those without a cause.
-- $1=tenant_id $2=kept_since
prepare deleteOldSQL as
  delete from loyalty.notification
  where tenant_id = $1
    and resolved_at < $2;

-- activeTenantSQL (core/notification/weekly_sql.go), for Mail: Mail e-mails the people of a business, once.
-- $1=id
prepare activeTenantSQL as
  select coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
    coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
    coalesce(n.confirm_above_cents, 0) as confirm_above_cents, coalesce(n.status, 'active') <> 'active' as suspended,
    coalesce(n.phone_optional, false) as phone_optional, coalesce(n.test, false) as test,
    coalesce(n.programme, '{}') as programme, coalesce(n.earning_version, 0) as earning_version
  from loyalty.tenant n
  where n.id = $1
    and n.status = 'active';

-- queueWeeklySQL (core/notification/weekly_sql.go): Due from Monday, 08:00 local time, for a day.
-- $1=now
prepare queueWeeklySQL as
  insert into loyalty.weekly_mail (tenant_id, week, queued_at)
  select n.id, local.monday, $1
  from loyalty.tenant n
  cross join lateral (
    select $1::timestamptz at time zone n.timezone as at, date_trunc('week', $1::timestamptz at time zone n.timezone)::date as monday
    offset 0
  ) local
  where n.status = 'active'
    and local.at >= local.monday + interval '8 hours'
    and local.at < local.monday + interval '32 hours'
    and not exists (select from loyalty.weekly_mail w where w.tenant_id = n.id and w.week = local.monday)
  order by n.id
  on conflict do nothing
  returning tenant_id as tenant, week;

-- markWeeklySQL (core/notification/weekly_sql.go), for Mail: Mail e-mails the people of a business, once.
-- $1=now $2=tenant_id $3=week
prepare markWeeklySQL as
  update loyalty.weekly_mail
  set mailed_at = $1
  where tenant_id = $2
    and week = $3
    and mailed_at is null
  returning true;

-- preferencesSQL (core/notification/weekly_sql.go)
-- $1=tenant_id $2=now
prepare preferencesSQL as
  insert into loyalty.weekly_preference (tenant_id, staff_id, id, subscribed, updated_at)
  select $1, p.id, loyalty.new_ulid($2), true, $2
  from loyalty.staff p
  where p.tenant_id = $1
    and p.role in ('owner', 'manager')
  on conflict do nothing;

-- readersSQL (core/notification/weekly_sql.go)
-- $1=tenant_id
prepare readersSQL as
  select p.id as staff_id, p.name, p.email, w.id, coalesce(u.dismissed, '{}') as dismissed
  from loyalty.staff p
  join loyalty.credential c on c.staff_id = p.id
  join loyalty.weekly_preference w on w.tenant_id = $1 and w.staff_id = p.id
  left join (
    select staff_id, array_agg(notification_id) as dismissed
    from loyalty.notification_read
    where tenant_id = $1
      and dismissed_at is not null
    group by staff_id
  ) u on u.staff_id = p.id
  where p.tenant_id = $1
    and p.status = 'active'
    and p.role in ('owner', 'manager')
    and c.password_hash is not null
    and w.subscribed
  order by p.id;

-- subscribedSQL (core/notification/weekly_sql.go), for Subscribed: Subscribed reports whether the actor's person gets
-- the weekly e-mail.
-- $1=tenant_id $2=staff
prepare subscribedSQL as
  select coalesce(w.subscribed, true) as subscribed
  from loyalty.staff p
  left join loyalty.weekly_preference w on w.tenant_id = $1 and w.staff_id = p.id
  where p.tenant_id = $1
    and p.id = $2;

-- subscriberSQL (core/notification/weekly_sql.go), for FindSubscriber: FindSubscriber returns the person of a link, or
-- core.ErrNotFound.
-- $1=tenant_id $2=id
prepare subscriberSQL as
  select p.id as staff_id, p.name, p.role, w.subscribed
  from loyalty.weekly_preference w
  join loyalty.staff p on p.tenant_id = $1 and p.id = w.staff_id
  where w.tenant_id = $1
    and w.id = $2;

-- subscribeSQL (core/notification/weekly_sql.go): A person without a row gets the e-mail.
-- $1=tenant_id $2=staff $3=id $4=subscribed $5=now
prepare subscribeSQL as
  insert into loyalty.weekly_preference as w (tenant_id, staff_id, id, subscribed, updated_at)
  select $1, $2, $3, $4, $5
  where not $4
    or exists (select from loyalty.weekly_preference o where o.tenant_id = $1 and o.staff_id = $2)
  on conflict (tenant_id, staff_id) do update
  set subscribed = excluded.subscribed,
    updated_at = excluded.updated_at
  where w.subscribed <> excluded.subscribed;
