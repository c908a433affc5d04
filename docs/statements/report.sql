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

-- locationsSQL (core/report/breakdown.go), for Locations: Locations returns the sales of each location, the highest
-- spend first.
-- $1=first_ids $2=next_ids $3=tenant_id
prepare locationsSQL as
  with sold as (
    select span.current, sale.*
    from unnest(array[true, false], $1::uuid[], $2::uuid[]) as span (current, first_id, next_id)
    cross join lateral (
      select location_id, count(*) as transactions, sum(spend_amount_cents) as spend, sum(points_awarded) as points, sum(stamps_awarded) as stamps
      from loyalty.transaction
      where tenant_id = $3
        and id >= span.first_id
        and id < span.next_id
        and status = 'completed'
      group by location_id
    ) sale
  )
  select grouping(s.location_id) = 1 as whole, s.location_id as id, l.name,
    coalesce(sum(s.transactions) filter (where s.current), 0)::bigint as transactions_count,
    least(coalesce(sum(s.spend) filter (where s.current), 0), 9223372036854775807)::bigint as spend_total_cents,
    least(coalesce(sum(s.points) filter (where s.current), 0), 9223372036854775807)::bigint as points_awarded,
    least(coalesce(sum(s.stamps) filter (where s.current), 0), 9223372036854775807)::bigint as stamps_awarded,
    least(coalesce(sum(s.spend) filter (where not s.current), 0), 9223372036854775807)::bigint as previous_spend_cents
  from sold s
  left join loyalty.location l on l.tenant_id = $3 and l.id = s.location_id
  group by grouping sets ((), (s.location_id, l.name))
  order by whole desc, spend_total_cents desc, s.location_id nulls last;

-- staffSQL (core/report/breakdown.go), for Staff: Staff returns what each person and token recorded, the highest spend
-- first.
-- $1=first_ids $2=next_ids $3=tenant_id
prepare staffSQL as
  with acted as materialized (
    select span.current, sale.*, 0::bigint as redemptions
    from unnest(array[true, false], $1::uuid[], $2::uuid[]) as span (current, first_id, next_id)
    cross join lateral (
      select actor_kind, actor_id, max(actor_name) as actor_name,
        count(*) filter (where status = 'completed') as transactions,
        sum(spend_amount_cents) filter (where status = 'completed') as spend,
        sum(points_awarded) filter (where status = 'completed') as points,
        sum(stamps_awarded) filter (where status = 'completed') as stamps,
        count(*) filter (where status = 'voided') as voided
      from loyalty.transaction
      where tenant_id = $3
        and id >= span.first_id
        and id < span.next_id
      group by actor_kind, actor_id
    ) sale
    union all
    select span.current, used.actor_kind, used.actor_id, used.actor_name, 0, 0, 0, 0, 0, used.redemptions
    from unnest(array[true, false], $1::uuid[], $2::uuid[]) as span (current, first_id, next_id)
    cross join lateral (
      select actor_kind, actor_id, max(actor_name) as actor_name, count(*) as redemptions
      from loyalty.redemption
      where tenant_id = $3
        and id >= span.first_id
        and id < span.next_id
        and status <> 'voided'
      group by actor_kind, actor_id
    ) used
  )
  select grouping(a.actor_id) = 1 as whole, coalesce(a.actor_kind, '') as actor_kind, coalesce(a.actor_id, '') as actor_id,
    case when grouping(a.actor_id) = 1 then '' else coalesce(max(p.name), max(a.actor_name)) end as name,
    coalesce(sum(a.transactions) filter (where a.current), 0)::bigint as transactions_count,
    least(coalesce(sum(a.spend) filter (where a.current), 0), 9223372036854775807)::bigint as spend_total_cents,
    least(coalesce(sum(a.points) filter (where a.current), 0), 9223372036854775807)::bigint as points_awarded,
    least(coalesce(sum(a.stamps) filter (where a.current), 0), 9223372036854775807)::bigint as stamps_awarded,
    coalesce(sum(a.voided) filter (where a.current), 0)::bigint as voided_count,
    coalesce(sum(a.redemptions) filter (where a.current), 0)::bigint as redemptions_count,
    least(coalesce(sum(a.spend) filter (where not a.current), 0), 9223372036854775807)::bigint as previous_spend_cents
  from acted a
  left join loyalty.staff p on a.actor_kind = 'staff' and p.tenant_id = $3 and p.id::text = a.actor_id
  group by grouping sets ((), (a.actor_kind, a.actor_id))
  order by whole desc, spend_total_cents desc, transactions_count desc, name, a.actor_id;

-- staffAtSQL (core/report/breakdown.go), for Staff: Staff returns what each person and token recorded, the highest spend
-- first.
-- $1=first_ids $2=next_ids $3=tenant_id $4=location
prepare staffAtSQL as
  with acted as materialized (
    select span.current, sale.*, 0::bigint as redemptions
    from unnest(array[true, false], $1::uuid[], $2::uuid[]) as span (current, first_id, next_id)
    cross join lateral (
      select actor_kind, actor_id, max(actor_name) as actor_name,
        count(*) filter (where status = 'completed') as transactions,
        sum(spend_amount_cents) filter (where status = 'completed') as spend,
        sum(points_awarded) filter (where status = 'completed') as points,
        sum(stamps_awarded) filter (where status = 'completed') as stamps,
        count(*) filter (where status = 'voided') as voided
      from loyalty.transaction
      where tenant_id = $3
        and id >= span.first_id
        and id < span.next_id
        and location_id = $4
      group by actor_kind, actor_id
    ) sale
  )
  select grouping(a.actor_id) = 1 as whole, coalesce(a.actor_kind, '') as actor_kind, coalesce(a.actor_id, '') as actor_id,
    case when grouping(a.actor_id) = 1 then '' else coalesce(max(p.name), max(a.actor_name)) end as name,
    coalesce(sum(a.transactions) filter (where a.current), 0)::bigint as transactions_count,
    least(coalesce(sum(a.spend) filter (where a.current), 0), 9223372036854775807)::bigint as spend_total_cents,
    least(coalesce(sum(a.points) filter (where a.current), 0), 9223372036854775807)::bigint as points_awarded,
    least(coalesce(sum(a.stamps) filter (where a.current), 0), 9223372036854775807)::bigint as stamps_awarded,
    coalesce(sum(a.voided) filter (where a.current), 0)::bigint as voided_count,
    coalesce(sum(a.redemptions) filter (where a.current), 0)::bigint as redemptions_count,
    least(coalesce(sum(a.spend) filter (where not a.current), 0), 9223372036854775807)::bigint as previous_spend_cents
  from acted a
  left join loyalty.staff p on a.actor_kind = 'staff' and p.tenant_id = $3 and p.id::text = a.actor_id
  group by grouping sets ((), (a.actor_kind, a.actor_id))
  order by whole desc, spend_total_cents desc, transactions_count desc, name, a.actor_id;

-- rewardsSQL (core/report/breakdown.go), for Rewards: Rewards returns the redemptions of each reward, the most redeemed
-- first.
-- $1=first_ids $2=next_ids $3=tenant_id
prepare rewardsSQL as
  with used as (
    select span.current, redemption.*
    from unnest(array[true, false], $1::uuid[], $2::uuid[]) as span (current, first_id, next_id)
    cross join lateral (
      select reward_id, count(*) filter (where status <> 'voided') as redemptions,
        sum(points_spent) filter (where status <> 'voided') as points,
        sum(stamps_spent) filter (where status <> 'voided') as stamps,
        count(*) filter (where status = 'voided') as voided
      from loyalty.redemption
      where tenant_id = $3
        and id >= span.first_id
        and id < span.next_id
      group by reward_id
    ) redemption
  )
  select grouping(u.reward_id) = 1 as whole, coalesce(u.reward_id, '00000000-0000-0000-0000-000000000000') as id, case when grouping(u.reward_id) = 1 then '' else max(r.name) end as name,
    coalesce(sum(u.redemptions) filter (where u.current), 0)::bigint as redemptions_count,
    least(coalesce(sum(u.points) filter (where u.current), 0), 9223372036854775807)::bigint as points_spent,
    least(coalesce(sum(u.stamps) filter (where u.current), 0), 9223372036854775807)::bigint as stamps_spent,
    coalesce(sum(u.voided) filter (where u.current), 0)::bigint as voided_count,
    coalesce(sum(u.redemptions) filter (where not u.current), 0)::bigint as previous_redemptions_count
  from used u
  join loyalty.reward r on r.tenant_id = $3 and r.id = u.reward_id
  group by grouping sets ((), (u.reward_id))
  order by whole desc, redemptions_count desc, name, u.reward_id;

-- compareSQL (core/report/compare.go), for Compare: Compare returns the figures of a selection, in all and for each step
-- of time.
-- $1=tenant_id $2=first_id $3=next_id $4=before_id $5=until_id $6=parts $7=periods $8=buckets $9=starts $10=ends
-- $11=first_ids $12=next_ids
prepare compareSQL as
  select span.part, span.period, span.bucket,
    sum(sold.transactions)::bigint as transactions_count,
    sum(voided.transactions)::bigint as voided_count,
    least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents,
    least(coalesce(sum(sold.points), 0), 9223372036854775807)::bigint as points_awarded,
    least(coalesce(sum(sold.stamps), 0), 9223372036854775807)::bigint as stamps_awarded,
    least(coalesce(sum(voided.points), 0), 9223372036854775807)::bigint as points_reversed,
    least(coalesce(sum(redeemed.points), 0), 9223372036854775807)::bigint as points_redeemed,
    sum(redeemed.redemptions)::bigint as redemptions_count,
    sum(used.vouchers)::bigint as vouchers_redeemed,
    sum(joined.customers)::bigint as new_customers,
    least(coalesce(sum(ended.expired), 0), 9223372036854775807)::bigint as points_expired,
    least(coalesce(sum(ended.returned), 0), 9223372036854775807)::bigint as points_expiry_returned,
    least(coalesce(sum(refunded.points), 0), 9223372036854775807)::bigint as points_refunded,
    sum(refunded.refunds)::bigint as refunds_count,
    least(coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as refunded_total_cents,
    least(coalesce(sum(sold.spend), 0) - coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as net_spend_total_cents,
    (
      select count(distinct customer_id)
      from loyalty.transaction
      where tenant_id = $1
        and id >= $2
        and id < $3
        and status = 'completed'
    ) as active_customers,
    (
      select count(distinct customer_id)
      from loyalty.transaction
      where tenant_id = $1
        and id >= $4
        and id < $5
        and status = 'completed'
    ) as active_before
  from unnest($6::bigint[], $7::bigint[], $8::bigint[],
    $9::timestamptz[], $10::timestamptz[], $11::uuid[], $12::uuid[])
    as span (part, period, bucket, starts, ends, first_id, next_id)
  cross join lateral (
    select count(*) as transactions, sum(spend_amount_cents) as spend, sum(points_awarded) as points, sum(stamps_awarded) as stamps
    from loyalty.transaction
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and status = 'completed'
  ) sold
  cross join lateral (
    select count(*) as transactions, sum(points_awarded) as points
    from loyalty.transaction
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and status = 'voided'
  ) voided
  cross join lateral (
    select count(*) as redemptions, sum(points_spent) as points
    from loyalty.redemption
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and status <> 'voided'
  ) redeemed
  cross join lateral (
    select count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and redeemed_at >= span.starts
      and redeemed_at < span.ends
      and status = 'redeemed'
  ) used
  cross join lateral (
    select count(*) as customers
    from loyalty.customer
    where tenant_id = $1
      and created_at >= span.starts
      and created_at < span.ends
      and merged_into is null
      and imported_at is null
  ) joined
  cross join lateral (
    select -sum(amount) filter (where kind = 'expiry') as expired, sum(amount) filter (where kind = 'expiry_return') as returned
    from loyalty.ledger_entry
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and kind in ('expiry', 'expiry_return')
      and unit = 'points'
  ) ended
  cross join lateral (
    select count(*) as refunds, sum(r.amount_cents) as spend, sum(r.points) as points
    from loyalty.refund r
    join loyalty.transaction t on t.tenant_id = r.tenant_id and t.id = r.transaction_id
    where r.tenant_id = $1
      and r.transaction_id >= span.first_id
      and r.transaction_id < span.next_id
      and t.status = 'completed'
  ) refunded
  group by grouping sets ((span.part), (span.period, span.bucket));

-- compareLongSQL (core/report/compare.go), for Compare: Compare returns the figures of a selection, in all and for each
-- step of time.
-- $1=tenant_id $2=first_id $3=next_id $4=before_id $5=until_id $6=parts $7=periods $8=buckets $9=starts $10=ends
-- $11=first_ids $12=next_ids
prepare compareLongSQL as
  select span.part, span.period, span.bucket,
    sum(sold.transactions)::bigint as transactions_count,
    sum(voided.transactions)::bigint as voided_count,
    least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents,
    least(coalesce(sum(sold.points), 0), 9223372036854775807)::bigint as points_awarded,
    least(coalesce(sum(sold.stamps), 0), 9223372036854775807)::bigint as stamps_awarded,
    least(coalesce(sum(voided.points), 0), 9223372036854775807)::bigint as points_reversed,
    least(coalesce(sum(redeemed.points), 0), 9223372036854775807)::bigint as points_redeemed,
    sum(redeemed.redemptions)::bigint as redemptions_count,
    sum(used.vouchers)::bigint as vouchers_redeemed,
    sum(joined.customers)::bigint as new_customers,
    least(coalesce(sum(ended.expired), 0), 9223372036854775807)::bigint as points_expired,
    least(coalesce(sum(ended.returned), 0), 9223372036854775807)::bigint as points_expiry_returned,
    least(coalesce(sum(refunded.points), 0), 9223372036854775807)::bigint as points_refunded,
    sum(refunded.refunds)::bigint as refunds_count,
    least(coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as refunded_total_cents,
    least(coalesce(sum(sold.spend), 0) - coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as net_spend_total_cents,
    (
      select count(*)
      from loyalty.account a
      where a.tenant_id = $1
        and a.visits is distinct from 0
        and exists (
          select
          from loyalty.transaction t
          where t.tenant_id = $1
            and t.customer_id = a.customer_id
            and t.id >= $2
            and t.id < $3
            and t.status = 'completed'
        )
    ) as active_customers,
    (
      select count(*)
      from loyalty.account a
      where a.tenant_id = $1
        and a.visits is distinct from 0
        and exists (
          select
          from loyalty.transaction t
          where t.tenant_id = $1
            and t.customer_id = a.customer_id
            and t.id >= $4
            and t.id < $5
            and t.status = 'completed'
        )
    ) as active_before
  from unnest($6::bigint[], $7::bigint[], $8::bigint[],
    $9::timestamptz[], $10::timestamptz[], $11::uuid[], $12::uuid[])
    as span (part, period, bucket, starts, ends, first_id, next_id)
  cross join lateral (
    select count(*) as transactions, sum(spend_amount_cents) as spend, sum(points_awarded) as points, sum(stamps_awarded) as stamps
    from loyalty.transaction
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and status = 'completed'
  ) sold
  cross join lateral (
    select count(*) as transactions, sum(points_awarded) as points
    from loyalty.transaction
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and status = 'voided'
  ) voided
  cross join lateral (
    select count(*) as redemptions, sum(points_spent) as points
    from loyalty.redemption
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and status <> 'voided'
  ) redeemed
  cross join lateral (
    select count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and redeemed_at >= span.starts
      and redeemed_at < span.ends
      and status = 'redeemed'
  ) used
  cross join lateral (
    select count(*) as customers
    from loyalty.customer
    where tenant_id = $1
      and created_at >= span.starts
      and created_at < span.ends
      and merged_into is null
      and imported_at is null
  ) joined
  cross join lateral (
    select -sum(amount) filter (where kind = 'expiry') as expired, sum(amount) filter (where kind = 'expiry_return') as returned
    from loyalty.ledger_entry
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and kind in ('expiry', 'expiry_return')
      and unit = 'points'
  ) ended
  cross join lateral (
    select count(*) as refunds, sum(r.amount_cents) as spend, sum(r.points) as points
    from loyalty.refund r
    join loyalty.transaction t on t.tenant_id = r.tenant_id and t.id = r.transaction_id
    where r.tenant_id = $1
      and r.transaction_id >= span.first_id
      and r.transaction_id < span.next_id
      and t.status = 'completed'
  ) refunded
  group by grouping sets ((span.part), (span.period, span.bucket));

-- compareAtSQL (core/report/compare.go): The same for one location, from its own index of sales.
-- $1=tenant_id $2=location $3=first_id $4=next_id $5=before_id $6=until_id $7=parts $8=periods $9=buckets $10=first_ids
-- $11=next_ids
prepare compareAtSQL as
  select span.part, span.period, span.bucket,
    sum(sold.transactions)::bigint as transactions_count,
    sum(sold.voided)::bigint as voided_count,
    least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents,
    least(coalesce(sum(sold.points), 0), 9223372036854775807)::bigint as points_awarded,
    least(coalesce(sum(sold.stamps), 0), 9223372036854775807)::bigint as stamps_awarded,
    least(coalesce(sum(sold.reversed), 0), 9223372036854775807)::bigint as points_reversed,
    0::bigint as points_redeemed, 0::bigint as redemptions_count, 0::bigint as vouchers_redeemed, 0::bigint as new_customers,
    0::bigint as points_expired, 0::bigint as points_expiry_returned,
    least(coalesce(sum(refunded.points), 0), 9223372036854775807)::bigint as points_refunded,
    sum(refunded.refunds)::bigint as refunds_count,
    least(coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as refunded_total_cents,
    least(coalesce(sum(sold.spend), 0) - coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as net_spend_total_cents,
    (
      select count(distinct customer_id)
      from loyalty.transaction
      where tenant_id = $1
        and location_id = $2
        and id >= $3
        and id < $4
        and status = 'completed'
    ) as active_customers,
    (
      select count(distinct customer_id)
      from loyalty.transaction
      where tenant_id = $1
        and location_id = $2
        and id >= $5
        and id < $6
        and status = 'completed'
    ) as active_before
  from unnest($7::bigint[], $8::bigint[], $9::bigint[], $10::uuid[], $11::uuid[])
    as span (part, period, bucket, first_id, next_id)
  cross join lateral (
    select count(*) filter (where status = 'completed') as transactions,
      sum(spend_amount_cents) filter (where status = 'completed') as spend,
      sum(points_awarded) filter (where status = 'completed') as points,
      sum(stamps_awarded) filter (where status = 'completed') as stamps,
      count(*) filter (where status = 'voided') as voided,
      sum(points_awarded) filter (where status = 'voided') as reversed
    from loyalty.transaction
    where tenant_id = $1
      and location_id = $2
      and id >= span.first_id
      and id < span.next_id
  ) sold
  cross join lateral (
    select count(*) as refunds, sum(r.amount_cents) as spend, sum(r.points) as points
    from loyalty.refund r
    join loyalty.transaction t on t.tenant_id = r.tenant_id and t.id = r.transaction_id
    where r.tenant_id = $1
      and r.transaction_id >= span.first_id
      and r.transaction_id < span.next_id
      and t.status = 'completed'
      and t.location_id = $2
  ) refunded
  group by grouping sets ((span.part), (span.period, span.bucket));

-- couponsSQL (core/report/coupon.go), for Coupons: Coupons returns every coupon, newest first.
-- $1=now $2=tenant_id
prepare couponsSQL as
  select c.id, c.name, coalesce(v.sent, 0) as sent, coalesce(v.pending, 0) as pending,
    coalesce(v.redeemed, 0) as redeemed, coalesce(v.sent - v.pending - v.redeemed, 0) as expired
  from loyalty.coupon c
  left join (
    select coupon_id, count(*) as sent,
    count(*) filter (where status = 'pending' and (expires_at is null or expires_at > $1)) as pending,
    count(*) filter (where status = 'redeemed') as redeemed
    from loyalty.voucher
    where tenant_id = $2
    group by coupon_id
  ) v on v.coupon_id = c.id
  where c.tenant_id = $2
  order by c.created_at desc, c.id desc;

-- sentCouponsSQL (core/report/coupon.go): A voucher's date is in its ID, like a sale's.
-- $1=now $2=tenant_id $3=first_id $4=next_id
prepare sentCouponsSQL as
  select c.id, c.name, v.sent, v.pending, v.redeemed, v.sent - v.pending - v.redeemed as expired
  from (
    select coupon_id, count(*) as sent,
    count(*) filter (where status = 'pending' and (expires_at is null or expires_at > $1)) as pending,
    count(*) filter (where status = 'redeemed') as redeemed
    from loyalty.voucher
    where tenant_id = $2
    and id >= $3
    and id < $4
    group by coupon_id
  ) v
  join loyalty.coupon c on c.tenant_id = $2 and c.id = v.coupon_id
  order by c.created_at desc, c.id desc;

-- earnedSQL (core/report/earning.go), for Earning: Earning returns by which rules the sales of a selection earned.
-- $1=first_ids $2=next_ids $3=tenant_id
prepare earnedSQL as
  with sold as (
    select span.current, sale.*
    from unnest(array[true, false], $1::uuid[], $2::uuid[]) as span (current, first_id, next_id)
    cross join lateral (
      select rule_type as unit, promotion_id, level_id, count(*) as transactions, sum(spend_amount_cents) as spend,
        sum(award) as issued, sum(base) as base, sum(promotion) as promotion, sum(award - base - promotion) as level,
        count(*) filter (where capped) as capped_sales,
        sum(coalesce(base_award, award) + coalesce(promotion_award, 0) + coalesce(level_award, 0) - award) as capped_off
      from loyalty.transaction
      cross join lateral (select coalesce(points_awarded, stamps_awarded) as award) a
      cross join lateral (select least(coalesce(base_award, award), award) as base) b
      cross join lateral (select least(coalesce(promotion_award, 0), award - base) as promotion) p
      where tenant_id = $3
        and id >= span.first_id
        and id < span.next_id
        and status = 'completed'
      group by rule_type, promotion_id, level_id
    ) sale
  )
  select s.unit, k.kind, coalesce(s.promotion_id, s.level_id) as id,
    case k.kind
      when 'promotion' then (select name from loyalty.promotion where tenant_id = $3 and id = s.promotion_id)
      when 'level' then (select name from loyalty.level where tenant_id = $3 and id = s.level_id)
    end as name,
    s.transactions as transactions_count, s.spend as spend_total_cents, s.issued, s.base,
    case k.kind when 'promotion' then s.promotion when 'level' then s.level else 0 end as added, s.capped_sales, s.capped_off,
    s.issued_before as previous_issued, s.base_before as previous_base,
    case k.kind when 'promotion' then s.promotion_before when 'level' then s.level_before else 0 end as previous_added
  from (
    select unit, promotion_id, level_id, grouping(promotion_id) as any_promotion, grouping(level_id) as any_level,
      coalesce(sum(transactions) filter (where current), 0)::bigint as transactions,
      least(coalesce(sum(spend) filter (where current), 0), 9223372036854775807)::bigint as spend,
      least(coalesce(sum(issued) filter (where current), 0), 9223372036854775807)::bigint as issued,
      least(coalesce(sum(base) filter (where current), 0), 9223372036854775807)::bigint as base,
      least(coalesce(sum(promotion) filter (where current), 0), 9223372036854775807)::bigint as promotion,
      least(coalesce(sum(level) filter (where current), 0), 9223372036854775807)::bigint as level,
      coalesce(sum(capped_sales) filter (where current), 0)::bigint as capped_sales,
      least(coalesce(sum(capped_off) filter (where current), 0), 9223372036854775807)::bigint as capped_off,
      least(coalesce(sum(issued) filter (where not current), 0), 9223372036854775807)::bigint as issued_before,
      least(coalesce(sum(base) filter (where not current), 0), 9223372036854775807)::bigint as base_before,
      least(coalesce(sum(promotion) filter (where not current), 0), 9223372036854775807)::bigint as promotion_before,
      least(coalesce(sum(level) filter (where not current), 0), 9223372036854775807)::bigint as level_before
    from sold
    group by grouping sets ((unit), (unit, promotion_id), (unit, level_id))
  ) s
  cross join lateral (
    select case
      when s.any_promotion = 1 and s.any_level = 1 then 'all'
      when s.promotion_id is not null then 'promotion'
      when s.level_id is not null then 'level'
    end as kind
  ) k
  where k.kind is not null
  order by s.unit, k.kind, id;

-- earnedAtSQL (core/report/earning.go), for Earning: Earning returns by which rules the sales of a selection earned.
-- $1=first_ids $2=next_ids $3=tenant_id $4=location
prepare earnedAtSQL as
  with sold as (
    select span.current, sale.*
    from unnest(array[true, false], $1::uuid[], $2::uuid[]) as span (current, first_id, next_id)
    cross join lateral (
      select rule_type as unit, promotion_id, level_id, count(*) as transactions, sum(spend_amount_cents) as spend,
        sum(award) as issued, sum(base) as base, sum(promotion) as promotion, sum(award - base - promotion) as level,
        count(*) filter (where capped) as capped_sales,
        sum(coalesce(base_award, award) + coalesce(promotion_award, 0) + coalesce(level_award, 0) - award) as capped_off
      from loyalty.transaction
      cross join lateral (select coalesce(points_awarded, stamps_awarded) as award) a
      cross join lateral (select least(coalesce(base_award, award), award) as base) b
      cross join lateral (select least(coalesce(promotion_award, 0), award - base) as promotion) p
      where tenant_id = $3
        and id >= span.first_id
        and id < span.next_id
        and status = 'completed'
        and location_id = $4
      group by rule_type, promotion_id, level_id
    ) sale
  )
  select s.unit, k.kind, coalesce(s.promotion_id, s.level_id) as id,
    case k.kind
      when 'promotion' then (select name from loyalty.promotion where tenant_id = $3 and id = s.promotion_id)
      when 'level' then (select name from loyalty.level where tenant_id = $3 and id = s.level_id)
    end as name,
    s.transactions as transactions_count, s.spend as spend_total_cents, s.issued, s.base,
    case k.kind when 'promotion' then s.promotion when 'level' then s.level else 0 end as added, s.capped_sales, s.capped_off,
    s.issued_before as previous_issued, s.base_before as previous_base,
    case k.kind when 'promotion' then s.promotion_before when 'level' then s.level_before else 0 end as previous_added
  from (
    select unit, promotion_id, level_id, grouping(promotion_id) as any_promotion, grouping(level_id) as any_level,
      coalesce(sum(transactions) filter (where current), 0)::bigint as transactions,
      least(coalesce(sum(spend) filter (where current), 0), 9223372036854775807)::bigint as spend,
      least(coalesce(sum(issued) filter (where current), 0), 9223372036854775807)::bigint as issued,
      least(coalesce(sum(base) filter (where current), 0), 9223372036854775807)::bigint as base,
      least(coalesce(sum(promotion) filter (where current), 0), 9223372036854775807)::bigint as promotion,
      least(coalesce(sum(level) filter (where current), 0), 9223372036854775807)::bigint as level,
      coalesce(sum(capped_sales) filter (where current), 0)::bigint as capped_sales,
      least(coalesce(sum(capped_off) filter (where current), 0), 9223372036854775807)::bigint as capped_off,
      least(coalesce(sum(issued) filter (where not current), 0), 9223372036854775807)::bigint as issued_before,
      least(coalesce(sum(base) filter (where not current), 0), 9223372036854775807)::bigint as base_before,
      least(coalesce(sum(promotion) filter (where not current), 0), 9223372036854775807)::bigint as promotion_before,
      least(coalesce(sum(level) filter (where not current), 0), 9223372036854775807)::bigint as level_before
    from sold
    group by grouping sets ((unit), (unit, promotion_id), (unit, level_id))
  ) s
  cross join lateral (
    select case
      when s.any_promotion = 1 and s.any_level = 1 then 'all'
      when s.promotion_id is not null then 'promotion'
      when s.level_id is not null then 'level'
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

-- accountsSQL (core/report/ending.go)
-- $1=tenant_id
prepare accountsSQL as
  select count(*)
  from loyalty.account
  where tenant_id = $1;

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
  ), held as (
    select case when d.expires_on = 'infinity' then b.idle_on else d.expires_on end as day, d.expires_on = 'infinity' as undated, d.remaining
    from dated d
    join begun b on b.customer_id = d.customer_id
    union all
    select case when b.opening_expires_on = 'infinity' then b.idle_on else b.opening_expires_on end, b.opening_expires_on = 'infinity',
      b.balance - coalesce(d.remaining, 0)
    from begun b
    left join (
      select customer_id, sum(remaining) as remaining
      from dated
      group by customer_id
    ) d on d.customer_id = b.customer_id
  )
  select day, undated and day is not null as idle, least(sum(remaining), 9223372036854775807)::bigint as amount
  from held
  where remaining > 0
  group by day, undated and day is not null;

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

-- hoursSQL (core/report/hours.go): Each hour is counted between two IDs, from the index of completed sales alone.
-- $1=weekdays $2=hours $3=first_ids $4=next_ids $5=tenant_id
prepare hoursSQL as
  select slot.weekday, slot.hour, coalesce(sum(sold.transactions), 0)::bigint as transactions_count,
    least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents
  from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::uuid[]) as slot (weekday, hour, first_id, next_id)
  cross join lateral (
    select count(*) as transactions, sum(spend_amount_cents) as spend
    from loyalty.transaction
    where tenant_id = $5
      and id >= slot.first_id
      and id < slot.next_id
      and status = 'completed'
  ) sold
  where sold.transactions > 0
  group by cube (slot.weekday, slot.hour);

-- hoursAtSQL (core/report/hours.go): Each hour is counted between two IDs, from the index of completed sales alone.
-- $1=weekdays $2=hours $3=first_ids $4=next_ids $5=tenant_id $6=location
prepare hoursAtSQL as
  select slot.weekday, slot.hour, coalesce(sum(sold.transactions), 0)::bigint as transactions_count,
    least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents
  from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::uuid[]) as slot (weekday, hour, first_id, next_id)
  cross join lateral (
    select count(*) as transactions, sum(spend_amount_cents) as spend
    from loyalty.transaction
    where tenant_id = $5
      and id >= slot.first_id
      and id < slot.next_id
      and status = 'completed'
      and location_id = $6
  ) sold
  where sold.transactions > 0
  group by cube (slot.weekday, slot.hour);

-- reportedLevelsSQL (core/report/level_moves.go)
-- $1=tenant_id
prepare reportedLevelsSQL as
  select id, name, rank, threshold, percent, colour, perks, retired_at is not null as retired
  from loyalty.level
  where tenant_id = $1
  order by rank, id;

-- levelsInForceSQL (core/report/level_moves.go)
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

-- levelChangesSQL (core/report/level_moves.go)
-- $1=tenant_id $2=first_id $3=next_id
prepare levelChangesSQL as
  select to_level, reason, count(*) as changes
  from loyalty.level_change
  where tenant_id = $1
    and id >= $2
    and id < $3
  group by to_level, reason;

-- countedOverviewSQL (core/report/overview.go), for Overview: Overview returns the dashboard's figures, for managers and
-- owners.
-- $1=cut $2=tenant_id $3=first_id $4=next_id $5=before_id $6=until_id $7=parts $8=periods $9=buckets $10=first_ids
-- $11=next_ids
prepare countedOverviewSQL as
  with since as (
    select coalesce(sum(added) filter (where unit = 'points'), 0) as points,
      coalesce(sum(added) filter (where unit = 'stamps'), 0) as stamps
    from unnest(array[$1::uuid]) cut
    cross join lateral (
      select unit, greatest(balance_after, 0) - greatest(balance_after - amount::numeric, 0) as added
      from loyalty.ledger_entry
      where tenant_id = $2
        and id >= cut
        and id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'
    ) entry
  ), opening as (
    select held.accounts, held.points - since.points as points, held.stamps - since.stamps as stamps
    from since
    cross join (
      select count(*) as accounts,
        coalesce(sum(points) filter (where points > 0), 0) as points,
        coalesce(sum(stamps) filter (where stamps > 0), 0) as stamps
      from loyalty.account
      where tenant_id = $2
    ) held
  ), erased as (
    select coalesce(sum(a.points) filter (where a.points > 0), 0) as points,
      coalesce(sum(a.stamps) filter (where a.stamps > 0), 0) as stamps
    from loyalty.customer c
    join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
    where c.tenant_id = $2
      and c.phone_key is null
      and c.email_key is null
  ), owed as (
    select greatest(least(opening.points + since.points - erased.points, 9223372036854775807), -9223372036854775807)::bigint as points,
      greatest(least(opening.stamps + since.stamps - erased.stamps, 9223372036854775807), -9223372036854775807)::bigint as stamps
    from opening
    cross join since
    cross join erased
  ), worth as (
    select (min(least(round(r.cost_cents::numeric * owed.points / r.points_cost), 9223372036854775807)) filter (where r.points_cost > 0))::bigint as least_points,
      (max(least(round(r.cost_cents::numeric * owed.points / r.points_cost), 9223372036854775807)) filter (where r.points_cost > 0))::bigint as most_points,
      (min(least(round(r.cost_cents::numeric * owed.stamps / r.stamps_cost), 9223372036854775807)) filter (where r.stamps_cost > 0))::bigint as least_stamps,
      (max(least(round(r.cost_cents::numeric * owed.stamps / r.stamps_cost), 9223372036854775807)) filter (where r.stamps_cost > 0))::bigint as most_stamps
    from owed
    left join loyalty.reward r on r.tenant_id = $2
      and r.active
      and r.cost_cents is not null
  )
  select span.part, span.period, span.bucket,
    least(coalesce(sum(sold.points), 0), 9223372036854775807)::bigint as points_awarded,
    least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents,
    sum(redeemed.redemptions)::bigint as redemptions_count,
    least(coalesce(sum(redeemed.points), 0), 9223372036854775807)::bigint as points_redeemed,
    (
      select count(distinct customer_id)
      from loyalty.transaction
      where tenant_id = $2
        and id >= $3
        and id < $4
        and status = 'completed'
    ) as active_customers,
    (
      select count(distinct customer_id)
      from loyalty.transaction
      where tenant_id = $2
        and id >= $5
        and id < $6
        and status = 'completed'
    ) as active_before,
    (select points from owed) as outstanding_points,
    (select stamps from owed) as outstanding_stamps,
    (select least_points from worth) as least_points,
    (select most_points from worth) as most_points,
    (select least_stamps from worth) as least_stamps,
    (select most_stamps from worth) as most_stamps,
    (select greatest(least(points, 9223372036854775807), -9223372036854775807)::bigint from opening) as opening_points,
    (select greatest(least(stamps, 9223372036854775807), -9223372036854775807)::bigint from opening) as opening_stamps,
    (select accounts from opening) as held_by,
    (select id from loyalty.transaction_type where tenant_id = $2 order by id limit 1) is not null as has_type,
    (select id from loyalty.customer where tenant_id = $2 order by id limit 1) is not null as has_customer,
    (select id from loyalty.transaction where tenant_id = $2 order by id limit 1) is not null as has_sale,
    (select id from loyalty.reward where tenant_id = $2 order by id limit 1) is not null as has_reward
  from unnest($7::bigint[], $8::bigint[], $9::bigint[], $10::uuid[], $11::uuid[])
    as span (part, period, bucket, first_id, next_id)
  cross join lateral (
    select sum(spend_amount_cents) as spend, sum(points_awarded) as points
    from loyalty.transaction
    where tenant_id = $2
      and id >= span.first_id
      and id < span.next_id
      and status = 'completed'
  ) sold
  cross join lateral (
    select count(*) as redemptions, sum(points_spent) as points
    from loyalty.redemption
    where tenant_id = $2
      and id >= span.first_id
      and id < span.next_id
      and status <> 'voided'
  ) redeemed
  group by grouping sets ((span.part), (span.period, span.bucket));

-- overviewSQL (core/report/overview.go), for Overview: Overview returns the dashboard's figures, for managers and
-- owners.
-- $1=cut $2=tenant_id $3=opening_points $4=opening_stamps $5=first_id $6=next_id $7=before_id $8=until_id $9=parts
-- $10=periods $11=buckets $12=first_ids $13=next_ids
prepare overviewSQL as
  with since as (
    select coalesce(sum(added) filter (where unit = 'points'), 0) as points,
      coalesce(sum(added) filter (where unit = 'stamps'), 0) as stamps
    from unnest(array[$1::uuid]) cut
    cross join lateral (
      select unit, greatest(balance_after, 0) - greatest(balance_after - amount::numeric, 0) as added
      from loyalty.ledger_entry
      where tenant_id = $2
        and id >= cut
        and id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'
    ) entry
  ), opening as (
    select 0::bigint as accounts, $3::bigint as points, $4::bigint as stamps
  ), erased as (
    select coalesce(sum(a.points) filter (where a.points > 0), 0) as points,
      coalesce(sum(a.stamps) filter (where a.stamps > 0), 0) as stamps
    from loyalty.customer c
    join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
    where c.tenant_id = $2
      and c.phone_key is null
      and c.email_key is null
  ), owed as (
    select greatest(least(opening.points + since.points - erased.points, 9223372036854775807), -9223372036854775807)::bigint as points,
      greatest(least(opening.stamps + since.stamps - erased.stamps, 9223372036854775807), -9223372036854775807)::bigint as stamps
    from opening
    cross join since
    cross join erased
  ), worth as (
    select (min(least(round(r.cost_cents::numeric * owed.points / r.points_cost), 9223372036854775807)) filter (where r.points_cost > 0))::bigint as least_points,
      (max(least(round(r.cost_cents::numeric * owed.points / r.points_cost), 9223372036854775807)) filter (where r.points_cost > 0))::bigint as most_points,
      (min(least(round(r.cost_cents::numeric * owed.stamps / r.stamps_cost), 9223372036854775807)) filter (where r.stamps_cost > 0))::bigint as least_stamps,
      (max(least(round(r.cost_cents::numeric * owed.stamps / r.stamps_cost), 9223372036854775807)) filter (where r.stamps_cost > 0))::bigint as most_stamps
    from owed
    left join loyalty.reward r on r.tenant_id = $2
      and r.active
      and r.cost_cents is not null
  )
  select span.part, span.period, span.bucket,
    least(coalesce(sum(sold.points), 0), 9223372036854775807)::bigint as points_awarded,
    least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents,
    sum(redeemed.redemptions)::bigint as redemptions_count,
    least(coalesce(sum(redeemed.points), 0), 9223372036854775807)::bigint as points_redeemed,
    (
      select count(distinct customer_id)
      from loyalty.transaction
      where tenant_id = $2
        and id >= $5
        and id < $6
        and status = 'completed'
    ) as active_customers,
    (
      select count(distinct customer_id)
      from loyalty.transaction
      where tenant_id = $2
        and id >= $7
        and id < $8
        and status = 'completed'
    ) as active_before,
    (select points from owed) as outstanding_points,
    (select stamps from owed) as outstanding_stamps,
    (select least_points from worth) as least_points,
    (select most_points from worth) as most_points,
    (select least_stamps from worth) as least_stamps,
    (select most_stamps from worth) as most_stamps,
    (select greatest(least(points, 9223372036854775807), -9223372036854775807)::bigint from opening) as opening_points,
    (select greatest(least(stamps, 9223372036854775807), -9223372036854775807)::bigint from opening) as opening_stamps,
    (select accounts from opening) as held_by,
    (select id from loyalty.transaction_type where tenant_id = $2 order by id limit 1) is not null as has_type,
    (select id from loyalty.customer where tenant_id = $2 order by id limit 1) is not null as has_customer,
    (select id from loyalty.transaction where tenant_id = $2 order by id limit 1) is not null as has_sale,
    (select id from loyalty.reward where tenant_id = $2 order by id limit 1) is not null as has_reward
  from unnest($9::bigint[], $10::bigint[], $11::bigint[], $12::uuid[], $13::uuid[])
    as span (part, period, bucket, first_id, next_id)
  cross join lateral (
    select sum(spend_amount_cents) as spend, sum(points_awarded) as points
    from loyalty.transaction
    where tenant_id = $2
      and id >= span.first_id
      and id < span.next_id
      and status = 'completed'
  ) sold
  cross join lateral (
    select count(*) as redemptions, sum(points_spent) as points
    from loyalty.redemption
    where tenant_id = $2
      and id >= span.first_id
      and id < span.next_id
      and status <> 'voided'
  ) redeemed
  group by grouping sets ((span.part), (span.period, span.bucket));

-- statementSQL (core/report/points.go): The balances of a step are the present ones, less what changed them since.
-- $1=first_ids $2=next_ids $3=tenant_id $4=unit $5=next_id $6=end $7=steps
prepare statementSQL as
  with part as materialized (
    select span.number, e.kind, e.amount, e.below
    from unnest($1::uuid[], $2::uuid[]) with ordinality span (first_id, next_id, number)
    cross join lateral (
      select kind, sum(amount) as amount, sum(least(balance_after, 0) - least(balance_after - amount::numeric, 0)) as below
      from loyalty.ledger_entry
      where tenant_id = $3
        and id >= span.first_id
        and id < span.next_id
        and unit = $4::text
      group by kind
    ) e
  ), held as materialized (
    select coalesce(sum(a.balance), 0) as amount, coalesce(sum(a.balance) filter (where a.balance < 0), 0) as below
    from (
      select case when $4 = 'points' then points else stamps end as balance
      from loyalty.account
      where tenant_id = $3
    ) a
  ), erased as materialized (
    select coalesce(sum(e.balance_after) filter (where e.balance_after > 0), 0) as amount
    from loyalty.customer c
    cross join lateral (
      select balance_after
      from loyalty.ledger_entry
      where tenant_id = $3
        and customer_id = c.id
        and unit = $4
        and id < $5::uuid
      order by seq desc
      limit 1
    ) e
    where c.tenant_id = $3
      and c.phone_key is null
      and c.email_key is null
      and c.merged_into is null
      and c.updated_at < $6::timestamptz
  ), step as (
    select n.number, coalesce(sum(p.amount), 0) as amount, coalesce(sum(p.below), 0) as below
    from generate_series(1, $7::bigint + 1) n (number)
    left join part p on p.number = n.number
    group by n.number
  ), around as (
    select s.number, s.amount, held.amount - coalesce(sum(s.amount) over later, 0) as closing, held.below - coalesce(sum(s.below) over later, 0) as below
    from step s
    cross join held
    window later as (order by s.number desc rows between unbounded preceding and 1 preceding)
  )
  select a.number, null::text as kind, 0::bigint as amount,
    greatest(least(a.closing - a.amount, 9223372036854775807), -9223372036854775807)::bigint as opening,
    greatest(least(a.closing, 9223372036854775807), -9223372036854775807)::bigint as closing,
    greatest(least(a.closing - a.below - erased.amount, 9223372036854775807), -9223372036854775807)::bigint as spendable,
    greatest(least(erased.amount, 9223372036854775807), -9223372036854775807)::bigint as erased,
    greatest(least(a.below, 9223372036854775807), -9223372036854775807)::bigint as below
  from around a
  cross join erased
  where a.number <= $7
  union all
  select number, kind, greatest(least(sum(amount), 9223372036854775807), -9223372036854775807)::bigint, 0, 0, 0, 0, 0
  from part
  where number <= $7
  group by grouping sets ((number, kind), (kind));

-- spentSQL (core/report/points.go): What was redeemed less what was returned, and likewise what expired.
-- $1=tenant_id $2=first_id $3=next_id $4=unit
prepare spentSQL as
  select greatest(least(coalesce(-sum(amount) filter (where kind in ('redemption', 'redemption_refund')), 0), 9223372036854775807), -9223372036854775807)::bigint as redeemed,
    greatest(least(coalesce(-sum(amount) filter (where kind in ('expiry', 'expiry_return')), 0), 9223372036854775807), -9223372036854775807)::bigint as expired
  from loyalty.ledger_entry
  where tenant_id = $1
    and id >= $2
    and id < $3
    and kind in ('redemption', 'redemption_refund', 'expiry', 'expiry_return')
    and unit = $4;

-- costsSQL (core/report/points.go): The active rewards that cost the least and the most for a point or a stamp.
-- $1=unit $2=tenant_id
prepare costsSQL as
  with priced as (
    select cost_cents, case when $1::text = 'points' then points_cost else stamps_cost end as units
    from loyalty.reward
    where tenant_id = $2
      and active
      and cost_cents is not null
  )
  (
    select cost_cents, units
    from priced
    where units > 0
    order by cost_cents::numeric / units
    limit 1
  ) union all (
    select cost_cents, units
    from priced
    where units > 0
    order by cost_cents::numeric / units desc
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

-- promotionHoursSQL (core/report/promotion_hours.go), for promotionHours: promotionHours compares the hours of
-- promotions, for a report that the gate has admitted.
-- $1=classes $2=first_ids $3=next_ids $4=tenant_id
prepare promotionHoursSQL as
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

-- promotionHoursAtSQL (core/report/promotion_hours.go), for promotionHours: promotionHours compares the hours of
-- promotions, for a report that the gate has admitted.
-- $1=classes $2=first_ids $3=next_ids $4=tenant_id $5=location
prepare promotionHoursAtSQL as
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
-- $1=tenant_id $2=ordinary $3=limit
prepare recentSQL as
  with event as (
    (
      select 'sale' as kind, id, created_at as at, customer_id,
        coalesce(points_awarded, 0) as points, coalesce(stamps_awarded, 0) as stamps, spend_amount_cents as spend_cents,
        transaction_type_id, null::uuid as reward_id, null::uuid as coupon_id, actor_kind, actor_name, status = 'voided' as voided
      from loyalty.transaction
      where tenant_id = $1
      order by id desc
      limit $2
    ) union all (
      select 'sale_voided', id, voided_at, customer_id, 0, 0, spend_amount_cents,
        transaction_type_id, null, null, null, null, false
      from loyalty.transaction
      where tenant_id = $1
        and status = 'voided'
      order by voided_at desc, id desc
      limit $3
    ) union all (
      select 'refund', f.id, f.created_at, t.customer_id, -coalesce(f.points, 0), -coalesce(f.stamps, 0), f.amount_cents,
        t.transaction_type_id, null, null, f.actor_kind, f.actor_name, false
      from (
        select *
        from loyalty.refund
        where tenant_id = $1
        order by id desc
        limit $3
      ) f
      join loyalty.transaction t on t.tenant_id = f.tenant_id and t.id = f.transaction_id
    ) union all (
      select 'redemption', id, created_at, customer_id, -points_spent, -stamps_spent, null, null, reward_id, null, actor_kind, actor_name, false
      from loyalty.redemption
      where tenant_id = $1
      order by id desc
      limit $3
    ) union all (
      select 'redemption_voided', id, voided_at, customer_id, points_spent, stamps_spent, null, null, reward_id, null, null, null, false
      from loyalty.redemption
      where tenant_id = $1
        and status = 'voided'
      order by voided_at desc, id desc
      limit $3
    ) union all (
      select 'voucher', id, redeemed_at, customer_id, 0, 0, null, null, null, coupon_id, null, null, false
      from loyalty.voucher
      where tenant_id = $1
        and status = 'redeemed'
      order by redeemed_at desc, id desc
      limit $3
    ) union all (
      select 'customer', id, created_at, id, 0, 0, null, null, null, null, null, null, false
      from loyalty.customer
      where tenant_id = $1
        and merged_into is null
        and imported_at is null
      order by created_at desc, id desc
      limit $2
    ) union all (
      select kind, id, created_at, customer_id,
        case when unit = 'points' then amount else 0 end, case when unit = 'stamps' then amount else 0 end, null,
        null, null, null, actor_kind, actor_name, false
      from loyalty.ledger_entry
      where tenant_id = $1
        and kind = 'adjustment'
      order by id desc
      limit $3
    )
  ), imported as (
    select id, ended_at, created_count, opening_points, opening_stamps, file_name, actor_kind, actor_name
    from loyalty.customer_import
    where tenant_id = $1
      and status in ('done', 'cancelled')
      and created_count > 0
    order by ended_at desc, id desc
    limit $3
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
    limit $3
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

-- recentDaysSQL (core/report/recent.go): Only the latest two days with sales are counted, each between two IDs.
-- $1=first_ids $2=next_ids $3=starts $4=ends $5=tenant_id
prepare recentDaysSQL as
  with span as (
    select *
    from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::timestamptz[])
      with ordinality as span (first_id, next_id, starts, ends, number)
    where (
      select id
      from loyalty.transaction
      where tenant_id = $5
        and id >= span.first_id
        and id < span.next_id
        and status = 'completed'
      order by id
      limit 1
    ) is not null
    order by number
    limit 2
  )
  select span.number, sold.transactions as transactions_count,
    least(sold.spend, 9223372036854775807)::bigint as spend_total_cents,
    least(sold.points, 9223372036854775807)::bigint as points_awarded,
    least(sold.stamps, 9223372036854775807)::bigint as stamps_awarded,
    earliest.created_at as first_sale_at, latest.created_at as last_sale_at, joined.customers as new_customers
  from span
  cross join lateral (
    select count(*) as transactions, sum(spend_amount_cents) as spend, coalesce(sum(points_awarded), 0) as points, coalesce(sum(stamps_awarded), 0) as stamps
    from loyalty.transaction
    where tenant_id = $5
      and id >= span.first_id
      and id < span.next_id
      and status = 'completed'
  ) sold
  cross join lateral (
    select created_at
    from loyalty.transaction
    where tenant_id = $5
      and id >= span.first_id
      and id < span.next_id
      and status = 'completed'
    order by id
    limit 1
  ) earliest
  cross join lateral (
    select created_at
    from loyalty.transaction
    where tenant_id = $5
      and id >= span.first_id
      and id < span.next_id
      and status = 'completed'
    order by id desc
    limit 1
  ) latest
  cross join lateral (
    select count(*) as customers
    from loyalty.customer
    where tenant_id = $5
      and created_at >= span.starts
      and created_at < span.ends
      and merged_into is null
      and imported_at is null
  ) joined
  order by span.number;

-- takeTimeSQL (core/report/report.go): Few reports run at once, so each may take longer than other statements: a year of
-- a large business.
prepare takeTimeSQL as
  select set_config('statement_timeout', '40s', true) as set;

-- summarySQL (core/report/summary.go): The first row is the whole range, then comes each day.
-- $1=tenant_id $2=first_id $3=next_id $4=starts $5=ends $6=first_ids $7=next_ids
prepare summarySQL as
  select sum(sold.transactions)::bigint as transactions_count,
    sum(voided.transactions)::bigint as voided_count,
    least(coalesce(sum(sold.spend), 0), 9223372036854775807)::bigint as spend_total_cents,
    least(coalesce(sum(sold.points), 0), 9223372036854775807)::bigint as points_awarded,
    least(coalesce(sum(sold.stamps), 0), 9223372036854775807)::bigint as stamps_awarded,
    least(coalesce(sum(voided.points), 0), 9223372036854775807)::bigint as points_reversed,
    least(coalesce(sum(redeemed.points), 0), 9223372036854775807)::bigint as points_redeemed,
    sum(redeemed.redemptions)::bigint as redemptions_count,
    sum(used.vouchers)::bigint as vouchers_redeemed,
    sum(joined.customers)::bigint as new_customers,
    least(coalesce(sum(ended.expired), 0), 9223372036854775807)::bigint as points_expired,
    least(coalesce(sum(ended.returned), 0), 9223372036854775807)::bigint as points_expiry_returned,
    least(coalesce(sum(refunded.points), 0), 9223372036854775807)::bigint as points_refunded,
    sum(refunded.refunds)::bigint as refunds_count,
    least(coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as refunded_total_cents,
    least(coalesce(sum(sold.spend), 0) - coalesce(sum(refunded.spend), 0), 9223372036854775807)::bigint as net_spend_total_cents,
    (
      select count(distinct customer_id)
      from loyalty.transaction
      where tenant_id = $1
        and id >= $2
        and id < $3
        and status = 'completed'
    ) as active_customers
  from unnest($4::timestamptz[], $5::timestamptz[], $6::uuid[], $7::uuid[])
    with ordinality as span (starts, ends, first_id, next_id, number)
  cross join lateral (
    select count(*) as transactions, sum(spend_amount_cents) as spend, sum(points_awarded) as points, sum(stamps_awarded) as stamps
    from loyalty.transaction
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and status = 'completed'
  ) sold
  cross join lateral (
    select count(*) as transactions, sum(points_awarded) as points
    from loyalty.transaction
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and status = 'voided'
  ) voided
  cross join lateral (
    select count(*) as redemptions, sum(points_spent) as points
    from loyalty.redemption
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and status <> 'voided'
  ) redeemed
  cross join lateral (
    select count(*) as vouchers
    from loyalty.voucher
    where tenant_id = $1
      and redeemed_at >= span.starts
      and redeemed_at < span.ends
      and status = 'redeemed'
  ) used
  cross join lateral (
    select count(*) as customers
    from loyalty.customer
    where tenant_id = $1
      and created_at >= span.starts
      and created_at < span.ends
      and merged_into is null
      and imported_at is null
  ) joined
  cross join lateral (
    select -sum(amount) filter (where kind = 'expiry') as expired, sum(amount) filter (where kind = 'expiry_return') as returned
    from loyalty.ledger_entry
    where tenant_id = $1
      and id >= span.first_id
      and id < span.next_id
      and kind in ('expiry', 'expiry_return')
      and unit = 'points'
  ) ended
  cross join lateral (
    select count(*) as refunds, sum(r.amount_cents) as spend, sum(r.points) as points
    from loyalty.refund r
    join loyalty.transaction t on t.tenant_id = r.tenant_id and t.id = r.transaction_id
    where r.tenant_id = $1
      and r.transaction_id >= span.first_id
      and r.transaction_id < span.next_id
      and t.status = 'completed'
  ) refunded
  group by rollup (span.number)
  order by span.number nulls first;

-- topSQL (core/report/top.go), for Top: Top returns the first customers of a ranking, out of those with a completed sale
-- in its range.
-- $1=tenant_id $2=first_id $3=next_id $4=by $5=limit
prepare topSQL as
  with buyer as (
    select customer_id, count(*) as visits, sum(spend_amount_cents) as spend,
      coalesce(sum(points_awarded), 0) as points
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
    limit $5
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

-- topAtSQL (core/report/top.go), for Top: Top returns the first customers of a ranking, out of those with a completed
-- sale in its range.
-- $1=tenant_id $2=first_id $3=next_id $4=location $5=by $6=limit
prepare topAtSQL as
  with buyer as (
    select customer_id, count(*) as visits, sum(spend_amount_cents) as spend,
      coalesce(sum(points_awarded), 0) as points
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
    limit $6
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
