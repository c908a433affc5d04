-- The statements of core/transaction, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/transaction.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- forgetMetadataSQL (core/transaction/forget.go), for ForgetMetadata: ForgetMetadata queues the deletion of what
-- programs keep with the sales of a customer who is erased: it may name them.
-- $1=tenant_id $2=customer
prepare forgetMetadataSQL as
  update loyalty.transaction
  set metadata = null
  where tenant_id = $1
    and customer_id = $2
    and metadata is not null;

-- searchSQL (core/transaction/list.go): The customers that a search finds, once for its page and its count.
-- $1=needles $2=every $3=found
prepare searchSQL as
  select array(
    select s.id
    from loyalty.find_customers($1, $2, null, null, null, null, null, null, null, null, false, $3) s) as buyers;

-- furtherSQL (core/transaction/list.go), for search: search returns the newest customers that a search finds, and where
-- it leaves sales out.
-- $1=cents $2=tenant_id $3=near
prepare furtherSQL as
  select $1::bigint is not null and exists (
      select
      from loyalty.transaction
      where tenant_id = $2
      order by id
      offset $3
    ) as further;

-- moveSQL (core/transaction/merge.go), for Move: Move moves the sales of a customer who is being merged, and returns
-- their number.
-- $1=kept $2=tenant_id $3=merged
prepare moveSQL as
  update loyalty.transaction
  set customer_id = $1
  where tenant_id = $2
    and customer_id = $3;

-- saleOfReferenceSQL (core/transaction/record.go), for recordAlone: recordAlone records or refuses a sale in a
-- transaction of its own.
-- $1=tenant_id $2=reference
prepare saleOfReferenceSQL as
  select id
  from loyalty.transaction
  where tenant_id = $1
    and external_reference = $2;

-- lockSQL (core/transaction/refund.go): Refunds and a void of one sale wait for each other here, so each sees what is
-- left.
-- $1=voids_any $2=tenant_id $3=since_id $4=actor_id $5=id
prepare lockSQL as
  select id, rule_type, spend_amount_cents, points_awarded, stamps_awarded, status, voided_at,
    customer_id, transaction_type_id, source, location_id, external_reference, coalesce(occurred_at, created_at) as occurred_at, metadata, created_at,
    expires_on, refunded_cents, refunded_award,
    coalesce(base_award, points_awarded, stamps_awarded) as base_award, promotion_id, coalesce(promotion_award, 0) as promotion_award,
    level_id, coalesce(level_award, 0) as level_award, coalesce(capped, false) as capped, coalesce(eligible_cents, spend_amount_cents) as eligible_cents, items, $1::boolean or coalesce(id = (
      select id
      from loyalty.transaction
      where tenant_id = $2
        and id >= $3
        and actor_kind = 'staff'
        and actor_id = $4
      order by id desc
      limit 1
    ), false) as may_refund, (
      select n.points_day_cap is not null or n.stamps_day_cap is not null
        or exists (select from loyalty.level_programme where tenant_id = $2 and active)
      from loyalty.tenant n
      where n.id = $2
    ) as remembered
  from loyalty.transaction
  where tenant_id = $2
    and id = $5
  for no key update;

-- refundSQL (core/transaction/refund.go), for write: write queues a refund with what it changes.
-- $1=cents $2=award $3=tenant_id $4=id
prepare refundSQL as
  update loyalty.transaction
  set refunded_cents = $1,
    refunded_award = $2
  where tenant_id = $3
    and id = $4;

-- insertRefundSQL (core/transaction/refund.go), for write: write queues a refund with what it changes.
-- $1=tenant_id $2=id $3=transaction $4=amount $5=points $6=stamps $7=reference $8=reason $9=actor_kind $10=actor_id
-- $11=actor_name $12=now
prepare insertRefundSQL as
  insert into loyalty.refund (tenant_id, id, transaction_id, amount_cents, points, stamps,
    external_reference, reason, actor_kind, actor_id, actor_name, created_at)
  values ($1, $2, $3, $4, $5, $6,
    $7, $8, $9, $10, $11, $12);

-- refundsSQL (core/transaction/refund.go), for Detail: Detail returns a sale in detail, or core.ErrNotFound.
-- $1=tenant_id $2=id
prepare refundsSQL as
  select id, transaction_id, amount_cents, points, stamps, external_reference, reason, actor_kind, actor_name, created_at
  from loyalty.refund
  where tenant_id = $1
    and transaction_id = $2
  order by id;

-- refundOfReferenceSQL (core/transaction/refund.go), for Refund: Refund pays back a part of a sale, and takes back that
-- part of its award even if that takes the balance below zero.
-- $1=tenant_id $2=reference
prepare refundOfReferenceSQL as
  select id
  from loyalty.refund
  where tenant_id = $1
    and external_reference = $2;

-- rulesSQL (core/transaction/rules.go): rulesSQL reads in one statement, and so as of one instant, what sales of a
-- business earn by, besides types.
-- $1=tenant_id
prepare rulesSQL as
  select n.earning_version, n.points_day_cap, n.stamps_day_cap,
    coalesce((
      select json_agg(p order by p.id)
      from (
        select id, name, unit, percent, extra, type_ids, location_ids, category_ids, min_spend_cents,
        starts_on::timestamp at time zone 'UTC' as starts_on, ends_on::timestamp at time zone 'UTC' as ends_on, windows,
        audience, level_id, birthday_days, limit_times, limit_per
        from loyalty.promotion
        where tenant_id = $1
          and active
      ) p
    ), '[]') as promotions,
    coalesce((
      select json_object_agg(code, category_id)
      from loyalty.category_code
      where tenant_id = $1
    ), '{}') as categories,
    (
      select json_build_object('basis', basis, 'period', period, 'month', year_month, 'day', year_day, 'drops', drops,
        'starts_on', starts_on::timestamp at time zone 'UTC', 'frozen', frozen)
      from loyalty.level_programme
      where tenant_id = $1
        and active
    ) as level_rules,
    coalesce((
      select json_agg(l order by l.rank, l.id)
      from (
        select id, name, rank, threshold, percent, colour, perks, retired_at is not null as retired
        from loyalty.level
        where tenant_id = $1
      ) l
    ), '[]') as levels
  from loyalty.tenant n
  where n.id = $1;

-- accountSQL (core/transaction/rules.go), for read: read is refer with its statements.
-- $1=tenant_id $2=customer
prepare accountSQL as
  select coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, c.birth_month, c.birth_day, a.points, a.stamps
  from loyalty.account a
  join loyalty.customer c on c.tenant_id = $1 and c.id = a.customer_id
  where a.tenant_id = $1
    and a.customer_id = $2;

-- lockAccountSQL (core/transaction/rules.go), for refer: refer looks up what a sale refers to, the rules by which it
-- earns, and the account of its customer where awards depend on it: in one round trip, or two or three after the rules
-- were changed.
-- $1=tenant_id $2=customer
prepare lockAccountSQL as
  select coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by, c.birth_month, c.birth_day, a.points, a.stamps
  from loyalty.account a
  join loyalty.customer c on c.tenant_id = $1 and c.id = a.customer_id
  where a.tenant_id = $1
    and a.customer_id = $2
  for no key update of a;

-- earnedOnSQL (core/transaction/rules.go): What a customer has earned on a local day that isn't their last one, and how
-- often they have used promotions, on a local day and ever.
-- $1=tenant_id $2=customer $3=from_id $4=before_id $5=unit $6=from $7=before
prepare earnedOnSQL as
  select coalesce(sum(coalesce(points_awarded, stamps_awarded)), 0)::bigint as earned
  from loyalty.transaction
  where tenant_id = $1
    and customer_id = $2
    and id >= $3
    and id < $4
    and rule_type = $5
    and status = 'completed'
    and coalesce(occurred_at, created_at) >= $6
    and coalesce(occurred_at, created_at) < $7;

-- usesSQL (core/transaction/rules.go): What a customer has earned on a local day that isn't their last one, and how
-- often they have used promotions, on a local day and ever.
-- $1=from $2=before $3=tenant_id $4=promotions $5=customer
prepare usesSQL as
  select promotion_id, count(*) as ever,
    count(*) filter (where coalesce(occurred_at, created_at) >= $1 and coalesce(occurred_at, created_at) < $2) as day
  from loyalty.transaction
  where tenant_id = $3
    and promotion_id = any ($4::bigint[])
    and customer_id = $5
    and status = 'completed'
  group by promotion_id;

-- findSQL (core/transaction/sql.go), for notVoided: notVoided returns why a sale could not be voided.
-- $1=tenant_id $2=id
prepare findSQL as
  select id, rule_type, spend_amount_cents, points_awarded, stamps_awarded, status, voided_at,
    customer_id, transaction_type_id, source, location_id, external_reference, coalesce(occurred_at, created_at) as occurred_at, metadata, created_at,
    expires_on, refunded_cents, refunded_award,
    coalesce(base_award, points_awarded, stamps_awarded) as base_award, promotion_id, coalesce(promotion_award, 0) as promotion_award,
    level_id, coalesce(level_award, 0) as level_award, coalesce(capped, false) as capped, coalesce(eligible_cents, spend_amount_cents) as eligible_cents, items
  from loyalty.transaction
  where tenant_id = $1
    and id = $2;

-- findAllSQL (core/transaction/sql.go)
-- $1=tenant_id $2=ids
prepare findAllSQL as
  select id, rule_type, spend_amount_cents, points_awarded, stamps_awarded, status, voided_at,
    customer_id, transaction_type_id, source, location_id, external_reference, coalesce(occurred_at, created_at) as occurred_at, metadata, created_at,
    expires_on, refunded_cents, refunded_award,
    coalesce(base_award, points_awarded, stamps_awarded) as base_award, promotion_id, coalesce(promotion_award, 0) as promotion_award,
    level_id, coalesce(level_award, 0) as level_award, coalesce(capped, false) as capped, coalesce(eligible_cents, spend_amount_cents) as eligible_cents, items
  from loyalty.transaction
  where tenant_id = $1
    and id = any (array(select unnest($2::uuid[])));

-- customerSaleList (core/transaction/sql.go), for ListByCustomer: ListByCustomer returns a page of a customer's sales,
-- newest first, or core.ErrNotFound if the customer doesn't exist.
-- $1=tenant_id $2=customer $3=limit
prepare customerSaleList as
  select id, rule_type, spend_amount_cents, points_awarded, stamps_awarded, status, voided_at,
    customer_id, transaction_type_id, source, location_id, external_reference, coalesce(occurred_at, created_at) as occurred_at, metadata, created_at,
    expires_on, refunded_cents, refunded_award,
    coalesce(base_award, points_awarded, stamps_awarded) as base_award, promotion_id, coalesce(promotion_award, 0) as promotion_award,
    level_id, coalesce(level_award, 0) as level_award, coalesce(capped, false) as capped, coalesce(eligible_cents, spend_amount_cents) as eligible_cents, items
  from loyalty.transaction t
  where t.tenant_id = $1
    and t.customer_id = $2
  order by t.id desc
  limit $3;

-- recordedList (core/transaction/sql.go): Those of the API.
-- $1=tenant_id $2=limit
-- filter: and t.id < @before
-- filter: and t.status = 'completed'
-- filter: and t.customer_id = @customer
-- filter: and t.id >= @from
-- filter: and t.location_id = @location
-- filter: and t.actor_kind = @recorder_kind and t.actor_id = @recorder
-- filter: and t.external_reference = @reference
-- filter: and t.source = @source
-- filter: and t.transaction_type_id = @type
-- filter: and t.status = 'voided'
-- filter: and t.location_id is null
prepare recordedList as
  select id, rule_type, spend_amount_cents, points_awarded, stamps_awarded, status, voided_at,
    customer_id, transaction_type_id, source, location_id, external_reference, coalesce(occurred_at, created_at) as occurred_at, metadata, created_at,
    expires_on, refunded_cents, refunded_award,
    coalesce(base_award, points_awarded, stamps_awarded) as base_award, promotion_id, coalesce(promotion_award, 0) as promotion_award,
    level_id, coalesce(level_award, 0) as level_award, coalesce(capped, false) as capped, coalesce(eligible_cents, spend_amount_cents) as eligible_cents, items
  from loyalty.transaction t
  where t.tenant_id = $1
  order by t.id desc
  limit $2;

-- amongList (core/transaction/sql.go): Those of the API.
-- $1=tenant_id $2=ids
-- filter: and t.id < @before
-- filter: and t.status = 'completed'
-- filter: and t.customer_id = @customer
-- filter: and t.id >= @from
-- filter: and t.location_id = @location
-- filter: and t.actor_kind = @recorder_kind and t.actor_id = @recorder
-- filter: and t.external_reference = @reference
-- filter: and t.source = @source
-- filter: and t.transaction_type_id = @type
-- filter: and t.status = 'voided'
-- filter: and t.location_id is null
prepare amongList as
  select id, rule_type, spend_amount_cents, points_awarded, stamps_awarded, status, voided_at,
    customer_id, transaction_type_id, source, location_id, external_reference, coalesce(occurred_at, created_at) as occurred_at, metadata, created_at,
    expires_on, refunded_cents, refunded_award,
    coalesce(base_award, points_awarded, stamps_awarded) as base_award, promotion_id, coalesce(promotion_award, 0) as promotion_award,
    level_id, coalesce(level_award, 0) as level_award, coalesce(capped, false) as capped, coalesce(eligible_cents, spend_amount_cents) as eligible_cents, items
  from loyalty.transaction t
  where t.tenant_id = $1
    and t.id = any (array(select unnest($2::uuid[])));

-- saleListsNewest (core/transaction/sql.go), for List: List returns a page of the sales that match the filter, newest or
-- oldest first.
-- $1=voids_any $2=tenant_id $3=since_id $4=actor_id $5=limit
-- filter: and t.id < @before
-- filter: and t.status = 'completed'
-- filter: and t.customer_id = @customer
-- filter: and t.id >= @from
-- filter: and t.location_id = @location
-- filter: and t.actor_kind = @recorder_kind and t.actor_id = @recorder
-- filter: and t.external_reference = @reference
-- filter: and t.source = @source
-- filter: and t.transaction_type_id = @type
-- filter: and t.status = 'voided'
-- filter: and t.location_id is null
prepare saleListsNewest as
  select t.id, t.rule_type, t.spend_amount_cents, t.points_awarded, t.stamps_awarded, t.status, t.voided_at,
    t.customer_id, t.transaction_type_id, t.source, t.location_id, t.external_reference, coalesce(t.occurred_at, t.created_at) as occurred_at, t.metadata, t.created_at,
    t.expires_on, t.refunded_cents, t.refunded_award,
    coalesce(t.base_award, t.points_awarded, t.stamps_awarded) as base_award, t.promotion_id, coalesce(t.promotion_award, 0) as promotion_award,
    t.level_id, coalesce(t.level_award, 0) as level_award, coalesce(t.capped, false) as capped, coalesce(t.eligible_cents, t.spend_amount_cents) as eligible_cents, t.items,
    c.first_name || ' ' || c.last_name as customer_name, k.name as type_name, l.name as location_name,
    t.actor_kind, t.actor_name,
    t.status = 'completed' and ($1::boolean or coalesce(t.id = (
        select id
        from loyalty.transaction
        where tenant_id = $2
        and id >= $3
        and actor_kind = 'staff'
        and actor_id = $4
        order by id desc
        limit 1
      ), false)) as voidable
  from loyalty.transaction t
  join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
  join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
  left join loyalty.location l on l.tenant_id = t.tenant_id and l.id = t.location_id
  where t.tenant_id = $2
  order by t.id desc
  limit $5;

-- saleListsOldest (core/transaction/sql.go), for List: List returns a page of the sales that match the filter, newest or
-- oldest first.
-- $1=voids_any $2=tenant_id $3=since_id $4=actor_id $5=limit
-- filter: and t.id < @before
-- filter: and t.status = 'completed'
-- filter: and t.customer_id = @customer
-- filter: and t.id >= @from
-- filter: and t.location_id = @location
-- filter: and t.actor_kind = @recorder_kind and t.actor_id = @recorder
-- filter: and t.external_reference = @reference
-- filter: and t.source = @source
-- filter: and t.transaction_type_id = @type
-- filter: and t.status = 'voided'
-- filter: and t.location_id is null
prepare saleListsOldest as
  select t.id, t.rule_type, t.spend_amount_cents, t.points_awarded, t.stamps_awarded, t.status, t.voided_at,
    t.customer_id, t.transaction_type_id, t.source, t.location_id, t.external_reference, coalesce(t.occurred_at, t.created_at) as occurred_at, t.metadata, t.created_at,
    t.expires_on, t.refunded_cents, t.refunded_award,
    coalesce(t.base_award, t.points_awarded, t.stamps_awarded) as base_award, t.promotion_id, coalesce(t.promotion_award, 0) as promotion_award,
    t.level_id, coalesce(t.level_award, 0) as level_award, coalesce(t.capped, false) as capped, coalesce(t.eligible_cents, t.spend_amount_cents) as eligible_cents, t.items,
    c.first_name || ' ' || c.last_name as customer_name, k.name as type_name, l.name as location_name,
    t.actor_kind, t.actor_name,
    t.status = 'completed' and ($1::boolean or coalesce(t.id = (
        select id
        from loyalty.transaction
        where tenant_id = $2
        and id >= $3
        and actor_kind = 'staff'
        and actor_id = $4
        order by id desc
        limit 1
      ), false)) as voidable
  from loyalty.transaction t
  join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
  join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
  left join loyalty.location l on l.tenant_id = t.tenant_id and l.id = t.location_id
  where t.tenant_id = $2
  order by t.id
  limit $5;

-- foundSaleListsNewest (core/transaction/sql.go), for List: List returns a page of the sales that match the filter,
-- newest or oldest first.
-- $1=voids_any $2=tenant_id $3=since_id $4=actor_id $5=search $6=buyers $7=limit $8=cents $9=near
-- filter: and t.id < @before
-- filter: and t.status = 'completed'
-- filter: and t.customer_id = @customer
-- filter: and t.id >= @from
-- filter: and t.location_id = @location
-- filter: and t.actor_kind = @recorder_kind and t.actor_id = @recorder
-- filter: and t.external_reference = @reference
-- filter: and t.source = @source
-- filter: and t.transaction_type_id = @type
-- filter: and t.status = 'voided'
-- filter: and t.location_id is null
prepare foundSaleListsNewest as
  select t.id, t.rule_type, t.spend_amount_cents, t.points_awarded, t.stamps_awarded, t.status, t.voided_at,
    t.customer_id, t.transaction_type_id, t.source, t.location_id, t.external_reference, coalesce(t.occurred_at, t.created_at) as occurred_at, t.metadata, t.created_at,
    t.expires_on, t.refunded_cents, t.refunded_award,
    coalesce(t.base_award, t.points_awarded, t.stamps_awarded) as base_award, t.promotion_id, coalesce(t.promotion_award, 0) as promotion_award,
    t.level_id, coalesce(t.level_award, 0) as level_award, coalesce(t.capped, false) as capped, coalesce(t.eligible_cents, t.spend_amount_cents) as eligible_cents, t.items,
    c.first_name || ' ' || c.last_name as customer_name, k.name as type_name, l.name as location_name,
    t.actor_kind, t.actor_name,
    t.status = 'completed' and ($1::boolean or coalesce(t.id = (
        select id
        from loyalty.transaction
        where tenant_id = $2
        and id >= $3
        and actor_kind = 'staff'
        and actor_id = $4
        order by id desc
        limit 1
      ), false)) as voidable
  from loyalty.transaction t
  join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
  join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
  left join loyalty.location l on l.tenant_id = t.tenant_id and l.id = t.location_id
  join (
    select t.id
    from (
      select t.id
      from loyalty.transaction t
      where t.tenant_id = $2
        and t.external_reference = $5
      union
      select sold.id
      from unnest($6::uuid[]) buyer (id)
      cross join lateral (
        select t.id
        from loyalty.transaction t
        where t.tenant_id = $2
          and t.customer_id = buyer.id
        order by t.id desc
        limit $7
      ) sold
      union
      select near.id
      from (
        select t.id, t.spend_amount_cents
        from loyalty.transaction t
        where t.tenant_id = $2
          and $8::bigint is not null
        order by t.id desc
        limit $9
      ) near
      where near.spend_amount_cents = $8
    ) t
    order by t.id desc
    limit $7
  ) match on match.id = t.id
  where t.tenant_id = $2
  order by t.id desc
  limit $7;

-- foundSaleListsOldest (core/transaction/sql.go), for List: List returns a page of the sales that match the filter,
-- newest or oldest first.
-- $1=voids_any $2=tenant_id $3=since_id $4=actor_id $5=search $6=buyers $7=limit $8=cents $9=near
-- filter: and t.id < @before
-- filter: and t.status = 'completed'
-- filter: and t.customer_id = @customer
-- filter: and t.id >= @from
-- filter: and t.location_id = @location
-- filter: and t.actor_kind = @recorder_kind and t.actor_id = @recorder
-- filter: and t.external_reference = @reference
-- filter: and t.source = @source
-- filter: and t.transaction_type_id = @type
-- filter: and t.status = 'voided'
-- filter: and t.location_id is null
prepare foundSaleListsOldest as
  select t.id, t.rule_type, t.spend_amount_cents, t.points_awarded, t.stamps_awarded, t.status, t.voided_at,
    t.customer_id, t.transaction_type_id, t.source, t.location_id, t.external_reference, coalesce(t.occurred_at, t.created_at) as occurred_at, t.metadata, t.created_at,
    t.expires_on, t.refunded_cents, t.refunded_award,
    coalesce(t.base_award, t.points_awarded, t.stamps_awarded) as base_award, t.promotion_id, coalesce(t.promotion_award, 0) as promotion_award,
    t.level_id, coalesce(t.level_award, 0) as level_award, coalesce(t.capped, false) as capped, coalesce(t.eligible_cents, t.spend_amount_cents) as eligible_cents, t.items,
    c.first_name || ' ' || c.last_name as customer_name, k.name as type_name, l.name as location_name,
    t.actor_kind, t.actor_name,
    t.status = 'completed' and ($1::boolean or coalesce(t.id = (
        select id
        from loyalty.transaction
        where tenant_id = $2
        and id >= $3
        and actor_kind = 'staff'
        and actor_id = $4
        order by id desc
        limit 1
      ), false)) as voidable
  from loyalty.transaction t
  join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
  join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
  left join loyalty.location l on l.tenant_id = t.tenant_id and l.id = t.location_id
  join (
    select t.id
    from (
      select t.id
      from loyalty.transaction t
      where t.tenant_id = $2
        and t.external_reference = $5
      union
      select sold.id
      from unnest($6::uuid[]) buyer (id)
      cross join lateral (
        select t.id
        from loyalty.transaction t
        where t.tenant_id = $2
          and t.customer_id = buyer.id
        order by t.id
        limit $7
      ) sold
      union
      select near.id
      from (
        select t.id, t.spend_amount_cents
        from loyalty.transaction t
        where t.tenant_id = $2
          and $8::bigint is not null
        order by t.id
        limit $9
      ) near
      where near.spend_amount_cents = $8
    ) t
    order by t.id
    limit $7
  ) match on match.id = t.id
  where t.tenant_id = $2
  order by t.id
  limit $7;

-- detailSQL (core/transaction/sql.go): Only the audit log contains who voided a sale.
-- $1=voids_any $2=tenant_id $3=since_id $4=actor_id $5=sees_tokens $6=unnamed_token $7=subject_id $8=id
prepare detailSQL as
  select t.id, t.rule_type, t.spend_amount_cents, t.points_awarded, t.stamps_awarded, t.status, t.voided_at,
    t.customer_id, t.transaction_type_id, t.source, t.location_id, t.external_reference, coalesce(t.occurred_at, t.created_at) as occurred_at, t.metadata, t.created_at,
    t.expires_on, t.refunded_cents, t.refunded_award,
    coalesce(t.base_award, t.points_awarded, t.stamps_awarded) as base_award, t.promotion_id, coalesce(t.promotion_award, 0) as promotion_award,
    t.level_id, coalesce(t.level_award, 0) as level_award, coalesce(t.capped, false) as capped, coalesce(t.eligible_cents, t.spend_amount_cents) as eligible_cents, t.items,
    c.first_name || ' ' || c.last_name as customer_name, k.name as type_name, l.name as location_name,
    t.actor_kind, t.actor_name,
    t.status = 'completed' and ($1::boolean or coalesce(t.id = (
        select id
        from loyalty.transaction
        where tenant_id = $2
        and id >= $3
        and actor_kind = 'staff'
        and actor_id = $4
        order by id desc
        limit 1
      ), false)) as voidable,
    t.discount_cents, t.void_reason, case when v.actor_kind = 'token' and not $5 then $6 else v.actor_name end as voided_by_name,
    (select name from loyalty.promotion where tenant_id = $2 and id = t.promotion_id) as promotion_name,
    (select name from loyalty.level where tenant_id = $2 and id = t.level_id) as level_name
  from loyalty.transaction t
  join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
  join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
  left join loyalty.location l on l.tenant_id = t.tenant_id and l.id = t.location_id
  left join loyalty.audit_entry v on v.tenant_id = t.tenant_id
    and v.subject_kind = 'transaction'
    and v.subject_id = $7
    and v.action = 'transaction.void'
  where t.tenant_id = $2
    and t.id = $8;

-- customerSQL (core/transaction/sql.go), for ListByCustomer: ListByCustomer returns a page of a customer's sales, newest
-- first, or core.ErrNotFound if the customer doesn't exist.
-- $1=tenant_id $2=customer
prepare customerSQL as
  select
  from loyalty.customer
  where tenant_id = $1
    and id = $2
    and merged_into is null;

-- referencesSQL (core/transaction/sql.go): The customer is locked as the sale's foreign key locks them: of a merge at
-- the same time, either the sale is moved with the others, or it finds a customer who was merged.
-- $1=tenant_id $2=customer $3=type $4=location
prepare referencesSQL as
  with buyer as (
    select id, status
    from loyalty.customer
    where tenant_id = $1
      and id = (select coalesce($2::uuid, '00000000-0000-0000-0000-000000000000'))
      and merged_into is null
    for key share
  )
  select t.id, coalesce(t.rule_type, '') as rule_type, coalesce(t.active, false) as active,
    coalesce(t.points_per_unit, 0) as points_per_unit, coalesce(t.unit_cents, 1) as unit_cents,
    coalesce(t.stamps_per_transaction, 0) as stamps_per_transaction,
    coalesce(t.min_spend_cents, 0) as min_spend_cents, t.max_award, coalesce(t.excluded_categories, '{}') as excluded_categories,
    c.status as customer_status, coalesce(l.active, false) as location_active, n.earning_version
  from loyalty.tenant n
  left join loyalty.transaction_type t on t.tenant_id = $1 and t.id = coalesce($3::bigint, 0)
  left join buyer c on true
  left join loyalty.location l on l.tenant_id = $1 and l.id = coalesce($4::bigint, 0)
  where n.id = $1;

-- previewSQL (core/transaction/sql.go): Writes nothing, so it locks nothing.
-- $1=tenant_id $2=customer $3=type $4=location
prepare previewSQL as
  with buyer as (
    select id, status
    from loyalty.customer
    where tenant_id = $1
      and id = (select coalesce($2::uuid, '00000000-0000-0000-0000-000000000000'))
      and merged_into is null
  )
  select t.id, coalesce(t.rule_type, '') as rule_type, coalesce(t.active, false) as active,
    coalesce(t.points_per_unit, 0) as points_per_unit, coalesce(t.unit_cents, 1) as unit_cents,
    coalesce(t.stamps_per_transaction, 0) as stamps_per_transaction,
    coalesce(t.min_spend_cents, 0) as min_spend_cents, t.max_award, coalesce(t.excluded_categories, '{}') as excluded_categories,
    c.status as customer_status, coalesce(l.active, false) as location_active, n.earning_version
  from loyalty.tenant n
  left join loyalty.transaction_type t on t.tenant_id = $1 and t.id = coalesce($3::bigint, 0)
  left join buyer c on true
  left join loyalty.location l on l.tenant_id = $1 and l.id = coalesce($4::bigint, 0)
  where n.id = $1;

-- insertSQL (core/transaction/sql.go), for insert: insert queues the sale and its count.
-- $1=tenant_id $2=id $3=customer $4=type $5=rule_type $6=spend $7=discount $8=points $9=stamps $10=expires_on $11=source
-- $12=location $13=reference $14=occurred_at $15=metadata $16=parts $17=actor_kind $18=actor_id $19=actor_name $20=now
prepare insertSQL as
  insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents, discount_cents,
    points_awarded, stamps_awarded, expires_on, source, location_id, external_reference, occurred_at, metadata,
    base_award, promotion_id, promotion_award, level_id, level_award, capped, eligible_cents, items, actor_kind, actor_id, actor_name, created_at)
  values ($1, $2, $3, $4, $5, $6, $7,
    $8, $9, $10, $11, $12, $13, $14, $15,
    ($16::jsonb ->> 'base')::bigint, ($16::jsonb ->> 'promotion')::bigint, ($16::jsonb ->> 'promotion_award')::bigint,
    ($16::jsonb ->> 'level')::bigint, ($16::jsonb ->> 'level_award')::bigint, ($16::jsonb ->> 'capped')::boolean,
    ($16::jsonb ->> 'eligible')::bigint, $16::jsonb -> 'items', $17, $18, $19, $20);

-- voidSQL (core/transaction/sql.go), for VoidIn: VoidIn is Void in the caller's transaction, which also checks the role
-- and the reason: at the till, rewards and vouchers are undone together with their sale.
-- $1=now $2=reason $3=tenant_id $4=id
prepare voidSQL as
  update loyalty.transaction
  set status = 'voided',
    voided_at = $1,
    void_reason = $2
  where tenant_id = $3
    and id = $4
    and status = 'completed'
  returning id, rule_type, spend_amount_cents, points_awarded, stamps_awarded, status, voided_at,
    customer_id, transaction_type_id, source, location_id, external_reference, coalesce(occurred_at, created_at) as occurred_at, metadata, created_at,
    expires_on, refunded_cents, refunded_award,
    coalesce(base_award, points_awarded, stamps_awarded) as base_award, promotion_id, coalesce(promotion_award, 0) as promotion_award,
    level_id, coalesce(level_award, 0) as level_award, coalesce(capped, false) as capped, coalesce(eligible_cents, spend_amount_cents) as eligible_cents, items, (
      select n.points_day_cap is not null or n.stamps_day_cap is not null
        or exists (select from loyalty.level_programme where tenant_id = $3 and active)
      from loyalty.tenant n
      where n.id = $3
    ) as remembered;

-- voidLastSQL (core/transaction/sql.go), for VoidIn: VoidIn is Void in the caller's transaction, which also checks the
-- role and the reason: at the till, rewards and vouchers are undone together with their sale.
-- $1=now $2=reason $3=tenant_id $4=id $5=since_id $6=actor_id
prepare voidLastSQL as
  update loyalty.transaction
  set status = 'voided',
    voided_at = $1,
    void_reason = $2
  where tenant_id = $3
    and id = $4
    and status = 'completed'
    and id = (
      select id
      from loyalty.transaction
      where tenant_id = $3
        and id >= $5
        and actor_kind = 'staff'
        and actor_id = $6
      order by id desc
      limit 1
    )
  returning id, rule_type, spend_amount_cents, points_awarded, stamps_awarded, status, voided_at,
    customer_id, transaction_type_id, source, location_id, external_reference, coalesce(occurred_at, created_at) as occurred_at, metadata, created_at,
    expires_on, refunded_cents, refunded_award,
    coalesce(base_award, points_awarded, stamps_awarded) as base_award, promotion_id, coalesce(promotion_award, 0) as promotion_award,
    level_id, coalesce(level_award, 0) as level_award, coalesce(capped, false) as capped, coalesce(eligible_cents, spend_amount_cents) as eligible_cents, items, (
      select n.points_day_cap is not null or n.stamps_day_cap is not null
        or exists (select from loyalty.level_programme where tenant_id = $3 and active)
      from loyalty.tenant n
      where n.id = $3
    ) as remembered;

-- insertTypeSQL (core/transaction/sql.go), for AddType: AddType creates a type.
-- $1=tenant_id $2=name $3=rule_type $4=points_per_unit $5=unit_cents $6=stamps_per_transaction $7=min_spend_cents
-- $8=max_award $9=excluded_categories $10=now
prepare insertTypeSQL as
  insert into loyalty.transaction_type (tenant_id, name, rule_type, points_per_unit, unit_cents, stamps_per_transaction,
    min_spend_cents, max_award, excluded_categories, created_at)
  values ($1, $2, $3, $4, $5, $6,
    $7, $8, $9, $10)
  returning id, name, rule_type, active, points_per_unit, unit_cents, stamps_per_transaction, min_spend_cents, max_award, excluded_categories;

-- typesSQL (core/transaction/sql.go), for Types: Types returns the tenant's types, the oldest first.
-- $1=tenant_id
prepare typesSQL as
  select id, name, rule_type, active, points_per_unit, unit_cents, stamps_per_transaction, min_spend_cents, max_award, excluded_categories
  from loyalty.transaction_type
  where tenant_id = $1
  order by id;

-- typePages (core/transaction/sql.go), for ListTypes: ListTypes returns a page of the tenant's types, the oldest first.
-- $1=tenant_id $2=limit
prepare typePages as
  select id, name, rule_type, active, points_per_unit, unit_cents, stamps_per_transaction, min_spend_cents, max_award, excluded_categories
  from loyalty.transaction_type
  where tenant_id = $1
  order by id
  limit $2;

-- findTypeSQL (core/transaction/sql.go), for FindType: FindType returns a type, or core.ErrNotFound.
-- $1=tenant_id $2=id
prepare findTypeSQL as
  select id, name, rule_type, active, points_per_unit, unit_cents, stamps_per_transaction, min_spend_cents, max_award, excluded_categories
  from loyalty.transaction_type
  where tenant_id = $1
    and id = $2;

-- lockTypeSQL (core/transaction/sql.go), for EditType: EditType changes the fields that are set.
-- $1=tenant_id $2=id
prepare lockTypeSQL as
  select id, name, rule_type, active, points_per_unit, unit_cents, stamps_per_transaction, min_spend_cents, max_award, excluded_categories,
    (
      select id
      from loyalty.transaction
      where tenant_id = $1
        and transaction_type_id = $2
      order by id
      limit 1
    ) is not null as used,
    array(select id from loyalty.category where tenant_id = $1) as categories
  from loyalty.transaction_type
  where tenant_id = $1
    and id = $2
  for no key update;

-- updateTypeSQL (core/transaction/sql.go), for EditType: EditType changes the fields that are set.
-- $1=name $2=rule_type $3=active $4=points_per_unit $5=unit_cents $6=stamps_per_transaction $7=min_spend_cents
-- $8=max_award $9=excluded_categories $10=tenant_id $11=id
prepare updateTypeSQL as
  update loyalty.transaction_type
  set name = $1,
    rule_type = $2,
    active = $3,
    points_per_unit = $4,
    unit_cents = $5,
    stamps_per_transaction = $6,
    min_spend_cents = $7,
    max_award = $8,
    excluded_categories = $9
  where tenant_id = $10
    and id = $11
  returning id, name, rule_type, active, points_per_unit, unit_cents, stamps_per_transaction, min_spend_cents, max_award, excluded_categories;

-- setTypeActiveSQL (core/transaction/sql.go): Finds nothing if the type already has that state.
-- $1=active $2=tenant_id $3=id
prepare setTypeActiveSQL as
  update loyalty.transaction_type
  set active = $1
  where tenant_id = $2
    and id = $3
    and active <> $1
  returning id, name, rule_type, active, points_per_unit, unit_cents, stamps_per_transaction, min_spend_cents, max_award, excluded_categories;

-- recordEachSQL (core/transaction/together.go): Of the sales, the statements record those of an active business that
-- earn by the same rules as when the award was computed, whose customer, location and receipt number can be used, and
-- whose idempotency key is new.
-- $1=ids $2=customers $3=types $4=units $5=spends $6=awards $7=sources $8=locations $9=references $10=actor_kinds
-- $11=actor_ids $12=actor_names $13=times $14=entries $15=callers $16=keys $17=fingerprints $18=statuses $19=bodies
-- $20=last_days $21=occurred $22=metadata $23=points_idle_on $24=stamps_idle_on $25=parts $26=tenant_id $27=version
prepare recordEachSQL as
  with given as (
    select *
    from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
      $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[],
      $13::timestamptz[], $14::uuid[], $15::text[], $16::text[], $17::bytea[], $18::int[], $19::bytea[],
      $20::date[], $21::timestamptz[], $22::jsonb[], $23::date[], $24::date[], $25::jsonb[])
      with ordinality
      as sale (id, customer_id, type, unit, spend, award, source,
      location_id, reference, actor_kind, actor_id, actor_name,
      created_at, entry, caller, key, fingerprint, status, body,
      expires_on, occurred_at, metadata, points_idle_on, stamps_idle_on, parts, place)
  ),
  usable as materialized (
    select *
    from (
      select given.*, c.birth_month, c.birth_day
      from given
      join loyalty.customer c on c.tenant_id = $26 and c.id = given.customer_id
      where c.status = 'active'
        and c.merged_into is null
        and exists (select from loyalty.tenant where id = $26 and status = 'active' and earning_version = $27)
        and (given.location_id is null
          or (select active from loyalty.location where tenant_id = $26 and id = given.location_id))
        and (given.reference is null
          or not exists (select from loyalty.transaction where tenant_id = $26 and external_reference = given.reference))
        and (given.key is null
        or pg_try_advisory_xact_lock(hashtextextended(given.caller || ' ' || given.key, 7))
        and not exists (select from loyalty.idempotency where tenant_id = $26 and caller = given.caller and key = given.key))
      order by given.customer_id
      for key share of c
    ) customer
  ),
  locked as materialized (
    select *
    from (
      select u.*, a.points, a.stamps, a.entries
      from usable u
      join loyalty.account a on a.tenant_id = $26 and a.customer_id = u.customer_id
      order by u.customer_id
      for no key update of a
    ) account
  ),
  accepted as not materialized (
    select $26::bigint as tenant_id, *
    from locked
  ),
  sold as (
    insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents,
      points_awarded, stamps_awarded, expires_on,
      source, location_id, external_reference, occurred_at, metadata, base_award, promotion_id, promotion_award, level_id, level_award, capped, eligible_cents, items, actor_kind, actor_id, actor_name, created_at)
    select tenant_id, id, customer_id, type, unit, spend,
      case when unit = 'points' then award end, case when unit = 'stamps' then award end, expires_on,
      source, location_id, reference, occurred_at, metadata, (parts ->> 'base')::bigint, (parts ->> 'promotion')::bigint, (parts ->> 'promotion_award')::bigint,
      (parts ->> 'level')::bigint, (parts ->> 'level_award')::bigint, (parts ->> 'capped')::boolean, (parts ->> 'eligible')::bigint, parts -> 'items', actor_kind, actor_id, actor_name, created_at
    from accepted
    order by place
    returning 1
  ),
  reply as (
    insert into loyalty.idempotency (tenant_id, caller, key, fingerprint, status, body, created_at)
    select tenant_id, caller, key, fingerprint, status, body, created_at
    from accepted
    where key is not null
    returning 1
  ),
  moved as (
    update loyalty.account a
    set points = a.points + case when s.unit = 'points' then s.award else 0 end,
      stamps = a.stamps + case when s.unit = 'stamps' then s.award else 0 end,
      entries = a.entries + case when s.award > 0 then 1 else 0 end,
      visits = a.visits + 1,
      spent_cents = a.spent_cents + s.spend,
      points_expire_on = case when s.unit = 'points' and s.award > 0 and a.points + s.award > 0 then least(a.points_expire_on, s.expires_on) else a.points_expire_on end,
      stamps_expire_on = case when s.unit = 'stamps' and s.award > 0 and a.stamps + s.award > 0 then least(a.stamps_expire_on, s.expires_on) else a.stamps_expire_on end,
      points_idle_on = greatest(a.points_idle_on, s.points_idle_on),
      stamps_idle_on = greatest(a.stamps_idle_on, s.stamps_idle_on)
    from accepted s
    where a.tenant_id = $26
      and a.customer_id = s.customer_id
  ),
  entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, cause,
      actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
    select tenant_id, entry, customer_id, unit, award, 'earn', id,
      actor_kind, actor_id, actor_name, created_at, entries + 1,
      case when unit = 'points' then points else stamps end + award, expires_on
    from accepted
    where award > 0
    returning 1
  )
  select place
  from locked;

-- recordOnItsNodeSQL (core/transaction/together.go): Of the sales, the statements record those of an active business
-- that earn by the same rules as when the award was computed, whose customer, location and receipt number can be used,
-- and whose idempotency key is new.
-- $1=ids $2=customers $3=types $4=units $5=spends $6=awards $7=sources $8=locations $9=references $10=actor_kinds
-- $11=actor_ids $12=actor_names $13=times $14=entries $15=callers $16=keys $17=fingerprints $18=statuses $19=bodies
-- $20=last_days $21=occurred $22=metadata $23=points_idle_on $24=stamps_idle_on $25=parts $26=tenant_id $27=version
prepare recordOnItsNodeSQL as
  with given as (
    select *
    from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
      $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[],
      $13::timestamptz[], $14::uuid[], $15::text[], $16::text[], $17::bytea[], $18::int[], $19::bytea[],
      $20::date[], $21::timestamptz[], $22::jsonb[], $23::date[], $24::date[], $25::jsonb[])
      with ordinality
      as sale (id, customer_id, type, unit, spend, award, source,
      location_id, reference, actor_kind, actor_id, actor_name,
      created_at, entry, caller, key, fingerprint, status, body,
      expires_on, occurred_at, metadata, points_idle_on, stamps_idle_on, parts, place)
  ),
  usable as materialized (
    select *
    from (
      select given.*, c.birth_month, c.birth_day
      from given
      join loyalty.customer c on c.tenant_id = $26 and c.id = given.customer_id
      where c.status = 'active'
        and c.merged_into is null
        and exists (select from loyalty.tenant where id = $26 and status = 'active' and earning_version = $27)
        and (given.location_id is null
          or (select active from loyalty.location where tenant_id = $26 and id = given.location_id))
        and (given.reference is null
          or not exists (select from loyalty.transaction where tenant_id = $26 and external_reference = given.reference))
        and (given.key is null
        or pg_try_advisory_xact_lock(hashtextextended(given.caller || ' ' || given.key, 7))
        and not exists (select from loyalty.idempotency where tenant_id = $26 and caller = given.caller and key = given.key))
      order by given.customer_id
      for key share of c
    ) customer
  ),
  locked as materialized (
    select *
    from (
      select u.*, a.points, a.stamps, a.entries
      from usable u
      join loyalty.account a on a.tenant_id = $26 and a.customer_id = u.customer_id
      order by u.customer_id
      for no key update of a
    ) account
  ),
  accepted as not materialized (
    select t.tenant_id, l.*
    from locked l
    join loyalty.transaction_type t on t.tenant_id = $26 and t.id = l.type
  ),
  sold as (
    insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents,
      points_awarded, stamps_awarded, expires_on,
      source, location_id, external_reference, occurred_at, metadata, base_award, promotion_id, promotion_award, level_id, level_award, capped, eligible_cents, items, actor_kind, actor_id, actor_name, created_at)
    select tenant_id, id, customer_id, type, unit, spend,
      case when unit = 'points' then award end, case when unit = 'stamps' then award end, expires_on,
      source, location_id, reference, occurred_at, metadata, (parts ->> 'base')::bigint, (parts ->> 'promotion')::bigint, (parts ->> 'promotion_award')::bigint,
      (parts ->> 'level')::bigint, (parts ->> 'level_award')::bigint, (parts ->> 'capped')::boolean, (parts ->> 'eligible')::bigint, parts -> 'items', actor_kind, actor_id, actor_name, created_at
    from accepted
    order by place
    returning 1
  ),
  reply as (
    insert into loyalty.idempotency (tenant_id, caller, key, fingerprint, status, body, created_at)
    select tenant_id, caller, key, fingerprint, status, body, created_at
    from accepted
    where key is not null
    returning 1
  ),
  moved as (
    update loyalty.account a
    set points = a.points + case when s.unit = 'points' then s.award else 0 end,
      stamps = a.stamps + case when s.unit = 'stamps' then s.award else 0 end,
      entries = a.entries + case when s.award > 0 then 1 else 0 end,
      visits = a.visits + 1,
      spent_cents = a.spent_cents + s.spend,
      points_expire_on = case when s.unit = 'points' and s.award > 0 and a.points + s.award > 0 then least(a.points_expire_on, s.expires_on) else a.points_expire_on end,
      stamps_expire_on = case when s.unit = 'stamps' and s.award > 0 and a.stamps + s.award > 0 then least(a.stamps_expire_on, s.expires_on) else a.stamps_expire_on end,
      points_idle_on = greatest(a.points_idle_on, s.points_idle_on),
      stamps_idle_on = greatest(a.stamps_idle_on, s.stamps_idle_on)
    from accepted s
    where a.tenant_id = $26
      and a.customer_id = s.customer_id
  ),
  entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, cause,
      actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
    select tenant_id, entry, customer_id, unit, award, 'earn', id,
      actor_kind, actor_id, actor_name, created_at, entries + 1,
      case when unit = 'points' then points else stamps end + award, expires_on
    from accepted
    where award > 0
    returning 1
  )
  select place
  from locked;

-- recordOneSQL (core/transaction/together.go): For a batch of one, PostgreSQL needs a third less time without sets.
-- $1=ids $2=customers $3=types $4=units $5=spends $6=awards $7=sources $8=locations $9=references $10=actor_kinds
-- $11=actor_ids $12=actor_names $13=times $14=entries $15=callers $16=keys $17=fingerprints $18=statuses $19=bodies
-- $20=last_days $21=occurred $22=metadata $23=points_idle_on $24=stamps_idle_on $25=parts $26=tenant_id $27=version
prepare recordOneSQL as
  with given as (
    select *
    from (values (($1::uuid[])[1], ($2::uuid[])[1], ($3::bigint[])[1], ($4::text[])[1], ($5::bigint[])[1], ($6::bigint[])[1], ($7::text[])[1],
        ($8::bigint[])[1], ($9::text[])[1], ($10::text[])[1], ($11::text[])[1], ($12::text[])[1],
        ($13::timestamptz[])[1], ($14::uuid[])[1], ($15::text[])[1], ($16::text[])[1], ($17::bytea[])[1], ($18::int[])[1], ($19::bytea[])[1],
        ($20::date[])[1], ($21::timestamptz[])[1], ($22::jsonb[])[1], ($23::date[])[1], ($24::date[])[1], ($25::jsonb[])[1], 1))
      as sale (id, customer_id, type, unit, spend, award, source,
      location_id, reference, actor_kind, actor_id, actor_name,
      created_at, entry, caller, key, fingerprint, status, body,
      expires_on, occurred_at, metadata, points_idle_on, stamps_idle_on, parts, place)
  ),
  locked as materialized (
    select *
    from (
      select given.*, c.birth_month, c.birth_day
      from given
      join loyalty.customer c on c.tenant_id = $26 and c.id = given.customer_id
      where c.status = 'active'
        and c.merged_into is null
        and exists (select from loyalty.tenant where id = $26 and status = 'active' and earning_version = $27)
        and (given.location_id is null
          or (select active from loyalty.location where tenant_id = $26 and id = given.location_id))
        and (given.reference is null
          or not exists (select from loyalty.transaction where tenant_id = $26 and external_reference = given.reference))
        and (given.key is null
        or pg_try_advisory_xact_lock(hashtextextended(given.caller || ' ' || given.key, 7))
        and not exists (select from loyalty.idempotency where tenant_id = $26 and caller = given.caller and key = given.key))
      order by given.customer_id
      for key share of c
    ) customer
  ),
  accepted as not materialized (
    select $26::bigint as tenant_id, *
    from locked
  ),
  sold as (
    insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents,
      points_awarded, stamps_awarded, expires_on,
      source, location_id, external_reference, occurred_at, metadata, base_award, promotion_id, promotion_award, level_id, level_award, capped, eligible_cents, items, actor_kind, actor_id, actor_name, created_at)
    select tenant_id, id, customer_id, type, unit, spend,
      case when unit = 'points' then award end, case when unit = 'stamps' then award end, expires_on,
      source, location_id, reference, occurred_at, metadata, (parts ->> 'base')::bigint, (parts ->> 'promotion')::bigint, (parts ->> 'promotion_award')::bigint,
      (parts ->> 'level')::bigint, (parts ->> 'level_award')::bigint, (parts ->> 'capped')::boolean, (parts ->> 'eligible')::bigint, parts -> 'items', actor_kind, actor_id, actor_name, created_at
    from accepted
    order by place
    returning 1
  ),
  reply as (
    insert into loyalty.idempotency (tenant_id, caller, key, fingerprint, status, body, created_at)
    select tenant_id, caller, key, fingerprint, status, body, created_at
    from accepted
    where key is not null
    returning 1
  ),
  moved as (
    update loyalty.account a
    set points = a.points + case when s.unit = 'points' then s.award else 0 end,
      stamps = a.stamps + case when s.unit = 'stamps' then s.award else 0 end,
      entries = a.entries + case when s.award > 0 then 1 else 0 end,
      visits = a.visits + 1,
      spent_cents = a.spent_cents + s.spend,
      points_expire_on = case when s.unit = 'points' and s.award > 0 and a.points + s.award > 0 then least(a.points_expire_on, s.expires_on) else a.points_expire_on end,
      stamps_expire_on = case when s.unit = 'stamps' and s.award > 0 and a.stamps + s.award > 0 then least(a.stamps_expire_on, s.expires_on) else a.stamps_expire_on end,
      points_idle_on = greatest(a.points_idle_on, s.points_idle_on),
      stamps_idle_on = greatest(a.stamps_idle_on, s.stamps_idle_on)
    from accepted s
    where a.tenant_id = $26
      and a.customer_id = s.customer_id
    returning a.entries, case when s.unit = 'points' then a.points else a.stamps end as balance
  ),
  entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, cause,
      actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
    select s.tenant_id, s.entry, s.customer_id, s.unit, s.award, 'earn', s.id,
      s.actor_kind, s.actor_id, s.actor_name, s.created_at, m.entries, m.balance, s.expires_on
    from accepted s
    left join moved m on true
    where s.award > 0
    returning 1
  )
  select place
  from locked;

-- lockBuyersSQL (core/transaction/together.go): Where awards depend on the customer, a first statement locks the
-- customers and accounts of the sales that can be recorded, and returns what awards know of them; then a second one
-- records these sales.
-- $1=customers $2=locations $3=references $4=callers $5=keys $6=tenant_id $7=version
prepare lockBuyersSQL as
  with given as (
    select *
    from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[])
      with ordinality
      as sale (customer_id, location_id, reference, caller, key, place)
  ),
  usable as materialized (
    select *
    from (
      select given.*, c.birth_month, c.birth_day
      from given
      join loyalty.customer c on c.tenant_id = $6 and c.id = given.customer_id
      where c.status = 'active'
        and c.merged_into is null
        and exists (select from loyalty.tenant where id = $6 and status = 'active' and earning_version = $7)
        and (given.location_id is null
          or (select active from loyalty.location where tenant_id = $6 and id = given.location_id))
        and (given.reference is null
          or not exists (select from loyalty.transaction where tenant_id = $6 and external_reference = given.reference))
        and (given.key is null
        or pg_try_advisory_xact_lock(hashtextextended(given.caller || ' ' || given.key, 7))
        and not exists (select from loyalty.idempotency where tenant_id = $6 and caller = given.caller and key = given.key))
      order by given.customer_id
      for key share of c
    ) customer
  )
  select *
  from (
    select u.place, u.birth_month, u.birth_day, a.points, a.stamps, coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
    from usable u
    join loyalty.account a on a.tenant_id = $6 and a.customer_id = u.customer_id
    order by u.customer_id
    for no key update of a
  ) standing;

-- recordKnownSQL (core/transaction/together.go): Where awards depend on the customer, a first statement locks the
-- customers and accounts of the sales that can be recorded, and returns what awards know of them; then a second one
-- records these sales.
-- $1=ids $2=customers $3=types $4=units $5=spends $6=awards $7=sources $8=locations $9=references $10=actor_kinds
-- $11=actor_ids $12=actor_names $13=times $14=entries $15=callers $16=keys $17=fingerprints $18=statuses $19=bodies
-- $20=last_days $21=occurred $22=metadata $23=points_idle_on $24=stamps_idle_on $25=parts $26=tenant_id $27=standings
prepare recordKnownSQL as
  with given as (
    select *
    from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
      $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[],
      $13::timestamptz[], $14::uuid[], $15::text[], $16::text[], $17::bytea[], $18::int[], $19::bytea[],
      $20::date[], $21::timestamptz[], $22::jsonb[], $23::date[], $24::date[], $25::jsonb[])
      with ordinality
      as sale (id, customer_id, type, unit, spend, award, source,
      location_id, reference, actor_kind, actor_id, actor_name,
      created_at, entry, caller, key, fingerprint, status, body,
      expires_on, occurred_at, metadata, points_idle_on, stamps_idle_on, parts, place)
  ),
  locked as materialized (
    select given.*, a.points, a.stamps, a.entries
    from given
    join loyalty.account a on a.tenant_id = $26 and a.customer_id = given.customer_id
  ),
  accepted as not materialized (
    select $26::bigint as tenant_id, *
    from locked
  ),
  sold as (
    insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents,
      points_awarded, stamps_awarded, expires_on,
      source, location_id, external_reference, occurred_at, metadata, base_award, promotion_id, promotion_award, level_id, level_award, capped, eligible_cents, items, actor_kind, actor_id, actor_name, created_at)
    select tenant_id, id, customer_id, type, unit, spend,
      case when unit = 'points' then award end, case when unit = 'stamps' then award end, expires_on,
      source, location_id, reference, occurred_at, metadata, (parts ->> 'base')::bigint, (parts ->> 'promotion')::bigint, (parts ->> 'promotion_award')::bigint,
      (parts ->> 'level')::bigint, (parts ->> 'level_award')::bigint, (parts ->> 'capped')::boolean, (parts ->> 'eligible')::bigint, parts -> 'items', actor_kind, actor_id, actor_name, created_at
    from accepted
    order by place
    returning 1
  ),
  reply as (
    insert into loyalty.idempotency (tenant_id, caller, key, fingerprint, status, body, created_at)
    select tenant_id, caller, key, fingerprint, status, body, created_at
    from accepted
    where key is not null
    returning 1
  ),
  moved as (
    update loyalty.account a
    set points = a.points + case when s.unit = 'points' then s.award else 0 end,
      stamps = a.stamps + case when s.unit = 'stamps' then s.award else 0 end,
      entries = a.entries + case when s.award > 0 then 1 else 0 end,
      visits = a.visits + 1,
      spent_cents = a.spent_cents + s.spend,
      points_expire_on = case when s.unit = 'points' and s.award > 0 and a.points + s.award > 0 then least(a.points_expire_on, s.expires_on) else a.points_expire_on end,
      stamps_expire_on = case when s.unit = 'stamps' and s.award > 0 and a.stamps + s.award > 0 then least(a.stamps_expire_on, s.expires_on) else a.stamps_expire_on end,
      points_idle_on = greatest(a.points_idle_on, s.points_idle_on),
      stamps_idle_on = greatest(a.stamps_idle_on, s.stamps_idle_on),
      earned_on = k.earned_on,
      earned_points = k.earned_points,
      earned_stamps = k.earned_stamps,
      level_year = k.level_year,
      level_sum = k.level_sum,
      level_sum_before = k.level_sum_before,
      level_id = k.level_id,
      level_until = k.level_until,
      level_by = k.level_by
    from accepted s
    join jsonb_to_recordset($27::jsonb) k (place bigint, earned_on date, earned_points bigint, earned_stamps bigint,
      level_year int, level_sum bigint, level_sum_before bigint, level_id bigint, level_until date, level_by text) on k.place = s.place
    where a.tenant_id = $26
      and a.customer_id = s.customer_id
  ),
  entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, cause,
      actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
    select tenant_id, entry, customer_id, unit, award, 'earn', id,
      actor_kind, actor_id, actor_name, created_at, entries + 1,
      case when unit = 'points' then points else stamps end + award, expires_on
    from accepted
    where award > 0
    returning 1
  )
  select place
  from locked;

-- recordKnownOnItsNodeSQL (core/transaction/together.go): Where awards depend on the customer, a first statement locks
-- the customers and accounts of the sales that can be recorded, and returns what awards know of them; then a second one
-- records these sales.
-- $1=ids $2=customers $3=types $4=units $5=spends $6=awards $7=sources $8=locations $9=references $10=actor_kinds
-- $11=actor_ids $12=actor_names $13=times $14=entries $15=callers $16=keys $17=fingerprints $18=statuses $19=bodies
-- $20=last_days $21=occurred $22=metadata $23=points_idle_on $24=stamps_idle_on $25=parts $26=tenant_id $27=standings
prepare recordKnownOnItsNodeSQL as
  with given as (
    select *
    from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
      $8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[],
      $13::timestamptz[], $14::uuid[], $15::text[], $16::text[], $17::bytea[], $18::int[], $19::bytea[],
      $20::date[], $21::timestamptz[], $22::jsonb[], $23::date[], $24::date[], $25::jsonb[])
      with ordinality
      as sale (id, customer_id, type, unit, spend, award, source,
      location_id, reference, actor_kind, actor_id, actor_name,
      created_at, entry, caller, key, fingerprint, status, body,
      expires_on, occurred_at, metadata, points_idle_on, stamps_idle_on, parts, place)
  ),
  locked as materialized (
    select given.*, a.points, a.stamps, a.entries
    from given
    join loyalty.account a on a.tenant_id = $26 and a.customer_id = given.customer_id
  ),
  accepted as not materialized (
    select t.tenant_id, l.*
    from locked l
    join loyalty.transaction_type t on t.tenant_id = $26 and t.id = l.type
  ),
  sold as (
    insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents,
      points_awarded, stamps_awarded, expires_on,
      source, location_id, external_reference, occurred_at, metadata, base_award, promotion_id, promotion_award, level_id, level_award, capped, eligible_cents, items, actor_kind, actor_id, actor_name, created_at)
    select tenant_id, id, customer_id, type, unit, spend,
      case when unit = 'points' then award end, case when unit = 'stamps' then award end, expires_on,
      source, location_id, reference, occurred_at, metadata, (parts ->> 'base')::bigint, (parts ->> 'promotion')::bigint, (parts ->> 'promotion_award')::bigint,
      (parts ->> 'level')::bigint, (parts ->> 'level_award')::bigint, (parts ->> 'capped')::boolean, (parts ->> 'eligible')::bigint, parts -> 'items', actor_kind, actor_id, actor_name, created_at
    from accepted
    order by place
    returning 1
  ),
  reply as (
    insert into loyalty.idempotency (tenant_id, caller, key, fingerprint, status, body, created_at)
    select tenant_id, caller, key, fingerprint, status, body, created_at
    from accepted
    where key is not null
    returning 1
  ),
  moved as (
    update loyalty.account a
    set points = a.points + case when s.unit = 'points' then s.award else 0 end,
      stamps = a.stamps + case when s.unit = 'stamps' then s.award else 0 end,
      entries = a.entries + case when s.award > 0 then 1 else 0 end,
      visits = a.visits + 1,
      spent_cents = a.spent_cents + s.spend,
      points_expire_on = case when s.unit = 'points' and s.award > 0 and a.points + s.award > 0 then least(a.points_expire_on, s.expires_on) else a.points_expire_on end,
      stamps_expire_on = case when s.unit = 'stamps' and s.award > 0 and a.stamps + s.award > 0 then least(a.stamps_expire_on, s.expires_on) else a.stamps_expire_on end,
      points_idle_on = greatest(a.points_idle_on, s.points_idle_on),
      stamps_idle_on = greatest(a.stamps_idle_on, s.stamps_idle_on),
      earned_on = k.earned_on,
      earned_points = k.earned_points,
      earned_stamps = k.earned_stamps,
      level_year = k.level_year,
      level_sum = k.level_sum,
      level_sum_before = k.level_sum_before,
      level_id = k.level_id,
      level_until = k.level_until,
      level_by = k.level_by
    from accepted s
    join jsonb_to_recordset($27::jsonb) k (place bigint, earned_on date, earned_points bigint, earned_stamps bigint,
      level_year int, level_sum bigint, level_sum_before bigint, level_id bigint, level_until date, level_by text) on k.place = s.place
    where a.tenant_id = $26
      and a.customer_id = s.customer_id
  ),
  entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, cause,
      actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
    select tenant_id, entry, customer_id, unit, award, 'earn', id,
      actor_kind, actor_id, actor_name, created_at, entries + 1,
      case when unit = 'points' then points else stamps end + award, expires_on
    from accepted
    where award > 0
    returning 1
  )
  select place
  from locked;
