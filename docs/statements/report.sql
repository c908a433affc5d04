-- The statements of core/report, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/report.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- locationsSQL (core/report/breakdown.go): Parts with nothing in them have no row.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day $17=location
prepare locationsSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  )
  select s.whole, nullif(s.location_id, 0) as id, l.name, s.transactions_count, s.spend_total_cents, s.points_awarded, s.stamps_awarded,
    s.voided_count, s.previous_transactions_count, s.previous_voided_count, s.previous_spend_cents
  from (
    select grouping(location_id) = 1 as whole, location_id,
      coalesce(sum(transactions) filter (where part = 1), 0)::bigint as transactions_count,
      least(coalesce(sum(spend) filter (where part = 1), 0), 9223372036854775807)::bigint as spend_total_cents,
      least(coalesce(sum(points) filter (where part = 1), 0), 9223372036854775807)::bigint as points_awarded,
      least(coalesce(sum(stamps) filter (where part = 1), 0), 9223372036854775807)::bigint as stamps_awarded,
      coalesce(sum(voided) filter (where part = 1), 0)::bigint as voided_count,
      coalesce(sum(transactions) filter (where part = 2), 0)::bigint as previous_transactions_count,
      coalesce(sum(voided) filter (where part = 2), 0)::bigint as previous_voided_count,
      least(coalesce(sum(spend) filter (where part = 2), 0), 9223372036854775807)::bigint as previous_spend_cents
    from (
      select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
      from span
      join loyalty.day_sales d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.sales_kept
      and span.hour is null
      union all
      select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
      from span
      join loyalty.day_sales_hour d on d.tenant_id = $2 and d.day = span.first_day and d.hour < span.hour
      where span.sales_kept
      and span.hour is not null
      union all
      select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
      from span
      cross join lateral (
        select s.hour, s.location_id, s.transaction_type_id, sum(s.transactions)::bigint as transactions, least(sum(s.spend), 9223372036854775807)::bigint as spend,
        least(sum(s.points), 9223372036854775807)::bigint as points, least(sum(s.stamps), 9223372036854775807)::bigint as stamps,
        sum(s.voided)::bigint as voided, least(sum(s.reversed), 9223372036854775807)::bigint as reversed, sum(s.refunds)::bigint as refunds,
        least(sum(s.refunded), 9223372036854775807)::bigint as refunded, least(sum(s.points_refunded), 9223372036854775807)::bigint as points_refunded
        from (
          select date_part('hour', created_at at time zone span.zone)::int as hour, coalesce(location_id, 0) as location_id, transaction_type_id,
          count(*) filter (where status = 'completed') as transactions,
          coalesce(sum(spend_amount_cents) filter (where status = 'completed'), 0) as spend,
          coalesce(sum(points_awarded) filter (where status = 'completed'), 0) as points,
          coalesce(sum(stamps_awarded) filter (where status = 'completed'), 0) as stamps,
          count(*) filter (where status = 'voided') as voided,
          coalesce(sum(points_awarded) filter (where status = 'voided'), 0) as reversed,
          0 as refunds, 0::numeric as refunded, 0::numeric as points_refunded
          from loyalty.transaction
          where tenant_id = $2
          and id >= span.first_id
          and id < span.next_id
          group by 1, coalesce(location_id, 0), transaction_type_id
          union all
          select date_part('hour', t.created_at at time zone span.zone)::int, coalesce(t.location_id, 0), t.transaction_type_id, 0, 0, 0, 0, 0, 0, count(*), sum(r.amount_cents), coalesce(sum(r.points), 0)
          from loyalty.refund r
          join loyalty.transaction t on t.tenant_id = $2 and t.id = r.transaction_id and t.status = 'completed'
          where r.tenant_id = $2
          and r.transaction_id >= span.first_id
          and r.transaction_id < span.next_id
          group by 1, coalesce(t.location_id, 0), t.transaction_type_id
        ) s
        group by s.hour, s.location_id, s.transaction_type_id
      ) d
      where not span.sales_kept
    ) sold
    where part in (1, 2)
      and $17::bigint in (0, location_id)
    group by grouping sets ((), (location_id))
  ) s
  left join loyalty.location l on l.tenant_id = $2 and l.id = s.location_id
  order by whole desc, spend_total_cents desc, s.location_id = 0, s.location_id;

-- staffSQL (core/report/breakdown.go): A person who was renamed has one row, under the present name.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day $17=location
prepare staffSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  )
  select a.whole, a.actor_kind, a.actor_id, case when a.whole then '' else coalesce(p.name, a.recorded_name) end as name, a.transactions_count, a.spend_total_cents, a.points_awarded, a.stamps_awarded,
    a.voided_count, a.previous_transactions_count, a.previous_voided_count, a.previous_spend_cents, a.redemptions_count
  from (
    select grouping(actor_id) = 1 as whole, coalesce(actor_kind, '') as actor_kind, coalesce(actor_id, '') as actor_id, max(actor_name) as recorded_name,
      coalesce(sum(transactions) filter (where part = 1), 0)::bigint as transactions_count,
      least(coalesce(sum(spend) filter (where part = 1), 0), 9223372036854775807)::bigint as spend_total_cents,
      least(coalesce(sum(points) filter (where part = 1), 0), 9223372036854775807)::bigint as points_awarded,
      least(coalesce(sum(stamps) filter (where part = 1), 0), 9223372036854775807)::bigint as stamps_awarded,
      coalesce(sum(voided) filter (where part = 1), 0)::bigint as voided_count,
      coalesce(sum(transactions) filter (where part = 2), 0)::bigint as previous_transactions_count,
      coalesce(sum(voided) filter (where part = 2), 0)::bigint as previous_voided_count,
      coalesce(sum(redemptions) filter (where part = 1), 0)::bigint as redemptions_count,
      least(coalesce(sum(spend) filter (where part = 2), 0), 9223372036854775807)::bigint as previous_spend_cents
    from (
      select span.part, span.period, span.bucket, d.location_id, d.actor_kind, d.actor_id, d.actor_name, d.transactions, d.spend, d.points, d.stamps, d.voided,
      d.redemptions
      from span
      join loyalty.day_staff d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.kept
      union all
      select span.part, span.period, span.bucket,
      d.location_id, d.actor_kind, d.actor_id, d.actor_name, d.transactions * span.sign, d.spend * span.sign, d.points * span.sign,
      d.stamps * span.sign, d.voided * span.sign, d.redemptions * span.sign
      from span
      cross join lateral (
        select a.location_id, a.actor_kind, a.actor_id, max(a.actor_name) as actor_name, sum(a.transactions)::bigint as transactions,
        least(sum(a.spend), 9223372036854775807)::bigint as spend, least(sum(a.points), 9223372036854775807)::bigint as points, least(sum(a.stamps), 9223372036854775807)::bigint as stamps, sum(a.voided)::bigint as voided, sum(a.redemptions)::bigint as redemptions
        from (
          select coalesce(location_id, 0) as location_id, actor_kind, actor_id, max(actor_name) as actor_name,
          count(*) filter (where status = 'completed') as transactions,
          coalesce(sum(spend_amount_cents) filter (where status = 'completed'), 0) as spend,
          coalesce(sum(points_awarded) filter (where status = 'completed'), 0) as points,
          coalesce(sum(stamps_awarded) filter (where status = 'completed'), 0) as stamps,
          count(*) filter (where status = 'voided') as voided, 0 as redemptions
          from loyalty.transaction
          where tenant_id = $2
          and id >= span.first_id
          and id < span.next_id
          group by coalesce(location_id, 0), actor_kind, actor_id
          union all
          select 0, actor_kind, actor_id, max(actor_name), 0, 0, 0, 0, 0, count(*)
          from loyalty.redemption
          where tenant_id = $2
          and id >= span.first_id
          and id < span.next_id
          and status <> 'voided'
          group by actor_kind, actor_id
        ) a
        group by a.location_id, a.actor_kind, a.actor_id
      ) d
      where not span.kept
    ) recorded
    where part in (1, 2)
      and $17::bigint in (0, location_id)
    group by grouping sets ((), (actor_kind, actor_id))
    having grouping(actor_id) = 1
      or sum(transactions + voided + redemptions) > 0
  ) a
  left join loyalty.staff p on a.actor_kind = 'staff' and p.tenant_id = $2 and p.id::text = a.actor_id
  order by whole desc, spend_total_cents desc, transactions_count desc, name, a.actor_id;

-- comparedSQL (core/report/compare.go): comparedSQL counts each part in all, and each bucket of the range and of the
-- earlier period.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day $17=location
prepare comparedSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  ), came as materialized (
    select part, sum(customers) as customers
    from (
      select span.part, sum(d.customers) as customers
      from span
      cross join lateral unnest(array(select span.first_day + generate_series(0, span.last_day - span.first_day))) e (day)
      cross join lateral (
        select sum(case when prior = 'infinity' then customers else -customers end) as customers
        from loyalty.day_visit
        where tenant_id = $2
        and day = e.day
        and prior >= span.since
        and location_id = $17
      ) d
      where span.visits_kept
      and span.ms is null
      group by span.part
      union all
      select span.part, sum(width_bucket(span.ms - 1, d.came_at))
      from span
      join loyalty.day_visit d on d.tenant_id = $2 and d.day = span.first_day and d.location_id = $17 and d.prior < span.since
      where span.visits_kept
      and span.ms is not null
      group by span.part
      union all
      select span.part, count(*)
      from (
        select *, $17::bigint as place
        from span
        where not visits_kept
      ) span
      cross join lateral (
        select v.customer_id, v.first_id, p.ids[1] as prior_id, p.ids[2] as earlier_id
        from (
          select customer_id, min(id::text collate "C")::uuid as first_id
          from loyalty.transaction
          where tenant_id = $2
          and id >= span.first_id
          and id < span.next_id
          and status = 'completed'
          and span.place in (0, location_id)
          group by customer_id
        ) v
        cross join lateral (
          select array(
            select id
            from loyalty.transaction
            where tenant_id = $2
              and customer_id = v.customer_id
              and id < span.first_id
              and status = 'completed'
              and span.place in (0, location_id)
            order by id desc
            limit 2
          ) as ids
          offset 0
        ) p
      ) v
      where v.prior_id is null
      or v.prior_id < span.since_id
      group by span.part
    ) visitor
    where part in (1, 2)
    group by part
  ), figure as (
    select part, period, bucket, sum(transactions) as transactions, sum(voided) as voided, sum(spend) as spend, sum(points) as points, sum(stamps) as stamps,
      sum(reversed) as reversed, sum(refunds) as refunds, sum(refunded) as refunded, sum(points_refunded) as points_refunded,
      0 as redeemed, 0 as redemptions, 0 as vouchers, 0 as joined, 0 as expired, 0 as returned
    from (
      select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
      from span
      join loyalty.day_sales d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.sales_kept
      and span.hour is null
      union all
      select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
      from span
      join loyalty.day_sales_hour d on d.tenant_id = $2 and d.day = span.first_day and d.hour < span.hour
      where span.sales_kept
      and span.hour is not null
      union all
      select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
      from span
      cross join lateral (
        select s.hour, s.location_id, s.transaction_type_id, sum(s.transactions)::bigint as transactions, least(sum(s.spend), 9223372036854775807)::bigint as spend,
        least(sum(s.points), 9223372036854775807)::bigint as points, least(sum(s.stamps), 9223372036854775807)::bigint as stamps,
        sum(s.voided)::bigint as voided, least(sum(s.reversed), 9223372036854775807)::bigint as reversed, sum(s.refunds)::bigint as refunds,
        least(sum(s.refunded), 9223372036854775807)::bigint as refunded, least(sum(s.points_refunded), 9223372036854775807)::bigint as points_refunded
        from (
          select date_part('hour', created_at at time zone span.zone)::int as hour, coalesce(location_id, 0) as location_id, transaction_type_id,
          count(*) filter (where status = 'completed') as transactions,
          coalesce(sum(spend_amount_cents) filter (where status = 'completed'), 0) as spend,
          coalesce(sum(points_awarded) filter (where status = 'completed'), 0) as points,
          coalesce(sum(stamps_awarded) filter (where status = 'completed'), 0) as stamps,
          count(*) filter (where status = 'voided') as voided,
          coalesce(sum(points_awarded) filter (where status = 'voided'), 0) as reversed,
          0 as refunds, 0::numeric as refunded, 0::numeric as points_refunded
          from loyalty.transaction
          where tenant_id = $2
          and id >= span.first_id
          and id < span.next_id
          group by 1, coalesce(location_id, 0), transaction_type_id
          union all
          select date_part('hour', t.created_at at time zone span.zone)::int, coalesce(t.location_id, 0), t.transaction_type_id, 0, 0, 0, 0, 0, 0, count(*), sum(r.amount_cents), coalesce(sum(r.points), 0)
          from loyalty.refund r
          join loyalty.transaction t on t.tenant_id = $2 and t.id = r.transaction_id and t.status = 'completed'
          where r.tenant_id = $2
          and r.transaction_id >= span.first_id
          and r.transaction_id < span.next_id
          group by 1, coalesce(t.location_id, 0), t.transaction_type_id
        ) s
        group by s.hour, s.location_id, s.transaction_type_id
      ) d
      where not span.sales_kept
    ) sold
    where $17::bigint in (0, location_id)
    group by part, period, bucket
    union all
    select part, period, bucket, 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(points), sum(redemptions), 0, 0, 0, 0
    from (
      select span.part, span.period, span.bucket, d.reward_id, d.by_voucher, d.redemptions, d.points, d.stamps, d.voided
      from span
      join loyalty.day_reward d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.kept
      union all
      select span.part, span.period, span.bucket,
      d.reward_id, d.by_voucher, d.redemptions * span.sign, d.points * span.sign, d.stamps * span.sign, d.voided * span.sign
      from span
      cross join lateral (
        select reward_id, points_spent = 0 and stamps_spent = 0 as by_voucher,
        count(*) filter (where status <> 'voided') as redemptions,
        least(coalesce(sum(points_spent) filter (where status <> 'voided'), 0), 9223372036854775807)::bigint as points,
        least(coalesce(sum(stamps_spent) filter (where status <> 'voided'), 0), 9223372036854775807)::bigint as stamps,
        count(*) filter (where status = 'voided') as voided
        from loyalty.redemption
        where tenant_id = $2
        and id >= span.first_id
        and id < span.next_id
        group by reward_id, points_spent = 0 and stamps_spent = 0
      ) d
      where not span.kept
    ) redeemed
    where $17 = 0
    group by part, period, bucket
    union all
    select part, period, bucket, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(redeemed), 0, 0, 0
    from (
      select span.part, span.period, span.bucket, d.redeemed
      from span
      join loyalty.day_coupon d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.kept
      union all
      select span.part, span.period, span.bucket,
      d.redeemed * span.sign
      from span
      cross join lateral (
        select count(*) as redeemed
        from loyalty.voucher
        where tenant_id = $2
        and redeemed_at >= span.starts
        and redeemed_at < span.ends
        and status = 'redeemed'
      ) d
      where not span.kept
    ) used
    where $17 = 0
    group by part, period, bucket
    union all
    select part, period, bucket, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(customers), 0, 0
    from (
      select span.part, span.period, span.bucket, d.customers
      from span
      join loyalty.day_joined d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.kept
      union all
      select span.part, span.period, span.bucket,
      d.customers * span.sign
      from span
      cross join lateral (
        select count(*) as customers
        from loyalty.customer
        where tenant_id = $2
        and created_at >= span.starts
        and created_at < span.ends
        and merged_into is null
        and imported_at is null
      ) d
      where not span.kept
    ) joined
    where $17 = 0
    group by part, period, bucket
    union all
    select part, period, bucket, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      coalesce(sum(-amount) filter (where kind = 'expiry'), 0), coalesce(sum(amount) filter (where kind = 'expiry_return'), 0)
    from (
      select span.part, span.period, span.bucket, d.unit, d.kind, d.amount, d.below
      from span
      join loyalty.day_flow d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.kept
      union all
      select span.part, span.period, span.bucket,
      d.unit, d.kind, d.amount * span.sign, d.below * span.sign
      from span
      cross join lateral (
        select unit, kind, sum(amount) as amount,
        coalesce(sum(least(balance_after, 0) - least(balance_after - amount::numeric, 0)) filter (where balance_after < 0 or balance_after < amount), 0) as below
        from loyalty.ledger_entry
        where tenant_id = $2
        and id >= span.first_id
        and id < span.next_id
        group by unit, kind
      ) d
      where not span.kept
    ) ended
    where $17 = 0
      and unit = 'points'
      and kind in ('expiry', 'expiry_return')
    group by part, period, bucket
  )
  select part, period, bucket,
    sum(transactions)::bigint as transactions_count,
    sum(voided)::bigint as voided_count,
    least(sum(spend), 9223372036854775807)::bigint as spend_total_cents,
    least(sum(points), 9223372036854775807)::bigint as points_awarded,
    least(sum(stamps), 9223372036854775807)::bigint as stamps_awarded,
    least(sum(reversed), 9223372036854775807)::bigint as points_reversed,
    least(sum(redeemed), 9223372036854775807)::bigint as points_redeemed,
    sum(redemptions)::bigint as redemptions_count,
    sum(vouchers)::bigint as vouchers_redeemed,
    sum(joined)::bigint as new_customers,
    least(sum(expired), 9223372036854775807)::bigint as points_expired,
    least(sum(returned), 9223372036854775807)::bigint as points_expiry_returned,
    least(sum(points_refunded), 9223372036854775807)::bigint as points_refunded,
    sum(refunds)::bigint as refunds_count,
    least(sum(refunded), 9223372036854775807)::bigint as refunded_total_cents,
    least(sum(spend) - sum(refunded), 9223372036854775807)::bigint as net_spend_total_cents,
    coalesce((select customers from came where came.part = figure.part), 0)::bigint as active_customers
  from figure
  group by grouping sets ((part), (period, bucket));

-- couponsSQL (core/report/coupon.go): A send counts its vouchers, which all expire at one instant: so there is nothing
-- to count, however many there are.
-- $1=now $2=tenant_id
prepare couponsSQL as
  select c.id, c.name, coalesce(v.sent, 0) as sent, coalesce(v.pending, 0) as pending,
    coalesce(v.redeemed, 0) as redeemed, coalesce(v.sent - v.pending - v.redeemed, 0) as expired
  from loyalty.coupon c
  left join (
    select s.coupon_id,
      least(sum(s.sent), 9223372036854775807)::bigint as sent,
      least(coalesce(sum(s.sent - s.redeemed) filter (where s.expires_at is null or s.expires_at > $1), 0), 9223372036854775807)::bigint as pending,
      least(sum(s.redeemed), 9223372036854775807)::bigint as redeemed
    from loyalty.coupon_send s
    where s.tenant_id = $2
    group by s.coupon_id
  ) v on v.coupon_id = c.id
  where c.tenant_id = $2
  order by c.created_at desc, c.id desc;

-- couponUseSQL (core/report/coupon.go): A part in all counts each sale once, and so do buckets.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day
prepare couponUseSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  ), used as (
    select part, period, bucket, coupon_id, sum(redeemed) as redeemed,
      case when grouping(coupon_id) = 0 then sum(transactions) else sum(transactions_once) end as transactions,
      case when grouping(coupon_id) = 0 then sum(spend) else sum(spend_once) end as spend,
      sum(discount) as discount, sum(granted) as granted, sum(unpriced) as unpriced,
      case when grouping(coupon_id) = 0 then sum(again) else sum(again_once) end as again,
      case when grouping(coupon_id) = 0 then sum(again_spend) else sum(again_spend_once) end as again_spend,
      case when grouping(coupon_id) = 0 then sum(before_spend) else sum(before_spend_once) end as before_spend,
      sum(sales) - sum(transactions_once) as without_transactions, sum(sales_spend) - sum(spend_once) as without_spend
    from (
      select *, 0 as sales, 0 as sales_spend
      from (
        select span.part, span.period, span.bucket, d.coupon_id, d.sent, d.redeemed, d.transactions, d.spend, d.discount, d.granted, d.unpriced,
        d.transactions_once, d.spend_once, d.again, d.again_spend, d.before_spend, d.again_once, d.again_spend_once, d.before_spend_once
        from span
        join loyalty.day_coupon d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
        where span.kept
        union all
        select span.part, span.period, span.bucket,
        d.coupon_id, d.sent * span.sign, d.redeemed * span.sign, d.transactions * span.sign, d.spend * span.sign, d.discount * span.sign,
        d.granted * span.sign, d.unpriced * span.sign, d.transactions_once * span.sign, d.spend_once * span.sign,
        d.again * span.sign, d.again_spend * span.sign, d.before_spend * span.sign, d.again_once * span.sign, d.again_spend_once * span.sign,
        d.before_spend_once * span.sign
        from span
        cross join lateral (
          with recursive used as (
            select v.coupon_id, v.transaction_id as sale_id, t.customer_id, t.spend_amount_cents as spend, t.discount_cents as discount, k.benefit_type, k.benefit_value,
            v.expires_at, v.id, first_value(v.coupon_id) over (partition by v.transaction_id order by v.coupon_id) = v.coupon_id as first
            from loyalty.voucher v
            join loyalty.transaction t on t.tenant_id = $2 and t.id = v.transaction_id and t.status = 'completed'
            join loyalty.coupon k on k.tenant_id = $2 and k.id = v.coupon_id
            where v.tenant_id = $2
            and v.transaction_id >= span.first_id
            and v.transaction_id < span.next_id
          ), taken as (
            select u.*, row_number() over (partition by u.sale_id order by u.benefit_type = 'amount', u.expires_at, u.id) as place,
            count(*) over (partition by u.sale_id) as places
            from used u
            where u.benefit_type in ('percent', 'amount')
            and exists (
              select
              from loyalty.checkout_item
              where tenant_id = $2
              and checkout_id = u.sale_id
              and voucher_id = u.id
            )
          ), bill as (
            select sale_id, null::uuid as coupon_id, 0::bigint as place, 0::bigint as off, spend + discount as remains
            from taken
            where place = 1
            union all
            select b.sale_id, t.coupon_id, t.place, o.off, b.remains - o.off
            from bill b
            join taken t on t.sale_id = b.sale_id and t.place = b.place + 1
            cross join lateral (
              select greatest(least(case when t.place = t.places then b.remains - t.spend
                  when t.benefit_type = 'percent' then b.remains / 100 * t.benefit_value + (b.remains % 100 * t.benefit_value + 50) / 100
                  else t.benefit_value end, b.remains), 0) as off
            ) o
          )
          select v.coupon_id, sum(v.sent)::bigint as sent, sum(v.redeemed)::bigint as redeemed, sum(v.transactions)::bigint as transactions,
          least(sum(v.spend), 9223372036854775807)::bigint as spend, least(sum(v.discount), 9223372036854775807)::bigint as discount,
           sum(v.granted)::bigint as granted, sum(v.unpriced)::bigint as unpriced,
          sum(v.transactions_once)::bigint as transactions_once, least(sum(v.spend_once), 9223372036854775807)::bigint as spend_once,
          sum(v.again)::bigint as again, least(sum(v.again_spend), 9223372036854775807)::bigint as again_spend,
          least(sum(v.before_spend), 9223372036854775807)::bigint as before_spend, sum(v.again_once)::bigint as again_once,
          least(sum(v.again_spend_once), 9223372036854775807)::bigint as again_spend_once,
          least(sum(v.before_spend_once), 9223372036854775807)::bigint as before_spend_once
          from (
            select coupon_id, count(*) as sent, 0 as redeemed, 0 as transactions, 0::numeric as spend, 0::numeric as discount, 0 as granted, 0 as unpriced,
            0 as transactions_once, 0::numeric as spend_once, 0 as again, 0::numeric as again_spend, 0::numeric as before_spend, 0 as again_once,
            0::numeric as again_spend_once, 0::numeric as before_spend_once
            from loyalty.voucher
            where tenant_id = $2
            and id >= span.first_id
            and id < span.next_id
            group by coupon_id
            union all
            select u.coupon_id, 0, count(*), 0, 0, 0, count(r.id), count(*) filter (where k.benefit_type in ('percent', 'amount') and not exists (
                select
                from loyalty.checkout_item
                where tenant_id = $2
                and checkout_id = u.transaction_id
                and voucher_id = u.id
              )), 0, 0, 0, 0, 0, 0, 0, 0
            from loyalty.voucher u
            join loyalty.coupon k on k.tenant_id = $2 and k.id = u.coupon_id
            left join loyalty.redemption r on r.tenant_id = $2 and r.id = u.redemption_id and r.status <> 'voided'
            where u.tenant_id = $2
            and u.redeemed_at >= span.starts
            and u.redeemed_at < span.ends
            and u.status = 'redeemed'
            group by u.coupon_id
            union all
            select s.coupon_id, 0, 0, count(*), sum(s.spend), 0, 0, 0, count(*) filter (where s.first), coalesce(sum(s.spend) filter (where s.first), 0),
            count(b.spend), coalesce(sum(s.spend) filter (where b.spend is not null), 0), coalesce(sum(b.spend), 0),
            count(b.spend) filter (where s.first), coalesce(sum(s.spend) filter (where s.first and b.spend is not null), 0),
            coalesce(sum(b.spend) filter (where s.first), 0)
            from (select distinct coupon_id, sale_id, customer_id, spend, first from used) s
            left join lateral (
              select spend_amount_cents as spend
              from loyalty.transaction
              where tenant_id = $2
              and customer_id = s.customer_id
              and id < s.sale_id
              and status = 'completed'
              order by id desc
              limit 1
            ) b on true
            group by s.coupon_id
            union all
            select coupon_id, 0, 0, 0, 0, sum(off), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
            from bill
            where place > 0
            group by coupon_id
          ) v
          group by v.coupon_id
        ) d
        where not span.kept
      ) u
      union all
      select part, period, bucket, null, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, transactions, spend
      from (
        select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
        from span
        join loyalty.day_sales d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
        where span.sales_kept
        and span.hour is null
        union all
        select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
        from span
        join loyalty.day_sales_hour d on d.tenant_id = $2 and d.day = span.first_day and d.hour < span.hour
        where span.sales_kept
        and span.hour is not null
        union all
        select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
        from span
        cross join lateral (
          select s.hour, s.location_id, s.transaction_type_id, sum(s.transactions)::bigint as transactions, least(sum(s.spend), 9223372036854775807)::bigint as spend,
          least(sum(s.points), 9223372036854775807)::bigint as points, least(sum(s.stamps), 9223372036854775807)::bigint as stamps,
          sum(s.voided)::bigint as voided, least(sum(s.reversed), 9223372036854775807)::bigint as reversed, sum(s.refunds)::bigint as refunds,
          least(sum(s.refunded), 9223372036854775807)::bigint as refunded, least(sum(s.points_refunded), 9223372036854775807)::bigint as points_refunded
          from (
            select date_part('hour', created_at at time zone span.zone)::int as hour, coalesce(location_id, 0) as location_id, transaction_type_id,
            count(*) filter (where status = 'completed') as transactions,
            coalesce(sum(spend_amount_cents) filter (where status = 'completed'), 0) as spend,
            coalesce(sum(points_awarded) filter (where status = 'completed'), 0) as points,
            coalesce(sum(stamps_awarded) filter (where status = 'completed'), 0) as stamps,
            count(*) filter (where status = 'voided') as voided,
            coalesce(sum(points_awarded) filter (where status = 'voided'), 0) as reversed,
            0 as refunds, 0::numeric as refunded, 0::numeric as points_refunded
            from loyalty.transaction
            where tenant_id = $2
            and id >= span.first_id
            and id < span.next_id
            group by 1, coalesce(location_id, 0), transaction_type_id
            union all
            select date_part('hour', t.created_at at time zone span.zone)::int, coalesce(t.location_id, 0), t.transaction_type_id, 0, 0, 0, 0, 0, 0, count(*), sum(r.amount_cents), coalesce(sum(r.points), 0)
            from loyalty.refund r
            join loyalty.transaction t on t.tenant_id = $2 and t.id = r.transaction_id and t.status = 'completed'
            where r.tenant_id = $2
            and r.transaction_id >= span.first_id
            and r.transaction_id < span.next_id
            group by 1, coalesce(t.location_id, 0), t.transaction_type_id
          ) s
          group by s.hour, s.location_id, s.transaction_type_id
        ) d
        where not span.sales_kept
      ) s
      where part in (1, 2)
    ) u
    group by grouping sets ((part), (part, coupon_id), (period, bucket))
    having grouping(coupon_id) = 1
      or coupon_id is not null and part in (1, 2) and (sum(redeemed) > 0 or sum(transactions) > 0)
  )
  select u.part, u.period, u.bucket, u.coupon_id, c.name, c.benefit_type, c.benefit_value, r.cost_cents as reward_cost_cents,
    u.redeemed::bigint as redeemed, u.transactions::bigint as transactions_count,
    least(u.spend, 9223372036854775807)::bigint as spend_total_cents, least(u.discount, 9223372036854775807)::bigint as discount_cents,
    u.granted::bigint as rewards_count, u.unpriced::bigint as unpriced, u.again::bigint as again_count,
    least(u.again_spend, 9223372036854775807)::bigint as again_spend_cents, least(u.before_spend, 9223372036854775807)::bigint as before_spend_cents,
    u.without_transactions::bigint as without_transactions,
    least(u.without_spend, 9223372036854775807)::bigint as without_spend
  from used u
  left join loyalty.coupon c on c.tenant_id = $2 and c.id = u.coupon_id
  left join loyalty.reward r on r.tenant_id = $2 and r.id = c.benefit_reward_id
  where u.part is null
    or u.part in (1, 2);

-- couponSentSQL (core/report/coupon.go): A send creates all of its vouchers when it is evaluated.
-- $1=now $2=parts $3=starts $4=ends $5=tenant_id
prepare couponSentSQL as
  select v.part, v.coupon_id, c.name, v.sent, v.pending, v.redeemed
  from (
    select p.part, s.coupon_id,
      least(sum(s.sent), 9223372036854775807)::bigint as sent,
      least(coalesce(sum(s.sent - s.redeemed) filter (where s.expires_at is null or s.expires_at > $1), 0), 9223372036854775807)::bigint as pending,
      least(sum(s.redeemed), 9223372036854775807)::bigint as redeemed
    from unnest($2::bigint[], $3::timestamptz[], $4::timestamptz[]) as p (part, starts, ends)
    join loyalty.coupon_send s on s.tenant_id = $5 and s.evaluated_at >= p.starts and s.evaluated_at < p.ends and s.sent > 0
    group by p.part, s.coupon_id
  ) v
  join loyalty.coupon c on c.tenant_id = $5 and c.id = v.coupon_id;

-- unitRuleSQL (core/report/earned.go)
-- $1=tenant_id $2=unit
prepare unitRuleSQL as
  select expiry as rule, coalesce(months, 0) as months, coalesce(round_to, '') as round_to, coalesce(yearly_month, 0) as month,
    coalesce(yearly_day, 0) as day, begun_at, opening_expires_on, version
  from loyalty.programme
  where tenant_id = $1
    and unit = $2;

-- ruleChangesSQL (core/report/earned.go): Each of them since the first rule was set.
-- $1=tenant_id $2=unit
prepare ruleChangesSQL as
  select created_at as at, new ->> 'expiry' as rule, (new ->> 'months')::int as months, new ->> 'round_to' as round_to,
    (new ->> 'yearly_month')::int as month, (new ->> 'yearly_day')::int as day
  from loyalty.audit_entry
  where tenant_id = $1
    and action = 'programme.edit'
    and subject_kind = 'programme'
    and subject_id = $2
  order by id;

-- earnedSQL (core/report/earning.go), for Earning: Earning returns by which rules the sales of a selection earned.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day $17=location
prepare earnedSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  )
  select s.unit, k.kind, case k.kind when 'promotion' then s.promotion_id when 'level' then s.level_id end as id,
    case k.kind
      when 'promotion' then (select name from loyalty.promotion where tenant_id = $2 and id = s.promotion_id)
      when 'level' then (select name from loyalty.level where tenant_id = $2 and id = s.level_id)
    end as name,
    s.transactions as transactions_count, s.spend as spend_total_cents, s.issued, s.base,
    case k.kind when 'promotion' then s.promotion when 'level' then s.level else 0 end as added, s.capped_sales, s.capped_off,
    s.issued_before as previous_issued, s.base_before as previous_base,
    case k.kind when 'promotion' then s.promotion_before when 'level' then s.level_before else 0 end as previous_added
  from (
    select unit, promotion_id, level_id, grouping(promotion_id) as any_promotion, grouping(level_id) as any_level,
      coalesce(sum(transactions) filter (where part = 1), 0)::bigint as transactions,
      least(coalesce(sum(spend) filter (where part = 1), 0), 9223372036854775807)::bigint as spend,
      least(coalesce(sum(issued) filter (where part = 1), 0), 9223372036854775807)::bigint as issued,
      least(coalesce(sum(base) filter (where part = 1), 0), 9223372036854775807)::bigint as base,
      least(coalesce(sum(promotion) filter (where part = 1), 0), 9223372036854775807)::bigint as promotion,
      least(coalesce(sum(level) filter (where part = 1), 0), 9223372036854775807)::bigint as level,
      coalesce(sum(capped_sales) filter (where part = 1), 0)::bigint as capped_sales,
      least(coalesce(sum(capped_off) filter (where part = 1), 0), 9223372036854775807)::bigint as capped_off,
      least(coalesce(sum(issued) filter (where part = 2), 0), 9223372036854775807)::bigint as issued_before,
      least(coalesce(sum(base) filter (where part = 2), 0), 9223372036854775807)::bigint as base_before,
      least(coalesce(sum(promotion) filter (where part = 2), 0), 9223372036854775807)::bigint as promotion_before,
      least(coalesce(sum(level) filter (where part = 2), 0), 9223372036854775807)::bigint as level_before
    from (
      select part, unit, promotion_id, level_id, sum(transactions) as transactions, sum(spend) as spend, sum(issued) as issued, sum(base) as base,
        sum(promotion) as promotion, sum(level) as level, sum(capped_sales) as capped_sales, sum(capped_off) as capped_off
      from (
        select span.part, span.period, span.bucket, d.location_id, d.unit, d.promotion_id, d.level_id, d.transactions, d.spend, d.issued, d.base, d.promotion,
        d.level, d.capped_sales, d.capped_off
        from span
        join loyalty.day_rule d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
        where span.kept
        union all
        select span.part, span.period, span.bucket,
        d.location_id, d.unit, d.promotion_id, d.level_id, d.transactions * span.sign, d.spend * span.sign, d.issued * span.sign,
        d.base * span.sign, d.promotion * span.sign, d.level * span.sign, d.capped_sales * span.sign, d.capped_off * span.sign
        from span
        cross join lateral (
          select coalesce(location_id, 0) as location_id, rule_type as unit, coalesce(promotion_id, 0) as promotion_id, coalesce(level_id, 0) as level_id,
          count(*) as transactions, least(sum(spend_amount_cents), 9223372036854775807)::bigint as spend, least(sum(award), 9223372036854775807)::bigint as issued, least(sum(base), 9223372036854775807)::bigint as base, least(sum(promotion), 9223372036854775807)::bigint as promotion,
          least(sum(award - base - promotion), 9223372036854775807)::bigint as level, count(*) filter (where capped) as capped_sales,
          least(coalesce(sum(coalesce(base_award, award)::numeric + coalesce(promotion_award, 0) + coalesce(level_award, 0) - award) filter (where capped), 0), 9223372036854775807)::bigint as capped_off
          from loyalty.transaction
          cross join lateral (select coalesce(points_awarded, stamps_awarded) as award) a
          cross join lateral (select least(coalesce(base_award, award), award) as base) b
          cross join lateral (select least(coalesce(promotion_award, 0), award - base) as promotion) p
          where tenant_id = $2
          and id >= span.first_id
          and id < span.next_id
          and status = 'completed'
          group by coalesce(location_id, 0), rule_type, coalesce(promotion_id, 0), coalesce(level_id, 0)
        ) d
        where not span.kept
      ) sold
      where part in (1, 2)
        and $17::bigint in (0, location_id)
      group by part, unit, promotion_id, level_id
      having sum(transactions) > 0
    ) earned
    group by grouping sets ((unit), (unit, promotion_id), (unit, level_id))
  ) s
  cross join lateral (
    select case
      when s.any_promotion = 1 and s.any_level = 1 then 'all'
      when s.promotion_id > 0 then 'promotion'
      when s.level_id > 0 then 'level'
    end as kind
  ) k
  where k.kind is not null
  order by s.unit, k.kind, id;

-- knownRulesSQL (core/report/earning.go): The first sale is searched in order of ID, as in Overview.
-- $1=tenant_id
prepare knownRulesSQL as
  select (select id from loyalty.promotion where tenant_id = $1 order by id limit 1) is not null
      or exists (select from loyalty.level_programme where tenant_id = $1) as has_rules,
    (select id from loyalty.transaction where tenant_id = $1 order by id limit 1) as first_sale;

-- leftPointsSQL (core/report/ending.go): What ledger.ReadEndings reads of one customer, of all at once: the lots, and
-- the awards that aren't in them yet.
-- $1=tenant_id
prepare leftPointsSQL as
  with due as (
    select a.customer_id, a.points as balance, a.entries, a.points_lots_from as lots_from, a.points_lots_seq as lots_seq,
      case when a.points_lots_from is null then coalesce(p.opening_expires_on, 'infinity') else 'infinity' end as opening_expires_on,
      case when p.expiry = 'inactive' then a.points_idle_on end as idle_on
    from loyalty.account a
    join loyalty.customer c on c.tenant_id = a.tenant_id and c.id = a.customer_id
    left join loyalty.programme p on p.tenant_id = a.tenant_id and p.unit = 'points'
    where a.tenant_id = $1
      and a.points > 0
      and coalesce(c.phone_key, c.email_key) is not null
  ), begun as materialized (
    select d.*, coalesce(d.lots_seq, f.first_seq, d.entries) as after_seq
    from due d
    left join (
      select a.customer_id,
        greatest(
          least(min(e.seq) filter (where e.expires_on is not null) - 1,
            coalesce(max(e.seq) filter (where p.begun_at is null or e.created_at <= p.begun_at), 0)),
          max(e.seq) filter (where e.amount < 0)) as first_seq
      from loyalty.account a
      join loyalty.programme p on p.tenant_id = a.tenant_id and p.unit = 'points'
      join loyalty.ledger_entry e on e.tenant_id = a.tenant_id and e.customer_id = a.customer_id
      where a.tenant_id = $1
        and a.points > 0
        and a.points_lots_from is null
        and (a.points_expire_on is not null or p.opening_expires_on is not null)
        and e.unit = 'points'
      group by a.customer_id
    ) f on f.customer_id = d.customer_id
  ), dated as materialized (
    select b.customer_id, l.expires_on, l.remaining
    from begun b
    join loyalty.lot l on l.tenant_id = $1 and l.customer_id = b.customer_id
    where l.unit = 'points'
      and l.expires_on < 'infinity'
    union all
    select b.customer_id, coalesce(e.expires_on, 'infinity'), least(e.amount, e.balance_after)
    from begun b
    join loyalty.ledger_entry e on e.tenant_id = $1 and e.customer_id = b.customer_id and e.seq > b.after_seq
    where e.unit = 'points'
      and e.amount > 0
      and e.balance_after > 0
      and e.lot_dates is null
      and (e.expires_on < 'infinity' or b.lots_from is null)
  ), apart as materialized (
    select coalesce(c.merged_into, c.id) as customer_id, d.expires_on
    from loyalty.ledger_entry e
    join loyalty.customer c on c.tenant_id = e.tenant_id and c.id = e.customer_id
    cross join lateral unnest(e.lot_dates) d (expires_on)
    where e.tenant_id = $1
      and e.kind = 'redemption_refund'
      and e.unit = 'points'
      and not exists (
        select
        from loyalty.ledger_entry r
        where r.tenant_id = $1
          and r.cause = e.cause
          and r.kind = 'redemption'
          and d.expires_on = any (r.lot_dates)
      )
    union
    select coalesce(c.merged_into, c.id), e.expires_on
    from loyalty.customer c
    join loyalty.ledger_entry e on e.tenant_id = c.tenant_id and e.customer_id = c.id and e.seq <= 2
    where c.tenant_id = $1
      and c.imported_at is not null
      and e.kind = 'opening'
      and e.unit = 'points'
  ), held as (
    select d.customer_id, case when d.expires_on = 'infinity' then b.idle_on else d.expires_on end as day, d.expires_on = 'infinity' as undated,
      d.remaining
    from dated d
    join begun b on b.customer_id = d.customer_id
    union all
    select b.customer_id, case when b.opening_expires_on = 'infinity' then b.idle_on else b.opening_expires_on end, b.opening_expires_on = 'infinity',
      b.balance - coalesce(d.remaining, 0)
    from begun b
    left join (
      select customer_id, sum(remaining) as remaining
      from dated
      group by customer_id
    ) d on d.customer_id = b.customer_id
  )
  select h.day, h.undated and h.day is not null as idle, not h.undated and a.customer_id is not null as apart,
    least(sum(h.remaining), 9223372036854775807)::bigint as amount
  from held h
  left join apart a on a.customer_id = h.customer_id and a.expires_on = h.day
  where h.remaining > 0
  group by 1, 2, 3;

-- hashSQL (core/report/ending.go): The awards of hundreds of thousands of customers are hashed in half the time that
-- merging them in order takes.
prepare hashSQL as
  select set_config('enable_mergejoin', 'off', true) as set;

-- usedSQL (core/report/ending.go): What was taken from no lot has no day: it was spent before awards had one.
-- $1=tenant_id $2=unit
prepare usedSQL as
  select nullif(x.expires_on, 'infinity') as day,
    least(coalesce(sum(x.amount) filter (where e.kind = 'redemption'), 0), 9223372036854775807)::bigint as redeemed,
    greatest(least(coalesce(sum(x.amount) filter (where e.kind <> 'redemption'), 0), 9223372036854775807), -9223372036854775807)::bigint as expired
  from loyalty.ledger_entry e
  cross join lateral (
    select d.expires_on, -d.amount::numeric as amount
    from unnest(e.lot_dates, e.lot_amounts) d (expires_on, amount)
    where e.kind = 'redemption'
    union all
    select null, (select coalesce(sum(d.amount), 0) from unnest(e.lot_amounts) d (amount)) - e.amount
    where e.kind = 'redemption'
    union all
    select e.lot_dates[1], -e.amount
    where e.kind <> 'redemption'
  ) x
  where e.tenant_id = $1
    and e.kind in ('redemption', 'expiry', 'expiry_return')
    and e.unit = $2
    and x.amount <> 0
    and not (e.kind = 'redemption' and exists (
      select
      from loyalty.ledger_entry r
      where r.tenant_id = $1
        and r.cause = e.cause
        and r.kind = 'redemption_refund'
    ))
  group by nullif(x.expires_on, 'infinity');

-- isLargeSQL (core/report/hourly.go), for readings: readings read what isn't kept.
-- $1=many $2=tenant_id
prepare isLargeSQL as
  select (
      select count(*) = $1::bigint
      from (
        select
        from loyalty.account
        where tenant_id = $2
        limit $1
      ) account
    ) as large;

-- hoursSQL (core/report/hours.go), for Hours: Hours returns the sales of a selection by weekday and hour.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day $17=location
prepare hoursSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  )
  select weekday, hour, sum(transactions)::bigint as transactions_count,
    least(sum(spend), 9223372036854775807)::bigint as spend_total_cents
  from (
    select extract(isodow from day)::bigint - 1 as weekday, hour, sum(transactions) as transactions, sum(spend) as spend
    from (
      select span.part, span.period, span.bucket, d.day, d.hour, d.location_id, d.transactions, d.spend
      from span
      join loyalty.day_sales_hour d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.kept
      and d.transactions > 0
      union all
      select span.part, span.period, span.bucket, span.first_day, d.hour, d.location_id, d.transactions * span.sign, d.spend * span.sign
      from span
      cross join lateral (
        select s.hour, s.location_id, s.transaction_type_id, sum(s.transactions)::bigint as transactions, least(sum(s.spend), 9223372036854775807)::bigint as spend,
        least(sum(s.points), 9223372036854775807)::bigint as points, least(sum(s.stamps), 9223372036854775807)::bigint as stamps,
        sum(s.voided)::bigint as voided, least(sum(s.reversed), 9223372036854775807)::bigint as reversed, sum(s.refunds)::bigint as refunds,
        least(sum(s.refunded), 9223372036854775807)::bigint as refunded, least(sum(s.points_refunded), 9223372036854775807)::bigint as points_refunded
        from (
          select date_part('hour', created_at at time zone span.zone)::int as hour, coalesce(location_id, 0) as location_id, transaction_type_id,
          count(*) filter (where status = 'completed') as transactions,
          coalesce(sum(spend_amount_cents) filter (where status = 'completed'), 0) as spend,
          coalesce(sum(points_awarded) filter (where status = 'completed'), 0) as points,
          coalesce(sum(stamps_awarded) filter (where status = 'completed'), 0) as stamps,
          count(*) filter (where status = 'voided') as voided,
          coalesce(sum(points_awarded) filter (where status = 'voided'), 0) as reversed,
          0 as refunds, 0::numeric as refunded, 0::numeric as points_refunded
          from loyalty.transaction
          where tenant_id = $2
          and id >= span.first_id
          and id < span.next_id
          group by 1, coalesce(location_id, 0), transaction_type_id
          union all
          select date_part('hour', t.created_at at time zone span.zone)::int, coalesce(t.location_id, 0), t.transaction_type_id, 0, 0, 0, 0, 0, 0, count(*), sum(r.amount_cents), coalesce(sum(r.points), 0)
          from loyalty.refund r
          join loyalty.transaction t on t.tenant_id = $2 and t.id = r.transaction_id and t.status = 'completed'
          where r.tenant_id = $2
          and r.transaction_id >= span.first_id
          and r.transaction_id < span.next_id
          group by 1, coalesce(t.location_id, 0), t.transaction_type_id
        ) s
        group by s.hour, s.location_id, s.transaction_type_id
      ) d
      where not span.kept
      and d.transactions > 0
    ) sold
    where $17::bigint in (0, location_id)
    group by 1, hour
  ) cell
  group by cube (weekday, hour)
  having count(*) > 0
  order by weekday, hour;

-- lapsedList (core/report/lapsed.go): A customer's last sale is found walking back from the day since when they didn't
-- come: few of a day's customers never came again, but a page is found among the sales of a day or two.
-- $1=tenant_id $2=lapsed_id $3=limit
prepare lapsedList as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status, a.points as points_balance, t.created_at as last_visit, t.id as sale_id,
    coalesce(a.visits, 0) as visits, least(coalesce(a.spent_cents, 0), 9223372036854775807)::bigint as spend_cents
  from (
    select t.id, t.customer_id, t.created_at
    from loyalty.transaction t
    where t.tenant_id = $1
      and t.id < $2
      and t.status = 'completed'
      and not exists (
        select
        from loyalty.transaction later
        where later.tenant_id = $1
          and later.customer_id = t.customer_id
          and later.id > t.id
          and later.status = 'completed'
      )
    order by t.id desc
    limit $3
  ) t
  join loyalty.customer c on c.tenant_id = $1 and c.id = t.customer_id
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = t.customer_id
  order by t.id desc;

-- groupList (core/report/lapsed.go): Those who came lately and those who didn't are apart in the index, so a page
-- doesn't read the others.
-- $1=tenant_id $2=group $3=limit
prepare groupList as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status, a.points as points_balance, y.last_day as last_visit, null::uuid as sale_id,
    y.visits, least(y.spend, 9223372036854775807)::bigint as spend_cents
  from (
    select as_of, as_of - 60 as lately_after, high
    from loyalty.year_counted
    where tenant_id = $1
    offset 0
  ) k
  join loyalty.customer_year y on y.tenant_id = $1
  join loyalty.customer c on c.tenant_id = $1 and c.id = y.customer_id and c.merged_into is null
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = y.customer_id
  where case
      when y.last_day > k.as_of - 60 then case
        when y.visits >= 6 and y.spend >= k.high then 'best'
        when y.visits >= 6 then 'regulars'
        when y.visits >= 2 then 'promising'
        else 'new'
      end
      when y.visits >= 6 or y.spend >= k.high then 'at_risk'
      else 'quiet'
    end = $2::text
    and y.last_day > k.lately_after  order by y.last_day desc, y.customer_id desc
  limit $3;

-- earlierGroupList (core/report/lapsed.go): Those who came lately and those who didn't are apart in the index, so a page
-- doesn't read the others.
-- $1=tenant_id $2=group $3=limit
prepare earlierGroupList as
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status, a.points as points_balance, y.last_day as last_visit, null::uuid as sale_id,
    y.visits, least(y.spend, 9223372036854775807)::bigint as spend_cents
  from (
    select as_of, as_of - 60 as lately_after, high
    from loyalty.year_counted
    where tenant_id = $1
    offset 0
  ) k
  join loyalty.customer_year y on y.tenant_id = $1
  join loyalty.customer c on c.tenant_id = $1 and c.id = y.customer_id and c.merged_into is null
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = y.customer_id
  where case
      when y.last_day > k.as_of - 60 then case
        when y.visits >= 6 and y.spend >= k.high then 'best'
        when y.visits >= 6 then 'regulars'
        when y.visits >= 2 then 'promising'
        else 'new'
      end
      when y.visits >= 6 or y.spend >= k.high then 'at_risk'
      else 'quiet'
    end = $2::text
    and y.last_day <= k.lately_after  order by y.last_day desc, y.customer_id desc
  limit $3;

-- topOfLeadersSQL (core/report/leaders.go), for topOfLeaders: topOfLeaders returns the first customers of a ranking with
-- leaders.
-- $1=tenant_id $2=since_id $3=first_id $4=next_id $5=counted $6=others_sum $7=by $8=ids $9=sums $10=others_id $11=limit
prepare topOfLeadersSQL as
  with since as (
    select customer_id, count(*) as visits, sum(spend_amount_cents) as spend, coalesce(sum(points_awarded), 0) as points
    from loyalty.transaction
    where tenant_id = $1
      and id >= greatest($2::uuid, $3::uuid)
      and id < $4
      and status = 'completed'
    group by customer_id
  ), front as materialized (
    select most, id, row_number() over (order by most desc, id) > $5 as behind
    from (
      select coalesce(l.sum, $6::bigint, 0) + coalesce(case when $7::text = 'spend' then spend when $7 = 'points' then points else visits end, 0) as most, coalesce(l.id, s.customer_id) as id
      from unnest($8::uuid[], $9::bigint[]) l (id, sum)
      full join since s on s.customer_id = l.id
      order by most desc, id
      limit $5 + 1
    ) m
  ), behind as materialized (
    select most, id
    from (
      select most, id
      from front
      where behind
      union all
      select $6, $10::uuid
      where $10 is not null
    ) o
    order by most desc, id
    limit 1
  ), candidate as materialized (
    select id
    from front
    where not behind
    union
    select kept_id
    from loyalty.customer_merge
    where tenant_id = $1
      and id >= $2
  ), buyer as (
    select c.id as customer_id, b.*
    from candidate c
    cross join lateral (
      select count(*) as visits, sum(spend_amount_cents) as spend, coalesce(sum(points_awarded), 0) as points
      from loyalty.transaction
      where tenant_id = $1
        and customer_id = c.id
        and id >= $3
        and id < $4
        and status = 'completed'
      group by customer_id
    ) b
  ), ranked as (
    select *, case when $7::text = 'spend' then spend when $7 = 'points' then points else visits end as measure
    from buyer
    order by measure desc, customer_id
    limit $11
  )
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at,
    r.visits as transactions_count, least(r.spend, 9223372036854775807)::bigint as spend_total_cents,
    least(r.points, 9223372036854775807)::bigint as points_awarded, visit.created_at as last_visit,
    coalesce(r.measure > o.most or r.measure = o.most and r.customer_id <= o.id, true) as proven, o.id is null as "all"
  from ranked r
  join loyalty.customer c on c.tenant_id = $1 and c.id = r.customer_id
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = r.customer_id
  left join lateral (
    select created_at
    from loyalty.transaction
    where tenant_id = $1
      and customer_id = r.customer_id
      and status = 'completed'
    order by id desc
    limit 1
  ) visit on true
  left join behind o on true
  order by r.measure desc, r.customer_id;

-- topOfLeadersAtSQL (core/report/leaders.go), for topOfLeaders: topOfLeaders returns the first customers of a ranking
-- with leaders.
-- $1=tenant_id $2=since_id $3=first_id $4=next_id $5=location $6=counted $7=others_sum $8=by $9=ids $10=sums
-- $11=others_id $12=limit
prepare topOfLeadersAtSQL as
  with since as (
    select customer_id, count(*) as visits, sum(spend_amount_cents) as spend, coalesce(sum(points_awarded), 0) as points
    from loyalty.transaction
    where tenant_id = $1
      and id >= greatest($2::uuid, $3::uuid)
      and id < $4
      and status = 'completed'
      and location_id = $5
    group by customer_id
  ), front as materialized (
    select most, id, row_number() over (order by most desc, id) > $6 as behind
    from (
      select coalesce(l.sum, $7::bigint, 0) + coalesce(case when $8::text = 'spend' then spend when $8 = 'points' then points else visits end, 0) as most, coalesce(l.id, s.customer_id) as id
      from unnest($9::uuid[], $10::bigint[]) l (id, sum)
      full join since s on s.customer_id = l.id
      order by most desc, id
      limit $6 + 1
    ) m
  ), behind as materialized (
    select most, id
    from (
      select most, id
      from front
      where behind
      union all
      select $7, $11::uuid
      where $11 is not null
    ) o
    order by most desc, id
    limit 1
  ), candidate as materialized (
    select id
    from front
    where not behind
    union
    select kept_id
    from loyalty.customer_merge
    where tenant_id = $1
      and id >= $2
  ), buyer as (
    select c.id as customer_id, b.*
    from candidate c
    cross join lateral (
      select count(*) as visits, sum(spend_amount_cents) as spend, coalesce(sum(points_awarded), 0) as points
      from loyalty.transaction
      where tenant_id = $1
        and customer_id = c.id
        and id >= $3
        and id < $4
        and status = 'completed'
      and location_id = $5
      group by customer_id
    ) b
  ), ranked as (
    select *, case when $8::text = 'spend' then spend when $8 = 'points' then points else visits end as measure
    from buyer
    order by measure desc, customer_id
    limit $12
  )
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at,
    r.visits as transactions_count, least(r.spend, 9223372036854775807)::bigint as spend_total_cents,
    least(r.points, 9223372036854775807)::bigint as points_awarded, visit.created_at as last_visit,
    coalesce(r.measure > o.most or r.measure = o.most and r.customer_id <= o.id, true) as proven, o.id is null as "all"
  from ranked r
  join loyalty.customer c on c.tenant_id = $1 and c.id = r.customer_id
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = r.customer_id
  left join lateral (
    select created_at
    from loyalty.transaction
    where tenant_id = $1
      and customer_id = r.customer_id
      and status = 'completed'
    order by id desc
    limit 1
  ) visit on true
  left join behind o on true
  order by r.measure desc, r.customer_id;

-- reportedLevelsSQL (core/report/level_moves.go), for readings: readings read what isn't kept.
-- $1=tenant_id
prepare reportedLevelsSQL as
  select id, name, rank, threshold, percent, colour, perks, retired_at is not null as retired
  from loyalty.level
  where tenant_id = $1
  order by rank, id;

-- levelsInForceSQL (core/report/level_moves.go), for readings: readings read what isn't kept.
-- $1=tenant_id
prepare levelsInForceSQL as
  select basis, period, year_month as month, year_day as day, drops, starts_on, frozen
  from loyalty.level_programme
  where tenant_id = $1
    and active;

-- levelHoldersSQL (core/report/level_moves.go): Customers are counted by what a level follows from.
-- $1=today $2=tenant_id
prepare levelHoldersSQL as
  select a.level_id, a.level_by, a.level_year, coalesce(a.level_until < $1::date, false) as ended,
    coalesce(r.thresholds[width_bucket(a.level_sum, r.thresholds)], 0) as sum,
    coalesce(r.thresholds[width_bucket(a.level_sum_before, r.thresholds)], 0) as sum_before,
    count(*) as customers
  from loyalty.customer c
  left join loyalty.account a on a.tenant_id = $2 and a.customer_id = c.id
  cross join (
    select array_agg(threshold order by threshold) as thresholds
    from loyalty.level
    where tenant_id = $2
      and retired_at is null
  ) r
  where c.tenant_id = $2
    and c.merged_into is null
    and coalesce(c.phone_key, c.email_key) is not null
    and exists (select from loyalty.level_programme where tenant_id = $2 and active)
  group by a.level_id, a.level_by, a.level_year, ended, sum, sum_before;

-- levelChangesSQL (core/report/level_moves.go), for readings: readings read what isn't kept.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day
prepare levelChangesSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  )
  select nullif(to_level, 0) as to_level, reason, sum(changes)::bigint as changes
  from (
    select span.part, span.period, span.bucket, d.to_level, d.reason, d.changes
    from span
    join loyalty.day_level d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
    where span.kept
    union all
    select span.part, span.period, span.bucket,
      d.to_level, d.reason, d.changes * span.sign
    from span
    cross join lateral (
      select coalesce(to_level, 0) as to_level, reason, count(*) as changes
      from loyalty.level_change
      where tenant_id = $2
        and id >= span.first_id
        and id < span.next_id
      group by coalesce(to_level, 0), reason
    ) d
    where not span.kept
  ) moved
  where part = 1
  group by to_level, reason;

-- owedSQL (core/report/outstanding.go): What customers can spend is what ever changed balances, without those below zero
-- and those of erased customers.
-- $1=before $2=before_id $3=zone $4=tenant_id
prepare owedSQL as
  with
  done as (
    select greatest(coalesce(c.first_day, 'infinity'), given.after) as first_day, least(coalesce(c.last_day, '-infinity'), $1::date - 1) as last_day,
      given.after_id, least(coalesce(c.first_id, $2::uuid), $2::uuid) as first_id, coalesce(c.next_id, $2::uuid) as next_id
    from (values ($3::text, '-infinity'::date, '00000000-0000-0000-0000-000000000000'::uuid)) given (zone, after, after_id)
    left join loyalty.days_counted c on c.tenant_id = $4 and c.zone = given.zone || ' by ms, sales before'
  ), month as materialized (
    select m.month, m.unit, m.kind, m.amount, m.below
    from done
    join loyalty.month_flow m on m.tenant_id = $4 and m.month >= done.first_day and (m.month + interval '1 month')::date - 1 <= done.last_day
  ), days_left as (
    select r.first_day, r.last_day
    from (
      select coalesce(lag(m.next) over (order by m.next), done.first_day) as first_day, m.month - 1 as last_day
      from done
      join (select distinct month, (month + interval '1 month')::date as next from month) m on true
      union all
      select coalesce((select max(month) + interval '1 month' from month)::date, done.first_day), done.last_day
      from done
    ) r
    where r.first_day <= r.last_day
  ), flow as materialized (
    select unit, kind, amount, below
    from month
    union all
    select d.unit, d.kind, d.amount, d.below
    from days_left l
    join loyalty.day_flow d on d.tenant_id = $4 and d.day between l.first_day and l.last_day
    union all
    select c.unit, c.kind, c.amount, c.below
    from (
      select after_id as first_id, first_id as next_id
      from done
      union all
      select greatest(next_id, after_id), $2::uuid
      from done
    ) span
    cross join lateral (
      select unit, kind, sum(amount) as amount,
        coalesce(sum(least(balance_after, 0) - least(balance_after - amount::numeric, 0)) filter (where balance_after < 0 or balance_after < amount), 0) as below
      from loyalty.ledger_entry
      where tenant_id = $4
        and id >= span.first_id
        and id < span.next_id
      group by unit, kind
    ) c
  ), erased as (
    select coalesce(sum(a.points) filter (where a.points > 0), 0) as points,
      coalesce(sum(a.stamps) filter (where a.stamps > 0), 0) as stamps
    from loyalty.customer c
    join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
    where c.tenant_id = $4
      and c.phone_key is null
      and c.email_key is null
  ), held as (
    select coalesce(sum(amount - below) filter (where unit = 'points'), 0) as points,
      coalesce(sum(amount - below) filter (where unit = 'stamps'), 0) as stamps
    from flow
  ), owed as (
    select greatest(least(held.points - erased.points, 9223372036854775807), -9223372036854775807)::bigint as points,
      greatest(least(held.stamps - erased.stamps, 9223372036854775807), -9223372036854775807)::bigint as stamps
    from held
    cross join erased
  )
  select owed.points, owed.stamps,
    (min(least(round(r.cost_cents::numeric * owed.points / r.points_cost), 9223372036854775807)) filter (where r.points_cost > 0))::bigint as least_points,
    (max(least(round(r.cost_cents::numeric * owed.points / r.points_cost), 9223372036854775807)) filter (where r.points_cost > 0))::bigint as most_points,
    (min(least(round(r.cost_cents::numeric * owed.stamps / r.stamps_cost), 9223372036854775807)) filter (where r.stamps_cost > 0))::bigint as least_stamps,
    (max(least(round(r.cost_cents::numeric * owed.stamps / r.stamps_cost), 9223372036854775807)) filter (where r.stamps_cost > 0))::bigint as most_stamps
  from owed
  left join loyalty.reward r on r.tenant_id = $4
    and r.active
    and r.cost_cents is not null
  group by owed.points, owed.stamps;

-- firstStepsSQL (core/report/overview.go): The first sale is searched in order of ID: for a plain "exists", PostgreSQL
-- may read the sales of all other tenants.
-- $1=tenant_id
prepare firstStepsSQL as
  select (select id from loyalty.transaction_type where tenant_id = $1 order by id limit 1) is not null as transaction_type,
    (select id from loyalty.customer where tenant_id = $1 order by id limit 1) is not null as customer,
    (select id from loyalty.transaction where tenant_id = $1 order by id limit 1) is not null as sale,
    (select id from loyalty.reward where tenant_id = $1 order by id limit 1) is not null as reward;

-- statementSQL (core/report/points.go), for Points: Points returns the statement of a unit.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day $17=before $18=before_id $19=unit $20=steps
-- $21=next_id $22=end
prepare statementSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  ),
  done as (
    select greatest(coalesce(c.first_day, 'infinity'), given.after) as first_day, least(coalesce(c.last_day, '-infinity'), $17::date - 1) as last_day,
      given.after_id, least(coalesce(c.first_id, $18::uuid), $18::uuid) as first_id, coalesce(c.next_id, $18::uuid) as next_id
    from (values ($1::text, '-infinity'::date, '00000000-0000-0000-0000-000000000000'::uuid)) given (zone, after, after_id)
    left join loyalty.days_counted c on c.tenant_id = $2 and c.zone = given.zone || ' by ms, sales before'
  ), month as materialized (
    select m.month, m.unit, m.kind, m.amount, m.below
    from done
    join loyalty.month_flow m on m.tenant_id = $2 and m.month >= done.first_day and (m.month + interval '1 month')::date - 1 <= done.last_day
  ), days_left as (
    select r.first_day, r.last_day
    from (
      select coalesce(lag(m.next) over (order by m.next), done.first_day) as first_day, m.month - 1 as last_day
      from done
      join (select distinct month, (month + interval '1 month')::date as next from month) m on true
      union all
      select coalesce((select max(month) + interval '1 month' from month)::date, done.first_day), done.last_day
      from done
    ) r
    where r.first_day <= r.last_day
  ), flow as materialized (
    select unit, kind, amount, below
    from month
    union all
    select d.unit, d.kind, d.amount, d.below
    from days_left l
    join loyalty.day_flow d on d.tenant_id = $2 and d.day between l.first_day and l.last_day
    union all
    select c.unit, c.kind, c.amount, c.below
    from (
      select after_id as first_id, first_id as next_id
      from done
      union all
      select greatest(next_id, after_id), $18::uuid
      from done
    ) span
    cross join lateral (
      select unit, kind, sum(amount) as amount,
        coalesce(sum(least(balance_after, 0) - least(balance_after - amount::numeric, 0)) filter (where balance_after < 0 or balance_after < amount), 0) as below
      from loyalty.ledger_entry
      where tenant_id = $2
        and id >= span.first_id
        and id < span.next_id
      group by unit, kind
    ) c
  ), moved as materialized (
    select part, bucket, kind, sum(amount) as amount, sum(below) as below
    from (
      select span.part, span.period, span.bucket, d.unit, d.kind, d.amount, d.below
      from span
      join loyalty.day_flow d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.kept
      union all
      select span.part, span.period, span.bucket,
      d.unit, d.kind, d.amount * span.sign, d.below * span.sign
      from span
      cross join lateral (
        select unit, kind, sum(amount) as amount,
        coalesce(sum(least(balance_after, 0) - least(balance_after - amount::numeric, 0)) filter (where balance_after < 0 or balance_after < amount), 0) as below
        from loyalty.ledger_entry
        where tenant_id = $2
        and id >= span.first_id
        and id < span.next_id
        group by unit, kind
      ) d
      where not span.kept
    ) f
    where unit = $19::text
    group by part, bucket, kind
  ), opened as materialized (
    select coalesce(sum(amount), 0) as amount, coalesce(sum(below), 0) as below
    from flow
    where unit = $19
  ), step as (
    select n.step, coalesce(sum(m.amount), 0) as amount, coalesce(sum(m.below), 0) as below
    from generate_series(0, $20::bigint - 1) n (step)
    left join moved m on m.bucket = n.step
    group by n.step
  ), around as (
    select s.step, opened.amount + sum(s.amount) over so_far - s.amount as opening, opened.amount + sum(s.amount) over so_far as closing,
      opened.below + sum(s.below) over so_far as below
    from step s
    cross join opened
    window so_far as (order by s.step)
    union all
    select null, o.amount, o.amount + coalesce(sum(m.amount), 0), o.below + coalesce(sum(m.below), 0)
    from opened o
    left join moved m on m.part < 3
    group by o.amount, o.below
  ), erased as materialized (
    select coalesce(sum(e.balance_after) filter (where e.balance_after > 0), 0) as amount
    from loyalty.customer c
    cross join lateral (
      select balance_after
      from loyalty.ledger_entry
      where tenant_id = $2
        and customer_id = c.id
        and unit = $19
        and id < $21::uuid
      order by seq desc
      limit 1
    ) e
    where c.tenant_id = $2
      and c.phone_key is null
      and c.email_key is null
      and c.merged_into is null
      and c.updated_at < $22::timestamptz
  )
  select a.step, null::text as kind, 0::bigint as amount,
    greatest(least(a.opening, 9223372036854775807), -9223372036854775807)::bigint as opening,
    greatest(least(a.closing, 9223372036854775807), -9223372036854775807)::bigint as closing,
    greatest(least(a.closing - a.below - erased.amount, 9223372036854775807), -9223372036854775807)::bigint as spendable,
    greatest(least(erased.amount, 9223372036854775807), -9223372036854775807)::bigint as erased,
    greatest(least(a.below, 9223372036854775807), -9223372036854775807)::bigint as below
  from around a
  cross join erased
  union all
  select bucket, kind, greatest(least(sum(amount), 9223372036854775807), -9223372036854775807)::bigint, 0, 0, 0, 0, 0
  from moved
  where bucket is not null
  group by bucket, kind
  union all
  select null, kind, greatest(least(sum(amount), 9223372036854775807), -9223372036854775807)::bigint, 0, 0, 0, 0, 0
  from moved
  where part < 3
  group by kind;

-- earlierSQL (core/report/points.go): Of an earlier period, what could be spent isn't asked.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day $17=before $18=before_id $19=unit $20=steps
prepare earlierSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  ),
  done as (
    select greatest(coalesce(c.first_day, 'infinity'), given.after) as first_day, least(coalesce(c.last_day, '-infinity'), $17::date - 1) as last_day,
      given.after_id, least(coalesce(c.first_id, $18::uuid), $18::uuid) as first_id, coalesce(c.next_id, $18::uuid) as next_id
    from (values ($1::text, '-infinity'::date, '00000000-0000-0000-0000-000000000000'::uuid)) given (zone, after, after_id)
    left join loyalty.days_counted c on c.tenant_id = $2 and c.zone = given.zone || ' by ms, sales before'
  ), month as materialized (
    select m.month, m.unit, m.kind, m.amount, m.below
    from done
    join loyalty.month_flow m on m.tenant_id = $2 and m.month >= done.first_day and (m.month + interval '1 month')::date - 1 <= done.last_day
  ), days_left as (
    select r.first_day, r.last_day
    from (
      select coalesce(lag(m.next) over (order by m.next), done.first_day) as first_day, m.month - 1 as last_day
      from done
      join (select distinct month, (month + interval '1 month')::date as next from month) m on true
      union all
      select coalesce((select max(month) + interval '1 month' from month)::date, done.first_day), done.last_day
      from done
    ) r
    where r.first_day <= r.last_day
  ), flow as materialized (
    select unit, kind, amount, below
    from month
    union all
    select d.unit, d.kind, d.amount, d.below
    from days_left l
    join loyalty.day_flow d on d.tenant_id = $2 and d.day between l.first_day and l.last_day
    union all
    select c.unit, c.kind, c.amount, c.below
    from (
      select after_id as first_id, first_id as next_id
      from done
      union all
      select greatest(next_id, after_id), $18::uuid
      from done
    ) span
    cross join lateral (
      select unit, kind, sum(amount) as amount,
        coalesce(sum(least(balance_after, 0) - least(balance_after - amount::numeric, 0)) filter (where balance_after < 0 or balance_after < amount), 0) as below
      from loyalty.ledger_entry
      where tenant_id = $2
        and id >= span.first_id
        and id < span.next_id
      group by unit, kind
    ) c
  ), moved as materialized (
    select part, bucket, kind, sum(amount) as amount, sum(below) as below
    from (
      select span.part, span.period, span.bucket, d.unit, d.kind, d.amount, d.below
      from span
      join loyalty.day_flow d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.kept
      union all
      select span.part, span.period, span.bucket,
      d.unit, d.kind, d.amount * span.sign, d.below * span.sign
      from span
      cross join lateral (
        select unit, kind, sum(amount) as amount,
        coalesce(sum(least(balance_after, 0) - least(balance_after - amount::numeric, 0)) filter (where balance_after < 0 or balance_after < amount), 0) as below
        from loyalty.ledger_entry
        where tenant_id = $2
        and id >= span.first_id
        and id < span.next_id
        group by unit, kind
      ) d
      where not span.kept
    ) f
    where unit = $19::text
    group by part, bucket, kind
  ), opened as materialized (
    select coalesce(sum(amount), 0) as amount, coalesce(sum(below), 0) as below
    from flow
    where unit = $19
  ), step as (
    select n.step, coalesce(sum(m.amount), 0) as amount, coalesce(sum(m.below), 0) as below
    from generate_series(0, $20::bigint - 1) n (step)
    left join moved m on m.bucket = n.step
    group by n.step
  ), around as (
    select s.step, opened.amount + sum(s.amount) over so_far - s.amount as opening, opened.amount + sum(s.amount) over so_far as closing,
      opened.below + sum(s.below) over so_far as below
    from step s
    cross join opened
    window so_far as (order by s.step)
    union all
    select null, o.amount, o.amount + coalesce(sum(m.amount), 0), o.below + coalesce(sum(m.below), 0)
    from opened o
    left join moved m on m.part < 3
    group by o.amount, o.below
  )
  select a.step, null::text as kind, 0::bigint as amount,
    greatest(least(a.opening, 9223372036854775807), -9223372036854775807)::bigint as opening,
    greatest(least(a.closing, 9223372036854775807), -9223372036854775807)::bigint as closing,
    0::bigint as spendable, 0::bigint as erased, 0::bigint as below
  from around a
  union all
  select bucket, kind, greatest(least(sum(amount), 9223372036854775807), -9223372036854775807)::bigint, 0, 0, 0, 0, 0
  from moved
  where bucket is not null
  group by bucket, kind
  union all
  select null, kind, greatest(least(sum(amount), 9223372036854775807), -9223372036854775807)::bigint, 0, 0, 0, 0, 0
  from moved
  where part < 3
  group by kind;

-- spentSQL (core/report/points.go): What was redeemed less what was returned, and likewise what expired.
-- $1=before $2=before_id $3=zone $4=after $5=after_id $6=tenant_id $7=unit
prepare spentSQL as
  with
  done as (
    select greatest(coalesce(c.first_day, 'infinity'), given.after) as first_day, least(coalesce(c.last_day, '-infinity'), $1::date - 1) as last_day,
      given.after_id, least(coalesce(c.first_id, $2::uuid), $2::uuid) as first_id, coalesce(c.next_id, $2::uuid) as next_id
    from (values ($3::text, $4::date, $5::uuid)) given (zone, after, after_id)
    left join loyalty.days_counted c on c.tenant_id = $6 and c.zone = given.zone || ' by ms, sales before'
  ), month as materialized (
    select m.month, m.unit, m.kind, m.amount, m.below
    from done
    join loyalty.month_flow m on m.tenant_id = $6 and m.month >= done.first_day and (m.month + interval '1 month')::date - 1 <= done.last_day
  ), days_left as (
    select r.first_day, r.last_day
    from (
      select coalesce(lag(m.next) over (order by m.next), done.first_day) as first_day, m.month - 1 as last_day
      from done
      join (select distinct month, (month + interval '1 month')::date as next from month) m on true
      union all
      select coalesce((select max(month) + interval '1 month' from month)::date, done.first_day), done.last_day
      from done
    ) r
    where r.first_day <= r.last_day
  ), flow as materialized (
    select unit, kind, amount, below
    from month
    union all
    select d.unit, d.kind, d.amount, d.below
    from days_left l
    join loyalty.day_flow d on d.tenant_id = $6 and d.day between l.first_day and l.last_day
    union all
    select c.unit, c.kind, c.amount, c.below
    from (
      select after_id as first_id, first_id as next_id
      from done
      union all
      select greatest(next_id, after_id), $2::uuid
      from done
    ) span
    cross join lateral (
      select unit, kind, sum(amount) as amount,
        coalesce(sum(least(balance_after, 0) - least(balance_after - amount::numeric, 0)) filter (where balance_after < 0 or balance_after < amount), 0) as below
      from loyalty.ledger_entry
      where tenant_id = $6
        and id >= span.first_id
        and id < span.next_id
      group by unit, kind
    ) c
  )
  select greatest(least(coalesce(-sum(amount) filter (where kind in ('redemption', 'redemption_refund')), 0), 9223372036854775807), -9223372036854775807)::bigint as redeemed,
    greatest(least(coalesce(-sum(amount) filter (where kind in ('expiry', 'expiry_return')), 0), 9223372036854775807), -9223372036854775807)::bigint as expired
  from flow
  where unit = $7;

-- rewardsOfUnitSQL (core/report/points.go), for Points: Points returns the statement of a unit.
-- $1=tenant_id $2=unit
prepare rewardsOfUnitSQL as
  select count(*) as count, count(*) filter (where cost_cents is null) as unpriced
  from loyalty.reward
  where tenant_id = $1
    and active
    and case when $2::text = 'points' then points_cost else stamps_cost end > 0;

-- costsSQL (core/report/points.go): The active rewards that cost the least and the most for a point or a stamp.
-- $1=unit $2=tenant_id
prepare costsSQL as
  with priced as (
    select id, name, cost_cents, case when $1::text = 'points' then points_cost else stamps_cost end as units
    from loyalty.reward
    where tenant_id = $2
      and active
      and cost_cents is not null
  )
  (
    select id, name, cost_cents, units
    from priced
    where units > 0
    order by cost_cents::numeric / units, id
    limit 1
  ) union all (
    select id, name, cost_cents, units
    from priced
    where units > 0
    order by cost_cents::numeric / units desc, id
    limit 1
  );

-- timedPromotionsSQL (core/report/promotion_hours.go): Since when an inactive promotion is off isn't known, so it can't
-- be compared.
-- $1=tenant_id $2=to $3=from $4=limit
prepare timedPromotionsSQL as
  select id, name, unit, percent, extra, type_ids, location_ids, category_ids, min_spend_cents,
        starts_on::timestamp at time zone 'UTC' as starts_on, ends_on::timestamp at time zone 'UTC' as ends_on, windows,
        audience, level_id, birthday_days, limit_times, limit_per, created_at
  from loyalty.promotion
  where tenant_id = $1
    and active
    and windows <> '[]'
    and starts_on <= $2::date
    and coalesce(ends_on, 'infinity') >= $3::date
  order by starts_on desc, id desc
  limit $4;

-- promotionHoursSQL (core/report/promotion_hours.go): A sale's unit is that of its type, which can't change once it has
-- sales.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day $17=location $18=in_bucket $19=shown $20=classes
prepare promotionHoursSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  )
  select sold.class, k.rule_type as unit, k.id as type_id, nullif(sold.location_id, 0) as location_id, sold.transactions::bigint as transactions_count,
    least(sold.spend, 9223372036854775807)::bigint as spend_total_cents
  from (
    select c.class, h.transaction_type_id, h.location_id, sum(h.transactions) as transactions, sum(h.spend) as spend
    from (
      select bucket, hour, transaction_type_id, location_id, sum(transactions) as transactions, sum(spend) as spend
      from (
        select span.part, span.period, span.bucket, d.hour, d.location_id, d.transaction_type_id, d.transactions, d.spend
        from span
        join loyalty.day_hour d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
        where span.kept
        union all
        select span.part, span.period, span.bucket,
        d.hour, d.location_id, d.transaction_type_id, d.transactions * span.sign, d.spend * span.sign
        from span
        cross join lateral (
          select s.hour, s.location_id, s.transaction_type_id, sum(s.transactions)::bigint as transactions, least(sum(s.spend), 9223372036854775807)::bigint as spend,
          least(sum(s.points), 9223372036854775807)::bigint as points, least(sum(s.stamps), 9223372036854775807)::bigint as stamps,
          sum(s.voided)::bigint as voided, least(sum(s.reversed), 9223372036854775807)::bigint as reversed, sum(s.refunds)::bigint as refunds,
          least(sum(s.refunded), 9223372036854775807)::bigint as refunded, least(sum(s.points_refunded), 9223372036854775807)::bigint as points_refunded
          from (
            select date_part('hour', created_at at time zone span.zone)::int as hour, coalesce(location_id, 0) as location_id, transaction_type_id,
            count(*) filter (where status = 'completed') as transactions,
            coalesce(sum(spend_amount_cents) filter (where status = 'completed'), 0) as spend,
            coalesce(sum(points_awarded) filter (where status = 'completed'), 0) as points,
            coalesce(sum(stamps_awarded) filter (where status = 'completed'), 0) as stamps,
            count(*) filter (where status = 'voided') as voided,
            coalesce(sum(points_awarded) filter (where status = 'voided'), 0) as reversed,
            0 as refunds, 0::numeric as refunded, 0::numeric as points_refunded
            from loyalty.transaction
            where tenant_id = $2
            and id >= span.first_id
            and id < span.next_id
            group by 1, coalesce(location_id, 0), transaction_type_id
            union all
            select date_part('hour', t.created_at at time zone span.zone)::int, coalesce(t.location_id, 0), t.transaction_type_id, 0, 0, 0, 0, 0, 0, count(*), sum(r.amount_cents), coalesce(sum(r.points), 0)
            from loyalty.refund r
            join loyalty.transaction t on t.tenant_id = $2 and t.id = r.transaction_id and t.status = 'completed'
            where r.tenant_id = $2
            and r.transaction_id >= span.first_id
            and r.transaction_id < span.next_id
            group by 1, coalesce(t.location_id, 0), t.transaction_type_id
          ) s
          group by s.hour, s.location_id, s.transaction_type_id
        ) d
        where not span.kept
        and d.transactions > 0
      ) counted
      where $17::bigint in (0, location_id)
      group by bucket, hour, transaction_type_id, location_id
    ) h
    join unnest($18::bigint[], $19::bigint[], $20::bigint[]) as c (bucket, hour, class) on c.bucket = h.bucket and c.hour = h.hour
    group by c.class, h.transaction_type_id, h.location_id
  ) sold
  join loyalty.transaction_type k on k.tenant_id = $2 and k.id = sold.transaction_type_id;

-- promotionSlotsSQL (core/report/promotion_hours.go), for ofHours: ofHours returns what reads the sales of each class:
-- from hours that were counted, as long as all windows begin and end with one.
-- $1=classes $2=first_ids $3=next_ids $4=tenant_id
prepare promotionSlotsSQL as
  select slot.class, sold.unit, sold.type_id, sold.location_id, sum(sold.transactions)::bigint as transactions_count,
    least(sum(sold.spend), 9223372036854775807)::bigint as spend_total_cents
  from unnest($1::bigint[], $2::uuid[], $3::uuid[]) as slot (class, first_id, next_id)
  cross join lateral (
    select rule_type as unit, transaction_type_id as type_id, location_id, count(*) as transactions, sum(spend_amount_cents) as spend
    from loyalty.transaction
    where tenant_id = $4
        and id >= slot.first_id
        and id < slot.next_id
        and status = 'completed'
    group by rule_type, transaction_type_id, location_id
  ) sold
  group by slot.class, sold.unit, sold.type_id, sold.location_id;

-- promotionSlotsAtSQL (core/report/promotion_hours.go), for ofHours: ofHours returns what reads the sales of each class:
-- from hours that were counted, as long as all windows begin and end with one.
-- $1=classes $2=first_ids $3=next_ids $4=tenant_id $5=location
prepare promotionSlotsAtSQL as
  select slot.class, sold.unit, sold.type_id, sold.location_id, sum(sold.transactions)::bigint as transactions_count,
    least(sum(sold.spend), 9223372036854775807)::bigint as spend_total_cents
  from unnest($1::bigint[], $2::uuid[], $3::uuid[]) as slot (class, first_id, next_id)
  cross join lateral (
    select rule_type as unit, transaction_type_id as type_id, location_id, count(*) as transactions, sum(spend_amount_cents) as spend
    from loyalty.transaction
    where tenant_id = $4
        and id >= slot.first_id
        and id < slot.next_id
        and status = 'completed'
        and location_id = $5
    group by rule_type, transaction_type_id, location_id
  ) sold
  group by slot.class, sold.unit, sold.type_id, sold.location_id;

-- auditedActorsSQL (core/report/recent.go): Uses the index of subjects, and also returns other actions on them.
-- $1=tenant_id $2=subjects
prepare auditedActorsSQL as
  select action, subject_id, actor_kind, actor_name
  from loyalty.audit_entry
  where tenant_id = $1
    and subject_kind in ('voucher', 'transaction', 'redemption')
    and subject_id = any($2::text[])
  order by id;

-- recentSQL (core/report/recent.go): The latest events of all kinds are among the latest of each kind, which are read
-- from the end of an index.
-- $1=tenant_id $2=limit
prepare recentSQL as
  with event as (
    (
      select 'sale' as kind, id, created_at as at, customer_id,
        coalesce(points_awarded, 0) as points, coalesce(stamps_awarded, 0) as stamps, spend_amount_cents as spend_cents,
        transaction_type_id, null::uuid as reward_id, null::uuid as coupon_id, actor_kind, actor_name, status = 'voided' as voided
      from loyalty.transaction
      where tenant_id = $1
      order by id desc
      limit 6
    ) union all (
      select 'sale_voided', id, voided_at, customer_id, 0, 0, spend_amount_cents,
        transaction_type_id, null, null, null, null, false
      from loyalty.transaction
      where tenant_id = $1
        and status = 'voided'
      order by voided_at desc, id desc
      limit 50
    ) union all (
      select 'refund', f.id, f.created_at, t.customer_id, -coalesce(f.points, 0), -coalesce(f.stamps, 0), f.amount_cents,
        t.transaction_type_id, null, null, f.actor_kind, f.actor_name, false
      from loyalty.refund f
      join loyalty.transaction t on t.tenant_id = f.tenant_id and t.id = f.transaction_id
      where f.tenant_id = $1
      order by f.id desc
      limit 50
    ) union all (
      select 'redemption', id, created_at, customer_id, -points_spent, -stamps_spent, null, null, reward_id, null, actor_kind, actor_name, false
      from loyalty.redemption
      where tenant_id = $1
      order by id desc
      limit 50
    ) union all (
      select 'redemption_voided', id, voided_at, customer_id, points_spent, stamps_spent, null, null, reward_id, null, null, null, false
      from loyalty.redemption
      where tenant_id = $1
        and status = 'voided'
      order by voided_at desc, id desc
      limit 50
    ) union all (
      select 'voucher', id, redeemed_at, customer_id, 0, 0, null, null, null, coupon_id, null, null, false
      from loyalty.voucher
      where tenant_id = $1
        and status = 'redeemed'
      order by redeemed_at desc, id desc
      limit 50
    ) union all (
      select 'customer', id, created_at, id, 0, 0, null, null, null, null, null, null, false
      from loyalty.customer
      where tenant_id = $1
        and merged_into is null
        and imported_at is null
      order by created_at desc, id desc
      limit 6
    ) union all (
      select kind, id, created_at, customer_id,
        case when unit = 'points' then amount else 0 end, case when unit = 'stamps' then amount else 0 end, null,
        null, null, null, actor_kind, actor_name, false
      from loyalty.ledger_entry
      where tenant_id = $1
        and kind = 'adjustment'
      order by id desc
      limit 50
    )
  ), imported as (
    select id, ended_at, created_count, opening_points, opening_stamps, file_name, actor_kind, actor_name
    from loyalty.customer_import
    where tenant_id = $1
      and status in ('done', 'cancelled')
      and created_count > 0
    order by ended_at desc, id desc
    limit 50
  ), latest as (
    select *
    from (
      select event.*, 0::bigint as customers, null::text as file_name
      from event
      union all
      select 'import', id, ended_at, null, opening_points, opening_stamps, null, null, null, null, actor_kind, actor_name, false,
        created_count, file_name
      from imported
    ) event
    where not (kind = 'redemption' and points = 0 and stamps = 0)
    order by at desc, id desc, kind
    limit $2
  )
  select e.kind, e.id, e.at, coalesce(e.customer_id, '00000000-0000-0000-0000-000000000000') as customer_id,
    coalesce(c.first_name, '') as first_name, coalesce(c.last_name, '') as last_name, e.customers, e.spend_cents, e.voided,
    case e.kind when 'voucher' then case when l.unit = 'points' then l.amount else 0 end when 'sale_voided' then coalesce(b.points, 0) else e.points end as points,
    case e.kind when 'voucher' then case when l.unit = 'stamps' then l.amount else 0 end when 'sale_voided' then coalesce(b.stamps, 0) else e.stamps end as stamps,
    coalesce(t.name, r.name, k.name, e.file_name) as about,
    coalesce(e.actor_kind, l.actor_kind, g.actor_kind) as actor_kind,
    coalesce(e.actor_name, l.actor_name, g.actor_name) as actor_name
  from latest e
  left join loyalty.customer c on c.tenant_id = $1 and c.id = e.customer_id
  left join loyalty.transaction_type t on t.tenant_id = $1 and t.id = e.transaction_type_id
  left join loyalty.reward r on r.tenant_id = $1 and r.id = e.reward_id
  left join loyalty.coupon k on k.tenant_id = $1 and k.id = e.coupon_id
  left join loyalty.voucher v on e.kind = 'voucher' and v.tenant_id = $1 and v.id = e.id
  left join loyalty.ledger_entry l on l.tenant_id = $1 and l.cause = e.id and l.turn = coalesce(v.turn, 1)
    and l.kind = case when e.kind = 'sale_voided' then 'reversal' when e.kind = 'redemption_voided' then 'redemption_refund' when e.kind = 'voucher' then 'voucher' end
  left join lateral (
    select sum(amount) filter (where unit = 'points')::bigint as points, sum(amount) filter (where unit = 'stamps')::bigint as stamps
    from loyalty.ledger_entry
    where tenant_id = $1
      and cause = e.id
      and kind in ('reversal', 'expiry_return')
  ) b on e.kind = 'sale_voided'
  left join loyalty.redemption g on g.tenant_id = $1 and g.id = v.redemption_id
  order by e.at desc, e.id desc, e.kind;

-- recentDaysSQL (core/report/recent.go): The latest two days with sales.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day
prepare recentDaysSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  ), sold as materialized (
    select bucket, sum(transactions) as transactions, sum(spend) as spend, sum(points) as points, sum(stamps) as stamps
    from (
      select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
      from span
      join loyalty.day_sales d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.sales_kept
      and span.hour is null
      union all
      select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
      from span
      join loyalty.day_sales_hour d on d.tenant_id = $2 and d.day = span.first_day and d.hour < span.hour
      where span.sales_kept
      and span.hour is not null
      union all
      select span.part, span.period, span.bucket, d.location_id, d.transactions, d.spend, d.points, d.stamps, d.voided, d.reversed, d.refunds, d.refunded, d.points_refunded
      from span
      cross join lateral (
        select s.hour, s.location_id, s.transaction_type_id, sum(s.transactions)::bigint as transactions, least(sum(s.spend), 9223372036854775807)::bigint as spend,
        least(sum(s.points), 9223372036854775807)::bigint as points, least(sum(s.stamps), 9223372036854775807)::bigint as stamps,
        sum(s.voided)::bigint as voided, least(sum(s.reversed), 9223372036854775807)::bigint as reversed, sum(s.refunds)::bigint as refunds,
        least(sum(s.refunded), 9223372036854775807)::bigint as refunded, least(sum(s.points_refunded), 9223372036854775807)::bigint as points_refunded
        from (
          select date_part('hour', created_at at time zone span.zone)::int as hour, coalesce(location_id, 0) as location_id, transaction_type_id,
          count(*) filter (where status = 'completed') as transactions,
          coalesce(sum(spend_amount_cents) filter (where status = 'completed'), 0) as spend,
          coalesce(sum(points_awarded) filter (where status = 'completed'), 0) as points,
          coalesce(sum(stamps_awarded) filter (where status = 'completed'), 0) as stamps,
          count(*) filter (where status = 'voided') as voided,
          coalesce(sum(points_awarded) filter (where status = 'voided'), 0) as reversed,
          0 as refunds, 0::numeric as refunded, 0::numeric as points_refunded
          from loyalty.transaction
          where tenant_id = $2
          and id >= span.first_id
          and id < span.next_id
          group by 1, coalesce(location_id, 0), transaction_type_id
          union all
          select date_part('hour', t.created_at at time zone span.zone)::int, coalesce(t.location_id, 0), t.transaction_type_id, 0, 0, 0, 0, 0, 0, count(*), sum(r.amount_cents), coalesce(sum(r.points), 0)
          from loyalty.refund r
          join loyalty.transaction t on t.tenant_id = $2 and t.id = r.transaction_id and t.status = 'completed'
          where r.tenant_id = $2
          and r.transaction_id >= span.first_id
          and r.transaction_id < span.next_id
          group by 1, coalesce(t.location_id, 0), t.transaction_type_id
        ) s
        group by s.hour, s.location_id, s.transaction_type_id
      ) d
      where not span.sales_kept
    ) sale
    group by bucket
    having sum(transactions) > 0
    order by bucket
    limit 2
  ), joined as materialized (
    select bucket, sum(customers) as customers
    from (
      select span.part, span.period, span.bucket, d.customers
      from span
      join loyalty.day_joined d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.kept
      union all
      select span.part, span.period, span.bucket,
      d.customers * span.sign
      from span
      cross join lateral (
        select count(*) as customers
        from loyalty.customer
        where tenant_id = $2
        and created_at >= span.starts
        and created_at < span.ends
        and merged_into is null
        and imported_at is null
      ) d
      where not span.kept
    ) customer
    group by bucket
  )
  select sold.bucket as back, sold.transactions::bigint as transactions_count,
    least(sold.spend, 9223372036854775807)::bigint as spend_total_cents,
    least(sold.points, 9223372036854775807)::bigint as points_awarded,
    least(sold.stamps, 9223372036854775807)::bigint as stamps_awarded,
    ends.first_at as first_sale_at, ends.last_at as last_sale_at, coalesce(joined.customers, 0)::bigint as new_customers
  from sold
  cross join lateral (
    select min(earliest.created_at) as first_at, max(latest.created_at) as last_at
    from span
    cross join lateral (
      select created_at
      from loyalty.transaction
      where tenant_id = $2
        and id >= span.first_id
        and id < span.next_id
        and status = 'completed'
      order by id
      limit 1
    ) earliest
    cross join lateral (
      select created_at
      from loyalty.transaction
      where tenant_id = $2
        and id >= span.first_id
        and id < span.next_id
        and status = 'completed'
      order by id desc
      limit 1
    ) latest
    where span.bucket = sold.bucket
  ) ends
  left join joined on joined.bucket = sold.bucket
  order by sold.bucket;

-- planOnceSQL (core/report/report.go): Planning a report for its arguments takes longer than it saves (planMode).
-- $1=plan_mode
prepare planOnceSQL as
  select set_config('plan_cache_mode', $1, true) as set;

-- takeTimeSQL (core/report/report.go): Few reports run at once, so each may take longer than other statements: a year of
-- a large business.
-- $1=plan_mode
prepare takeTimeSQL as
  select set_config('statement_timeout', '40s', true) || set_config('enable_sort', 'off', true) || set_config('enable_material', 'off', true) || set_config('plan_cache_mode', $1, true) as set;

-- rewardsSQL (core/report/reward.go): The earlier period's later days have nothing in the parts, so only buckets have
-- them.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day
prepare rewardsSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  ), used as materialized (
    select u.*, r.name, u.redemptions * r.cost_cents::numeric as cost, case when r.cost_cents is null then u.redemptions else 0 end as unpriced
    from (
      select span.part, span.period, span.bucket, d.reward_id, d.by_voucher, d.redemptions, d.points, d.stamps, d.voided
      from span
      join loyalty.day_reward d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
      where span.kept
      union all
      select span.part, span.period, span.bucket,
      d.reward_id, d.by_voucher, d.redemptions * span.sign, d.points * span.sign, d.stamps * span.sign, d.voided * span.sign
      from span
      cross join lateral (
        select reward_id, points_spent = 0 and stamps_spent = 0 as by_voucher,
        count(*) filter (where status <> 'voided') as redemptions,
        least(coalesce(sum(points_spent) filter (where status <> 'voided'), 0), 9223372036854775807)::bigint as points,
        least(coalesce(sum(stamps_spent) filter (where status <> 'voided'), 0), 9223372036854775807)::bigint as stamps,
        count(*) filter (where status = 'voided') as voided
        from loyalty.redemption
        where tenant_id = $2
        and id >= span.first_id
        and id < span.next_id
        group by reward_id, points_spent = 0 and stamps_spent = 0
      ) d
      where not span.kept
    ) u
    join loyalty.reward r on r.tenant_id = $2 and r.id = u.reward_id
  )
  select grouping(u.reward_id, u.bucket) = 3 as whole, coalesce(u.reward_id, '00000000-0000-0000-0000-000000000000') as id,
    case when grouping(u.reward_id) = 1 then '' else max(u.name) end as name, u.period as bucket_period, u.bucket,
    coalesce(sum(u.redemptions) filter (where u.part = 1), 0)::bigint as redemptions_count,
    coalesce(sum(u.redemptions) filter (where u.part = 1 and not u.by_voucher), 0)::bigint as paid_count,
    coalesce(sum(u.redemptions) filter (where u.part = 1 and u.by_voucher), 0)::bigint as vouchers_count,
    least(coalesce(sum(u.points) filter (where u.part = 1), 0), 9223372036854775807)::bigint as points_spent,
    least(coalesce(sum(u.stamps) filter (where u.part = 1), 0), 9223372036854775807)::bigint as stamps_spent,
    coalesce(sum(u.voided) filter (where u.part = 1), 0)::bigint as voided_count,
    least(coalesce(sum(u.cost) filter (where u.part = 1), 0), 9223372036854775807)::bigint as cost_cents,
    coalesce(sum(u.unpriced) filter (where u.part = 1), 0)::bigint as unpriced_count,
    coalesce(sum(u.redemptions) filter (where u.part = 2), 0)::bigint as previous_redemptions_count,
    coalesce(sum(u.redemptions) filter (where u.part = 2 and not u.by_voucher), 0)::bigint as previous_paid_count,
    coalesce(sum(u.redemptions) filter (where u.part = 2 and u.by_voucher), 0)::bigint as previous_vouchers_count,
    least(coalesce(sum(u.points) filter (where u.part = 2), 0), 9223372036854775807)::bigint as previous_points_spent,
    least(coalesce(sum(u.stamps) filter (where u.part = 2), 0), 9223372036854775807)::bigint as previous_stamps_spent,
    least(coalesce(sum(u.cost) filter (where u.part = 2), 0), 9223372036854775807)::bigint as previous_cost_cents,
    coalesce(sum(u.redemptions) filter (where not u.by_voucher), 0)::bigint as step_paid,
    coalesce(sum(u.redemptions) filter (where u.by_voucher), 0)::bigint as step_vouchers,
    least(coalesce(sum(u.cost), 0), 9223372036854775807)::bigint as step_cost
  from used u
  group by grouping sets ((), (u.reward_id), (u.period, u.bucket))
  having grouping(u.reward_id) = 1
    or sum(u.redemptions + u.voided) filter (where u.part in (1, 2)) > 0
  order by whole desc, redemptions_count desc, name, u.reward_id;

-- topSQL (core/report/top.go), for countTop: countTop counts the sales of the range, and keeps the leaders of a large
-- business.
-- $1=tenant_id $2=first_id $3=next_id $4=by $5=many $6=leaders $7=limit
prepare topSQL as
  with buyer as (
    select customer_id, count(*) as visits, sum(spend_amount_cents) as spend, coalesce(sum(points_awarded), 0) as points
    from loyalty.transaction
    where tenant_id = $1
      and id >= $2
      and id < $3
      and status = 'completed'
    group by customer_id
  ), ranked as (
    select *, case when $4::text = 'spend' then spend when $4 = 'points' then points else visits end as measure
    from buyer
    order by measure desc, customer_id
    limit case when (
      select count(*) = $5::bigint
      from (
        select
        from loyalty.account
        where tenant_id = $1
        limit $5
      ) account
    ) then greatest($6::bigint, $7) else $7 end
  )
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at,
    r.visits as transactions_count, least(r.spend, 9223372036854775807)::bigint as spend_total_cents,
    least(r.points, 9223372036854775807)::bigint as points_awarded, visit.created_at as last_visit
  from ranked r
  join loyalty.customer c on c.tenant_id = $1 and c.id = r.customer_id
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = r.customer_id
  left join lateral (
    select created_at
    from loyalty.transaction
    where tenant_id = $1
      and customer_id = r.customer_id
      and status = 'completed'
    order by id desc
    limit 1
  ) visit on true
  order by r.measure desc, r.customer_id;

-- topAtSQL (core/report/top.go), for countTop: countTop counts the sales of the range, and keeps the leaders of a large
-- business.
-- $1=tenant_id $2=first_id $3=next_id $4=location $5=by $6=many $7=leaders $8=limit
prepare topAtSQL as
  with buyer as (
    select customer_id, count(*) as visits, sum(spend_amount_cents) as spend, coalesce(sum(points_awarded), 0) as points
    from loyalty.transaction
    where tenant_id = $1
      and id >= $2
      and id < $3
      and status = 'completed'
      and location_id = $4
    group by customer_id
  ), ranked as (
    select *, case when $5::text = 'spend' then spend when $5 = 'points' then points else visits end as measure
    from buyer
    order by measure desc, customer_id
    limit case when (
      select count(*) = $6::bigint
      from (
        select
        from loyalty.account
        where tenant_id = $1
        limit $6
      ) account
    ) then greatest($7::bigint, $8) else $8 end
  )
  select c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
    a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at,
    r.visits as transactions_count, least(r.spend, 9223372036854775807)::bigint as spend_total_cents,
    least(r.points, 9223372036854775807)::bigint as points_awarded, visit.created_at as last_visit
  from ranked r
  join loyalty.customer c on c.tenant_id = $1 and c.id = r.customer_id
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = r.customer_id
  left join lateral (
    select created_at
    from loyalty.transaction
    where tenant_id = $1
      and customer_id = r.customer_id
      and status = 'completed'
    order by id desc
    limit 1
  ) visit on true
  order by r.measure desc, r.customer_id;

-- visitorsSQL (core/report/visitors.go): Customers count on their first visit of a part, or of a bucket: each day is
-- added up for both at once.
-- $1=zone $2=tenant_id $3=parts $4=periods $5=buckets $6=first_days $7=last_days $8=hours $9=starts $10=ends $11=since
-- $12=since_ids $13=step_days $14=counts $15=midnights $16=from_day $17=location $18=before_id $19=before $20=end_parts
-- $21=end_days $22=lapsed $23=first_month
prepare visitorsSQL as
  with days as materialized (
    select first_day, last_day, ends_at, (ends_at at time zone $1)::date - 1 as whole_day
    from loyalty.days_counted
    where tenant_id = $2
      and zone = $1 || ' by ms, sales before'
  ), marked as materialized (
    select (m.at at time zone $1)::date as day, bool_or(m.visits) as visits
    from days c
    join loyalty.day_mark m on m.tenant_id = $2 and m.at < c.ends_at
    group by 1
  ), given as materialized (
    select s.*, w.first_day as whole_from, w.last_day as whole_to
    from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::date[], $8::int[],
      $9::timestamptz[], $10::timestamptz[], $11::date[], $12::uuid[], $13::date[], $14::bigint[])
      as s (part, period, bucket, first_day, last_day, hour, starts, ends, since, since_id, step, counts)
    left join lateral (
      select greatest(s.first_day, c.first_day) as first_day, least(s.last_day, c.whole_day) as last_day
      from days c
      where s.counts = 0
    ) w on w.first_day <= w.last_day
      and not exists (select from marked m where m.day between w.first_day and w.last_day)
  ), piece as (
    select part, period, bucket, whole_from as first_day, whole_to as last_day, hour, since, since_id, step,
      ($15::timestamptz[])[whole_from - $16::date + 1] as starts, ($15::timestamptz[])[whole_to - $16::date + 2] as ends,
      true as kept, true as sales_kept, true as visits_kept, null::int as ms, 1 as sign
    from given
    where whole_from is not null
    union all
    select g.part, g.period, g.bucket, d.day, d.day, g.hour, g.since, g.since_id, g.step, p.starts, p.ends,
      case when g.counts in (0, 3, 4) then p.counted and g.ends is null and m.day is null end,
      case when g.counts in (0, 1) then p.counted and m.day is null end,
      case when g.counts in (0, 2) then p.counted and m.visits is not true end,
      case when g.starts is null and g.ends is not null then floor(extract(epoch from p.ends - p.starts) * 1000)::int end,
      case when g.counts = 4 then -1 else 1 end
    from given g
    cross join lateral (
      select g.first_day + n as day
      from unnest(array(select generate_series(0, g.last_day - g.first_day))) n
    ) d
    left join days c on true
    cross join lateral (
      select coalesce(g.starts, ($15::timestamptz[])[d.day - $16::date + 1]) as starts,
        coalesce(g.ends, ($15::timestamptz[])[d.day - $16::date + 2]) as ends,
        coalesce(g.starts is null and d.day between c.first_day and c.last_day, false) as counted
    ) s
    cross join lateral (
      select s.starts, least(s.ends, c.ends_at) as ends, true as counted
      where s.counted
      union all
      select case when s.counted then c.ends_at else s.starts end, s.ends, false
      where not s.counted
        or s.ends > c.ends_at
    ) p
    left join marked m on m.day = d.day
    where coalesce(d.day not between g.whole_from and g.whole_to, true)
  ), span as materialized (
    select *, $1::text as zone, (lpad(to_hex(floor(extract(epoch from starts) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from ends) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from piece
  ), visit as materialized (
    select span.first_id, span.next_id, span.place, c.*
    from (
      select distinct s.first_id, s.next_id, s.zone, date_trunc('month', s.first_day)::date as month, p.place
      from span s
      cross join unnest(array[0, $17::bigint]) p (place)
      where not s.visits_kept
    ) span
    cross join lateral (
      select array_agg(prior) as prior, array_agg(first_day) as first_day, array_agg(customers) as customers
      from (
        select coalesce(v.prior, '-infinity') as prior, (loyalty.id_time(f.id) at time zone span.zone)::date as first_day, count(*) as customers
        from (
          select v.customer_id, (loyalty.id_time(v.prior_id) at time zone span.zone)::date as prior,
            (loyalty.id_time(v.earlier_id) at time zone span.zone)::date as earlier
          from (
            select v.customer_id, v.first_id, p.ids[1] as prior_id, p.ids[2] as earlier_id
            from (
              select customer_id, min(id::text collate "C")::uuid as first_id
              from loyalty.transaction
              where tenant_id = $2
              and id >= span.first_id
              and id < span.next_id
              and status = 'completed'
              and span.place in (0, location_id)
              group by customer_id
            ) v
            cross join lateral (
              select array(
                select id
                from loyalty.transaction
                where tenant_id = $2
                and customer_id = v.customer_id
                and id < span.first_id
                and status = 'completed'
                and span.place in (0, location_id)
                order by id desc
                limit 2
              ) as ids
              offset 0
            ) p
          ) v
          offset 0
        ) v
        left join lateral (
          select id
          from loyalty.transaction
          where tenant_id = $2
            and customer_id = v.customer_id
            and status = 'completed'
            and span.place in (0, location_id)
            and (v.prior >= span.month and v.earlier < v.prior) is not true
          order by id
          limit 1
        ) f on true
        group by 1, 2
      ) v
    ) c
  ), figure as materialized (
    select part, period, bucket, sum(customers) as customers, sum(step_customers) as step_customers, sum(new) as new_customers,
      sum(second) as second, sum(step_second) as step_second, sum(visits) as visits
    from (
      select span.part, span.period, span.bucket, d.visits - coalesce(d.again, 0) as customers, d.visits - coalesce(d.step_again, 0) as step_customers,
      f.customers as new, d.second, d.step_second, d.visits
      from span
      cross join lateral unnest(array(select span.first_day + generate_series(0, span.last_day - span.first_day))) e (day)
      cross join lateral (
        select sum(customers) filter (where prior = 'infinity') as visits, sum(customers) filter (where prior < 'infinity') as again,
        sum(customers) filter (where prior >= span.step and prior < 'infinity') as step_again,
        sum(second) filter (where prior < 'infinity') as second, sum(second) filter (where prior >= span.step and prior < 'infinity') as step_second
        from loyalty.day_visit
        where tenant_id = $2
        and location_id = $17
        and day = e.day
        and prior >= span.since
      ) d
      cross join lateral (
        select sum(customers) as customers
        from loyalty.day_visit
        where tenant_id = $2
        and location_id = $17
        and day = e.day
        and prior = '-infinity'
      ) f
      where span.visits_kept
      and span.ms is null
      union all
      select part, period, bucket, sum(customers) filter (where prior < since), sum(customers) filter (where prior < step),
      sum(customers) filter (where prior = '-infinity'), sum(second) filter (where prior >= since and prior < day),
      sum(second) filter (where prior >= step and prior < day), sum(customers) filter (where prior < day)
      from (
        select span.part, span.period, span.bucket, span.since, span.step, span.first_day as day, d.prior,
        width_bucket(span.ms - 1, d.came_at) as customers, width_bucket(span.ms - 1, d.second_at) as second
        from span
        join loyalty.day_visit d on d.tenant_id = $2 and d.day = span.first_day and d.location_id = $17 and d.prior < 'infinity'
        where span.visits_kept
        and span.ms is not null
        union all
        select span.part, span.period, span.bucket, span.since, span.step, span.first_day, c.prior, c.customers,
        case when c.prior = c.first_day then c.customers else 0 end
        from span
        join visit v on v.first_id = span.first_id and v.next_id = span.next_id and v.place = $17
        cross join lateral unnest(v.prior, v.first_day, v.customers) c (prior, first_day, customers)
        where not span.visits_kept
      ) part
      group by part, period, bucket
    ) came
    where part in (1, 2, 3)
    group by part, period, bucket
  ), back as materialized (
    select part, day, sum(customers) as customers
    from (
      select span.part, case when d.prior = 'infinity' then e.day else d.prior end as day,
      sum(case when d.prior = 'infinity' then d.customers else -d.customers end) as customers
      from span
      cross join lateral unnest(array(select span.first_day + generate_series(0, span.last_day - span.first_day))) e (day)
      cross join lateral (
        select prior, customers
        from loyalty.day_visit
        where tenant_id = $2
        and location_id = 0
        and day = e.day
        and prior >= span.since
        offset 0
      ) d
      where span.visits_kept
      and span.ms is null
      group by 1, 2
      union all
      select span.part, d.day, -d.customers
      from span
      join loyalty.day_visit d on d.tenant_id = $2 and d.location_id = 0 and d.prior = '-infinity' and d.day between span.first_day and span.last_day
      where span.visits_kept
      and span.ms is null
      union all
      select span.part, k.day, k.sign * width_bucket(span.ms - 1, d.came_at)
      from span
      join loyalty.day_visit d on d.tenant_id = $2 and d.location_id = 0 and d.day = span.first_day and d.prior > '-infinity' and d.prior < 'infinity'
      cross join lateral (values (span.first_day, 1), (d.prior, -1)) k (day, sign)
      where span.visits_kept
      and span.ms is not null
      union all
      select span.part, k.day, k.sign * c.customers
      from span
      join visit v on v.first_id = span.first_id and v.next_id = span.next_id and v.place = 0
      cross join lateral unnest(v.prior, v.first_day, v.customers) c (prior, first_day, customers)
      cross join lateral (values (span.first_day, 1), (c.prior, -1)) k (day, sign)
      where not span.visits_kept
      and c.prior > '-infinity'
    ) returned
    where part in (4, 5)
    group by part, day
  ),
  counted as (
    select coalesce(c.first_day, 'infinity') as first_day, coalesce(c.last_day, '-infinity') as last_day,
      least(coalesce(c.first_id, $18::uuid), $18::uuid) as first_id, coalesce(c.next_id, $18::uuid) as next_id
    from (values ($1::text)) given (zone)
    left join loyalty.days_counted c on c.tenant_id = $2 and c.zone = given.zone || ' by ms, sales before'
  ), anew as materialized (
    select m.day, (lpad(to_hex(floor(extract(epoch from (m.day - 1)::timestamp) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as first_id, (lpad(to_hex(floor(extract(epoch from (m.day + 2)::timestamp) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as next_id
    from counted
    join marked m on m.visits and m.day between counted.first_day and counted.last_day
  ), first_visit as materialized (
    select d.day, d.customers
    from counted
    join loyalty.day_visit d on d.tenant_id = $2 and d.location_id = 0 and d.prior = '-infinity'
      and d.day between counted.first_day and counted.last_day and d.day < $19::date
    where not exists (select from anew where anew.day = d.day)
    union all
    select (f.created_at at time zone $1)::date, count(*)
    from (
      select min(t.created_at) as created_at
      from counted
      join loyalty.transaction t on t.tenant_id = $2 and t.id < counted.first_id and t.status = 'completed'
      group by t.customer_id
    ) f
    group by 1
    union all
    select (t.created_at at time zone $1)::date, count(*)
    from (
      select next_id as first_id, $18::uuid as next_id, null::date as day
      from counted
      union all
      select first_id, least(next_id, $18::uuid), day
      from anew
    ) span
    join loyalty.transaction t on t.tenant_id = $2 and t.id >= span.first_id and t.id < span.next_id and t.status = 'completed'
    where coalesce((t.created_at at time zone $1)::date = span.day, true)
      and not exists (
        select
        from loyalty.transaction
        where tenant_id = $2
          and customer_id = t.customer_id
          and id < t.id
          and status = 'completed'
      )
    group by 1
  )
  select part, null::bigint as period, null::bigint as bucket, null::date as first_month,
    coalesce(sum(customers), 0)::bigint as customers,
    coalesce(sum(new_customers), 0)::bigint as new_customers,
    (coalesce(sum(customers), 0) - coalesce(sum(new_customers), 0) + coalesce(sum(second), 0))::bigint as repeat,
    coalesce(sum(visits), 0)::bigint as visits
  from figure
  where part in (1, 2)
  group by part
  union all
  select 0, period, bucket, null,
    coalesce(sum(step_customers), 0)::bigint,
    coalesce(sum(new_customers), 0)::bigint,
    (coalesce(sum(step_customers), 0) - coalesce(sum(new_customers), 0) + coalesce(sum(step_second), 0))::bigint,
    coalesce(sum(visits), 0)::bigint
  from figure
  group by period, bucket
  union all
  select e.part, null, n.days, null, (
      coalesce((
        select sum(f.customers)
        from first_visit f
        where f.day <= e.day - n.days
      ), 0) - coalesce((
        select sum(b.customers)
        from back b
        where b.part = e.part
          and b.day > e.day - n.days
      ), 0)
    )::bigint, 0, 0, 0
  from unnest($20::bigint[], $21::date[]) e (part, day)
  cross join unnest($22::int[]) n (days)
  union all
  select part, null, bucket, first_month, sum(customers)::bigint, 0, 0, 0
  from (
    select span.part, span.bucket, d.first_month, d.customers
    from span
    join loyalty.day_cohort d on d.tenant_id = $2 and d.day between span.first_day and span.last_day
    where span.visits_kept
    union all
    select span.part, span.bucket, date_trunc('month', c.first_day)::date, c.customers
    from span
    join visit v on v.first_id = span.first_id and v.next_id = span.next_id and v.place = 0
    cross join lateral unnest(v.prior, v.first_day, v.customers) c (prior, first_day, customers)
    where not span.visits_kept
      and c.prior < date_trunc('month', span.first_day)
  ) came
  where part = 6
    and first_month >= $23::date
  group by part, bucket, first_month;

-- yearGroupsSQL (core/report/visitors.go): While days are still to be counted, the groups wait for them.
-- $1=tenant_id
prepare yearGroupsSQL as
  select k.as_of, least(k.high, 9223372036854775807)::bigint as high, coalesce(g.name, '') as name, coalesce(g.customers, 0) as customers,
    least(coalesce(g.spend, 0), 9223372036854775807)::bigint as spend_cents
  from loyalty.year_counted k
  join loyalty.days_counted d on d.tenant_id = $1 and d.zone <> '' and k.as_of = (d.ends_at at time zone split_part(d.zone, ' ', 1))::date - 1
  left join loyalty.year_group g on g.tenant_id = $1
  where k.tenant_id = $1;
