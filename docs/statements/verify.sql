-- The statements of core/verify, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/verify.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- invoiceSQL (core/verify/billing_sql.go): A line without an amount makes the sum null, which differs from every amount.
prepare invoiceSQL as
  with summed as (
    select i.tenant_id, i.id, i.amount_cents, i.tax_cents, i.total_cents,
      case when bool_and(l.line ? 'amount_cents') then sum((l.line ->> 'amount_cents')::numeric) end as lines
    from loyalty.invoice i
    left join lateral jsonb_array_elements(i.lines) l (line) on true
    group by i.tenant_id, i.id
  ), judged as (
    select tenant_id, id,
      amount_cents is distinct from lines or total_cents is distinct from lines + tax_cents as wrong
    from summed
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- invoiceNumberSQL (core/verify/billing_sql.go)
prepare invoiceNumberSQL as
  with judged as (
    select tenant_id, id, number <> row_number() over (order by number) or number > (select last from loyalty.invoice_counter) as wrong
    from loyalty.invoice
    where number is not null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- periodSQL (core/verify/billing_sql.go)
prepare periodSQL as
  with judged as (
    select tenant_id, period_start as id,
      period_end < period_start or coalesce(period_start <= max(period_end) over (
        partition by tenant_id
        order by period_start
        rows between unbounded preceding and 1 preceding
      ), false) as wrong
    from loyalty.billing_period
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- billedSQL (core/verify/billing_sql.go): An invoice contains its period's price and waiting items.
prepare billedSQL as
  with moved as (
    select tenant_id, currency, price_cents as billed, 0 as invoiced
    from loyalty.billing_period
    union all
    select tenant_id, currency, case when carried then 0 else amount_cents end, case when settled_at is null then amount_cents else 0 end
    from loyalty.billing_item
    union all
    select tenant_id, currency, 0, amount_cents
    from loyalty.invoice i
    where exists (select from loyalty.billing_period where invoice_id = i.id)
      or exists (select from loyalty.billing_item where invoice_id = i.id)
  ), judged as (
    select tenant_id, currency as id, sum(billed) is distinct from sum(invoiced) as wrong
    from moved
    group by tenant_id, currency
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- itemSQL (core/verify/checkout_sql.go)
prepare itemSQL as
  with judged as (
    select i.tenant_id, i.checkout_id as id,
      i.redemption_id is not null and r.id is null
        or i.voucher_id is not null and v.id is null
        or coalesce(r.customer_id <> v.customer_id, false)
        or coalesce(coalesce(r.customer_id, v.customer_id) <> t.customer_id, false)
        or i.outcome is null and (coalesce(r.status = 'pending', false) or coalesce(v.status <> 'redeemed', false)
          or r.id is not null and r.transaction_id is distinct from t.id
          or v.id is not null and v.transaction_id is distinct from t.id)
        or i.outcome is not null and coalesce(t.status <> 'voided', false)
        or i.outcome = 'returned' and i.kind <> 'pending' and coalesce(r.status <> 'voided', false) as wrong
    from loyalty.checkout_item i
    left join loyalty.redemption r on r.tenant_id = i.tenant_id and r.id = i.redemption_id
    left join loyalty.voucher v on v.tenant_id = i.tenant_id and v.id = i.voucher_id
    left join loyalty.transaction t on t.tenant_id = i.tenant_id and t.id = i.checkout_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- benefitSQL (core/verify/coupon_sql.go)
prepare benefitSQL as
  with due as (
    select v.tenant_id, v.id, v.customer_id,
      case c.benefit_type when 'stamps' then 'stamps' else 'points' end as unit,
      case when v.status = 'redeemed' and c.benefit_type in ('points', 'stamps') then c.benefit_value else 0 end as amount, v.turn
    from loyalty.voucher v
    left join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
    union all
    select *
    from (
      select v.tenant_id, v.id, v.customer_id, c.benefit_type as unit, c.benefit_value as amount, n.turn::smallint
      from loyalty.voucher v
      join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
      cross join lateral generate_series(1, v.turn - 1) n (turn)
      where v.turn > 1
        and c.benefit_type in ('points', 'stamps')
    ) earlier
  ), gone as (
    select tenant_id, id, merged_into
    from loyalty.customer
    where merged_into is not null
  ), posted as (
    select e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id) as customer_id, e.unit, e.turn, sum(e.amount) as amount, count(*) as entries
    from loyalty.ledger_entry e
    left join gone g on g.id = e.customer_id and g.tenant_id = e.tenant_id
    where e.kind = 'voucher'
    group by e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id), e.unit, e.turn
  ), judged as (
    select coalesce(d.tenant_id, e.tenant_id) as tenant_id,
      coalesce(d.id, e.cause) as id,
      d.amount is distinct from coalesce(e.amount, 0) or coalesce(e.entries, 1) > 1 as wrong
    from due d
    full join posted e on e.cause = d.id
      and e.tenant_id = d.tenant_id
      and e.customer_id = d.customer_id
      and e.unit = d.unit
      and e.turn = d.turn
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- redeemedSQL (core/verify/coupon_sql.go)
prepare redeemedSQL as
  with judged as (
    select tenant_id, id,
      (status = 'redeemed') <> (redeemed_at is not null)
        or coalesce(redeemed_at < created_at - interval '1 second' or redeemed_at >= expires_at, false) as wrong
    from loyalty.voucher
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- capSQL (core/verify/coupon_sql.go)
prepare capSQL as
  with told as (
    select tenant_id, coupon_id, count(*) filter (where status = 'redeemed') as redeemed
    from loyalty.voucher
    group by tenant_id, coupon_id
  ), judged as (
    select c.tenant_id, c.id,
      c.redemptions_count <> coalesce(t.redeemed, 0) or coalesce(t.redeemed > c.max_redemptions, false) as wrong
    from loyalty.coupon c
    left join told t on t.coupon_id = c.id and t.tenant_id = c.tenant_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- holdingSQL (core/verify/coupon_sql.go)
prepare holdingSQL as
  with held as (
    select tenant_id, coupon_id, customer_id, count(*) as vouchers
    from loyalty.voucher
    group by tenant_id, coupon_id, customer_id
  ), judged as (
    select h.tenant_id, h.customer_id as id, h.vouchers > c.max_per_customer and k.id is null as wrong
    from held h
    join loyalty.coupon c on c.tenant_id = h.tenant_id and c.id = h.coupon_id
    left join (
      select distinct tenant_id, merged_into as id
      from loyalty.customer
      where merged_into is not null
    ) k on k.id = h.customer_id and k.tenant_id = h.tenant_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- voucherSQL (core/verify/coupon_sql.go)
prepare voucherSQL as
  with judged as (
    select v.tenant_id, v.id,
      p.id is null or c.id is null or s.id is null as wrong
    from loyalty.voucher v
    left join loyalty.customer p on p.tenant_id = v.tenant_id and p.id = v.customer_id
    left join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
    left join loyalty.coupon_send s on s.tenant_id = v.tenant_id and s.id = v.send_id and s.coupon_id = v.coupon_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- sendSQL (core/verify/coupon_sql.go)
prepare sendSQL as
  with told as (
    select tenant_id, send_id, count(*) as vouchers
    from loyalty.voucher
    group by tenant_id, send_id
  ), judged as (
    select s.tenant_id, s.id,
      s.sent <> coalesce(t.vouchers, 0) or s.matched <> s.sent + s.skipped_inactive + s.skipped_limit as wrong
    from loyalty.coupon_send s
    left join told t on t.send_id = s.id and t.tenant_id = s.tenant_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- sendVouchersSQL (core/verify/coupon_sql.go)
prepare sendVouchersSQL as
  with judged as (
    select s.tenant_id, s.id,
      s.redeemed <> count(v.id) filter (where v.status = 'redeemed')
        or coalesce(bool_or(v.expires_at is distinct from s.expires_at) filter (where v.id is not null), false) as wrong
    from loyalty.coupon_send s
    left join loyalty.voucher v on v.send_id = s.id and v.tenant_id = s.tenant_id
    group by s.tenant_id, s.id, s.redeemed
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- sendMailsSQL (core/verify/coupon_sql.go)
prepare sendMailsSQL as
  with mailed as (
    select tenant_id, send_id, count(*) as mails,
      count(*) filter (where status = 'queued') as queued,
      count(*) filter (where status = 'delivered') as delivered,
      count(*) filter (where status = 'failed') as failed
    from loyalty.voucher_mail
    group by tenant_id, send_id
  ), judged as (
    select s.tenant_id, s.id,
      s.sent <> s.no_email + s.unsubscribed + s.mails
        or s.mails <> coalesce(m.mails, 0)
        or s.delivered <> coalesce(m.delivered, 0)
        or s.failed <> coalesce(m.failed, 0)
        or s.status = 'done' and coalesce(m.queued, 0) > 0 as wrong
    from loyalty.coupon_send s
    left join mailed m on m.send_id = s.id and m.tenant_id = s.tenant_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- mergeSQL (core/verify/customer_sql.go): Each merge takes a balance from one customer and gives it to another.
prepare mergeSQL as
  with due as (
    select m.tenant_id, m.id, v.customer_id, v.unit, v.amount
    from loyalty.customer_merge m
    cross join lateral (values
      (m.merged_id, 'points', -m.points::numeric),
      (m.merged_id, 'stamps', -m.stamps::numeric),
      (m.kept_id, 'points', m.points::numeric),
      (m.kept_id, 'stamps', m.stamps::numeric)
    ) v (customer_id, unit, amount)
  ), posted as (
    select tenant_id, merge_id, customer_id, unit, sum(amount) as amount, count(*) as entries
    from loyalty.ledger_entry
    where kind = 'merge'
    group by tenant_id, merge_id, customer_id, unit
  ), judged as (
    select coalesce(d.tenant_id, e.tenant_id) as tenant_id,
      coalesce(d.id, e.merge_id) as id,
      d.amount is distinct from coalesce(e.amount, 0) or e.entries > 1 as wrong
    from due d
    full join posted e on e.merge_id = d.id
      and e.tenant_id = d.tenant_id
      and e.customer_id = d.customer_id
      and e.unit = d.unit
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- mergedSQL (core/verify/customer_sql.go)
prepare mergedSQL as
  with judged as (
    select c.tenant_id, c.id,
      c.phone_key is not null or c.email_key is not null or c.external_id is not null or c.status <> 'inactive'
        or m.id is null or o.id is null or o.merged_into is not null
        or t.customer_id is not null or r.customer_id is not null or v.customer_id is not null
        or coalesce(a.points <> 0 or a.stamps <> 0, false) as wrong
    from loyalty.customer c
    left join loyalty.customer_merge m on m.merged_id = c.id and m.tenant_id = c.tenant_id
    left join loyalty.customer o on o.id = c.merged_into and o.tenant_id = c.tenant_id
    left join (select distinct tenant_id, customer_id from loyalty.transaction) t on t.customer_id = c.id and t.tenant_id = c.tenant_id
    left join (select distinct tenant_id, customer_id from loyalty.redemption) r on r.customer_id = c.id and r.tenant_id = c.tenant_id
    left join (select distinct tenant_id, customer_id from loyalty.voucher) v on v.customer_id = c.id and v.tenant_id = c.tenant_id
    left join loyalty.account a on a.customer_id = c.id and a.tenant_id = c.tenant_id
    where c.merged_into is not null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- phoneSQL (core/verify/customer_sql.go)
prepare phoneSQL as
  with judged as (
    select tenant_id, id,
      count(*) over (partition by hashtext(phone_key), phone_key, tenant_id) > 1 as wrong
    from loyalty.customer
    where phone_key is not null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- emailSQL (core/verify/customer_sql.go)
prepare emailSQL as
  with judged as (
    select tenant_id, id,
      count(*) over (partition by hashtext(email_key), email_key, tenant_id) > 1 as wrong
    from loyalty.customer
    where email_key is not null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- externalSQL (core/verify/customer_sql.go)
prepare externalSQL as
  with judged as (
    select tenant_id, id,
      count(*) over (partition by hashtext(external_id), external_id, tenant_id) > 1 as wrong
    from loyalty.customer
    where external_id is not null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- furtherKeySQL (core/verify/customer_sql.go)
prepare furtherKeySQL as
  with judged as (
    select f.tenant_id, f.customer_id as id,
      c.id is null or c.merged_into is not null or coalesce(c.phone_key, c.email_key) is null or o.id is not null as wrong
    from loyalty.customer_key f
    left join loyalty.customer c on c.id = f.customer_id and c.tenant_id = f.tenant_id
    left join loyalty.customer o on o.tenant_id = f.tenant_id
      and case f.kind when 'phone' then o.phone_key when 'email' then o.email_key else o.external_id end = f.key
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- daySalesSQL (core/verify/days_sql.go): What was counted of days that are over is counted anew, in another way than
-- core/daily does: for all days at once, and by what clocks showed.
prepare daySalesSQL as
  with zone as not materialized (
    select tenant_id, split_part(zone, ' ', 1) as zone, first_day, last_day, ends_at
    from loyalty.days_counted
    where zone like '% by ms, sales before'
  ), sale as not materialized (
    select t.*, z.zone, (t.created_at at time zone z.zone)::date as day, coalesce(t.points_awarded, t.stamps_awarded) as award,
      extract(hour from t.created_at at time zone z.zone) as hour, t.voided_at is null as completed
    from loyalty.transaction t
    join zone z on z.tenant_id = t.tenant_id
    where t.created_at < z.ends_at
  ), kept as not materialized (
    select tenant_id, day, location_id::text as key,
      array[transactions, spend, points, stamps, voided, reversed, refunds, refunded, points_refunded] as figures
    from loyalty.day_sales
    union all
    select tenant_id, day, location_id || ' at ' || hour,
      array[transactions, spend, points, stamps, voided, reversed, refunds, refunded, points_refunded]
    from loyalty.day_sales_hour
  ), counted as not materialized (
    select s.tenant_id, s.day, coalesce(s.location_id, 0) || coalesce(' at ' || h.hour, '') as key,
      array[count(*) filter (where completed), coalesce(sum(s.spend_amount_cents) filter (where completed), 0),
        coalesce(sum(s.points_awarded) filter (where completed), 0), coalesce(sum(s.stamps_awarded) filter (where completed), 0),
        count(*) filter (where not completed), coalesce(sum(s.points_awarded) filter (where not completed), 0),
        coalesce(sum(r.refunds) filter (where completed), 0), coalesce(sum(s.refunded_cents) filter (where completed), 0),
        coalesce(sum(s.refunded_award) filter (where completed and s.rule_type = 'points'), 0)] as figures
    from sale s
    left join (
      select tenant_id, transaction_id, count(*) as refunds
      from loyalty.refund
      group by tenant_id, transaction_id
    ) r on r.transaction_id = s.id and r.tenant_id = s.tenant_id
    cross join unnest(array[null, s.hour]) as h (hour)
    group by s.tenant_id, s.day, s.location_id, h.hour
  ), judged as (
    select d.tenant_id, d.day || ' ' || d.key as id,
      d.rows_kept <> 1 or d.rows_counted <> 1 or f.differ as wrong
    from (
      select tenant_id, day, key, count(kept) as rows_kept, max(kept) as kept, count(counted) as rows_counted, max(counted) as counted
      from (
        select tenant_id, day, key, figures::numeric[] as kept, null::numeric[] as counted
        from kept
        union all
        select tenant_id, day, key, null, figures::numeric[]
        from counted
      ) found
      group by tenant_id, day, key
    ) d
    join zone z on z.tenant_id = d.tenant_id and d.day between z.first_day and z.last_day
    left join (
      select distinct m.tenant_id, (m.at at time zone z.zone)::date as day
      from loyalty.day_mark m
      join zone z on z.tenant_id = m.tenant_id
    ) m on m.tenant_id = d.tenant_id and m.day = d.day
    cross join lateral (
      select bool_or(least(each.kept, 9223372036854775807) is distinct from least(each.counted, 9223372036854775807)) as differ
      from unnest(d.kept, d.counted) as each (kept, counted)
    ) f
    where m.day is null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- dayHourSQL (core/verify/days_sql.go): What was counted of days that are over is counted anew, in another way than
-- core/daily does: for all days at once, and by what clocks showed.
prepare dayHourSQL as
  with zone as not materialized (
    select tenant_id, split_part(zone, ' ', 1) as zone, first_day, last_day, ends_at
    from loyalty.days_counted
    where zone like '% by ms, sales before'
  ), sale as not materialized (
    select t.*, z.zone, (t.created_at at time zone z.zone)::date as day, coalesce(t.points_awarded, t.stamps_awarded) as award,
      extract(hour from t.created_at at time zone z.zone) as hour, t.voided_at is null as completed
    from loyalty.transaction t
    join zone z on z.tenant_id = t.tenant_id
    where t.created_at < z.ends_at
  ), kept as not materialized (
    select tenant_id, day, concat_ws(' ', hour, location_id, transaction_type_id) as key, array[transactions, spend] as figures
    from loyalty.day_hour
  ), counted as not materialized (
    select tenant_id, day, concat_ws(' ', hour, coalesce(location_id, 0), transaction_type_id) as key, array[count(*), sum(spend_amount_cents)] as figures
    from sale
    where voided_at is null
    group by 1, 2, 3
  ), judged as (
    select d.tenant_id, d.day || ' ' || d.key as id,
      d.rows_kept <> 1 or d.rows_counted <> 1 or f.differ as wrong
    from (
      select tenant_id, day, key, count(kept) as rows_kept, max(kept) as kept, count(counted) as rows_counted, max(counted) as counted
      from (
        select tenant_id, day, key, figures::numeric[] as kept, null::numeric[] as counted
        from kept
        union all
        select tenant_id, day, key, null, figures::numeric[]
        from counted
      ) found
      group by tenant_id, day, key
    ) d
    join zone z on z.tenant_id = d.tenant_id and d.day between z.first_day and z.last_day
    left join (
      select distinct m.tenant_id, (m.at at time zone z.zone)::date as day
      from loyalty.day_mark m
      join zone z on z.tenant_id = m.tenant_id
    ) m on m.tenant_id = d.tenant_id and m.day = d.day
    cross join lateral (
      select bool_or(least(each.kept, 9223372036854775807) is distinct from least(each.counted, 9223372036854775807)) as differ
      from unnest(d.kept, d.counted) as each (kept, counted)
    ) f
    where m.day is null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- dayVisitSQL (core/verify/days_sql.go): The days on which a customer came, anywhere and at each location, in order,
-- with the milliseconds from midnight to the first sale.
prepare dayVisitSQL as
  with zone as not materialized (
    select tenant_id, split_part(zone, ' ', 1) as zone, first_day, last_day, ends_at
    from loyalty.days_counted
    where zone like '% by ms, sales before'
  ), sale as not materialized (
    select t.*, z.zone, (t.created_at at time zone z.zone)::date as day, coalesce(t.points_awarded, t.stamps_awarded) as award,
      extract(hour from t.created_at at time zone z.zone) as hour, t.voided_at is null as completed
    from loyalty.transaction t
    join zone z on z.tenant_id = t.tenant_id
    where t.created_at < z.ends_at
  ), kept as not materialized (
    select v.tenant_id, v.day, concat_ws(' ', 'at', v.location_id, 'after', v.prior) as key,
      array[v.customers, v.second, c.times, c.sum, c.mix, s.times, s.sum, s.mix, c.unordered + s.unordered] as figures
    from loyalty.day_visit v
    cross join lateral (
      select count(*) as times, coalesce(sum(ms), 0) as sum, coalesce(bit_xor(ms::bigint), 0) as mix, count(*) filter (where ms > next) as unordered
      from unnest(v.came_at, v.came_at[2:]) as t (ms, next)) c
    cross join lateral (
      select count(*) as times, coalesce(sum(ms), 0) as sum, coalesce(bit_xor(ms::bigint), 0) as mix, count(*) filter (where ms > next) as unordered
      from unnest(v.second_at, v.second_at[2:]) as t (ms, next)) s
    union all
    select tenant_id, day, concat_ws(' ', 'since', first_month), array[customers, 0, 0, 0, 0, 0, 0, 0, 0]
    from loyalty.day_cohort
  ), counted as not materialized (
    select tenant_id, day, key,
      array[count(*), sum(second), sum(times), sum(ms), bit_xor(ms), sum(times * second), sum(ms * second), bit_xor(ms * second), 0] as figures
    from (
      select v.tenant_id, v.day, concat_ws(' ', 'at', v.place, 'after', case when e.ever then 'infinity' else v.prior end) as key,
        (not e.ever)::int as times, case when e.ever then 0 else v.ms end as ms, v.second
      from (
        select tenant_id, day, ms, place, coalesce(lag(day) over (partition by customer_id, place, tenant_id order by day), '-infinity')::text as prior,
          (row_number() over (partition by customer_id, place, tenant_id order by day) = 2)::int as second
        from (
          select s.tenant_id, s.customer_id, p.place, s.day,
            (extract(epoch from min(loyalty.id_time(s.id)) - s.day::timestamp at time zone s.zone) * 1000)::bigint as ms
          from sale s
          cross join unnest(array[0, s.location_id]) as p (place)
          where s.voided_at is null
            and p.place is not null
          group by s.tenant_id, s.customer_id, p.place, s.day, s.zone
        ) came
      ) v
      cross join unnest(array[false, true]) as e (ever)
      union all
      select tenant_id, min(day), concat_ws(' ', 'since', min(month) over (partition by customer_id, tenant_id)), 0, 0, 0
      from (
        select tenant_id, customer_id, day, date_trunc('month', day)::date as month
        from sale
        where voided_at is null
      ) came
      group by tenant_id, customer_id, month
    ) v
    group by 1, 2, 3
  ), judged as (
    select d.tenant_id, d.day || ' ' || d.key as id,
      d.rows_kept <> 1 or d.rows_counted <> 1 or f.differ as wrong
    from (
      select tenant_id, day, key, count(kept) as rows_kept, max(kept) as kept, count(counted) as rows_counted, max(counted) as counted
      from (
        select tenant_id, day, key, figures::numeric[] as kept, null::numeric[] as counted
        from kept
        union all
        select tenant_id, day, key, null, figures::numeric[]
        from counted
      ) found
      group by tenant_id, day, key
    ) d
    join zone z on z.tenant_id = d.tenant_id and d.day between z.first_day and z.last_day
    left join (
      select distinct m.tenant_id, (m.at at time zone z.zone)::date as day
      from loyalty.day_mark m
      join zone z on z.tenant_id = m.tenant_id
    ) m on m.tenant_id = d.tenant_id and m.day = d.day
    cross join lateral (
      select bool_or(least(each.kept, 9223372036854775807) is distinct from least(each.counted, 9223372036854775807)) as differ
      from unnest(d.kept, d.counted) as each (kept, counted)
    ) f
    where m.day is null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- dayStaffSQL (core/verify/days_sql.go): What was counted of days that are over is counted anew, in another way than
-- core/daily does: for all days at once, and by what clocks showed.
prepare dayStaffSQL as
  with zone as not materialized (
    select tenant_id, split_part(zone, ' ', 1) as zone, first_day, last_day, ends_at
    from loyalty.days_counted
    where zone like '% by ms, sales before'
  ), sale as not materialized (
    select t.*, z.zone, (t.created_at at time zone z.zone)::date as day, coalesce(t.points_awarded, t.stamps_awarded) as award,
      extract(hour from t.created_at at time zone z.zone) as hour, t.voided_at is null as completed
    from loyalty.transaction t
    join zone z on z.tenant_id = t.tenant_id
    where t.created_at < z.ends_at
  ), kept as not materialized (
    select tenant_id, day, concat_ws(' ', location_id, actor_kind, actor_id) as key, array[transactions, spend, points, stamps, voided, redemptions] as figures
    from loyalty.day_staff
  ), counted as not materialized (
    select tenant_id, day, key, array[sum(sold), sum(spend), sum(points), sum(stamps), sum(voided), sum(redeemed)] as figures
    from (
      select tenant_id, day, concat_ws(' ', coalesce(location_id, 0), actor_kind, actor_id) as key,
        (voided_at is null)::int as sold, case when voided_at is null then spend_amount_cents else 0 end as spend,
        case when voided_at is null then coalesce(points_awarded, 0) else 0 end as points,
        case when voided_at is null then coalesce(stamps_awarded, 0) else 0 end as stamps,
        (voided_at is not null)::int as voided, 0 as redeemed
      from sale
      union all
      select d.tenant_id, (d.created_at at time zone z.zone)::date, concat_ws(' ', 0, d.actor_kind, d.actor_id), 0, 0, 0, 0, 0, 1
      from loyalty.redemption d
      join zone z on z.tenant_id = d.tenant_id and d.created_at < z.ends_at
      where d.voided_at is null
    ) acted
    group by 1, 2, 3
  ), judged as (
    select d.tenant_id, d.day || ' ' || d.key as id,
      d.rows_kept <> 1 or d.rows_counted <> 1 or f.differ as wrong
    from (
      select tenant_id, day, key, count(kept) as rows_kept, max(kept) as kept, count(counted) as rows_counted, max(counted) as counted
      from (
        select tenant_id, day, key, figures::numeric[] as kept, null::numeric[] as counted
        from kept
        union all
        select tenant_id, day, key, null, figures::numeric[]
        from counted
      ) found
      group by tenant_id, day, key
    ) d
    join zone z on z.tenant_id = d.tenant_id and d.day between z.first_day and z.last_day
    left join (
      select distinct m.tenant_id, (m.at at time zone z.zone)::date as day
      from loyalty.day_mark m
      join zone z on z.tenant_id = m.tenant_id
    ) m on m.tenant_id = d.tenant_id and m.day = d.day
    cross join lateral (
      select bool_or(least(each.kept, 9223372036854775807) is distinct from least(each.counted, 9223372036854775807)) as differ
      from unnest(d.kept, d.counted) as each (kept, counted)
    ) f
    where m.day is null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- dayRuleSQL (core/verify/days_sql.go): What was counted of days that are over is counted anew, in another way than
-- core/daily does: for all days at once, and by what clocks showed.
prepare dayRuleSQL as
  with zone as not materialized (
    select tenant_id, split_part(zone, ' ', 1) as zone, first_day, last_day, ends_at
    from loyalty.days_counted
    where zone like '% by ms, sales before'
  ), sale as not materialized (
    select t.*, z.zone, (t.created_at at time zone z.zone)::date as day, coalesce(t.points_awarded, t.stamps_awarded) as award,
      extract(hour from t.created_at at time zone z.zone) as hour, t.voided_at is null as completed
    from loyalty.transaction t
    join zone z on z.tenant_id = t.tenant_id
    where t.created_at < z.ends_at
  ), kept as not materialized (
    select tenant_id, day, concat_ws(' ', location_id, unit, promotion_id, level_id) as key,
      array[transactions, spend, issued, base, promotion, level, capped_sales, capped_off] as figures
    from loyalty.day_rule
  ), counted as not materialized (
    select tenant_id, day, concat_ws(' ', coalesce(location_id, 0), rule_type, coalesce(promotion_id, 0), coalesce(level_id, 0)) as key,
      array[count(*), sum(spend_amount_cents), sum(award), sum(base), sum(extra - base), sum(award - extra),
        coalesce(sum(capped::int), 0), sum(parts - award)] as figures
    from sale
    cross join lateral (
      select least(coalesce(base_award, award), award) as base,
        least(coalesce(base_award, award) + coalesce(promotion_award, 0), award) as extra,
        coalesce(base_award, award) + coalesce(promotion_award, 0) + coalesce(level_award, 0) as parts
    ) p
    where voided_at is null
    group by 1, 2, 3
  ), judged as (
    select d.tenant_id, d.day || ' ' || d.key as id,
      d.rows_kept <> 1 or d.rows_counted <> 1 or f.differ as wrong
    from (
      select tenant_id, day, key, count(kept) as rows_kept, max(kept) as kept, count(counted) as rows_counted, max(counted) as counted
      from (
        select tenant_id, day, key, figures::numeric[] as kept, null::numeric[] as counted
        from kept
        union all
        select tenant_id, day, key, null, figures::numeric[]
        from counted
      ) found
      group by tenant_id, day, key
    ) d
    join zone z on z.tenant_id = d.tenant_id and d.day between z.first_day and z.last_day
    left join (
      select distinct m.tenant_id, (m.at at time zone z.zone)::date as day
      from loyalty.day_mark m
      join zone z on z.tenant_id = m.tenant_id
    ) m on m.tenant_id = d.tenant_id and m.day = d.day
    cross join lateral (
      select bool_or(least(each.kept, 9223372036854775807) is distinct from least(each.counted, 9223372036854775807)) as differ
      from unnest(d.kept, d.counted) as each (kept, counted)
    ) f
    where m.day is null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- dayUseSQL (core/verify/days_sql.go): What was counted of days that are over is counted anew, in another way than
-- core/daily does: for all days at once, and by what clocks showed.
prepare dayUseSQL as
  with zone as not materialized (
    select tenant_id, split_part(zone, ' ', 1) as zone, first_day, last_day, ends_at
    from loyalty.days_counted
    where zone like '% by ms, sales before'
  ), sale as not materialized (
    select t.*, z.zone, (t.created_at at time zone z.zone)::date as day, coalesce(t.points_awarded, t.stamps_awarded) as award,
      extract(hour from t.created_at at time zone z.zone) as hour, t.voided_at is null as completed
    from loyalty.transaction t
    join zone z on z.tenant_id = t.tenant_id
    where t.created_at < z.ends_at
  ), kept as not materialized (
    select tenant_id, day, concat_ws(' ', reward_id, by_voucher) as key, array[redemptions, points, stamps, voided] as figures
    from loyalty.day_reward
    union all
    select tenant_id, day, coupon_id::text, array[sent, redeemed, transactions, spend, discount, granted, unpriced, transactions_once, spend_once,
      again, again_spend, before_spend, again_once, again_spend_once, before_spend_once]
    from loyalty.day_coupon
  ), taken as not materialized (
    select s.tenant_id, s.day, s.spend_amount_cents as spend, s.spend_amount_cents + s.discount_cents as total,
      array_agg(v.coupon_id order by k.benefit_type desc, v.expires_at, v.id) as coupons,
      array_agg(k.benefit_value order by k.benefit_type desc, v.expires_at, v.id) as benefits,
      count(*) filter (where k.benefit_type = 'percent') as percents
    from sale s
    join loyalty.voucher v on v.transaction_id = s.id and v.tenant_id = s.tenant_id
    join loyalty.coupon k on k.id = v.coupon_id and k.tenant_id = v.tenant_id
    join loyalty.checkout_item i on i.checkout_id = s.id and i.voucher_id = v.id and i.tenant_id = s.tenant_id
    where s.voided_at is null
      and k.benefit_type in ('percent', 'amount')
    group by s.tenant_id, s.day, s.id, s.spend_amount_cents, s.discount_cents
  ), bill as not materialized (
    select t.tenant_id, t.day, t.spend, t.coupons, b.n, b.before, b.remains
    from taken t
    cross join lateral loyalty.bill(t.total, t.percents::int, t.benefits) b
  ), counted as not materialized (
    select d.tenant_id, (d.created_at at time zone z.zone)::date as day, concat_ws(' ', d.reward_id, d.points_spent + d.stamps_spent = 0) as key,
      array[sum((d.voided_at is null)::int), sum(case when d.voided_at is null then d.points_spent else 0 end),
        sum(case when d.voided_at is null then d.stamps_spent else 0 end), sum((d.voided_at is not null)::int)] as figures
    from loyalty.redemption d
    join zone z on z.tenant_id = d.tenant_id and d.created_at < z.ends_at
    group by 1, 2, 3
    union all
    select v.tenant_id, v.day, v.coupon_id::text, array[sum(v.sent), sum(v.redeemed), sum(v.sold), sum(v.spend), sum(v.off), sum(v.granted), sum(v.unpriced),
      sum(v.sold * v.first), sum(v.spend * v.first), count(v.before), coalesce(sum(v.spend) filter (where v.before is not null), 0),
      coalesce(sum(v.before), 0), coalesce(sum(v.first) filter (where v.before is not null), 0),
      coalesce(sum(v.spend * v.first) filter (where v.before is not null), 0), coalesce(sum(v.before * v.first), 0)]
    from (
      select v.tenant_id, (v.created_at at time zone z.zone)::date as day, v.coupon_id, 1 as sent, 0 as redeemed, 0 as sold, 0::bigint as spend, 0::bigint as off,
        0 as granted, 0 as unpriced, 0 as first, null::bigint as before
      from loyalty.voucher v
      join zone z on z.tenant_id = v.tenant_id and v.created_at < z.ends_at
      union all
      select v.tenant_id, (v.redeemed_at at time zone z.zone)::date, v.coupon_id, 0, 1, 0, 0, 0, (r.voided_at is null and r.id is not null)::int,
        (k.benefit_type in ('percent', 'amount') and i.voucher_id is null)::int, 0, null
      from loyalty.voucher v
      join zone z on z.tenant_id = v.tenant_id and v.redeemed_at < z.ends_at
      join loyalty.coupon k on k.id = v.coupon_id and k.tenant_id = v.tenant_id
      left join loyalty.redemption r on r.id = v.redemption_id and r.tenant_id = v.tenant_id
      left join loyalty.checkout_item i on i.voucher_id = v.id and i.checkout_id = v.transaction_id and i.tenant_id = v.tenant_id
      where v.redeemed_at is not null
      union all
      select s.tenant_id, s.day, v.coupon_id, 0, 0, 1, s.spend_amount_cents, 0, 0, 0,
        (rank() over (partition by s.tenant_id, s.id order by v.coupon_id) = 1)::int, s.before
      from (
        select tenant_id, id, day, spend_amount_cents, lag(spend_amount_cents) over (partition by customer_id, tenant_id order by id) as before
        from sale
        where voided_at is null
      ) s
      join (
        select distinct tenant_id, transaction_id, coupon_id
        from loyalty.voucher
      ) v on v.transaction_id = s.id and v.tenant_id = s.tenant_id
      union all
      select tenant_id, day, coupons[n], 0, 0, 0, 0, before - case when n < cardinality(coupons) then remains else spend end, 0, 0, 0, null
      from bill
    ) v
    group by 1, 2, 3
  ), judged as (
    select d.tenant_id, d.day || ' ' || d.key as id,
      d.rows_kept <> 1 or d.rows_counted <> 1 or f.differ as wrong
    from (
      select tenant_id, day, key, count(kept) as rows_kept, max(kept) as kept, count(counted) as rows_counted, max(counted) as counted
      from (
        select tenant_id, day, key, figures::numeric[] as kept, null::numeric[] as counted
        from kept
        union all
        select tenant_id, day, key, null, figures::numeric[]
        from counted
      ) found
      group by tenant_id, day, key
    ) d
    join zone z on z.tenant_id = d.tenant_id and d.day between z.first_day and z.last_day
    left join (
      select distinct m.tenant_id, (m.at at time zone z.zone)::date as day
      from loyalty.day_mark m
      join zone z on z.tenant_id = m.tenant_id
    ) m on m.tenant_id = d.tenant_id and m.day = d.day
    cross join lateral (
      select bool_or(least(each.kept, 9223372036854775807) is distinct from least(each.counted, 9223372036854775807)) as differ
      from unnest(d.kept, d.counted) as each (kept, counted)
    ) f
    where m.day is null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- dayFlowSQL (core/verify/days_sql.go): What was counted of days that are over is counted anew, in another way than
-- core/daily does: for all days at once, and by what clocks showed.
prepare dayFlowSQL as
  with zone as not materialized (
    select tenant_id, split_part(zone, ' ', 1) as zone, first_day, last_day, ends_at
    from loyalty.days_counted
    where zone like '% by ms, sales before'
  ), sale as not materialized (
    select t.*, z.zone, (t.created_at at time zone z.zone)::date as day, coalesce(t.points_awarded, t.stamps_awarded) as award,
      extract(hour from t.created_at at time zone z.zone) as hour, t.voided_at is null as completed
    from loyalty.transaction t
    join zone z on z.tenant_id = t.tenant_id
    where t.created_at < z.ends_at
  ), kept as not materialized (
    select tenant_id, day, concat_ws(' ', unit, kind) as key, array[amount, below] as figures
    from loyalty.day_flow
    union all
    select tenant_id, day, concat_ws(' ', 'level', to_level, reason), array[changes]
    from loyalty.day_level
    union all
    select tenant_id, day, 'joined', array[customers]
    from loyalty.day_joined
    union all
    select tenant_id, month, concat_ws(' ', 'month', unit, kind), array[amount, below]
    from loyalty.month_flow
  ), counted as not materialized (
    select e.tenant_id, (e.created_at at time zone z.zone)::date as day, concat_ws(' ', e.unit, e.kind) as key,
      array[sum(e.amount), sum(least(e.balance_after, 0)) - sum(least(e.balance_after - e.amount::numeric, 0))] as figures
    from loyalty.ledger_entry e
    join zone z on z.tenant_id = e.tenant_id and e.created_at < z.ends_at
    group by 1, 2, 3
    union all
    select c.tenant_id, (c.created_at at time zone z.zone)::date, concat_ws(' ', 'level', coalesce(c.to_level, 0), c.reason), array[count(*)]
    from loyalty.level_change c
    join zone z on z.tenant_id = c.tenant_id and c.created_at < z.ends_at
    group by 1, 2, 3
    union all
    select c.tenant_id, (c.created_at at time zone z.zone)::date, 'joined', array[count(*)]
    from loyalty.customer c
    join zone z on z.tenant_id = c.tenant_id and c.created_at < z.ends_at
    where c.merged_into is null
      and c.imported_at is null
    group by 1, 2
    union all
    select f.tenant_id, date_trunc('month', f.day::timestamp)::date, concat_ws(' ', 'month', f.unit, f.kind), array[sum(f.amount), sum(f.below)]
    from loyalty.day_flow f
    join (
      select distinct tenant_id, month
      from loyalty.month_flow
    ) m on m.tenant_id = f.tenant_id and m.month = date_trunc('month', f.day::timestamp)
    group by 1, 2, 3
  ), judged as (
    select d.tenant_id, d.day || ' ' || d.key as id,
      d.rows_kept <> 1 or d.rows_counted <> 1 or f.differ as wrong
    from (
      select tenant_id, day, key, count(kept) as rows_kept, max(kept) as kept, count(counted) as rows_counted, max(counted) as counted
      from (
        select tenant_id, day, key, figures::numeric[] as kept, null::numeric[] as counted
        from kept
        union all
        select tenant_id, day, key, null, figures::numeric[]
        from counted
      ) found
      group by tenant_id, day, key
    ) d
    join zone z on z.tenant_id = d.tenant_id and d.day between z.first_day and z.last_day
    left join (
      select distinct m.tenant_id, (m.at at time zone z.zone)::date as day
      from loyalty.day_mark m
      join zone z on z.tenant_id = m.tenant_id
    ) m on m.tenant_id = d.tenant_id and m.day = d.day
    cross join lateral (
      select bool_or(least(each.kept, 9223372036854775807) is distinct from least(each.counted, 9223372036854775807)) as differ
      from unnest(d.kept, d.counted) as each (kept, counted)
    ) f
    where m.day is null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- yearSQL (core/verify/days_sql.go): Years are judged when no day of them is to be counted again, and groups when the
-- years are counted up to the last day.
prepare yearSQL as
  with zone as not materialized (
    select k.tenant_id, d.zone, k.as_of, k.high, k.as_of = (d.ends_at at time zone d.zone)::date - 1 as grouped
    from (
      select tenant_id, split_part(zone, ' ', 1) as zone, first_day, last_day, ends_at
      from loyalty.days_counted
      where zone like '% by ms, sales before'
    ) d
    join loyalty.year_counted k on k.tenant_id = d.tenant_id
    left join (
      select tenant_id, min(at) as first_at
      from loyalty.day_mark
      group by tenant_id
    ) m on m.tenant_id = k.tenant_id
    where m.first_at is null
      or (m.first_at at time zone d.zone)::date > k.as_of
  ), visit as (
    select t.tenant_id, t.customer_id, (t.created_at at time zone z.zone)::date as day, sum(t.spend_amount_cents) as spend
    from loyalty.transaction t
    join zone z on z.tenant_id = t.tenant_id
    where t.voided_at is null
    group by 1, 2, 3
  ), year as (
    select v.tenant_id, v.customer_id, z.grouped, z.as_of - max(v.day) as since, count(*) as visits, sum(v.spend) as spend,
      ceil(2 * sum(sum(v.spend)) over (partition by v.tenant_id) / count(*) over (partition by v.tenant_id)) as high
    from visit v
    join zone z on z.tenant_id = v.tenant_id and v.day <= z.as_of and z.as_of - v.day < 365
    group by v.tenant_id, v.customer_id, z.as_of, z.grouped
  ), found as (
    select y.tenant_id, y.customer_id::text as key, array[z.as_of - y.last_day, y.visits, y.spend] as kept, null::numeric[] as counted
    from loyalty.customer_year y
    join zone z on z.tenant_id = y.tenant_id
    union all
    select g.tenant_id, g.name, array[g.customers, g.spend, 0], null
    from loyalty.year_group g
    join zone z on z.tenant_id = g.tenant_id and z.grouped
    union all
    select tenant_id, 'high', array[0, 0, high], null
    from zone
    where grouped
      and high > 0
    union all
    select y.tenant_id, f.key, null, array[sum(f.first), sum(f.second), max(f.third)]
    from year y
    cross join lateral (
      values (y.customer_id::text, y.since, y.visits, y.spend),
        (case
          when not y.grouped then null
          when y.since >= 60 then case when greatest(y.visits / 6.0, y.spend / nullif(y.high, 0)) >= 1 then 'at_risk' else 'quiet' end
          when y.visits = 1 then 'new'
          when y.visits <= 5 then 'promising'
          when y.spend < y.high then 'regulars'
          else 'best'
        end, 1, y.spend, 0),
        (case when y.grouped and y.high > 0 then 'high' end, 0, 0, y.high)
    ) f (key, first, second, third)
    where f.key is not null
    group by y.tenant_id, f.key
  ), judged as (
    select tenant_id, key as id, count(kept) <> 1 or count(counted) <> 1 or max(kept) is distinct from max(counted) as wrong
    from found
    group by tenant_id, key
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- partsSQL (core/verify/earning_sql.go): What an earlier build recorded has no parts: all of its award is its base.
prepare partsSQL as
  with told as (
    select t.tenant_id, t.id, coalesce(t.points_awarded, t.stamps_awarded) as award, t.rule_type, t.spend_amount_cents, t.discount_cents, t.eligible_cents,
      coalesce(t.base_award, t.points_awarded, t.stamps_awarded) + coalesce(t.promotion_award, 0) + coalesce(t.level_award, 0) as parts,
      coalesce(t.capped, false) as capped, t.promotion_id, t.promotion_award, t.level_id, t.level_award,
      (select sum((i ->> 'amount_cents')::bigint) from jsonb_array_elements(t.items) i) as items
    from loyalty.transaction t
  ), judged as (
    select t.tenant_id, t.id,
      t.award > t.parts
        or t.award < t.parts and not t.capped
        or (t.promotion_id is null) <> (coalesce(t.promotion_award, 0) = 0)
        or (t.level_id is null) <> (coalesce(t.level_award, 0) = 0)
        or t.promotion_id is not null and p.unit is distinct from t.rule_type
        or t.level_id is not null and l.id is null
        or coalesce(t.eligible_cents not between 0 and t.spend_amount_cents, false)
        or coalesce(t.items > t.spend_amount_cents + coalesce(t.discount_cents, 0), false) as wrong
    from told t
    left join loyalty.promotion p on p.tenant_id = t.tenant_id and p.id = t.promotion_id
    left join loyalty.level l on l.tenant_id = t.tenant_id and l.id = t.level_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- levelSumsSQL (core/verify/earning_sql.go): The share of the amount of a sale d that wasn't refunded counts, rounded
-- down (award.Levels.Of).
prepare levelSumsSQL as
  with programme as not materialized (
    select p.tenant_id, p.basis, p.period, p.year_month, p.year_day, p.starts_on, n.timezone, (now() at time zone n.timezone)::date as today
    from loyalty.level_programme p
    join loyalty.tenant n on n.id = p.tenant_id
    where p.active
      and not p.counting
  ), dated as (
    select t.tenant_id, t.customer_id, p.period, p.year_month, p.year_day,
      (coalesce(t.occurred_at, t.created_at) at time zone p.timezone)::date as day, p.starts_on,
      t.spend_amount_cents as spend, t.spend_amount_cents - t.refunded_cents as paid,
      case p.basis
        when 'points' then case when t.rule_type = 'points' then coalesce(t.base_award, t.points_awarded) else 0 end
        when 'spend' then coalesce(t.eligible_cents, t.spend_amount_cents)
      end as amount
    from loyalty.transaction t
    join programme p on p.tenant_id = t.tenant_id
    where t.status = 'completed'
  ), counted as (
    select d.tenant_id, d.customer_id, case d.period
      when 'ever' then 0
      else date_part('year', d.day)::int - (d.day < least(
        make_date(date_part('year', d.day)::int, d.year_month, 1) + d.year_day - 1,
        (make_date(date_part('year', d.day)::int, d.year_month, 1) + interval '1 month')::date - 1
      ))::int
    end as year,
      case
        when d.amount is null then 1
        when d.spend = d.paid then d.amount
        else div(d.amount::numeric * d.paid, d.spend)
      end as amount
    from dated d
    where d.day >= d.starts_on
  ), summed as (
    select tenant_id, customer_id, year, sum(amount) as amount
    from counted
    group by tenant_id, customer_id, year
  ), judged as (
    select a.tenant_id, a.customer_id as id,
      case
        when a.level_year is null then coalesce(sum(s.amount) filter (where s.year >= d.year - 1), 0) > 0
        else coalesce(sum(s.amount) filter (where s.year = a.level_year), 0) <> a.level_sum
          or coalesce(sum(s.amount) filter (where s.year = a.level_year - 1), 0) <> a.level_sum_before
          or coalesce(sum(s.amount) filter (where s.year > a.level_year), 0) > 0
      end as wrong
    from loyalty.account a
    join (
      select d.tenant_id, case d.period
      when 'ever' then 0
      else date_part('year', d.day)::int - (d.day < least(
          make_date(date_part('year', d.day)::int, d.year_month, 1) + d.year_day - 1,
          (make_date(date_part('year', d.day)::int, d.year_month, 1) + interval '1 month')::date - 1
        ))::int
      end as year
      from (select p.*, p.today as day from programme p) d
    ) d on d.tenant_id = a.tenant_id
    left join summed s on s.tenant_id = a.tenant_id and s.customer_id = a.customer_id
    group by a.tenant_id, a.customer_id, a.level_year, a.level_sum, a.level_sum_before, d.year
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- levelEarnedSQL (core/verify/earning_sql.go): A level that was set by hand may be lower, until it ends.
prepare levelEarnedSQL as
  with programme as not materialized (
    select p.tenant_id, p.basis, p.period, p.year_month, p.year_day, p.starts_on, n.timezone, (now() at time zone n.timezone)::date as today
    from loyalty.level_programme p
    join loyalty.tenant n on n.id = p.tenant_id
    where p.active
      and not p.counting
  ), judged as (
    select a.tenant_id, a.customer_id as id,
      coalesce(l.rank, 0) < (
        select max(r.rank)
        from loyalty.level r
        where r.tenant_id = a.tenant_id
          and (r.retired_at is null or r.rank = 0)
          and r.threshold <= greatest(0,
            case a.level_year when d.year then a.level_sum when d.year - 1 then a.level_sum end,
            case a.level_year when d.year then a.level_sum_before end)
      ) as wrong
    from loyalty.account a
    join (
      select d.tenant_id, case d.period
      when 'ever' then 0
      else date_part('year', d.day)::int - (d.day < least(
          make_date(date_part('year', d.day)::int, d.year_month, 1) + d.year_day - 1,
          (make_date(date_part('year', d.day)::int, d.year_month, 1) + interval '1 month')::date - 1
        ))::int
      end as year
      from (select p.*, p.today as day from programme p) d
    ) d on d.tenant_id = a.tenant_id
    left join loyalty.level l on l.tenant_id = a.tenant_id and l.id = a.level_id
    where a.level_by is distinct from 'hand'
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- levelChainSQL (core/verify/earning_sql.go)
prepare levelChainSQL as
  with told as (
    select tenant_id, customer_id, from_level, to_level, until,
      lag(to_level) over account as before, lead(id) over account is null as last, seq, row_number() over account as place
    from loyalty.level_change
    window account as (partition by customer_id, tenant_id order by seq)
  ), judged as (
    select coalesce(a.tenant_id, c.tenant_id) as tenant_id, coalesce(a.customer_id, c.customer_id) as id,
      c.from_level is distinct from c.before
        or c.seq <> c.place
        or coalesce(c.last, true) and (a.level_id is distinct from c.to_level or a.level_until is distinct from c.until) as wrong
    from loyalty.account a
    full join told c on c.tenant_id = a.tenant_id and c.customer_id = a.customer_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- accountSQL (core/verify/ledger_sql.go)
prepare accountSQL as
  with judged as (
    select coalesce(c.tenant_id, a.tenant_id) as tenant_id,
      coalesce(c.id, a.customer_id) as id,
      c.id is null or a.customer_id is null as wrong
    from loyalty.customer c
    full join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- balanceSQL (core/verify/ledger_sql.go)
prepare balanceSQL as
  with told as (
    select tenant_id, customer_id,
      sum(case unit when 'points' then amount else 0 end) as points,
      sum(case unit when 'stamps' then amount else 0 end) as stamps
    from loyalty.ledger_entry
    group by tenant_id, customer_id
  ), judged as (
    select coalesce(a.tenant_id, t.tenant_id) as tenant_id,
      coalesce(a.customer_id, t.customer_id) as id,
      a.points is distinct from coalesce(t.points, 0) or a.stamps is distinct from coalesce(t.stamps, 0) as wrong
    from loyalty.account a
    full join told t on t.tenant_id = a.tenant_id and t.customer_id = a.customer_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- entriesSQL (core/verify/ledger_sql.go)
prepare entriesSQL as
  with told as (
    select tenant_id, customer_id, count(*) as entries
    from loyalty.ledger_entry
    group by tenant_id, customer_id
  ), judged as (
    select coalesce(a.tenant_id, t.tenant_id) as tenant_id,
      coalesce(a.customer_id, t.customer_id) as id,
      a.entries is distinct from coalesce(t.entries, 0) as wrong
    from loyalty.account a
    full join told t on t.tenant_id = a.tenant_id and t.customer_id = a.customer_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- figuresSQL (core/verify/ledger_sql.go)
prepare figuresSQL as
  with told as (
    select tenant_id, customer_id, count(*) as visits, sum(spend_amount_cents - refunded_cents) as spent_cents
    from loyalty.transaction
    where status = 'completed'
    group by tenant_id, customer_id
  ), judged as (
    select coalesce(a.tenant_id, t.tenant_id) as tenant_id,
      coalesce(a.customer_id, t.customer_id) as id,
      a.visits is distinct from coalesce(t.visits, 0) or a.spent_cents is distinct from coalesce(t.spent_cents, 0) as wrong
    from loyalty.account a
    full join told t on t.tenant_id = a.tenant_id and t.customer_id = a.customer_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- numberSQL (core/verify/ledger_sql.go)
prepare numberSQL as
  with judged as (
    select tenant_id, id,
      seq <> row_number() over (partition by customer_id, tenant_id order by seq) as wrong
    from loyalty.ledger_entry
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- chainSQL (core/verify/ledger_sql.go): Compares with the previous entry, not with the sum of all, so that a wrong entry
-- counts once.
prepare chainSQL as
  with judged as (
    select tenant_id, id,
      balance_after::numeric - amount
        <> lag(balance_after, 1, 0::bigint) over (partition by customer_id, tenant_id, unit order by seq) as wrong
    from loyalty.ledger_entry
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- belowZeroSQL (core/verify/ledger_sql.go)
prepare belowZeroSQL as
  with judged as (
    select tenant_id, id, balance_after < 0 as wrong
    from loyalty.ledger_entry
    where amount < 0
      and kind not in ('reversal', 'refund', 'merge')
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- signSQL (core/verify/ledger_sql.go)
prepare signSQL as
  with judged as (
    select tenant_id, id,
      case
        when kind in ('earn', 'redemption_refund', 'voucher', 'opening', 'expiry_return') then amount <= 0
        when kind in ('reversal', 'redemption', 'expiry', 'refund') then amount >= 0
        else amount = 0
      end as wrong
    from loyalty.ledger_entry
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- onceSQL (core/verify/ledger_sql.go)
prepare onceSQL as
  with judged as (
    select tenant_id, id,
      count(*) over (partition by cause, tenant_id, kind, turn) > 1 as wrong
    from loyalty.ledger_entry
    where cause is not null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- lotSQL (core/verify/lot_sql.go): What was there at entry lots_from is the first lot.
prepare lotSQL as
  with opened as not materialized (
    select a.tenant_id, a.customer_id, u.unit, u.balance, u.lots_from, u.lots_seq, u.expire_on
    from loyalty.account a
    cross join lateral (values
      ('points', a.points, a.points_lots_from, a.points_lots_seq, a.points_expire_on),
      ('stamps', a.stamps, a.stamps_lots_from, a.stamps_lots_seq, a.stamps_expire_on)
    ) u (unit, balance, lots_from, lots_seq, expire_on)
    where u.lots_from is not null
  ), change as (
    select e.tenant_id, e.customer_id, e.unit,
      case when e.seq <= o.lots_from then '-infinity' else coalesce(e.expires_on, 'infinity') end as day,
      case when e.seq <= o.lots_from then e.amount else greatest(0, least(e.amount, e.balance_after)) end as amount
    from loyalty.ledger_entry e
    join opened o on o.customer_id = e.customer_id and o.tenant_id = e.tenant_id and o.unit = e.unit
    where e.seq <= o.lots_seq
      and (e.seq <= o.lots_from or e.lot_dates is null)
    union all
    select e.tenant_id, e.customer_id, e.unit, x.day, x.amount
    from loyalty.ledger_entry e
    join opened o on o.customer_id = e.customer_id and o.tenant_id = e.tenant_id and o.unit = e.unit
    cross join lateral unnest(e.lot_dates, e.lot_amounts) x (day, amount)
    where e.seq <= o.lots_seq
      and e.seq > o.lots_from
      and e.lot_dates is not null
  ), summed as (
    select tenant_id, customer_id, unit, day, sum(amount) as amount
    from change
    group by tenant_id, customer_id, unit, day
  ), told as (
    select s.tenant_id, s.customer_id, s.unit, coalesce(nullif(s.day, '-infinity'), p.opening_expires_on, 'infinity') as day,
      sum(case s.day when '-infinity' then greatest(0, s.amount) else s.amount end) as amount
    from summed s
    left join loyalty.programme p on p.tenant_id = s.tenant_id and p.unit = s.unit
    group by s.tenant_id, s.customer_id, s.unit, 4
  ), judged as (
    select coalesce(l.tenant_id, t.tenant_id) as tenant_id,
      coalesce(l.customer_id, t.customer_id) as id,
      coalesce(l.remaining, 0) <> coalesce(t.amount, 0) as wrong
    from loyalty.lot l
    full join told t on t.customer_id = l.customer_id and t.tenant_id = l.tenant_id and t.unit = l.unit and t.day = l.expires_on
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- lotsSQL (core/verify/lot_sql.go)
prepare lotsSQL as
  with opened as not materialized (
    select a.tenant_id, a.customer_id, u.unit, u.balance, u.lots_from, u.lots_seq, u.expire_on
    from loyalty.account a
    cross join lateral (values
      ('points', a.points, a.points_lots_from, a.points_lots_seq, a.points_expire_on),
      ('stamps', a.stamps, a.stamps_lots_from, a.stamps_lots_seq, a.stamps_expire_on)
    ) u (unit, balance, lots_from, lots_seq, expire_on)
    where u.lots_from is not null
  ), held as (
    select l.tenant_id, l.customer_id, l.unit, l.remaining as amount
    from loyalty.lot l
    union all
    select o.tenant_id, o.customer_id, o.unit, greatest(0, least(e.amount, e.balance_after))
    from opened o
    join loyalty.ledger_entry e on e.customer_id = o.customer_id and e.tenant_id = o.tenant_id and e.unit = o.unit and e.seq > o.lots_seq
    where e.amount > 0
      and e.lot_dates is null
  ), told as (
    select tenant_id, customer_id, unit, sum(amount) as amount
    from held
    group by tenant_id, customer_id, unit
  ), judged as (
    select coalesce(o.tenant_id, t.tenant_id) as tenant_id,
      coalesce(o.customer_id, t.customer_id) as id,
      greatest(0, o.balance) is distinct from coalesce(t.amount, 0) or o.customer_id is null as wrong
    from opened o
    full join told t on t.customer_id = o.customer_id and t.tenant_id = o.tenant_id and t.unit = o.unit
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- dayOverSQL (core/verify/lot_sql.go): A run gives every account that it looks at a later next day.
prepare dayOverSQL as
  with rule as not materialized (
    select tenant_id, unit, expired_through, expiry = 'inactive' as ends_idle
    from loyalty.programme
    where expired_through >= coalesce(hold_until, '-infinity')
  ), judged as (
    select l.tenant_id, l.customer_id as id, l.expires_on <= r.expired_through as wrong
    from loyalty.lot l
    join rule r on r.tenant_id = l.tenant_id and r.unit = l.unit
    union all
    select a.tenant_id, a.customer_id,
      coalesce(least(u.expire_on, case when r.ends_idle then u.idle_on end) <= r.expired_through, false)
    from loyalty.account a
    cross join lateral (values
      ('points', a.points_expire_on, a.points_idle_on),
      ('stamps', a.stamps_expire_on, a.stamps_idle_on)
    ) u (unit, expire_on, idle_on)
    join rule r on r.tenant_id = a.tenant_id and r.unit = u.unit
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- returnedSQL (core/verify/lot_sql.go): A merge leaves expiries in the duplicate's ledger, and what comes back later is
-- in the kept one's.
prepare returnedSQL as
  with gone as (
    select tenant_id, id, merged_into
    from loyalty.customer
    where merged_into is not null
  ), judged as (
    select e.tenant_id, coalesce(g.merged_into, e.customer_id) as id, sum(e.amount) > 0 as wrong
    from loyalty.ledger_entry e
    left join gone g on g.id = e.customer_id and g.tenant_id = e.tenant_id
    where e.kind in ('expiry', 'expiry_return')
    group by e.tenant_id, 2, e.unit, e.expires_on, e.lot_dates[1]
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- takenBackSQL (core/verify/lot_sql.go)
prepare takenBackSQL as
  with judged as (
    select r.tenant_id, r.id, e.id is null or e.seq < r.seq or r.amount > -e.amount as wrong
    from loyalty.ledger_entry r
    left join loyalty.ledger_entry e on e.cause = r.cause and e.tenant_id = r.tenant_id and e.customer_id = r.customer_id
      and e.unit = r.unit and e.turn = r.turn and e.kind in ('reversal', 'refund')
    where r.kind = 'expiry_return'
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- nextSQL (core/verify/lot_sql.go): Of awards, only those since the account's last settlement count, because a
-- settlement sets the day.
prepare nextSQL as
  with opened as not materialized (
    select a.tenant_id, a.customer_id, u.unit, u.balance, u.lots_from, u.lots_seq, u.expire_on
    from loyalty.account a
    cross join lateral (values
      ('points', a.points, a.points_lots_from, a.points_lots_seq, a.points_expire_on),
      ('stamps', a.stamps, a.stamps_lots_from, a.stamps_lots_seq, a.stamps_expire_on)
    ) u (unit, balance, lots_from, lots_seq, expire_on)
    where u.lots_from is not null
  ), first as (
    select tenant_id, customer_id, unit, expires_on as day
    from loyalty.lot
    where expires_on < 'infinity'
    union all
    select o.tenant_id, o.customer_id, o.unit, e.expires_on
    from opened o
    join loyalty.ledger_entry e on e.customer_id = o.customer_id and e.tenant_id = o.tenant_id and e.unit = o.unit and e.seq > o.lots_seq
    where e.amount > 0
      and e.lot_dates is null
      and e.balance_after > 0
      and e.expires_on < 'infinity'
  ), told as (
    select tenant_id, customer_id, unit, min(day) as day
    from first
    group by tenant_id, customer_id, unit
  ), judged as (
    select t.tenant_id, t.customer_id as id, coalesce(u.expire_on > t.day, true) as wrong
    from told t
    left join opened u on u.customer_id = t.customer_id and u.tenant_id = t.tenant_id and u.unit = t.unit
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- saleRefundSQL (core/verify/lot_sql.go): A sale moves with a merge, and what its earlier refunds took stays in the
-- duplicate's ledger.
prepare saleRefundSQL as
  with due as (
    select r.tenant_id, r.id, t.customer_id, case when r.stamps is null then 'points' else 'stamps' end as unit,
      -coalesce(r.points, r.stamps) as amount, 1 as turn
    from loyalty.refund r
    left join loyalty.transaction t on t.id = r.transaction_id and t.tenant_id = r.tenant_id
  ), gone as (
    select tenant_id, id, merged_into
    from loyalty.customer
    where merged_into is not null
  ), posted as (
    select e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id) as customer_id, e.unit, e.turn, sum(e.amount) as amount, count(*) as entries
    from loyalty.ledger_entry e
    left join gone g on g.id = e.customer_id and g.tenant_id = e.tenant_id
    where e.kind = 'refund'
    group by e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id), e.unit, e.turn
  ), judged as (
    select coalesce(d.tenant_id, e.tenant_id) as tenant_id,
      coalesce(d.id, e.cause) as id,
      d.amount is distinct from coalesce(e.amount, 0) or coalesce(e.entries, 1) > 1 as wrong
    from due d
    full join posted e on e.cause = d.id
      and e.tenant_id = d.tenant_id
      and e.customer_id = d.customer_id
      and e.unit = d.unit
      and e.turn = d.turn
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- refundedSQL (core/verify/lot_sql.go)
prepare refundedSQL as
  with told as (
    select tenant_id, transaction_id, sum(amount_cents) as cents, sum(coalesce(points, 0)) as points, sum(coalesce(stamps, 0)) as stamps
    from loyalty.refund
    group by tenant_id, transaction_id
  ), judged as (
    select t.tenant_id, t.id,
      t.refunded_cents <> coalesce(r.cents, 0)
        or t.refunded_cents > t.spend_amount_cents
        or t.refunded_award > coalesce(t.points_awarded, t.stamps_awarded)
        or t.refunded_award <> case t.rule_type when 'points' then coalesce(r.points, 0) else coalesce(r.stamps, 0) end as wrong
    from loyalty.transaction t
    left join told r on r.transaction_id = t.id and r.tenant_id = t.tenant_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- sharedSQL (core/verify/lot_sql.go)
prepare sharedSQL as
  with judged as (
    select id as tenant_id, slug as id, programme::text is distinct from loyalty.programme_of(id)::text as wrong
    from loyalty.tenant
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- lockSQL (core/verify/nightly_sql.go)
prepare lockSQL as
  select pg_try_advisory_xact_lock(hashtextextended('loyalty verify', 7)) as mine;

-- lockRequestsSQL (core/verify/nightly_sql.go), for Request: Request queues a run, or fails with ErrRunning.
prepare lockRequestsSQL as
  select pg_advisory_xact_lock(hashtextextended('loyalty verify asked', 7));

-- endedSQL (core/verify/nightly_sql.go), for ReadEnded: ReadEnded is ReadLast for the last run whose checks all ran.
prepare endedSQL as
  select id, asked_by, started_at, finished_at, clean, results, error
  from loyalty.verify_run
  where clean is not null
  order by started_at desc, id desc
  limit 1;

-- lastSQL (core/verify/nightly_sql.go), for Request: Request queues a run, or fails with ErrRunning.
prepare lastSQL as
  select id, asked_by, started_at, finished_at, clean, results, error
  from loyalty.verify_run
  order by started_at desc, id desc
  limit 1;

-- beginSQL (core/verify/nightly_sql.go)
-- $1=asked_by $2=now
prepare beginSQL as
  insert into loyalty.verify_run (asked_by, started_at)
  values ($1, $2)
  returning id;

-- abandonSQL (core/verify/nightly_sql.go): The caller holds the lock, so an unfinished run has lost its process.
-- $1=now
prepare abandonSQL as
  update loyalty.verify_run
  set finished_at = $1,
    error = 'The process that ran it is gone.'
  where finished_at is null;

-- finishSQL (core/verify/nightly_sql.go), for finishRun: finishRun stores a run's results, or the error.
-- $1=now $2=clean $3=results $4=error $5=id
prepare finishSQL as
  update loyalty.verify_run
  set finished_at = $1,
    clean = $2,
    results = $3,
    error = $4
  where id = $5;

-- deleteOldSQL (core/verify/nightly_sql.go)
-- $1=before
prepare deleteOldSQL as
  delete from loyalty.verify_run
  where started_at < $1;

-- costSQL (core/verify/redemption_sql.go)
prepare costSQL as
  with due as (
    select tenant_id, id, customer_id,
      case when stamps_spent > 0 then 'stamps' else 'points' end as unit,
      -(points_spent + stamps_spent) as amount, 1 as turn
    from loyalty.redemption
  ), gone as (
    select tenant_id, id, merged_into
    from loyalty.customer
    where merged_into is not null
  ), posted as (
    select e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id) as customer_id, e.unit, e.turn, sum(e.amount) as amount, count(*) as entries
    from loyalty.ledger_entry e
    left join gone g on g.id = e.customer_id and g.tenant_id = e.tenant_id
    where e.kind = 'redemption'
    group by e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id), e.unit, e.turn
  ), judged as (
    select coalesce(d.tenant_id, e.tenant_id) as tenant_id,
      coalesce(d.id, e.cause) as id,
      d.amount is distinct from coalesce(e.amount, 0) or coalesce(e.entries, 1) > 1 as wrong
    from due d
    full join posted e on e.cause = d.id
      and e.tenant_id = d.tenant_id
      and e.customer_id = d.customer_id
      and e.unit = d.unit
      and e.turn = d.turn
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- refundSQL (core/verify/redemption_sql.go)
prepare refundSQL as
  with due as (
    select tenant_id, id, customer_id,
      case when stamps_spent > 0 then 'stamps' else 'points' end as unit,
      case status when 'voided' then points_spent + stamps_spent else 0 end as amount, 1 as turn
    from loyalty.redemption
  ), gone as (
    select tenant_id, id, merged_into
    from loyalty.customer
    where merged_into is not null
  ), posted as (
    select e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id) as customer_id, e.unit, e.turn, sum(e.amount) as amount, count(*) as entries
    from loyalty.ledger_entry e
    left join gone g on g.id = e.customer_id and g.tenant_id = e.tenant_id
    where e.kind = 'redemption_refund'
    group by e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id), e.unit, e.turn
  ), judged as (
    select coalesce(d.tenant_id, e.tenant_id) as tenant_id,
      coalesce(d.id, e.cause) as id,
      d.amount is distinct from coalesce(e.amount, 0) or coalesce(e.entries, 1) > 1 as wrong
    from due d
    full join posted e on e.cause = d.id
      and e.tenant_id = d.tenant_id
      and e.customer_id = d.customer_id
      and e.unit = d.unit
      and e.turn = d.turn
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- freeSQL (core/verify/redemption_sql.go): Every reward has a cost, so a redemption without one is from a voucher.
prepare freeSQL as
  with promised as (
    select v.tenant_id, v.id, v.customer_id, v.redemption_id, c.benefit_reward_id, v.status <> 'redeemed' as wrong, false as returned
    from loyalty.voucher v
    left join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
    where v.redemption_id is not null
      or (v.status = 'redeemed' and c.benefit_type = 'reward')
    union all
    select i.tenant_id, i.voucher_id, v.customer_id, i.redemption_id, c.benefit_reward_id, v.id is null, true
    from loyalty.checkout_item i
    left join loyalty.voucher v on v.tenant_id = i.tenant_id and v.id = i.voucher_id
    left join loyalty.coupon c on c.tenant_id = i.tenant_id and c.id = v.coupon_id
    where i.kind = 'voucher'
      and i.outcome = 'returned'
      and i.redemption_id is not null
    union all
    select v.tenant_id, v.id, v.customer_id, v.restored_redemption_id, c.benefit_reward_id, v.restored_at is null, true
    from loyalty.voucher v
    left join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
    where v.restored_redemption_id is not null
  ), free as (
    select tenant_id, id, customer_id, reward_id, status
    from loyalty.redemption
    where points_spent + stamps_spent = 0
  ), judged as (
    select coalesce(p.tenant_id, f.tenant_id) as tenant_id,
      coalesce(p.id, f.id) as id,
      p.id is null or f.id is null or p.wrong or p.returned and f.status <> 'voided'
        or f.customer_id <> p.customer_id
        or f.reward_id is distinct from p.benefit_reward_id
        or count(*) over (partition by p.redemption_id, p.tenant_id) > 1 as wrong
    from promised p
    full join free f on f.id = p.redemption_id and f.tenant_id = p.tenant_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- readEverythingSQL (core/verify/sql.go): Without indexes, statements read the tables with hash joins and sorts, which
-- need memory.
-- do $$
-- begin
--   set local row_security = off;
--   set local enable_indexscan = off;
--   set local enable_indexonlyscan = off;
--   set local enable_bitmapscan = off;
--   set local enable_nestloop = off;
--   set local enable_mergejoin = off;
--   set local work_mem = '128MB';
--   set local jit = off;
-- end
-- $$

-- readTenantSQL (core/verify/sql.go): A tenant that was just imported is missing in the planner's statistics, so it
-- would join large tables row by row.
-- do $$
-- begin
--   set local enable_nestloop = off;
--   set local work_mem = '128MB';
-- end
-- $$

-- ownerSQL (core/verify/staff_sql.go)
prepare ownerSQL as
  with owned as (
    select distinct tenant_id
    from loyalty.staff
    where role = 'owner'
  ), judged as (
    select n.id as tenant_id, n.id, o.tenant_id is null as wrong
    from loyalty.tenant n
    left join owned o on o.tenant_id = n.id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- tokenSQL (core/verify/staff_sql.go): Its foreign keys have one column each, so no constraint ensures that the tenants
-- agree.
prepare tokenSQL as
  with judged as (
    select coalesce(t.tenant_id, 0) as tenant_id, t.id,
      s.id is null or s.tenant_id is distinct from t.tenant_id as wrong
    from loyalty.token t
    left join loyalty.staff s on s.id = t.staff_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- invitationSQL (core/verify/staff_sql.go)
prepare invitationSQL as
  with judged as (
    select i.tenant_id, i.id, s.id is null or s.tenant_id is distinct from i.tenant_id as wrong
    from loyalty.invitation i
    left join loyalty.staff s on s.id = i.staff_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- awardSQL (core/verify/transaction_sql.go)
prepare awardSQL as
  with due as (
    select tenant_id, id, customer_id, rule_type as unit,
      coalesce(points_awarded, 0) + coalesce(stamps_awarded, 0) as amount, 1 as turn
    from loyalty.transaction
  ), gone as (
    select tenant_id, id, merged_into
    from loyalty.customer
    where merged_into is not null
  ), posted as (
    select e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id) as customer_id, e.unit, e.turn, sum(e.amount) as amount, count(*) as entries
    from loyalty.ledger_entry e
    left join gone g on g.id = e.customer_id and g.tenant_id = e.tenant_id
    where e.kind = 'earn'
    group by e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id), e.unit, e.turn
  ), judged as (
    select coalesce(d.tenant_id, e.tenant_id) as tenant_id,
      coalesce(d.id, e.cause) as id,
      d.amount is distinct from coalesce(e.amount, 0) or coalesce(e.entries, 1) > 1 as wrong
    from due d
    full join posted e on e.cause = d.id
      and e.tenant_id = d.tenant_id
      and e.customer_id = d.customer_id
      and e.unit = d.unit
      and e.turn = d.turn
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- reversalSQL (core/verify/transaction_sql.go)
prepare reversalSQL as
  with due as (
    select tenant_id, id, customer_id, rule_type as unit,
      case status when 'voided' then refunded_award - (coalesce(points_awarded, 0) + coalesce(stamps_awarded, 0)) else 0 end as amount, 1::smallint as turn
    from loyalty.transaction
    union all
    select tenant_id, id, customer_id, unit, -amount, turn
    from (
      select v.tenant_id, v.id, v.customer_id, c.benefit_type as unit, c.benefit_value as amount, n.turn::smallint
      from loyalty.voucher v
      join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
      cross join lateral generate_series(1, v.turn - 1) n (turn)
      where v.turn > 1
        and c.benefit_type in ('points', 'stamps')
    ) earlier
  ), gone as (
    select tenant_id, id, merged_into
    from loyalty.customer
    where merged_into is not null
  ), posted as (
    select e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id) as customer_id, e.unit, e.turn, sum(e.amount) as amount, count(*) as entries
    from loyalty.ledger_entry e
    left join gone g on g.id = e.customer_id and g.tenant_id = e.tenant_id
    where e.kind = 'reversal'
    group by e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id), e.unit, e.turn
  ), judged as (
    select coalesce(d.tenant_id, e.tenant_id) as tenant_id,
      coalesce(d.id, e.cause) as id,
      d.amount is distinct from coalesce(e.amount, 0) or coalesce(e.entries, 1) > 1 as wrong
    from due d
    full join posted e on e.cause = d.id
      and e.tenant_id = d.tenant_id
      and e.customer_id = d.customer_id
      and e.unit = d.unit
      and e.turn = d.turn
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- orderSQL (core/verify/transaction_sql.go)
prepare orderSQL as
  with judged as (
    select e.tenant_id, e.id, e.created_at < t.created_at - interval '1 second' or e.kind = 'earn' and e.expires_on is distinct from t.expires_on as wrong
    from loyalty.ledger_entry e
    join loyalty.transaction t on t.id = e.cause and t.tenant_id = e.tenant_id
    where e.kind in ('earn', 'reversal')
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- unitSQL (core/verify/transaction_sql.go)
prepare unitSQL as
  with judged as (
    select tenant_id, id,
      case rule_type
        when 'points' then points_awarded is null or points_awarded < 0 or stamps_awarded is not null
        when 'stamps' then stamps_awarded is null or stamps_awarded < 0 or points_awarded is not null
        else true
      end as wrong
    from loyalty.transaction
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- voidedSQL (core/verify/transaction_sql.go)
prepare voidedSQL as
  with judged as (
    select tenant_id, id,
      (status = 'voided') <> (voided_at is not null) or coalesce(voided_at < created_at - interval '1 second', false) as wrong
    from loyalty.transaction
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- saleSQL (core/verify/transaction_sql.go)
prepare saleSQL as
  with judged as (
    select t.tenant_id, t.id,
      c.id is null or k.id is null or (t.location_id is not null and l.id is null) as wrong
    from loyalty.transaction t
    left join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
    left join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
    left join loyalty.location l on l.tenant_id = t.tenant_id and l.id = t.location_id
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- referenceSQL (core/verify/transaction_sql.go)
prepare referenceSQL as
  with judged as (
    select tenant_id, id,
      count(*) over (partition by hashtext(external_reference), external_reference, tenant_id) > 1 as wrong
    from loyalty.transaction
    where external_reference is not null
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- idSQL (core/verify/transaction_sql.go): Lists and reports rely on the IDs: their first 48 bits are milliseconds.
prepare idSQL as
  with judged as (
    select tenant_id, id,
      substr(uuid_send(id)::text, 2, 13)::bit(48)::bigint
        <> (date_part('epoch', created_at) * 1000)::bigint as wrong
    from (
      select tenant_id, id, created_at
      from loyalty.transaction
      union all
      select tenant_id, id, created_at
      from loyalty.redemption
    ) made
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;

-- pinSQL (core/verify/transaction_sql.go): A card's PIN can be completed without a sale, by redeeming; a till's PIN is
-- for a sale.
prepare pinSQL as
  with judged as (
    select p.tenant_id, p.id,
      p.transaction_id is null and p.direction = 'till'
        or p.transaction_id is not null and (t.id is null or t.customer_id is distinct from p.customer_id)
        or p.transaction_id is not null and count(*) over (partition by p.transaction_id, p.tenant_id) > 1 as wrong
    from loyalty.pin p
    left join loyalty.transaction t on t.tenant_id = p.tenant_id and t.id = p.transaction_id
    where p.status = 'used'
  )
  select count(*) as counted,
    count(*) filter (where wrong) as wrong,
    coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
    coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
  from judged;
