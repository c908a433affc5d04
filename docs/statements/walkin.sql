-- The statements of core/walkin, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/walkin.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- insertItemSQL (core/walkin/checkout.go)
-- $1=tenant_id $2=checkout $3=place $4=kind $5=redemption $6=voucher $7=actor_id
prepare insertItemSQL as
  insert into loyalty.checkout_item (tenant_id, checkout_id, place, kind, redemption_id, voucher_id, actor_id)
  values ($1, $2, $3, $4, $5, $6, $7);

-- checkoutSQL (core/walkin/checkout.go): A cashier may undo their last sale, as they may void it, and a checkout without
-- a sale if nothing follows it.
-- $1=id $2=voids_any $3=tenant_id $4=since_id $5=actor_id
prepare checkoutSQL as
  select $1::uuid as id, coalesce(t.customer_id, r.customer_id, v.customer_id) as customer_id,
    t.id is not null as with_sale, coalesce(t.status = 'voided', false) as sale_voided,
    $2::boolean or coalesce($1::uuid = case when t.id is null then greatest((
        select id
        from loyalty.transaction
        where tenant_id = $3
        and id >= $4
        and actor_kind = 'staff'
        and actor_id = $5
        order by id desc
        limit 1
      ), (
        select checkout_id
        from loyalty.checkout_item
        where tenant_id = $3
        and checkout_id >= $4
        and actor_id = $5
        order by checkout_id desc
        limit 1
      )) else (
      select id
      from loyalty.transaction
      where tenant_id = $3
        and id >= $4
        and actor_kind = 'staff'
        and actor_id = $5
      order by id desc
      limit 1
    ) end, false) as may_undo
  from (values (1)) as always
  left join loyalty.transaction t on t.tenant_id = $3 and t.id = $1
  left join loyalty.checkout_item i on i.tenant_id = $3 and i.checkout_id = $1 and i.place = 1
  left join loyalty.redemption r on r.tenant_id = $3 and r.id = i.redemption_id
  left join loyalty.voucher v on v.tenant_id = $3 and v.id = i.voucher_id
  where t.id is not null
    or i.place is not null;

-- usedSQL (core/walkin/checkout.go)
-- $1=tenant_id $2=id
prepare usedSQL as
  select i.kind, i.outcome, i.redemption_id, i.voucher_id, w.name as reward_name, r.status,
    coalesce(r.points_spent, 0) as points_spent, coalesce(r.stamps_spent, 0) as stamps_spent
  from loyalty.checkout_item i
  left join loyalty.redemption r on r.tenant_id = i.tenant_id and r.id = i.redemption_id
  left join loyalty.reward w on w.tenant_id = r.tenant_id and w.id = r.reward_id
  where i.tenant_id = $1
    and i.checkout_id = $2
  order by i.kind = 'voucher', i.place;

-- lastCheckoutSQL (core/walkin/checkout.go), for LastCheckout: LastCheckout returns the ID of what the actor recorded
-- last, if that was within the time in which a cashier may undo it, or core.ErrNotFound.
-- $1=tenant_id $2=since_id $3=actor_id
prepare lastCheckoutSQL as
  select greatest((
      select id
      from loyalty.transaction
      where tenant_id = $1
        and id >= $2
        and actor_kind = 'staff'
        and actor_id = $3
      order by id desc
      limit 1
    ), (
      select checkout_id
      from loyalty.checkout_item
      where tenant_id = $1
        and checkout_id >= $2
        and actor_id = $3
      order by checkout_id desc
      limit 1
    )) as id;

-- movePINsSQL (core/walkin/merge.go): PINs are deleted within an hour, so there are few.
-- $1=kept $2=now $3=tenant_id $4=merged
prepare movePINsSQL as
  update loyalty.pin
  set customer_id = case when status = 'used' then $1::uuid else customer_id end,
    status = case when status in ('open', 'taken') then 'cancelled' else status end,
    ended_at = coalesce(ended_at, $2)
  where tenant_id = $3
    and customer_id = $4;

-- replaceSQL (core/walkin/sql.go), for issue: issue replaces the issuer's open PIN with a new one.
-- $1=now $2=tenant_id $3=issuer
prepare replaceSQL as
  update loyalty.pin
  set status = 'replaced',
    ended_at = $1
  where tenant_id = $2
    and issuer = $3
    and status = 'open'
  returning id, renewals;

-- issueSQL (core/walkin/sql.go): Uses the first of the random PINs that isn't in use.
-- $1=tenant_id $2=id $3=direction $4=issuer $5=code_hash $6=customer $7=type $8=spend $9=location $10=items $11=actor_id
-- $12=actor_name $13=now $14=expires_at $15=renews $16=hashes
prepare issueSQL as
  insert into loyalty.pin (tenant_id, id, direction, issuer, pin_hash, code_hash, customer_id,
    transaction_type_id, spend_amount_cents, location_id, items, actor_id, actor_name, created_at, expires_at, renewals)
  select $1, $2, $3, $4, drawn.hash, $5, $6::uuid,
    $7::bigint, $8::bigint, $9::bigint, $10::jsonb, $11, $12, $13, $14,
    coalesce((
      select renewals + 1
      from loyalty.pin
      where tenant_id = $1
        and id = $15::uuid
        and issuer = $4
        and status = 'replaced'
    ), 0)
  from unnest($16::bytea[]) with ordinality drawn (hash, place)
  where not exists (
      select
      from loyalty.pin
      where tenant_id = $1
        and pin_hash = drawn.hash
        and status in ('open', 'taken')
    )
  order by drawn.place
  limit 1
  on conflict do nothing
  returning pin_hash, renewals;

-- carriedSQL (core/walkin/sql.go): The next PIN has its number of renewals, and another page that renews the same PIN
-- counts none of them again.
-- $1=tenant_id $2=renews
prepare carriedSQL as
  update loyalty.pin
  set renewals = 0
  where tenant_id = $1
    and id = $2;

-- takeSQL (core/walkin/sql.go): Taking a PIN again gives its taker no more time, and ends no showing, which the first
-- take has logged.
-- $1=taker $2=now $3=complete_before $4=tenant_id $5=direction
prepare takeSQL as
  update loyalty.pin
  set status = 'taken',
    taken_by = $1,
    taken_at = coalesce(taken_at, $2),
    complete_before = coalesce(complete_before, $3),
    renewals = case when status = 'open' then renewals else 0 end
  where tenant_id = $4
    and direction = $5
    and (status = 'open' and expires_at > $2 or status = 'taken' and taken_by = $1 and complete_before > $2);

-- takeDigitsSQL (core/walkin/sql.go): Taking a PIN again gives its taker no more time, and ends no showing, which the
-- first take has logged.
-- $1=taker $2=now $3=complete_before $4=tenant_id $5=direction $6=hashes
prepare takeDigitsSQL as
  update loyalty.pin
  set status = 'taken',
    taken_by = $1,
    taken_at = coalesce(taken_at, $2),
    complete_before = coalesce(complete_before, $3),
    renewals = case when status = 'open' then renewals else 0 end
  where tenant_id = $4
    and direction = $5
    and (status = 'open' and expires_at > $2 or status = 'taken' and taken_by = $1 and complete_before > $2)
    and pin_hash = any ($6::bytea[])
    and status in ('open', 'taken')
  returning id, customer_id, complete_before, renewals;

-- takeCodeSQL (core/walkin/sql.go): Taking a PIN again gives its taker no more time, and ends no showing, which the
-- first take has logged.
-- $1=taker $2=now $3=complete_before $4=tenant_id $5=direction $6=hashes
prepare takeCodeSQL as
  update loyalty.pin
  set status = 'taken',
    taken_by = $1,
    taken_at = coalesce(taken_at, $2),
    complete_before = coalesce(complete_before, $3),
    renewals = case when status = 'open' then renewals else 0 end
  where tenant_id = $4
    and direction = $5
    and (status = 'open' and expires_at > $2 or status = 'taken' and taken_by = $1 and complete_before > $2)
    and code_hash = any ($6::bytea[])
  returning id, customer_id, complete_before, renewals;

-- cancelSQL (core/walkin/sql.go), for Cancel: Cancel cancels a PIN that this till shows, even if a phone has taken it.
-- $1=now $2=tenant_id $3=id $4=issuer
prepare cancelSQL as
  update loyalty.pin
  set status = 'cancelled',
    ended_at = $1
  where tenant_id = $2
    and id = $3
    and issuer = $4
    and status in ('open', 'taken');

-- lockShownSQL (core/walkin/sql.go): Waits for a PIN that is being completed.
-- $1=tenant_id $2=id $3=issuer
prepare lockShownSQL as
  select status, transaction_type_id, spend_amount_cents, location_id, items
  from loyalty.pin
  where tenant_id = $1
    and id = $2
    and issuer = $3
    and direction = 'till'
  for no key update;

-- replaceOneSQL (core/walkin/sql.go), for Renew: Renew replaces a PIN that this till shows by a new one for the same
-- sale, even if a phone has taken it, because a sale must not be claimed twice.
-- $1=now $2=tenant_id $3=id
prepare replaceOneSQL as
  update loyalty.pin
  set status = 'replaced',
    ended_at = $1
  where tenant_id = $2
    and id = $3
    and status in ('open', 'taken');

-- completeSQL (core/walkin/sql.go): completedSQL adds the sale once it is recorded, in the same transaction.
-- $1=now $2=tenant_id $3=id $4=taker
prepare completeSQL as
  update loyalty.pin
  set status = 'used',
    ended_at = $1
  where tenant_id = $2
    and id = $3
    and direction = 'card'
    and status = 'taken'
    and taken_by = $4
    and complete_before > $1
  returning customer_id;

-- completedSQL (core/walkin/sql.go)
-- $1=transaction $2=tenant_id $3=id
prepare completedSQL as
  update loyalty.pin
  set transaction_id = $1
  where tenant_id = $2
    and id = $3;

-- progressSQL (core/walkin/sql.go)
-- $1=now $2=tenant_id $3=id $4=issuer
prepare progressSQL as
  select p.id,
    case
      when p.status = 'used' then 'completed'
      when p.status in ('replaced', 'cancelled') then p.status
      when p.status = 'open' and p.expires_at > $1 then 'waiting'
      when p.status = 'taken' and p.complete_before > $1 then 'taken'
      else 'expired'
    end as state, p.expires_at,
    p.transaction_type_id, p.spend_amount_cents, p.location_id, p.items,
    p.transaction_id, p.customer_id,
    coalesce(c.first_name || ' ' || c.last_name, '') as customer_name,
    coalesce(t.points_awarded, t.stamps_awarded, 0) as award, coalesce(t.rule_type, '') as rule_type
  from loyalty.pin p
  left join loyalty.customer c on p.status = 'used' and c.tenant_id = p.tenant_id and c.id = p.customer_id
  left join loyalty.transaction t on t.tenant_id = p.tenant_id and t.id = p.transaction_id
  where p.tenant_id = $2
    and p.id = $3
    and p.issuer = $4;

-- deleteOldPINsSQL (core/walkin/sql.go)
-- $1=before $2=up_to
prepare deleteOldPINsSQL as
  select loyalty.forget_pins($1, $2);

-- peekSQL (core/walkin/sql.go): A till's sale and its earning rule, for a browser that can claim it.
-- $1=tenant_id $2=hashes $3=now
prepare peekSQL as
  select p.id, p.spend_amount_cents, p.location_id, p.items, l.name as location_name, t.id as type_id, t.rule_type, t.points_per_unit, t.unit_cents,
    t.stamps_per_transaction, t.min_spend_cents, t.max_award, t.excluded_categories, n.earning_version
  from loyalty.pin p
  join loyalty.transaction_type t on t.tenant_id = p.tenant_id and t.id = p.transaction_type_id
  join loyalty.tenant n on n.id = p.tenant_id
  left join loyalty.location l on l.tenant_id = p.tenant_id and l.id = p.location_id
  where p.tenant_id = $1
    and p.direction = 'till'
    and p.code_hash = any ($2::bytea[])
    and p.status = 'open'
    and p.expires_at > $3;

-- heldSQL (core/walkin/sql.go): A till's sale and its earning rule, for a browser that can claim it.
-- $1=tenant_id $2=taker $3=now
prepare heldSQL as
  select p.id, p.spend_amount_cents, p.location_id, p.items, l.name as location_name, t.id as type_id, t.rule_type, t.points_per_unit, t.unit_cents,
    t.stamps_per_transaction, t.min_spend_cents, t.max_award, t.excluded_categories, n.earning_version
  from loyalty.pin p
  join loyalty.transaction_type t on t.tenant_id = p.tenant_id and t.id = p.transaction_type_id
  join loyalty.tenant n on n.id = p.tenant_id
  left join loyalty.location l on l.tenant_id = p.tenant_id and l.id = p.location_id
  where p.tenant_id = $1
    and p.direction = 'till'
    and p.taken_by = $2
    and p.status = 'taken'
    and p.complete_before > $3
  order by p.taken_at desc
  limit 1;

-- claimSQL (core/walkin/sql.go)
-- $1=now $2=tenant_id $3=taker
prepare claimSQL as
  update loyalty.pin
  set status = 'used',
    ended_at = $1
  where tenant_id = $2
    and id = (
      select id
      from loyalty.pin
      where tenant_id = $2
        and taken_by = $3
        and direction = 'till'
        and status = 'taken'
        and complete_before > $1
      order by taken_at desc
      limit 1
    )
    and status = 'taken'
  returning id, transaction_type_id, spend_amount_cents, location_id, items, actor_id, actor_name;

-- claimedSQL (core/walkin/sql.go)
-- $1=transaction $2=customer $3=new $4=tenant_id $5=id
prepare claimedSQL as
  update loyalty.pin
  set transaction_id = $1,
    customer_id = $2,
    new_customer = $3
  where tenant_id = $4
    and id = $5;

-- lastClaimSQL (core/walkin/sql.go): The last claim of a browser.
-- $1=tenant_id $2=taker $3=since
prepare lastClaimSQL as
  select t.rule_type, coalesce(t.points_awarded, t.stamps_awarded, 0) as award, t.spend_amount_cents, p.new_customer, p.customer_id
  from loyalty.pin p
  join loyalty.transaction t on t.tenant_id = p.tenant_id and t.id = p.transaction_id
  where p.tenant_id = $1
    and p.taken_by = $2
    and p.direction = 'till'
    and p.status = 'used'
    and p.ended_at > $3
  order by p.taken_at desc
  limit 1;

-- offeredSQL (core/walkin/sql.go), for card: card reads a customer with rewards and vouchers.
-- $1=tenant_id $2=customer $3=today $4=limit
prepare offeredSQL as
  select r.id, r.name, r.points_cost, r.stamps_cost, encode(r.picture_hash, 'hex') as picture,
    case when r.stamps_cost is null then r.points_cost <= a.points else r.stamps_cost <= a.stamps end as affordable,
    r.min_level_id, r.max_per_customer, r.starts_on, r.ends_on,
    case when r.max_per_customer is null then 0 else (
      select count(*)
    from loyalty.redemption u
    where u.tenant_id = $1
      and u.customer_id = $2
      and u.status <> 'voided'
      and u.points_spent + u.stamps_spent > 0
        and u.reward_id = r.id
    ) end as used
  from loyalty.reward r
  join loyalty.account a on a.tenant_id = r.tenant_id and a.customer_id = $2
  where r.tenant_id = $1
    and r.active
    and (r.stock is null or r.stock > 0)
    and coalesce(r.ends_on >= $3, true)
  order by r.stamps_cost is null desc, coalesce(r.points_cost, r.stamps_cost), r.id
  limit $4;

-- pendingSQL (core/walkin/sql.go), for card: card reads a customer with rewards and vouchers.
-- $1=tenant_id $2=customer $3=limit
prepare pendingSQL as
  select r.id, w.name as reward_name, r.created_at
  from loyalty.redemption r
  join loyalty.reward w on w.tenant_id = r.tenant_id and w.id = r.reward_id
  where r.tenant_id = $1
    and r.customer_id = $2
    and r.status = 'pending'
  order by r.id
  limit $3;

-- usableVouchersSQL (core/walkin/sql.go), for card: card reads a customer with rewards and vouchers.
-- $1=now $2=tenant_id $3=customer $4=limit
prepare usableVouchersSQL as
  select v.id, v.coupon_id, v.customer_id,
    case when v.status = 'pending' and v.expires_at <= $1 then 'expired' else v.status end as status,
    c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at, c.name as coupon_name, c.description, r.name as reward_name,
    k.first_name || ' ' || k.last_name as customer_name, k.link_version + v.link_shift as link_version,
    k.status = 'active' as customer_active, coalesce(k.phone_key, k.email_key) is null as erased,
    c.active as coupon_active, coalesce(c.redemptions_count >= c.max_redemptions, false) as cap_reached,
    coalesce(r.stock = 0, false) as out_of_stock, c.min_level_id,
    coalesce(case c.benefit_type when 'points' then a.points when 'stamps' then a.stamps end::numeric + c.benefit_value > 9223372036854775807, false) as too_large
  from loyalty.voucher v
  join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
  join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
  left join loyalty.account a on a.tenant_id = v.tenant_id and a.customer_id = v.customer_id
  left join loyalty.reward r on r.tenant_id = c.tenant_id and r.id = c.benefit_reward_id
  where v.tenant_id = $2
    and v.customer_id = $3
    and v.status = 'pending'
    and (v.expires_at is null or v.expires_at > $1)
    and c.active
    and (c.max_redemptions is null or c.redemptions_count < c.max_redemptions)
  order by v.expires_at nulls last, v.id
  limit $4;

-- usedVouchersSQL (core/walkin/sql.go)
-- $1=now $2=tenant_id $3=id
prepare usedVouchersSQL as
  select v.id, v.coupon_id, v.customer_id,
    case when v.status = 'pending' and v.expires_at <= $1 then 'expired' else v.status end as status,
    c.benefit_type, c.benefit_value, c.benefit_reward_id, v.redemption_id, v.transaction_id, v.expires_at, v.redeemed_at, v.restored_at, v.created_at, c.name as coupon_name, c.description, r.name as reward_name,
    k.first_name || ' ' || k.last_name as customer_name, k.link_version + v.link_shift as link_version,
    k.status = 'active' as customer_active, coalesce(k.phone_key, k.email_key) is null as erased,
    c.active as coupon_active, coalesce(c.redemptions_count >= c.max_redemptions, false) as cap_reached,
    coalesce(r.stock = 0, false) as out_of_stock, c.min_level_id,
    coalesce(case c.benefit_type when 'points' then a.points when 'stamps' then a.stamps end::numeric + c.benefit_value > 9223372036854775807, false) as too_large
  from loyalty.voucher v
  join loyalty.coupon c on c.tenant_id = v.tenant_id and c.id = v.coupon_id
  join loyalty.customer k on k.tenant_id = v.tenant_id and k.id = v.customer_id
  left join loyalty.account a on a.tenant_id = v.tenant_id and a.customer_id = v.customer_id
  left join loyalty.reward r on r.tenant_id = c.tenant_id and r.id = c.benefit_reward_id
  where v.tenant_id = $2
    and v.id = any (array(
      select voucher_id
      from loyalty.checkout_item
      where tenant_id = $2
        and checkout_id = $3
    ));

-- recentSQL (core/walkin/sql.go): Each customer's last sale out of the latest hundred, so that few are read even at a
-- busy till.
-- $1=tenant_id $2=since $3=location $4=limit
prepare recentSQL as
  select c.id, c.first_name, c.last_name, served.at
  from (
    select customer_id, max(created_at) as at
    from (
      select customer_id, created_at
      from loyalty.transaction
      where tenant_id = $1
        and id >= $2
        and status = 'completed'
        and ($3::bigint is null or location_id = $3)
      order by id desc
      limit 100
    ) newest
    group by customer_id
  ) served
  join loyalty.customer c on c.tenant_id = $1 and c.id = served.customer_id
  where c.status = 'active'
  order by served.at desc, c.id desc
  limit $4;

-- lockBuyerSQL (core/walkin/undo.go): Locks the customer as a sale does: a merge either waits, or it has moved
-- everything.
-- $1=tenant_id $2=id
prepare lockBuyerSQL as
  select
  from loyalty.customer
  where tenant_id = $1
    and id = coalesce((
      select customer_id
      from loyalty.transaction
      where tenant_id = $1
        and id = $2
    ), (
      select coalesce(r.customer_id, v.customer_id)
      from loyalty.checkout_item i
      left join loyalty.redemption r on r.tenant_id = $1 and r.id = i.redemption_id
      left join loyalty.voucher v on v.tenant_id = $1 and v.id = i.voucher_id
      where i.tenant_id = $1
        and i.checkout_id = $2
        and i.place = 1
    ))
  for key share;

-- undoItemsSQL (core/walkin/undo.go): Of several undos, the first gets the items.
-- $1=outcome $2=tenant_id $3=id
prepare undoItemsSQL as
  update loyalty.checkout_item
  set outcome = $1
  where tenant_id = $2
    and checkout_id = $3
    and outcome is null
  returning place, kind, redemption_id, voucher_id;

-- keptSQL (core/walkin/undo.go), for undoItems: undoItems undoes the rewards and vouchers of a checkout, except for
-- their points and stamps.
-- $1=tenant_id $2=id $3=places
prepare keptSQL as
  update loyalty.checkout_item
  set outcome = 'kept'
  where tenant_id = $1
    and checkout_id = $2
    and place = any ($3::bigint[]);
