-- The statements of core/daily, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/daily.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- beginSQL (core/daily/count.go): Of no day yet.
-- $1=tenant_id
prepare beginSQL as
  insert into loyalty.days_counted (tenant_id, zone, first_day, last_day, first_id, next_id, ends_at)
  values ($1, '', '2000-01-02', '2000-01-01', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', '2000-01-01')
  on conflict do nothing;

-- lockSQL (core/daily/count.go): Processes that count the same business take turns.
-- $1=tenant_id
prepare lockSQL as
  select zone, nullif(first_day, '-infinity') as first_day, last_day, ends_at
  from loyalty.days_counted
  where tenant_id = $1
  for no key update;

-- settledSQL (core/daily/count.go), for CountNext: CountNext counts a day: first those that are over, then those that
-- are marked, then today, then those of the past, the latest first.
prepare settledSQL as
  select loyalty.settle_changes() as settled;

-- earlierSQL (core/daily/count.go): The last record before a day, of which a day without records has none.
-- $1=tenant_id $2=first_id $3=starts
prepare earlierSQL as
  select greatest(
    (select created_at from loyalty.transaction where tenant_id = $1 and id < $2 order by id desc limit 1),
    (select created_at from loyalty.ledger_entry where tenant_id = $1 and id < $2 order by id desc limit 1),
    (select created_at from loyalty.redemption where tenant_id = $1 and id < $2 order by id desc limit 1),
    (select created_at from loyalty.voucher where tenant_id = $1 and id < $2 order by id desc limit 1),
    (select redeemed_at from loyalty.voucher where tenant_id = $1 and status = 'redeemed' and redeemed_at < $3 order by redeemed_at desc limit 1),
    (select created_at from loyalty.customer where tenant_id = $1 and created_at < $3 order by created_at desc limit 1)) as earlier;

-- markedSQL (core/daily/count.go), for CountNext: CountNext counts a day: first those that are over, then those that are
-- marked, then today, then those of the past, the latest first.
-- $1=tenant_id
prepare markedSQL as
  select max(m.at) filter (where m.at < c.ends_at) as latest, count(*) > 0 as any
  from loyalty.days_counted c
  join loyalty.day_mark m on m.tenant_id = $1
  where c.tenant_id = $1;

-- firstSaleSQL (core/daily/count.go), for CountNext: CountNext counts a day: first those that are over, then those that
-- are marked, then today, then those of the past, the latest first.
-- $1=tenant_id
prepare firstSaleSQL as
  select (select created_at from loyalty.transaction where tenant_id = $1 order by id limit 1) as at;

-- manySQL (core/daily/count.go), for today: today returns today up to the end of its last step that is over, if those
-- that aren't counted yet have many sales.
-- $1=many $2=tenant_id $3=first_id $4=next_id
prepare manySQL as
  select count(*) = $1
  from (
    select
    from loyalty.transaction
    where tenant_id = $2
      and id >= $3
      and id < $4
    limit $1
  ) sale;

-- unmarkSQL (core/daily/count.go): The statements after this one see what each transaction did whose marks are deleted.
-- $1=tenant_id $2=starts $3=ends
prepare unmarkSQL as
  delete from loyalty.day_mark
  where tenant_id = $1
    and at >= $2
    and at < $3;

-- reachedSQL (core/daily/count.go), for store: store queues that these days are counted.
-- $1=zone $2=first_day $3=last_day $4=first_id $5=next_id $6=ends_at $7=tenant_id
prepare reachedSQL as
  update loyalty.days_counted
  set zone = $1,
    first_day = coalesce($2::date, '-infinity'),
    last_day = $3,
    first_id = $4,
    next_id = $5,
    ends_at = $6
  where tenant_id = $7;

-- findDueSQL (core/daily/daily.go): What is to be counted: a day that is over, another zone's days, what is marked, days
-- of the past, or today, of a business with many sales.
-- $1=over $2=step $3=many
prepare findDueSQL as
  select n.id
  from loyalty.tenant n
  left join loyalty.days_counted c on c.tenant_id = n.id
  left join loyalty.tenant_usage u on u.tenant_id = n.id
  where n.status = 'active'
    and (c.tenant_id is null
      or c.zone <> n.timezone || ' by ms, sales before'
      or c.first_day > '-infinity'
      or c.ends_at < ($1::timestamptz at time zone n.timezone)::date::timestamp at time zone n.timezone
      or c.ends_at <= $2::timestamptz and u.sales_lately >= $3
      or n.id in (select loyalty.marked_days()))
  order by n.id;

-- keepSalesSQL (core/daily/keep.go)
-- $1=first_id $2=next_id $3=starts $4=ends $5=zone $6=tenant_id $7=day
prepare keepSalesSQL as
  with c as materialized (
    select c.*
    from (
      select $1::uuid as first_id, $2::uuid as next_id, $3::timestamptz as starts, $4::timestamptz as ends, $5::text as zone
      offset 0
    ) span
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
        where tenant_id = $6
          and id >= span.first_id
          and id < span.next_id
        group by 1, coalesce(location_id, 0), transaction_type_id
        union all
        select date_part('hour', t.created_at at time zone span.zone)::int, coalesce(t.location_id, 0), t.transaction_type_id, 0, 0, 0, 0, 0, 0, count(*), sum(r.amount_cents), coalesce(sum(r.points), 0)
        from loyalty.refund r
        join loyalty.transaction t on t.tenant_id = $6 and t.id = r.transaction_id and t.status = 'completed'
        where r.tenant_id = $6
          and r.transaction_id >= span.first_id
          and r.transaction_id < span.next_id
        group by 1, coalesce(t.location_id, 0), t.transaction_type_id
      ) s
      group by s.hour, s.location_id, s.transaction_type_id
    ) c
  ), types as (
    insert into loyalty.day_hour (tenant_id, day, hour, location_id, transaction_type_id, transactions, spend)
    select $6, $7::date, hour, location_id, transaction_type_id, transactions, spend
    from c
    where transactions > 0
    returning 1
  ), hours as (
    insert into loyalty.day_sales_hour (tenant_id, day, hour, location_id, transactions, spend, points, stamps, voided, reversed, refunds, refunded,
      points_refunded)
    select $6, $7::date, hour, location_id, sum(transactions), least(sum(spend), 9223372036854775807), least(sum(points), 9223372036854775807),
      least(sum(stamps), 9223372036854775807), sum(voided), least(sum(reversed), 9223372036854775807), sum(refunds),
      least(sum(refunded), 9223372036854775807), least(sum(points_refunded), 9223372036854775807)
    from c
    group by hour, location_id
    returning 1
  )
  insert into loyalty.day_sales (tenant_id, day, location_id, transactions, spend, points, stamps, voided, reversed, refunds, refunded, points_refunded)
  select $6, $7::date, location_id, sum(transactions), least(sum(spend), 9223372036854775807), least(sum(points), 9223372036854775807),
      least(sum(stamps), 9223372036854775807), sum(voided), least(sum(reversed), 9223372036854775807), sum(refunds),
      least(sum(refunded), 9223372036854775807), least(sum(points_refunded), 9223372036854775807)
    from c
  group by location_id
  returning 1;

-- keepVisitsSQL (core/daily/keep.go): Of a customer, the last four sales before the day say most: who comes again mostly
-- came lately, and at the same location.
-- $1=tenant_id $2=day_ids $3=from_day $4=day $5=starts $6=first_id $7=next_id $8=lately_id
prepare keepVisitsSQL as
  with sold as materialized (
    select location_id, ms, nth, prior, ever, prior_here,
      case
        when not more then prior_here = oldest_here
        when prior_here is not null and (oldest_here < prior_here) is not true then (
          select true
          from loyalty.transaction
          where tenant_id = $1
            and customer_id = d.customer_id
            and id < d.prior_here_id
            and status = 'completed'
            and location_id = d.location_id
          order by id desc
          limit 1
        ) is null
      end as second_here
    from (
      select d.*, ($2::uuid[])[prior_here - $3::date + 1] as prior_here_id
      from (
        select customer_id, location_id, ms, nth, prior, more, $3::date - 1 + width_bucket(ids[here[cardinality(here)]], $2::uuid[]) as oldest_here,
          case
            when not more then oldest
            when prior < date_trunc('month', $4::date::timestamp) or oldest = prior then (
              select $3::date - 1 + width_bucket(id, $2::uuid[])
              from loyalty.transaction
              where tenant_id = $1
                and customer_id = c.customer_id
                and status = 'completed'
              order by id
              limit 1
            )
          end as ever,
          case
            when here <> '{}' then $3::date - 1 + width_bucket(ids[here[1]], $2::uuid[])
            when more and location_id is not null then (
              select $3::date - 1 + width_bucket(id, $2::uuid[])
              from loyalty.transaction
              where tenant_id = $1
                and customer_id = c.customer_id
                and id < c.oldest_id
                and status = 'completed'
                and location_id = c.location_id
              order by id desc
              limit 1
            )
          end as prior_here
        from (
          select s.customer_id, s.location_id, s.ms, s.nth, b.ids, b.more, array_positions(b.places, s.location_id) as here,
            b.ids[cardinality(b.ids)] as oldest_id,
            $3::date - 1 + width_bucket(b.ids[1], $2::uuid[]) as prior, $3::date - 1 + width_bucket(b.ids[cardinality(b.ids)], $2::uuid[]) as oldest
          from (
            select customer_id, location_id, (date_part('epoch', min(created_at) - $5::timestamptz) * 1000)::int as ms,
              row_number() over (partition by customer_id order by min(created_at)) as nth
            from loyalty.transaction
            where tenant_id = $1
              and id >= $6
              and id < $7
              and status = 'completed'
            group by customer_id, location_id
            order by customer_id
          ) s
          cross join lateral (
            select array_agg(id) as ids, array_agg(location_id) as places, true as more
            from (
              select id, location_id
              from loyalty.transaction
              where tenant_id = $1
              and customer_id = s.customer_id
              and id < (select $6::uuid)
              and status = 'completed'
                and id >= (select $8::uuid)
              order by id desc
              limit 4
            ) sale
            having count(*) > 1
            union all
            select array_agg(id), array_agg(location_id), count(*) = 4
            from (
              select id, location_id
              from loyalty.transaction
              where tenant_id = $1
              and customer_id = s.customer_id
              and id < (select $6::uuid)
              and status = 'completed'
              order by id desc
              limit 4
            ) sale
            limit 1
          ) b
          offset 0
        ) c
        offset 0
      ) d
      offset 0
    ) d
  ), visits as materialized (
    select location_id, prior, customers, second, array(select unnest(came_at) order by 1) as came_at, array(select unnest(second_at) order by 1) as second_at
    from (
      select location_id, coalesce(prior, '-infinity') as prior, count(*) as customers, count(*) filter (where is_second) as second,
        array_agg(ms) as came_at, array_agg(ms) filter (where is_second) as second_at
      from (
        select 0 as location_id, ms, prior, prior = ever as is_second
        from sold
        where nth = 1
        union all
        select location_id, ms, prior_here, second_here
        from sold
        where location_id is not null
      ) came
      group by 1, 2
    ) v
  ), cohorts as (
    insert into loyalty.day_cohort (tenant_id, day, first_month, customers)
    select $1, $4::date, date_trunc('month', coalesce(ever, $4::date))::date, count(*)
    from sold
    where nth = 1
      and coalesce(prior, '-infinity') < date_trunc('month', $4::date::timestamp)
    group by 3
    returning 1
  )
  insert into loyalty.day_visit (tenant_id, day, location_id, prior, customers, second, came_at, second_at)
  select $1, $4::date, location_id, prior, customers, second, came_at, second_at
  from visits
  union all
  select $1, $4, location_id, 'infinity', sum(customers), sum(second), '{}', '{}'
  from visits
  group by location_id
  returning 1;

-- keepStaffSQL (core/daily/keep.go)
-- $1=tenant_id $2=day $3=first_id $4=next_id $5=starts $6=ends $7=zone
prepare keepStaffSQL as
  insert into loyalty.day_staff (tenant_id, day, location_id, actor_kind, actor_id, actor_name, transactions, spend, points, stamps, voided, redemptions)
  select $1, $2::date, c.*
  from (
    select $3::uuid as first_id, $4::uuid as next_id, $5::timestamptz as starts, $6::timestamptz as ends, $7::text as zone
    offset 0
  ) span
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
        where tenant_id = $1
          and id >= span.first_id
          and id < span.next_id
        group by coalesce(location_id, 0), actor_kind, actor_id
        union all
        select 0, actor_kind, actor_id, max(actor_name), 0, 0, 0, 0, 0, count(*)
        from loyalty.redemption
        where tenant_id = $1
          and id >= span.first_id
          and id < span.next_id
          and status <> 'voided'
        group by actor_kind, actor_id
      ) a
      group by a.location_id, a.actor_kind, a.actor_id
  ) c
  returning 1;

-- keepRulesSQL (core/daily/keep.go)
-- $1=tenant_id $2=day $3=first_id $4=next_id $5=starts $6=ends $7=zone
prepare keepRulesSQL as
  insert into loyalty.day_rule (tenant_id, day, location_id, unit, promotion_id, level_id, transactions, spend, issued, base, promotion, level,
    capped_sales, capped_off)
  select $1, $2::date, c.*
  from (
    select $3::uuid as first_id, $4::uuid as next_id, $5::timestamptz as starts, $6::timestamptz as ends, $7::text as zone
    offset 0
  ) span
  cross join lateral (
      select coalesce(location_id, 0) as location_id, rule_type as unit, coalesce(promotion_id, 0) as promotion_id, coalesce(level_id, 0) as level_id,
        count(*) as transactions, least(sum(spend_amount_cents), 9223372036854775807)::bigint as spend, least(sum(award), 9223372036854775807)::bigint as issued, least(sum(base), 9223372036854775807)::bigint as base, least(sum(promotion), 9223372036854775807)::bigint as promotion,
        least(sum(award - base - promotion), 9223372036854775807)::bigint as level, count(*) filter (where capped) as capped_sales,
        least(coalesce(sum(coalesce(base_award, award)::numeric + coalesce(promotion_award, 0) + coalesce(level_award, 0) - award) filter (where capped), 0), 9223372036854775807)::bigint as capped_off
      from loyalty.transaction
      cross join lateral (select coalesce(points_awarded, stamps_awarded) as award) a
      cross join lateral (select least(coalesce(base_award, award), award) as base) b
      cross join lateral (select least(coalesce(promotion_award, 0), award - base) as promotion) p
      where tenant_id = $1
        and id >= span.first_id
        and id < span.next_id
        and status = 'completed'
      group by coalesce(location_id, 0), rule_type, coalesce(promotion_id, 0), coalesce(level_id, 0)
  ) c
  returning 1;

-- keepRewardsSQL (core/daily/keep.go)
-- $1=tenant_id $2=day $3=first_id $4=next_id $5=starts $6=ends $7=zone
prepare keepRewardsSQL as
  insert into loyalty.day_reward (tenant_id, day, reward_id, by_voucher, redemptions, points, stamps, voided)
  select $1, $2::date, c.*
  from (
    select $3::uuid as first_id, $4::uuid as next_id, $5::timestamptz as starts, $6::timestamptz as ends, $7::text as zone
    offset 0
  ) span
  cross join lateral (
      select reward_id, points_spent = 0 and stamps_spent = 0 as by_voucher,
        count(*) filter (where status <> 'voided') as redemptions,
        least(coalesce(sum(points_spent) filter (where status <> 'voided'), 0), 9223372036854775807)::bigint as points,
        least(coalesce(sum(stamps_spent) filter (where status <> 'voided'), 0), 9223372036854775807)::bigint as stamps,
        count(*) filter (where status = 'voided') as voided
      from loyalty.redemption
      where tenant_id = $1
        and id >= span.first_id
        and id < span.next_id
      group by reward_id, points_spent = 0 and stamps_spent = 0
  ) c
  returning 1;

-- keepCouponsSQL (core/daily/keep.go)
-- $1=tenant_id $2=day $3=first_id $4=next_id $5=starts $6=ends $7=zone
prepare keepCouponsSQL as
  insert into loyalty.day_coupon (tenant_id, day, coupon_id, sent, redeemed, transactions, spend, discount, granted, unpriced, transactions_once,
    spend_once, again, again_spend, before_spend, again_once, again_spend_once, before_spend_once)
  select $1, $2::date, c.*
  from (
    select $3::uuid as first_id, $4::uuid as next_id, $5::timestamptz as starts, $6::timestamptz as ends, $7::text as zone
    offset 0
  ) span
  cross join lateral (
      with recursive used as (
        select v.coupon_id, v.transaction_id as sale_id, t.customer_id, t.spend_amount_cents as spend, t.discount_cents as discount, k.benefit_type, k.benefit_value,
          v.expires_at, v.id, first_value(v.coupon_id) over (partition by v.transaction_id order by v.coupon_id) = v.coupon_id as first
        from loyalty.voucher v
        join loyalty.transaction t on t.tenant_id = $1 and t.id = v.transaction_id and t.status = 'completed'
        join loyalty.coupon k on k.tenant_id = $1 and k.id = v.coupon_id
        where v.tenant_id = $1
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
            where tenant_id = $1
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
        where tenant_id = $1
          and id >= span.first_id
          and id < span.next_id
        group by coupon_id
        union all
        select u.coupon_id, 0, count(*), 0, 0, 0, count(r.id), count(*) filter (where k.benefit_type in ('percent', 'amount') and not exists (
            select
            from loyalty.checkout_item
            where tenant_id = $1
              and checkout_id = u.transaction_id
              and voucher_id = u.id
          )), 0, 0, 0, 0, 0, 0, 0, 0
        from loyalty.voucher u
        join loyalty.coupon k on k.tenant_id = $1 and k.id = u.coupon_id
        left join loyalty.redemption r on r.tenant_id = $1 and r.id = u.redemption_id and r.status <> 'voided'
        where u.tenant_id = $1
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
          where tenant_id = $1
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
  ) c
  returning 1;

-- keepFlowsSQL (core/daily/keep.go)
-- $1=tenant_id $2=day $3=first_id $4=next_id $5=starts $6=ends $7=zone
prepare keepFlowsSQL as
  insert into loyalty.day_flow (tenant_id, day, unit, kind, amount, below)
  select $1, $2::date, c.*
  from (
    select $3::uuid as first_id, $4::uuid as next_id, $5::timestamptz as starts, $6::timestamptz as ends, $7::text as zone
    offset 0
  ) span
  cross join lateral (
      select unit, kind, sum(amount) as amount,
        coalesce(sum(least(balance_after, 0) - least(balance_after - amount::numeric, 0)) filter (where balance_after < 0 or balance_after < amount), 0) as below
      from loyalty.ledger_entry
      where tenant_id = $1
        and id >= span.first_id
        and id < span.next_id
      group by unit, kind
  ) c
  returning 1;

-- keepMonthsSQL (core/daily/keep.go): A month is kept when each day of it is counted: from @first_day to the one before
-- @next_day.
-- $1=tenant_id $2=day $3=up_to $4=first_day $5=next_day
prepare keepMonthsSQL as
  insert into loyalty.month_flow (tenant_id, month, unit, kind, amount, below)
  select $1, m.month, f.unit, f.kind, sum(f.amount), sum(f.below)
  from (
    select month::date as month, (month + interval '1 month')::date as next
    from generate_series(date_trunc('month', $2::date::timestamp), $3::date, interval '1 month') month
    offset 0
  ) m
  join loyalty.day_flow f on f.tenant_id = $1 and f.day >= m.month and f.day < m.next
  where m.month >= coalesce($4::date, '-infinity')
    and m.next <= $5::date
  group by m.month, f.unit, f.kind
  on conflict do nothing
  returning 1;

-- keepLevelChangesSQL (core/daily/keep.go)
-- $1=tenant_id $2=day $3=first_id $4=next_id $5=starts $6=ends $7=zone
prepare keepLevelChangesSQL as
  insert into loyalty.day_level (tenant_id, day, to_level, reason, changes)
  select $1, $2::date, c.*
  from (
    select $3::uuid as first_id, $4::uuid as next_id, $5::timestamptz as starts, $6::timestamptz as ends, $7::text as zone
    offset 0
  ) span
  cross join lateral (
      select coalesce(to_level, 0) as to_level, reason, count(*) as changes
      from loyalty.level_change
      where tenant_id = $1
        and id >= span.first_id
        and id < span.next_id
      group by coalesce(to_level, 0), reason
  ) c
  returning 1;

-- keepJoinedSQL (core/daily/keep.go)
-- $1=tenant_id $2=day $3=first_id $4=next_id $5=starts $6=ends $7=zone
prepare keepJoinedSQL as
  insert into loyalty.day_joined (tenant_id, day, customers)
  select $1, $2::date, c.*
  from (
    select $3::uuid as first_id, $4::uuid as next_id, $5::timestamptz as starts, $6::timestamptz as ends, $7::text as zone
    offset 0
  ) span
  cross join lateral (
      select count(*) as customers
      from loyalty.customer
      where tenant_id = $1
        and created_at >= span.starts
        and created_at < span.ends
        and merged_into is null
        and imported_at is null
  ) c
  where c.customers > 0
  returning 1;

-- dropSQL (core/daily/keep.go): Figures of days are dropped before they are counted anew.
-- $1=tenant_id $2=first $3=last
prepare dropSQL as
  with sales as (
    delete from loyalty.day_sales
    where tenant_id = $1
      and day between $2 and $3
  ), sales_hours as (
    delete from loyalty.day_sales_hour
    where tenant_id = $1
      and day between $2 and $3
  ), hours as (
    delete from loyalty.day_hour
    where tenant_id = $1
      and day between $2 and $3
  ), visits as (
    delete from loyalty.day_visit
    where tenant_id = $1
      and day between $2 and $3
  ), cohorts as (
    delete from loyalty.day_cohort
    where tenant_id = $1
      and day between $2 and $3
  ), staff as (
    delete from loyalty.day_staff
    where tenant_id = $1
      and day between $2 and $3
  ), rules as (
    delete from loyalty.day_rule
    where tenant_id = $1
      and day between $2 and $3
  ), rewards as (
    delete from loyalty.day_reward
    where tenant_id = $1
      and day between $2 and $3
  ), coupons as (
    delete from loyalty.day_coupon
    where tenant_id = $1
      and day between $2 and $3
  ), flows as (
    delete from loyalty.day_flow
    where tenant_id = $1
      and day between $2 and $3
  ), months as (
    delete from loyalty.month_flow
    where tenant_id = $1
      and month between date_trunc('month', $2::date::timestamp)::date and $3
  ), levels as (
    delete from loyalty.day_level
    where tenant_id = $1
      and day between $2 and $3
  ), joined as (
    delete from loyalty.day_joined
    where tenant_id = $1
      and day between $2 and $3
  )
  select;

-- markSQL (core/daily/mark.go), for Mark: Mark queues that the day of a record is counted anew, because the record was
-- changed.
-- $1=tenant_id $2=at $3=id
prepare markSQL as
  insert into loyalty.day_mark (tenant_id, at, id, visits)
  values ($1, $2, $3, false);

-- markVoidSQL (core/daily/mark.go): Who came on a day follows from the sales before it, so the customer's next sale is
-- marked, too, and the next one at the same location.
-- $1=tenant_id $2=id $3=mark
prepare markVoidSQL as
  with voided as (
    select id, customer_id, location_id, created_at
    from loyalty.transaction
    where tenant_id = $1
      and id = $2
  )
  insert into loyalty.day_mark (tenant_id, at, id, visits)
  select $1, x.at, $3, true
  from (
    select created_at as at
    from voided
    union
    select n.created_at
    from voided s
    cross join lateral (
      (
        select created_at
        from loyalty.transaction
        where tenant_id = $1
          and customer_id = s.customer_id
          and id > s.id
          and status = 'completed'
        order by id
        limit 1
      ) union all (
        select created_at
        from loyalty.transaction
        where tenant_id = $1
          and customer_id = s.customer_id
          and id > s.id
          and status = 'completed'
          and location_id = s.location_id
        order by id
        limit 1
      ) union all (
        select t.created_at
        from loyalty.transaction t
        where t.tenant_id = $1
          and t.customer_id = s.customer_id
          and t.id > s.id
          and t.status = 'completed'
          and not exists (
            select
            from loyalty.transaction
            where tenant_id = $1
              and customer_id = s.customer_id
              and id < s.id
              and status = 'completed'
          )
      ) union all (
        select t.created_at
        from loyalty.transaction t
        where t.tenant_id = $1
          and t.customer_id = s.customer_id
          and t.id > s.id
          and t.status = 'completed'
          and t.location_id = s.location_id
          and not exists (
            select
            from loyalty.transaction
            where tenant_id = $1
              and customer_id = s.customer_id
              and id < s.id
              and status = 'completed'
              and location_id = s.location_id
          )
      )
    ) n
  ) x
  where x.at is not null
  returning 1;

-- markMoveSQL (core/daily/mark.go): Who came on a day follows from the sales before it, so the customer's next sale is
-- marked, too, and the next one at the same location.
-- $1=kept $2=tenant_id $3=merged $4=mark
prepare markMoveSQL as
  with moved as (
    select id, $1::uuid as customer_id, location_id, created_at
    from loyalty.transaction
    where tenant_id = $2
      and customer_id = $3
      and status = 'completed'
  )
  insert into loyalty.day_mark (tenant_id, at, id, visits)
  select $2, x.at, $4, true
  from (
    select created_at as at
    from moved
    union
    select created_at
    from loyalty.customer
    where tenant_id = $2
      and id = $3
    union
    select n.created_at
    from moved s
    cross join lateral (
      (
        select created_at
        from loyalty.transaction
        where tenant_id = $2
          and customer_id = s.customer_id
          and id > s.id
          and status = 'completed'
        order by id
        limit 1
      ) union all (
        select created_at
        from loyalty.transaction
        where tenant_id = $2
          and customer_id = s.customer_id
          and id > s.id
          and status = 'completed'
          and location_id = s.location_id
        order by id
        limit 1
      ) union all (
        select t.created_at
        from loyalty.transaction t
        where t.tenant_id = $2
          and t.customer_id = s.customer_id
          and t.id > s.id
          and t.status = 'completed'
          and not exists (
            select
            from loyalty.transaction
            where tenant_id = $2
              and customer_id = s.customer_id
              and id < s.id
              and status = 'completed'
          )
      ) union all (
        select t.created_at
        from loyalty.transaction t
        where t.tenant_id = $2
          and t.customer_id = s.customer_id
          and t.id > s.id
          and t.status = 'completed'
          and t.location_id = s.location_id
          and not exists (
            select
            from loyalty.transaction
            where tenant_id = $2
              and customer_id = s.customer_id
              and id < s.id
              and status = 'completed'
              and location_id = s.location_id
          )
      )
    ) n
  ) x
  returning 1;

-- anewSQL (core/daily/mark.go), for CountAnew: CountAnew queues that all days of a business are counted anew: for what
-- writes records of the past.
-- $1=tenant_id
prepare anewSQL as
  insert into loyalty.days_counted (tenant_id, zone, first_day, last_day, first_id, next_id, ends_at)
  values ($1, '', '2000-01-02', '2000-01-01', '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', '2000-01-01')
  on conflict (tenant_id) do update
  set zone = '';

-- markVouchersSQL (core/daily/mark.go): A voucher counts on its own day, and on its sale's what it was used with.
-- $1=tenant_id $2=mark $3=ids
prepare markVouchersSQL as
  insert into loyalty.day_mark (tenant_id, at, id, visits)
  select $1, x.at, $2, false
  from (
    select redeemed_at as at
    from loyalty.voucher
    where tenant_id = $1
      and id = any ($3::uuid[])
      and redeemed_at is not null
    union
    select t.created_at
    from loyalty.voucher v
    join loyalty.transaction t on t.tenant_id = $1 and t.id = v.transaction_id
    where v.tenant_id = $1
      and v.id = any ($3::uuid[])
  ) x
  returning 1;

-- markSaleSQL (core/daily/mark.go): A voucher counts on its own day, and on its sale's what it was used with.
-- $1=tenant_id $2=mark $3=id
prepare markSaleSQL as
  insert into loyalty.day_mark (tenant_id, at, id, visits)
  select $1, created_at, $2, false
  from loyalty.transaction
  where tenant_id = $1
    and id = $3
  returning 1;

-- yearSQL (core/daily/year.go), for CountNext: CountNext counts a day: first those that are over, then those that are
-- marked, then today, then those of the past, the latest first.
-- $1=tenant_id
prepare yearSQL as
  select as_of
  from loyalty.year_counted
  where tenant_id = $1;

-- addYearSQL (core/daily/year.go): The sales of some days are added to the years of their customers.
-- $1=tenant_id $2=zone $3=first_id $4=next_id
prepare addYearSQL as
  insert into loyalty.customer_year (tenant_id, customer_id, last_day, visits, spend)
  select $1, customer_id, max(day), count(*), sum(spend)
  from (
    select customer_id, (created_at at time zone $2)::date as day, sum(spend_amount_cents) as spend
    from loyalty.transaction
    where tenant_id = $1
      and id >= $3
      and id < $4
      and status = 'completed'
    group by 1, 2
  ) visit
  group by customer_id
  on conflict (tenant_id, customer_id) do update
  set last_day = excluded.last_day,
    visits = customer_year.visits + excluded.visits,
    spend = customer_year.spend + excluded.spend;

-- leaveYearSQL (core/daily/year.go): The sales of a day leave the years of their customers.
-- $1=tenant_id $2=first_id $3=next_id
prepare leaveYearSQL as
  with leaving as materialized (
    select customer_id, sum(spend_amount_cents) as spend
    from loyalty.transaction
    where tenant_id = $1
      and id >= $2
      and id < $3
      and status = 'completed'
    group by customer_id
  ), less as (
    update loyalty.customer_year y
    set visits = y.visits - 1,
      spend = y.spend - l.spend
    from leaving l
    where y.tenant_id = $1
      and y.customer_id = l.customer_id
      and y.visits > 1
  )
  delete from loyalty.customer_year y
  using leaving l
  where y.tenant_id = $1
    and y.customer_id = l.customer_id
    and y.visits <= 1;

-- recountYearSQL (core/daily/year.go): Of customers whose sales have the marks that are deleted, the year is counted
-- anew, whatever was added and left since.
-- $1=tenant_id $2=starts $3=ends $4=first_id $5=next_id $6=zone $7=year_id $8=year_next_id
prepare recountYearSQL as
  with unmarked as (
    delete from loyalty.day_mark
    where tenant_id = $1
    and at >= $2
    and at < $3
    returning at
  ), marked as materialized (
    select distinct customer_id as id
    from loyalty.transaction
    where tenant_id = $1
      and id >= $4
      and id < $5
      and created_at in (select at from unmarked)
  ), year as materialized (
    select marked.id, (max(t.created_at) at time zone $6)::date as last_day,
      count(distinct (t.created_at at time zone $6)::date) as visits, sum(t.spend_amount_cents) as spend
    from marked
    join loyalty.transaction t on t.tenant_id = $1 and t.customer_id = marked.id and t.id >= $7 and t.id < $8
    where t.status = 'completed'
    group by marked.id
  ), gone as (
    delete from loyalty.customer_year
    where tenant_id = $1
      and customer_id in (
        select id
        from marked
        union all
        select c.id
        from marked
        join loyalty.customer c on c.tenant_id = $1 and c.merged_into = marked.id
      )
      and customer_id not in (select id from year)
  )
  insert into loyalty.customer_year (tenant_id, customer_id, last_day, visits, spend)
  select $1, id, last_day, visits, spend
  from year
  on conflict (tenant_id, customer_id) do update
  set last_day = excluded.last_day,
    visits = excluded.visits,
    spend = excluded.spend
  returning 1;

-- countedYearSQL (core/daily/year.go), for store: store queues that the years are counted up to the day.
-- $1=tenant_id $2=as_of
prepare countedYearSQL as
  insert into loyalty.year_counted (tenant_id, as_of, high)
  values ($1, $2, 0)
  on conflict (tenant_id) do update
  set as_of = excluded.as_of;

-- dropYearSQL (core/daily/year.go), for CountNext: CountNext counts a day: first those that are over, then those that
-- are marked, then today, then those of the past, the latest first.
-- $1=tenant_id
prepare dropYearSQL as
  with customers as (
    delete from loyalty.customer_year
    where tenant_id = $1
  ), groups as (
    delete from loyalty.year_group
    where tenant_id = $1
  )
  delete from loyalty.year_counted
  where tenant_id = $1;

-- highSQL (core/daily/year.go), for group: group queues that the groups are counted.
-- $1=tenant_id
prepare highSQL as
  update loyalty.year_counted
  set high = (
      select coalesce(ceil(2 * sum(spend) / count(*)), 0)
      from loyalty.customer_year
      where tenant_id = $1
    )
  where tenant_id = $1;

-- dropGroupsSQL (core/daily/year.go), for group: group queues that the groups are counted.
-- $1=tenant_id
prepare dropGroupsSQL as
  delete from loyalty.year_group
  where tenant_id = $1;

-- groupsSQL (core/daily/year.go), for group: group queues that the groups are counted.
-- $1=tenant_id
prepare groupsSQL as
  insert into loyalty.year_group (tenant_id, name, customers, spend)
  select $1, case
      when y.last_day > k.as_of - 60 then case
        when y.visits >= 6 and y.spend >= k.high then 'best'
        when y.visits >= 6 then 'regulars'
        when y.visits >= 2 then 'promising'
        else 'new'
      end
      when y.visits >= 6 or y.spend >= k.high then 'at_risk'
      else 'quiet'
    end, count(*), sum(y.spend)
  from loyalty.year_counted k
  join loyalty.customer_year y on y.tenant_id = $1
  where k.tenant_id = $1
  group by 2
  returning 1;
