-- The statements of core/ledger, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/ledger.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- lockPairSQL (core/ledger/merge.go): In one order, so that merges never wait for each other in a circle.
-- $1=tenant_id $2=customers
prepare lockPairSQL as
  select customer_id, points, stamps
  from loyalty.account
  where tenant_id = $1
    and customer_id = any ($2::uuid[])
  order by customer_id
  for update;

-- mergeSQL (core/ledger/merge.go): The accounts are locked, so the balances are the arguments.
-- $1=points $2=stamps $3=tenant_id $4=merged $5=kept $6=now $7=merge $8=actor_kind $9=actor_id $10=actor_name
prepare mergeSQL as
  with moved as (
    select visits, spent_cents, ($1::bigint <> 0)::int + ($2::bigint <> 0)::int as entries
    from loyalty.account
    where tenant_id = $3
      and customer_id = $4
  ), emptied as (
    update loyalty.account
    set points = points - $1,
      stamps = stamps - $2,
      visits = 0,
      spent_cents = 0,
      entries = account.entries + moved.entries
    from moved
    where tenant_id = $3
      and customer_id = $4
    returning customer_id, points, stamps, account.entries, -$1::bigint as points_moved, -$2::bigint as stamps_moved
  ), filled as (
    update loyalty.account
    set points = points + $1,
      stamps = stamps + $2,
      visits = account.visits + moved.visits,
      spent_cents = account.spent_cents + moved.spent_cents,
      entries = account.entries + moved.entries
    from moved
    where tenant_id = $3
      and customer_id = $5
    returning customer_id, points, stamps, account.entries, $1::bigint as points_moved, $2::bigint as stamps_moved
  ), change as materialized (
    select loyalty.new_ulid($6) as id, a.customer_id, e.unit, e.amount, e.seq, e.balance
    from (select * from emptied union all select * from filled) a
    cross join lateral (values
      ('points', a.points_moved, a.entries - (a.stamps_moved <> 0)::int, a.points),
      ('stamps', a.stamps_moved, a.entries, a.stamps)
    ) e (unit, amount, seq, balance)
    where e.amount <> 0
  ), entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
      kind, merge_id, actor_kind, actor_id, actor_name, created_at, seq, balance_after)
    select c.tenant_id, e.id, c.id, e.unit, e.amount,
      'merge', $7, $8, $9, $10, $6, e.seq, e.balance
    from change e
    join loyalty.customer c on c.tenant_id = $3 and c.id = e.customer_id
    returning 1
  )
  select;

-- openAllSQL (core/ledger/set.go): If a customer is missing, this divides by zero, which fails the transaction: a queued
-- statement returns no result.
-- $1=customers $2=points $3=stamps $4=tenant_id $5=now $6=reason $7=actor_kind $8=actor_id $9=actor_name
prepare openAllSQL as
  with opening as (
    select customer_id, points, stamps
    from unnest($1::uuid[], $2::bigint[], $3::bigint[]) given (customer_id, points, stamps)
  ), opened as (
    insert into loyalty.account (tenant_id, customer_id, points, stamps, entries)
    select c.tenant_id, c.id, points, stamps, (points <> 0)::int + (stamps <> 0)::int
    from opening o
    join loyalty.customer c on c.tenant_id = $4 and c.id = o.customer_id
    returning 1
  ), balance as materialized (
    select loyalty.new_ulid($5) as id, o.customer_id, e.unit, e.amount, e.seq
    from opening o
    cross join lateral (values
      ('points', o.points, 1),
      ('stamps', o.stamps, 1 + (o.points <> 0)::int)
    ) e (unit, amount, seq)
    where e.amount <> 0
  ), entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
      kind, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after)
    select c.tenant_id, a.id, c.id, a.unit, a.amount,
      'opening', $6, $7, $8, $9, $5, a.seq, a.amount
    from balance a
    join loyalty.customer c on c.tenant_id = $4 and c.id = a.customer_id
    returning 1
  )
  select 1 / (count(*) = cardinality($1::uuid[]))::int
  from opened;

-- postedSQL (core/ledger/sql.go), for ReadPosted: ReadPosted returns a reading of the entries of a cause, in order.
-- $1=tenant_id $2=cause
prepare postedSQL as
  select kind, unit, amount, balance_after, created_at
  from loyalty.ledger_entry
  where tenant_id = $1
    and cause = $2
  order by seq;

-- openSQL (core/ledger/sql.go), for Open: Open queues the account of a new customer.
-- $1=tenant_id $2=customer
prepare openSQL as
  insert into loyalty.account (tenant_id, customer_id)
  values ($1, $2);

-- moveSQL (core/ledger/sql.go), for Post: Post changes the balance and queues the entry.
-- $1=unit $2=amount $3=tenant_id $4=customer $5=kind
prepare moveSQL as
  update loyalty.account
  set points = points + case when $1::text = 'points' then $2::bigint else 0 end,
    stamps = stamps + case when $1 = 'stamps' then $2 else 0 end,
    entries = entries + 1
  where tenant_id = $3
    and customer_id = $4
    and ($2::bigint > 0
      or $5::text = 'reversal'
      or case when $1 = 'points' then points else stamps end + $2 >= 0)
  returning points, stamps;

-- moveOrFailSQL (core/ledger/sql.go): A queued statement returns no result, so a balance that was not changed must fail
-- the transaction: then this divides by zero.
-- $1=unit $2=amount $3=tenant_id $4=customer $5=kind
prepare moveOrFailSQL as
  with moved as (
    update loyalty.account
    set points = points + case when $1::text = 'points' then $2::bigint else 0 end,
    stamps = stamps + case when $1 = 'stamps' then $2 else 0 end,
    entries = entries + 1
    where tenant_id = $3
    and customer_id = $4
    and ($2::bigint > 0
      or $5::text = 'reversal'
      or case when $1 = 'points' then points else stamps end + $2 >= 0)
    returning 1
  )
  select 1 / count(*)
  from moved;

-- insertEntrySQL (core/ledger/sql.go): After the balance was changed, and in the same transaction.
-- $1=id $2=unit $3=amount $4=kind $5=cause $6=turn $7=reason $8=actor_kind $9=actor_id $10=actor_name $11=now
-- $12=tenant_id $13=customer
prepare insertEntrySQL as
  insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
    kind, cause, turn, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after)
  select a.tenant_id, $1, a.customer_id, $2, $3,
    $4, $5, $6, $7, $8, $9, $10, $11, a.entries, case when $2 = 'points' then a.points else a.stamps end
  from loyalty.account a
  where a.tenant_id = $12
    and a.customer_id = $13;

-- VisitsCountedSQL (core/ledger/sql.go): VisitsCountedSQL has the transaction count visits and spend itself.
prepare VisitsCountedSQL as
  select set_config('app.visits_counted', 'yes', true) as set;

-- countVisitSQL (core/ledger/sql.go), for CountVisit: CountVisit queues the count of a sale in its customer's account
-- or, with a minus, of a voided one: its visit and its spend in cents.
-- $1=visits $2=spend $3=tenant_id $4=customer
prepare countVisitSQL as
  update loyalty.account
  set visits = visits + $1,
    spent_cents = spent_cents + $2::bigint
  where tenant_id = $3
    and customer_id = $4;
