-- The statements of core/reward, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/reward.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- moveSQL (core/reward/merge.go), for Move: Move moves the redemptions of a customer who is being merged, and returns
-- their number.
-- $1=kept $2=tenant_id $3=merged
prepare moveSQL as
  update loyalty.redemption
  set customer_id = $1
  where tenant_id = $2
    and customer_id = $3;

-- outlookSQL (core/reward/outlook.go): A business has some dozens of rewards.
-- $1=tenant_id $2=customer $3=today
prepare outlookSQL as
  select name, points_cost, stamps_cost, affordable, min_level_id
  from (
    select r.name, coalesce(r.points_cost <= a.points, r.stamps_cost <= a.stamps) as affordable, r.points_cost, r.stamps_cost, r.min_level_id, r.max_per_customer, r.starts_on, r.ends_on,
    case when r.max_per_customer is null then 0 else (
      select count(*)
      from loyalty.redemption u
      where u.tenant_id = $1
      and u.customer_id = $2
      and u.status <> 'voided'
      and u.points_spent + u.stamps_spent > 0
        and u.reward_id = r.id
    ) end as used
    from loyalty.account a
    join loyalty.reward r on r.tenant_id = a.tenant_id
    where a.tenant_id = $1
      and a.customer_id = $2
      and r.active
      and coalesce(r.stock > 0, true)
      and coalesce(r.starts_on <= $3, true)
      and coalesce(r.ends_on >= $3, true)
  ) offered
  where coalesce(used < max_per_customer, true)
  order by coalesce(points_cost, stamps_cost), name;

-- insertSQL (core/reward/sql.go), for Add: Add creates a reward.
-- $1=tenant_id $2=id $3=name $4=description $5=points_cost $6=stamps_cost $7=stock $8=cost_cents $9=value_cents
-- $10=picture $11=min_level $12=max_per_customer $13=starts_on $14=ends_on $15=now
prepare insertSQL as
  with added as (
    insert into loyalty.reward (tenant_id, id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, picture_hash,
      min_level_id, max_per_customer, starts_on, ends_on, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, decode($10, 'hex'),
      $11, $12, $13, $14, $15)
    returning *
  )
  select id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
    coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = $1), 5), false) as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
    (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = min_level_id) as level_name
  from added;

-- findSQL (core/reward/sql.go), for notChanged: notChanged returns why a stock could not be changed.
-- $1=tenant_id $2=id
prepare findSQL as
  select id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
    coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = $1), 5), false) as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
    (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = min_level_id) as level_name
  from loyalty.reward
  where tenant_id = $1
    and id = $2;

-- lockSQL (core/reward/sql.go), for Edit: Edit changes the fields that are set.
-- $1=tenant_id $2=id
prepare lockSQL as
  select id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
    coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = $1), 5), false) as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
    (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = min_level_id) as level_name
  from loyalty.reward
  where tenant_id = $1
    and id = $2
  for no key update;

-- updateSQL (core/reward/sql.go): Leaves out the stock, because tills go on taking units.
-- $1=name $2=description $3=points_cost $4=stamps_cost $5=cost_cents $6=value_cents $7=picture $8=min_level
-- $9=max_per_customer $10=starts_on $11=ends_on $12=active $13=tenant_id $14=id
prepare updateSQL as
  update loyalty.reward
  set name = $1,
    description = $2,
    points_cost = $3,
    stamps_cost = $4,
    cost_cents = $5,
    value_cents = $6,
    picture_hash = decode($7, 'hex'),
    min_level_id = $8,
    max_per_customer = $9,
    starts_on = $10,
    ends_on = $11,
    active = $12
  where tenant_id = $13
    and id = $14
  returning id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
    coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = $13), 5), false) as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
    (select l.name from loyalty.level l where l.tenant_id = $13 and l.id = min_level_id) as level_name;

-- writePictureSQL (core/reward/sql.go), for writePicture: writePicture queues a new picture of a reward; nil: it has
-- none.
-- $1=tenant_id $2=id $3=type $4=bytes
prepare writePictureSQL as
  insert into loyalty.reward_picture (tenant_id, reward_id, type, bytes)
  values ($1, $2, $3, $4)
  on conflict (tenant_id, reward_id) do update
  set type = excluded.type,
    bytes = excluded.bytes;

-- deletePictureSQL (core/reward/sql.go), for writePicture: writePicture queues a new picture of a reward; nil: it has
-- none.
-- $1=tenant_id $2=id
prepare deletePictureSQL as
  delete from loyalty.reward_picture
  where tenant_id = $1
    and reward_id = $2;

-- pictureSQL (core/reward/sql.go), for Picture: Picture returns the picture of a reward by its hash, for everyone: it is
-- on customers' cards.
-- $1=tenant_id $2=id $3=hash
prepare pictureSQL as
  select p.type, p.bytes
  from loyalty.reward_picture p
  join loyalty.reward r on r.tenant_id = p.tenant_id and r.id = p.reward_id
  where p.tenant_id = $1
    and p.reward_id = $2
    and r.picture_hash = $3;

-- setActiveSQL (core/reward/sql.go): Finds nothing if the reward already has that state.
-- $1=active $2=tenant_id $3=id
prepare setActiveSQL as
  update loyalty.reward
  set active = $1
  where tenant_id = $2
    and id = $3
    and active <> $1
  returning id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
    coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = $2), 5), false) as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
    (select l.name from loyalty.level l where l.tenant_id = $2 and l.id = min_level_id) as level_name;

-- changeStockSQL (core/reward/sql.go): Adds to the current stock, whatever tills have taken.
-- $1=change $2=tenant_id $3=id $4=most
prepare changeStockSQL as
  update loyalty.reward
  set stock = stock + $1
  where tenant_id = $2
    and id = $3
    and stock + $1 between 0 and $4
  returning id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
    coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = $2), 5), false) as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
    (select l.name from loyalty.level l where l.tenant_id = $2 and l.id = min_level_id) as level_name;

-- setStockSQL (core/reward/sql.go): Replaces only the displayed stock.
-- $1=stock $2=tenant_id $3=id $4=seen
prepare setStockSQL as
  update loyalty.reward
  set stock = $1
  where tenant_id = $2
    and id = $3
    and stock is not distinct from $4
  returning id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
    coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = $2), 5), false) as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
    (select l.name from loyalty.level l where l.tenant_id = $2 and l.id = min_level_id) as level_name;

-- limitStockSQL (core/reward/sql.go): Buyers don't update an unlimited reward, but hold a key share lock (offerSQL).
-- $1=tenant_id $2=id $3=stock
prepare limitStockSQL as
  with held as (
    select id
    from loyalty.reward
    where tenant_id = $1
      and id = $2
    for update
  )
  update loyalty.reward
  set stock = $3
  where tenant_id = $1
    and id = (select id from held)
    and stock is null
  returning id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
    coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = $1), 5), false) as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
    (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = min_level_id) as level_name;

-- findCountedSQL (core/reward/sql.go): Counts the redemptions only of the rewards on the page, from an index.
-- $1=tenant_id $2=id
prepare findCountedSQL as
  select r.id, r.name, r.description, r.points_cost, r.stamps_cost, r.stock, r.cost_cents, r.value_cents, r.picture_hash, r.active, r.created_at, r.low_stock,
    r.min_level_id, r.max_per_customer, r.starts_on, r.ends_on, r.level_name, n.pending, n.redeemed
  from (
    select id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
    coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = $1), 5), false) as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
    (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = min_level_id) as level_name
    from loyalty.reward
    where tenant_id = $1
      and id = $2
  ) r
  cross join lateral (
    select count(*) filter (where status = 'pending') as pending,
      count(*) filter (where status <> 'voided') as redeemed
    from loyalty.redemption
    where tenant_id = $1
      and reward_id = r.id
  ) n;

-- namesSQL (core/reward/sql.go), for Choices: Choices returns all rewards by name.
-- $1=tenant_id
prepare namesSQL as
  select id, name, active
  from loyalty.reward
  where tenant_id = $1
  order by name, id;

-- activeList (core/reward/sql.go), for ListActive: ListActive returns a page of the active rewards, newest first.
-- $1=tenant_id $2=limit
prepare activeList as
  select id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
    coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = $1), 5), false) as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
    (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = min_level_id) as level_name
  from loyalty.reward
  where tenant_id = $1
    and active
  order by created_at desc, id desc
  limit $2;

-- countedList (core/reward/sql.go), for List: List returns a page of the rewards that match the filter, newest first,
-- with the number of their redemptions.
-- $1=tenant_id $2=limit
-- filter: and active
-- filter: and not active
prepare countedList as
  select r.id, r.name, r.description, r.points_cost, r.stamps_cost, r.stock, r.cost_cents, r.value_cents, r.picture_hash, r.active, r.created_at, r.low_stock,
    r.min_level_id, r.max_per_customer, r.starts_on, r.ends_on, r.level_name, n.pending, n.redeemed
  from (
    select id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
    coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = $1), 5), false) as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
    (select l.name from loyalty.level l where l.tenant_id = $1 and l.id = min_level_id) as level_name
    from loyalty.reward
    where tenant_id = $1
    order by created_at desc, id desc
    limit $2
  ) r
  cross join lateral (
    select count(*) filter (where status = 'pending') as pending,
      count(*) filter (where status <> 'voided') as redeemed
    from loyalty.redemption
    where tenant_id = $1
      and reward_id = r.id
  ) n
  order by created_at desc, id desc
  limit $2;

-- offerSQL (core/reward/sql.go): The redemption's foreign keys would take the same locks on the reward and on the
-- customer, who may be merged at the same time.
-- $1=tenant_id $2=reward $3=customer
prepare offerSQL as
  with held as (
    select id, name, active, points_cost, stamps_cost, stock, value_cents, min_level_id, max_per_customer, starts_on, ends_on
    from loyalty.reward
    where tenant_id = $1
      and id = $2
    for key share
  ), buyer as (
    select id, status
    from loyalty.customer
    where tenant_id = $1
      and id = coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
      and merged_into is null
    for key share
  )
  select r.id as reward_id, coalesce(r.name, '') as name, coalesce(r.active, false) as active, r.points_cost, r.stamps_cost, r.stock, r.value_cents,
    r.min_level_id, r.max_per_customer, r.starts_on, r.ends_on,
    c.status as customer_status, coalesce(a.points, 0) as points, coalesce(a.stamps, 0) as stamps
  from (values (1)) as always
  left join held r on true
  left join buyer c on true
  left join loyalty.account a on a.tenant_id = $1 and a.customer_id = c.id;

-- takeStockSQL (core/reward/sql.go): Of several buyers, one updates and the others wait and find one unit less.
-- $1=tenant_id $2=reward
prepare takeStockSQL as
  update loyalty.reward
  set stock = stock - 1
  where tenant_id = $1
    and id = $2
    and (stock > 0 or stock is null)
  returning stock is not null;

-- grantUnitSQL (core/reward/sql.go): An unlimited reward is locked as in offerSQL, and not updated.
-- $1=tenant_id $2=reward
prepare grantUnitSQL as
  with held as (
    select id, name, value_cents, stock
    from loyalty.reward
    where tenant_id = $1
      and id = $2
    for key share
  ), taken as (
    update loyalty.reward
    set stock = stock - 1
    where tenant_id = $1
      and id = (select id from held)
      and stock > 0
    returning id
  )
  select h.name, h.value_cents, h.stock, t.id is not null as taken
  from held h
  left join taken t on t.id = h.id;

-- returnStockSQL (core/reward/sql.go), for Undo: Undo undoes what a till did with redemptions, or a program with a
-- voucher for a reward, in the caller's transaction: those that it redeemed (bought) are voided, and those that it only
-- fulfilled (pending) are pending again.
-- $1=tenant_id $2=reward
prepare returnStockSQL as
  update loyalty.reward
  set stock = stock + 1
  where tenant_id = $1
    and id = $2;

-- insertRedemptionSQL (core/reward/sql.go), for insert: insert queues a pending redemption.
-- $1=tenant_id $2=id $3=customer $4=reward $5=points $6=stamps $7=took_stock $8=actor_kind $9=actor_id $10=actor_name
-- $11=now
prepare insertRedemptionSQL as
  insert into loyalty.redemption (tenant_id, id, customer_id, reward_id, points_spent, stamps_spent, took_stock,
    actor_kind, actor_id, actor_name, created_at)
  values ($1, $2, $3, $4, $5, $6, $7,
    $8, $9, $10, $11);

-- findRedemptionSQL (core/reward/sql.go), for notPending: notPending returns why a redemption could not be fulfilled or
-- voided.
-- $1=tenant_id $2=id
prepare findRedemptionSQL as
  select id, status, customer_id, reward_id,
    (select w.name from loyalty.reward w where w.tenant_id = $1 and w.id = reward_id) as reward_name,
    (select w.value_cents from loyalty.reward w where w.tenant_id = $1 and w.id = reward_id) as reward_value_cents,
    points_spent, stamps_spent, took_stock, created_at, fulfilled_at, voided_at
  from loyalty.redemption
  where tenant_id = $1
    and id = $2;

-- findRedemptionsSQL (core/reward/sql.go)
-- $1=tenant_id $2=ids
prepare findRedemptionsSQL as
  select id, status, customer_id, reward_id,
    (select w.name from loyalty.reward w where w.tenant_id = $1 and w.id = reward_id) as reward_name,
    (select w.value_cents from loyalty.reward w where w.tenant_id = $1 and w.id = reward_id) as reward_value_cents,
    points_spent, stamps_spent, took_stock, created_at, fulfilled_at, voided_at
  from loyalty.redemption
  where tenant_id = $1
    and id = any (array(select unnest($2::uuid[])));

-- fulfilSQL (core/reward/sql.go), for FulfilNew: FulfilNew fulfils a redemption that the caller's transaction has just
-- created.
-- $1=now $2=transaction $3=tenant_id $4=location $5=id
prepare fulfilSQL as
  update loyalty.redemption
  set status = 'fulfilled',
    fulfilled_at = $1,
    transaction_id = $2,
    location_id = (select l.id from loyalty.location l where l.tenant_id = $3 and l.id = $4)
  where tenant_id = $3
    and id = $5
    and status = 'pending'
  returning id, status, customer_id, reward_id,
    (select w.name from loyalty.reward w where w.tenant_id = $3 and w.id = reward_id) as reward_name,
    (select w.value_cents from loyalty.reward w where w.tenant_id = $3 and w.id = reward_id) as reward_value_cents,
    points_spent, stamps_spent, took_stock, created_at, fulfilled_at, voided_at;

-- voidSQL (core/reward/sql.go)
-- $1=now $2=reason $3=tenant_id $4=id $5=fulfilled_since
prepare voidSQL as
  update loyalty.redemption
  set status = 'voided',
    voided_at = $1,
    void_reason = $2
  where tenant_id = $3
    and id = $4
    and (status = 'pending' or status = 'fulfilled' and fulfilled_at > $5)
  returning id, status, customer_id, reward_id,
    (select w.name from loyalty.reward w where w.tenant_id = $3 and w.id = reward_id) as reward_name,
    (select w.value_cents from loyalty.reward w where w.tenant_id = $3 and w.id = reward_id) as reward_value_cents,
    points_spent, stamps_spent, took_stock, created_at, fulfilled_at, voided_at;

-- amongList (core/reward/sql.go), for Among: Among returns those of the redemptions with the ids that match the filter.
-- $1=tenant_id $2=ids
-- filter: and d.customer_id = @customer
-- filter: and d.reward_id = @reward
-- filter: and d.status = @status
prepare amongList as
  select d.id, d.status, d.customer_id, d.reward_id, d.points_spent, d.stamps_spent, d.took_stock,
    d.created_at, d.fulfilled_at, d.voided_at,
    c.first_name || ' ' || c.last_name as customer_name, r.name as reward_name, r.value_cents as reward_value_cents,
    k.name as coupon_name,
    d.actor_kind, d.actor_name
  from loyalty.redemption d
  join loyalty.customer c on c.tenant_id = d.tenant_id and c.id = d.customer_id
  join loyalty.reward r on r.tenant_id = d.tenant_id and r.id = d.reward_id
  left join loyalty.voucher v on v.tenant_id = d.tenant_id and v.redemption_id = d.id
  cross join lateral (
    select coalesce(v.coupon_id, case
      when d.status = 'voided' and d.points_spent + d.stamps_spent = 0 then coalesce((
          select u.coupon_id
          from loyalty.checkout_item i
          join loyalty.voucher u on u.tenant_id = i.tenant_id and u.id = i.voucher_id
          where i.tenant_id = $1
          and i.redemption_id = d.id
          and i.kind = 'voucher'
        ), (
          select u.coupon_id
          from loyalty.voucher u
          where u.tenant_id = $1
          and u.customer_id = d.customer_id
          and u.restored_redemption_id = d.id
        ))
      end) as coupon_id
    offset 0
  ) g
  left join loyalty.coupon k on k.tenant_id = d.tenant_id and k.id = g.coupon_id
  where d.tenant_id = $1
    and d.id = any (array(select unnest($2::uuid[])));

-- redemptionListsNewest (core/reward/sql.go), for ExportRedemptions: ExportRedemptions passes the redemptions that match
-- the filter to each, one by one, newest first: those that exist at the start, as they are when their page is read.
-- $1=tenant_id $2=limit
-- filter: and d.customer_id = @customer
-- filter: and d.reward_id = @reward
-- filter: and d.status = @status
prepare redemptionListsNewest as
  select d.id, d.status, d.customer_id, d.reward_id, d.points_spent, d.stamps_spent, d.took_stock,
    d.created_at, d.fulfilled_at, d.voided_at,
    c.first_name || ' ' || c.last_name as customer_name, r.name as reward_name, r.value_cents as reward_value_cents,
    k.name as coupon_name,
    d.actor_kind, d.actor_name
  from loyalty.redemption d
  join loyalty.customer c on c.tenant_id = d.tenant_id and c.id = d.customer_id
  join loyalty.reward r on r.tenant_id = d.tenant_id and r.id = d.reward_id
  left join loyalty.voucher v on v.tenant_id = d.tenant_id and v.redemption_id = d.id
  cross join lateral (
    select coalesce(v.coupon_id, case
      when d.status = 'voided' and d.points_spent + d.stamps_spent = 0 then coalesce((
          select u.coupon_id
          from loyalty.checkout_item i
          join loyalty.voucher u on u.tenant_id = i.tenant_id and u.id = i.voucher_id
          where i.tenant_id = $1
          and i.redemption_id = d.id
          and i.kind = 'voucher'
        ), (
          select u.coupon_id
          from loyalty.voucher u
          where u.tenant_id = $1
          and u.customer_id = d.customer_id
          and u.restored_redemption_id = d.id
        ))
      end) as coupon_id
    offset 0
  ) g
  left join loyalty.coupon k on k.tenant_id = d.tenant_id and k.id = g.coupon_id
  where d.tenant_id = $1
  order by d.id desc
  limit $2;

-- redemptionListsOldest (core/reward/sql.go), for ExportRedemptions: ExportRedemptions passes the redemptions that match
-- the filter to each, one by one, newest first: those that exist at the start, as they are when their page is read.
-- $1=tenant_id $2=limit
-- filter: and d.customer_id = @customer
-- filter: and d.reward_id = @reward
-- filter: and d.status = @status
prepare redemptionListsOldest as
  select d.id, d.status, d.customer_id, d.reward_id, d.points_spent, d.stamps_spent, d.took_stock,
    d.created_at, d.fulfilled_at, d.voided_at,
    c.first_name || ' ' || c.last_name as customer_name, r.name as reward_name, r.value_cents as reward_value_cents,
    k.name as coupon_name,
    d.actor_kind, d.actor_name
  from loyalty.redemption d
  join loyalty.customer c on c.tenant_id = d.tenant_id and c.id = d.customer_id
  join loyalty.reward r on r.tenant_id = d.tenant_id and r.id = d.reward_id
  left join loyalty.voucher v on v.tenant_id = d.tenant_id and v.redemption_id = d.id
  cross join lateral (
    select coalesce(v.coupon_id, case
      when d.status = 'voided' and d.points_spent + d.stamps_spent = 0 then coalesce((
          select u.coupon_id
          from loyalty.checkout_item i
          join loyalty.voucher u on u.tenant_id = i.tenant_id and u.id = i.voucher_id
          where i.tenant_id = $1
          and i.redemption_id = d.id
          and i.kind = 'voucher'
        ), (
          select u.coupon_id
          from loyalty.voucher u
          where u.tenant_id = $1
          and u.customer_id = d.customer_id
          and u.restored_redemption_id = d.id
        ))
      end) as coupon_id
    offset 0
  ) g
  left join loyalty.coupon k on k.tenant_id = d.tenant_id and k.id = g.coupon_id
  where d.tenant_id = $1
  order by d.id
  limit $2;

-- redemptionDetailSQL (core/reward/sql.go): Only the audit log contains who fulfilled or voided a redemption.
-- $1=tenant_id $2=sees_tokens $3=unnamed_token $4=subject_id $5=id
prepare redemptionDetailSQL as
  select d.id, d.status, d.customer_id, d.reward_id, d.points_spent, d.stamps_spent, d.took_stock,
    d.created_at, d.fulfilled_at, d.voided_at,
    c.first_name || ' ' || c.last_name as customer_name, r.name as reward_name, r.value_cents as reward_value_cents,
    k.name as coupon_name,
    d.actor_kind, d.actor_name,
    d.void_reason, p.name as location_name, l.actor_name as ended_by_name
  from loyalty.redemption d
  join loyalty.customer c on c.tenant_id = d.tenant_id and c.id = d.customer_id
  join loyalty.reward r on r.tenant_id = d.tenant_id and r.id = d.reward_id
  left join loyalty.voucher v on v.tenant_id = d.tenant_id and v.redemption_id = d.id
  cross join lateral (
    select coalesce(v.coupon_id, case
      when d.status = 'voided' and d.points_spent + d.stamps_spent = 0 then coalesce((
          select u.coupon_id
          from loyalty.checkout_item i
          join loyalty.voucher u on u.tenant_id = i.tenant_id and u.id = i.voucher_id
          where i.tenant_id = $1
          and i.redemption_id = d.id
          and i.kind = 'voucher'
        ), (
          select u.coupon_id
          from loyalty.voucher u
          where u.tenant_id = $1
          and u.customer_id = d.customer_id
          and u.restored_redemption_id = d.id
        ))
      end) as coupon_id
    offset 0
  ) g
  left join loyalty.coupon k on k.tenant_id = d.tenant_id and k.id = g.coupon_id
  left join loyalty.location p on p.tenant_id = d.tenant_id and p.id = d.location_id
  left join lateral (
    select case when actor_kind = 'token' and not $2 then $3 else actor_name end as actor_name
    from loyalty.audit_entry
    where tenant_id = $1
      and subject_kind = 'redemption'
      and subject_id = $4
      and action = case d.status when 'fulfilled' then 'redemption.fulfil' when 'voided' then 'redemption.void' end
    order by id desc
    limit 1
  ) l on true
  where d.tenant_id = $1
    and d.id = $5;

-- usedSQL (core/reward/terms.go), for admit: admit refuses a customer whose level is too low, or who has redeemed the
-- reward as often as they can.
-- $1=tenant_id $2=customer $3=reward
prepare usedSQL as
  select count(*)
    from loyalty.redemption u
    where u.tenant_id = $1
      and u.customer_id = $2
      and u.status <> 'voided'
      and u.points_spent + u.stamps_spent > 0
      and u.reward_id = $3;

-- usesSQL (core/reward/terms.go), for Barriers: Barriers returns why a customer can't have rewards, by the IDs of those
-- that they can't have.
-- $1=tenant_id $2=customer $3=rewards
prepare usesSQL as
  select u.reward_id, count(*) as used
    from loyalty.redemption u
    where u.tenant_id = $1
      and u.customer_id = $2
      and u.status <> 'voided'
      and u.points_spent + u.stamps_spent > 0
      and u.reward_id = any ($3::uuid[])
    group by u.reward_id;

-- undoSQL (core/reward/undo.go): A redemption that was voided meanwhile is left alone.
-- $1=bought $2=now $3=tenant_id $4=ids
prepare undoSQL as
  update loyalty.redemption
  set status = case when id = any ($1::uuid[]) then 'voided' else 'pending' end,
    voided_at = case when id = any ($1::uuid[]) then $2::timestamptz end,
    fulfilled_at = case when id = any ($1::uuid[]) then fulfilled_at end,
    transaction_id = case when id = any ($1::uuid[]) then transaction_id end,
    location_id = case when id = any ($1::uuid[]) then location_id end
  where tenant_id = $3
    and id = any ($4::uuid[])
    and (status = 'fulfilled' or status = 'pending' and id = any ($1::uuid[]))
  returning id, status, customer_id, reward_id,
    (select w.name from loyalty.reward w where w.tenant_id = $3 and w.id = reward_id) as reward_name,
    (select w.value_cents from loyalty.reward w where w.tenant_id = $3 and w.id = reward_id) as reward_value_cents,
    points_spent, stamps_spent, took_stock, created_at, fulfilled_at, voided_at;
