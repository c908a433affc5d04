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

-- endingsSQL (core/ledger/expiring.go): endingsSQL computes what settleSQL would store, and stores nothing.
-- $1=tenant_id $2=customer
prepare endingsSQL as
  with due as materialized (
    select a.customer_id, u.unit, a.entries, u.lots_from, u.lots_seq, case when p.expiry = 'inactive' then u.idle_on end as idle_on, p.begun_at, p.opening_expires_on
    from loyalty.account a
    cross join lateral (values
      ('points', a.points_lots_from, a.points_lots_seq, a.points_idle_on),
      ('stamps', a.stamps_lots_from, a.stamps_lots_seq, a.stamps_idle_on)
    ) u (unit, lots_from, lots_seq, idle_on)
    left join loyalty.programme p on p.tenant_id = a.tenant_id and p.unit = u.unit
    where a.tenant_id = $1
      and a.customer_id = $2
  ), begun as materialized (
    select d.*, coalesce(d.lots_seq, d.first_seq) as held_seq
    from (
      select d.*, coalesce(d.lots_from, (
          select greatest(
            least(min(e.seq) filter (where e.expires_on is not null) - 1,
              coalesce(max(e.seq) filter (where d.begun_at is null or e.created_at <= d.begun_at), 0)),
            max(e.seq) filter (where e.amount < 0))
          from loyalty.ledger_entry e
          where e.tenant_id = $1
          and e.customer_id = d.customer_id
          and e.unit = d.unit
        )) as first_seq
      from due d
    ) d
  ), held as materialized (
    select h.customer_id, h.unit, h.expires_on, sum(h.remaining)::bigint as remaining, bool_or(h.is_new) as is_new
    from (
      select d.customer_id, d.unit, l.expires_on, l.remaining, false as is_new
      from begun d
      join loyalty.lot l on l.tenant_id = $1 and l.customer_id = d.customer_id and l.unit = d.unit
      union all
      select d.customer_id, d.unit, coalesce(d.opening_expires_on, 'infinity'), opening.balance_after, true
      from begun d
      cross join lateral (
        select e.balance_after
        from loyalty.ledger_entry e
        where e.tenant_id = $1
          and e.customer_id = d.customer_id
          and e.unit = d.unit
          and e.seq <= d.first_seq
        order by e.seq desc
        limit 1
      ) opening
      where d.lots_from is null
      union all
      select d.customer_id, d.unit, coalesce(e.expires_on, 'infinity'), least(e.amount, e.balance_after), true
      from begun d
      join loyalty.ledger_entry e on e.tenant_id = $1 and e.customer_id = d.customer_id and e.seq > d.held_seq
      where e.unit = d.unit
        and e.amount > 0
        and e.lot_dates is null
    ) h
    where h.remaining > 0
    group by h.customer_id, h.unit, h.expires_on
  )
  select h.unit, h.remaining as amount, case when h.expires_on = 'infinity' then d.idle_on else h.expires_on end as expires_on,
    h.expires_on = 'infinity' and d.idle_on is not null as idle
  from held h
  join due d on d.unit = h.unit
  order by h.unit, case when h.expires_on = 'infinity' then d.idle_on else h.expires_on end nulls last, idle;

-- lockDuePointsSQL (core/ledger/expiring.go): A till that serves a customer at this moment keeps them from others, and
-- settles the account itself.
-- $1=tenant_id $2=today $3=limit
prepare lockDuePointsSQL as
  select customer_id
  from loyalty.account
  where tenant_id = $1
    and least(points_expire_on, points_idle_on) < $2::date
  order by least(points_expire_on, points_idle_on)
  limit $3
  for no key update skip locked;

-- anyDuePointsSQL (core/ledger/expiring.go), for AnyDue: AnyDue reports whether a customer has something of a unit whose
-- last day is before the transaction's day.
-- $1=tenant_id $2=today
prepare anyDuePointsSQL as
  select exists (
    select
    from loyalty.account
    where tenant_id = $1
      and least(points_expire_on, points_idle_on) < $2::date
  ) as due;

-- openPointsSQL (core/ledger/expiring.go): What was there before the first rule: its last day, or the day on which it
-- ends if it stays idle.
-- $1=tenant_id $2=after $3=limit $4=expires_on $5=idle_on
prepare openPointsSQL as
  with next as materialized (
    select customer_id
    from loyalty.account
    where tenant_id = $1
      and customer_id > $2
      and points > 0
      and points_lots_from is null
    order by customer_id
    limit $3
    for no key update
  ), moved as (
    update loyalty.account a
    set points_expire_on = least(a.points_expire_on, $4::date),
      points_idle_on = greatest(a.points_idle_on, $5::date)
    from next
    where a.tenant_id = $1
      and a.customer_id = next.customer_id
      and coalesce((
        select e.balance_after > e.amount
        from loyalty.ledger_entry e
        where e.tenant_id = $1
          and e.customer_id = next.customer_id
          and e.unit = 'points'
          and e.expires_on is not null
        order by e.seq
        limit 1
      ), true)
  )
  select customer_id
  from next
  order by customer_id;

-- lockSQL (core/ledger/lots.go): In a statement of its own: one that waited for a lock would still see the entries and
-- lots of before.
-- $1=tenant_id $2=customers
prepare lockSQL as
  select
  from loyalty.account
  where tenant_id = $1
    and customer_id = any ($2::uuid[])
  order by customer_id
  for no key update;

-- settleSQL (core/ledger/lots.go): settleSQL brings the lots of locked accounts up to their last entry, and expires what
-- is due, of the units that have a rule.
-- $1=today $2=tenant_id $3=customers $4=now
prepare settleSQL as
  with due as materialized (
    select a.customer_id, u.unit, u.balance, a.entries, u.lots_from, u.lots_seq, u.idle_on, p.begun_at, p.opening_expires_on,
      case when coalesce(p.hold_until, '-infinity') < $1::date then $1 end as today,
      p.expiry = 'inactive' as ends_idle
    from loyalty.account a
    cross join lateral (values
      ('points', a.points, a.points_lots_from, a.points_lots_seq, a.points_expire_on, a.points_idle_on),
      ('stamps', a.stamps, a.stamps_lots_from, a.stamps_lots_seq, a.stamps_expire_on, a.stamps_idle_on)
    ) u (unit, balance, lots_from, lots_seq, expire_on, idle_on)
    join loyalty.programme p on p.tenant_id = a.tenant_id and p.unit = u.unit
    where a.tenant_id = $2
      and a.customer_id = any ($3::uuid[])
      and (u.lots_seq is distinct from a.entries or least(u.expire_on, u.idle_on) < $1)
  ), begun as materialized (
    select d.*, coalesce(d.lots_seq, d.first_seq) as held_seq
    from (
      select d.*, coalesce(d.lots_from, (
          select greatest(
            least(min(e.seq) filter (where e.expires_on is not null) - 1,
              coalesce(max(e.seq) filter (where d.begun_at is null or e.created_at <= d.begun_at), 0)),
            max(e.seq) filter (where e.amount < 0))
          from loyalty.ledger_entry e
          where e.tenant_id = $2
          and e.customer_id = d.customer_id
          and e.unit = d.unit
        )) as first_seq
      from due d
    ) d
  ), held as materialized (
    select h.customer_id, h.unit, h.expires_on, sum(h.remaining)::bigint as remaining, bool_or(h.is_new) as is_new
    from (
      select d.customer_id, d.unit, l.expires_on, l.remaining, false as is_new
      from begun d
      join loyalty.lot l on l.tenant_id = $2 and l.customer_id = d.customer_id and l.unit = d.unit
      union all
      select d.customer_id, d.unit, coalesce(d.opening_expires_on, 'infinity'), opening.balance_after, true
      from begun d
      cross join lateral (
        select e.balance_after
        from loyalty.ledger_entry e
        where e.tenant_id = $2
          and e.customer_id = d.customer_id
          and e.unit = d.unit
          and e.seq <= d.first_seq
        order by e.seq desc
        limit 1
      ) opening
      where d.lots_from is null
      union all
      select d.customer_id, d.unit, coalesce(e.expires_on, 'infinity'), least(e.amount, e.balance_after), true
      from begun d
      join loyalty.ledger_entry e on e.tenant_id = $2 and e.customer_id = d.customer_id and e.seq > d.held_seq
      where e.unit = d.unit
        and e.amount > 0
        and e.lot_dates is null
    ) h
    where h.remaining > 0
    group by h.customer_id, h.unit, h.expires_on
  ), ended as materialized (
    select h.customer_id, h.unit, h.expires_on, h.remaining, case when h.expires_on = 'infinity' then d.idle_on else h.expires_on end as day,
      row_number() over (partition by h.customer_id order by h.expires_on, h.unit) as turn,
      d.balance - sum(h.remaining) over (partition by h.customer_id, h.unit order by h.expires_on) as balance_after,
      d.entries, loyalty.new_ulid($4) as id
    from held h
    join begun d on d.customer_id = h.customer_id and d.unit = h.unit
    where case when h.expires_on < 'infinity' then h.expires_on when d.ends_idle then d.idle_on end < d.today
  ), posted as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
      kind, actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on, lot_dates, lot_amounts)
    select c.tenant_id, e.id, c.id, e.unit, -e.remaining,
      'expiry', 'system', '', 'points expiry', $4, e.entries + e.turn, e.balance_after, e.day, array[e.expires_on], array[-e.remaining]
    from ended e
    join loyalty.customer c on c.tenant_id = $2 and c.id = e.customer_id
  ), kept as (
    insert into loyalty.lot (tenant_id, customer_id, unit, expires_on, remaining)
    select c.tenant_id, c.id, h.unit, h.expires_on, h.remaining
    from held h
    join loyalty.customer c on c.tenant_id = $2 and c.id = h.customer_id
    where h.is_new
      and not exists (select from ended e where e.customer_id = h.customer_id and e.unit = h.unit and e.expires_on = h.expires_on)
    on conflict (tenant_id, customer_id, unit, expires_on) do update
    set remaining = excluded.remaining
  ), dropped as (
    delete from loyalty.lot l
    using ended e
    where l.tenant_id = $2
      and l.customer_id = e.customer_id
      and l.unit = e.unit
      and l.expires_on = e.expires_on
  ), changed as materialized (
    select d.customer_id, d.unit, d.first_seq, g.amount, g.entries,
      (
        select min(h.expires_on)
        from held h
        where h.customer_id = d.customer_id
          and h.unit = d.unit
          and h.expires_on < 'infinity'
          and (d.today is null or h.expires_on >= d.today)
      ) as expire_on,
      case when d.ends_idle and (d.today is null or d.idle_on >= d.today) then d.idle_on end as idle_on
    from begun d
    cross join lateral (
      select coalesce(sum(e.remaining) filter (where e.unit = d.unit), 0)::bigint as amount, count(e) as entries
      from ended e
      where e.customer_id = d.customer_id
    ) g
  ), moved as (
    update loyalty.account a
    set points = a.points - c.points,
      stamps = a.stamps - c.stamps,
      entries = a.entries + c.entries,
      points_lots_from = coalesce(c.points_from, a.points_lots_from),
      stamps_lots_from = coalesce(c.stamps_from, a.stamps_lots_from),
      points_lots_seq = case when c.points_from is null then a.points_lots_seq else a.entries + c.entries end,
      stamps_lots_seq = case when c.stamps_from is null then a.stamps_lots_seq else a.entries + c.entries end,
      points_expire_on = case when c.points_from is null then a.points_expire_on else c.points_expire_on end,
      stamps_expire_on = case when c.stamps_from is null then a.stamps_expire_on else c.stamps_expire_on end,
      points_idle_on = case when c.points_from is null then a.points_idle_on else c.points_idle_on end,
      stamps_idle_on = case when c.stamps_from is null then a.stamps_idle_on else c.stamps_idle_on end
    from (
      select customer_id, max(entries) as entries,
        coalesce(sum(amount) filter (where unit = 'points'), 0)::bigint as points,
        coalesce(sum(amount) filter (where unit = 'stamps'), 0)::bigint as stamps,
        max(first_seq) filter (where unit = 'points') as points_from,
        max(first_seq) filter (where unit = 'stamps') as stamps_from,
        max(expire_on) filter (where unit = 'points') as points_expire_on,
        max(expire_on) filter (where unit = 'stamps') as stamps_expire_on,
        max(idle_on) filter (where unit = 'points') as points_idle_on,
        max(idle_on) filter (where unit = 'stamps') as stamps_idle_on
      from changed
      group by customer_id
    ) c
    where a.tenant_id = $2
      and a.customer_id = c.customer_id
    returning c.points, c.stamps, c.entries
  )
  select count(*) filter (where entries > 0) as customers, coalesce(sum(points), 0)::bigint as points, coalesce(sum(stamps), 0)::bigint as stamps
  from moved;

-- returnSQL (core/ledger/lots.go): Of an award whose day has ended, what expired of that day comes back before the award
-- is taken back: the customer isn't charged twice.
-- $1=award $2=turn $3=customer $4=unit $5=amount $6=tenant_id $7=id $8=cause $9=actor_kind $10=actor_id $11=actor_name
-- $12=now
prepare returnSQL as
  with given as materialized (
    select $1::uuid as award, $2::int as turn, $3::uuid as customer_id, $4::text as unit, $5::bigint as amount
  ), award as materialized (
    select coalesce(e.expires_on, (
          select p.opening_expires_on
          from loyalty.account f
          join loyalty.programme p on p.tenant_id = f.tenant_id and p.unit = e.unit
          where f.tenant_id = $6
            and f.customer_id = e.customer_id
            and e.seq <= coalesce(case when e.unit = 'points' then f.points_lots_from else f.stamps_lots_from end, e.seq)
        ), 'infinity') as lot, e.created_at
    from given g
    join loyalty.ledger_entry e on e.tenant_id = $6 and e.cause = g.award and e.turn = g.turn
    where e.kind in ('earn', 'voucher')
  ), family as materialized (
    select customer_id as id
    from given
    union all
    select c.id
    from given g
    join loyalty.customer c on c.tenant_id = $6 and c.merged_into = g.customer_id
  ), gone as materialized (
    select e.expires_on as day, e.lot_dates[1] as lot, -sum(e.amount)::bigint as amount, max(e.created_at) filter (where e.kind = 'expiry') as expired_at
    from family f
    join loyalty.ledger_entry e on e.tenant_id = $6 and e.customer_id = f.id
    where e.unit = (select unit from given)
      and e.kind in ('expiry', 'expiry_return')
    group by e.expires_on, e.lot_dates[1]
  ), back as materialized (
    select g.day, g.lot, least((select amount from given), g.amount) as amount
    from award a
    join gone g on g.lot = a.lot and g.expired_at >= a.created_at
    order by g.day
    limit 1
  ), moved as (
    update loyalty.account a
    set points = a.points + case when $4 = 'points' then b.amount else 0 end,
      stamps = a.stamps + case when $4 = 'stamps' then b.amount else 0 end,
      entries = a.entries + 1,
      points_lots_seq = case when $4 = 'points' then a.entries + 1 else a.points_lots_seq end,
      stamps_lots_seq = case when $4 = 'stamps' then a.entries + 1 else a.stamps_lots_seq end
    from back b
    where a.tenant_id = $6
      and a.customer_id = $3
      and b.amount > 0
    returning a.tenant_id, a.customer_id, a.entries, case when $4 = 'points' then a.points else a.stamps end as balance,
      b.day, b.lot, b.amount, greatest(0, least(b.amount, case when $4 = 'points' then a.points else a.stamps end)) as kept
  ), entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, seq, unit, amount, balance_after,
      kind, cause, actor_kind, actor_id, actor_name, created_at, turn, expires_on, lot_dates, lot_amounts)
    select c.tenant_id, $7, c.id, m.entries, $4, m.amount, m.balance,
      'expiry_return', $8, $9, $10, $11, $12, $2, m.day, array[m.lot], array[m.kept]
    from moved m
    join loyalty.customer c on c.tenant_id = $6 and c.id = m.customer_id
  ), lot as (
    insert into loyalty.lot as l (tenant_id, customer_id, unit, expires_on, remaining)
    select c.tenant_id, c.id, $4, m.lot, m.kept
    from moved m
    join loyalty.customer c on c.tenant_id = $6 and c.id = m.customer_id
    where m.kept > 0
    on conflict (tenant_id, customer_id, unit, expires_on) do update
    set remaining = l.remaining + excluded.remaining
  )
  select
  from moved;

-- endedSQL (core/ledger/lots.go), for ReadEnded: ReadEnded returns a reading of what has ended of a sale's award, and
-- would come back before a void takes the award.
-- $1=tenant_id $2=sale
prepare endedSQL as
  with given as materialized (
    select id as award, 1 as turn, customer_id, rule_type as unit, coalesce(points_awarded, stamps_awarded) - refunded_award as amount
    from loyalty.transaction
    where tenant_id = $1
      and id = $2
  ), award as materialized (
    select coalesce(e.expires_on, (
          select p.opening_expires_on
          from loyalty.account f
          join loyalty.programme p on p.tenant_id = f.tenant_id and p.unit = e.unit
          where f.tenant_id = $1
            and f.customer_id = e.customer_id
            and e.seq <= coalesce(case when e.unit = 'points' then f.points_lots_from else f.stamps_lots_from end, e.seq)
        ), 'infinity') as lot, e.created_at
    from given g
    join loyalty.ledger_entry e on e.tenant_id = $1 and e.cause = g.award and e.turn = g.turn
    where e.kind in ('earn', 'voucher')
  ), family as materialized (
    select customer_id as id
    from given
    union all
    select c.id
    from given g
    join loyalty.customer c on c.tenant_id = $1 and c.merged_into = g.customer_id
  ), gone as materialized (
    select e.expires_on as day, e.lot_dates[1] as lot, -sum(e.amount)::bigint as amount, max(e.created_at) filter (where e.kind = 'expiry') as expired_at
    from family f
    join loyalty.ledger_entry e on e.tenant_id = $1 and e.customer_id = f.id
    where e.unit = (select unit from given)
      and e.kind in ('expiry', 'expiry_return')
    group by e.expires_on, e.lot_dates[1]
  ), back as materialized (
    select g.day, g.lot, least((select amount from given), g.amount) as amount
    from award a
    join gone g on g.lot = a.lot and g.expired_at >= a.created_at
    order by g.day
    limit 1
  )
  select greatest(0, coalesce((select amount from back), 0)) as amount;

-- giveBackSQL (core/ledger/lots.go): The cost of a voided redemption goes back to the days that it came from, and what
-- was spent before there were lots to the day of the first lot.
-- $1=tenant_id $2=cause $3=today $4=amount $5=unit $6=customer $7=id $8=actor_kind $9=actor_id $10=actor_name $11=now
prepare giveBackSQL as
  with spent as materialized (
    select x.expires_on, -x.amount as amount
    from loyalty.ledger_entry e
    cross join lateral unnest(e.lot_dates, e.lot_amounts) x (expires_on, amount)
    where e.tenant_id = $1
      and e.cause = $2
      and e.kind = 'redemption'
  ), held as materialized (
    select $3::date + p.grace_days as grace_day, coalesce(p.opening_expires_on, 'infinity') as first_day,
      least($4::bigint, greatest(0, case when $5::text = 'points' then a.points else a.stamps end + $4)) as kept
    from loyalty.account a
    join loyalty.programme p on p.tenant_id = a.tenant_id and p.unit = $5
    where a.tenant_id = $1
      and a.customer_id = $6
  ), day as materialized (
    select d.expires_on, sum(d.amount)::bigint as amount
    from (
      select case when s.expires_on < $3 then h.grace_day else s.expires_on end as expires_on, s.amount
      from held h
      cross join (
        select expires_on, amount
        from spent
        union all
        select (select first_day from held), $4 - coalesce((select sum(amount) from spent), 0)
      ) s
    ) d
    where d.amount > 0
    group by d.expires_on
  ), given as materialized (
    select g.expires_on, g.amount
    from (
      select d.expires_on, least(d.amount, greatest(0, h.kept - (sum(d.amount) over (order by d.expires_on desc) - d.amount)))::bigint as amount
      from day d
      cross join held h
    ) g
    where g.amount > 0
  ), lot as (
    insert into loyalty.lot as l (tenant_id, customer_id, unit, expires_on, remaining)
    select c.tenant_id, c.id, $5, g.expires_on, g.amount
    from given g
    join loyalty.customer c on c.tenant_id = $1 and c.id = $6
    on conflict (tenant_id, customer_id, unit, expires_on) do update
    set remaining = l.remaining + excluded.remaining
  ), moved as (
    update loyalty.account a
    set points = a.points + case when $5 = 'points' then $4 else 0 end,
      stamps = a.stamps + case when $5 = 'stamps' then $4 else 0 end,
      entries = a.entries + 1,
      points_lots_seq = case when $5 = 'points' and a.points_lots_from is not null then a.entries + 1 else a.points_lots_seq end,
      stamps_lots_seq = case when $5 = 'stamps' and a.stamps_lots_from is not null then a.entries + 1 else a.stamps_lots_seq end,
      points_expire_on = case when $5 = 'points' then least(a.points_expire_on, next.expires_on) else a.points_expire_on end,
      stamps_expire_on = case when $5 = 'stamps' then least(a.stamps_expire_on, next.expires_on) else a.stamps_expire_on end
    from (select min(expires_on) as expires_on from given where expires_on < 'infinity') next
    where a.tenant_id = $1
      and a.customer_id = $6
    returning a.customer_id, a.entries, case when $5 = 'points' then a.points else a.stamps end as balance,
      case when $5 = 'points' then a.points_lots_from else a.stamps_lots_from end is not null as has_lots
  ), entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
      kind, cause, actor_kind, actor_id, actor_name, created_at, seq, balance_after, lot_dates, lot_amounts)
    select c.tenant_id, $7, c.id, $5, $4,
      'redemption_refund', $2, $8, $9, $10, $11, m.entries, m.balance,
      case when m.has_lots then coalesce((select array_agg(expires_on order by expires_on) from given), '{}') end,
      case when m.has_lots then coalesce((select array_agg(amount order by expires_on) from given), '{}') end
    from moved m
    join loyalty.customer c on c.tenant_id = $1 and c.id = m.customer_id
  )
  select 1 / count(*)
  from moved;

-- pairSQL (core/ledger/merge.go), for LockPair: LockPair locks and settles the accounts of a duplicate and of the
-- customer who is kept, and returns them.
-- $1=tenant_id $2=merged $3=kept
prepare pairSQL as
  select a.customer_id, a.points, a.stamps, coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.account a
  where a.tenant_id = $1
    and a.customer_id in ($2, $3);

-- mergeSQL (core/ledger/merge.go): The accounts are locked and settled, so the duplicate's balances are the arguments.
-- $1=points $2=stamps $3=tenant_id $4=merged $5=kept $6=now $7=merge $8=actor_kind $9=actor_id $10=actor_name
prepare mergeSQL as
  with moved as (
    select visits, spent_cents, points_idle_on, stamps_idle_on, ($1::bigint <> 0)::int + ($2::bigint <> 0)::int as entries
    from loyalty.account
    where tenant_id = $3
      and customer_id = $4
  ), unit as materialized (
    select u.unit, greatest(0, u.balance) + greatest(0, u.moved) - greatest(0, u.balance + u.moved) as debt
    from loyalty.account a
    cross join lateral (values ('points', a.points, $1), ('stamps', a.stamps, $2)) u (unit, balance, moved)
    where a.tenant_id = $3
      and a.customer_id = $5
  ), held as materialized (
    select l.unit, l.expires_on, sum(l.remaining)::bigint as remaining,
      coalesce(sum(l.remaining) filter (where l.customer_id = $5), 0)::bigint as own
    from loyalty.lot l
    where l.tenant_id = $3
      and l.customer_id in ($4, $5)
    group by l.unit, l.expires_on
  ), lot as materialized (
    select h.unit, h.expires_on, h.own, h.remaining - h.own as brought,
      h.remaining - least(h.remaining, greatest(0, u.debt - (sum(h.remaining) over soonest - h.remaining)))::bigint as remaining
    from held h
    join unit u on u.unit = h.unit
    window soonest as (partition by h.unit order by h.expires_on)
  ), next as materialized (
    select min(expires_on) filter (where unit = 'points') as points_expire_on, min(expires_on) filter (where unit = 'stamps') as stamps_expire_on
    from lot
    where remaining > 0
      and expires_on < 'infinity'
  ), emptied as (
    update loyalty.account
    set points = points - $1,
      stamps = stamps - $2,
      visits = 0,
      spent_cents = 0,
      entries = account.entries + moved.entries,
      points_expire_on = null,
      stamps_expire_on = null,
      points_idle_on = null,
      stamps_idle_on = null,
      points_lots_seq = case when points_lots_from is not null then account.entries + moved.entries end,
      stamps_lots_seq = case when stamps_lots_from is not null then account.entries + moved.entries end
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
      entries = account.entries + moved.entries,
      points_expire_on = next.points_expire_on,
      stamps_expire_on = next.stamps_expire_on,
      points_idle_on = greatest(account.points_idle_on, moved.points_idle_on),
      stamps_idle_on = greatest(account.stamps_idle_on, moved.stamps_idle_on),
      points_lots_seq = case when points_lots_from is not null then account.entries + moved.entries end,
      stamps_lots_seq = case when stamps_lots_from is not null then account.entries + moved.entries end
    from moved
    cross join next
    where tenant_id = $3
      and customer_id = $5
    returning customer_id, points, stamps, account.entries, $1::bigint as points_moved, $2::bigint as stamps_moved
  ), taken as (
    delete from loyalty.lot l
    where l.tenant_id = $3
      and l.customer_id = $4
  ), spent as (
    delete from loyalty.lot l
    using lot
    where l.tenant_id = $3
      and l.customer_id = $5
      and l.unit = lot.unit
      and l.expires_on = lot.expires_on
      and lot.remaining = 0
  ), put as (
    insert into loyalty.lot (tenant_id, customer_id, unit, expires_on, remaining)
    select c.tenant_id, c.id, lot.unit, lot.expires_on, lot.remaining
    from lot
    join loyalty.customer c on c.tenant_id = $3 and c.id = $5
    where lot.remaining > 0
      and lot.remaining <> lot.own
    on conflict (tenant_id, customer_id, unit, expires_on) do update
    set remaining = excluded.remaining
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
      kind, merge_id, actor_kind, actor_id, actor_name, created_at, seq, balance_after, lot_dates, lot_amounts)
    select c.tenant_id, e.id, c.id, e.unit, e.amount,
      'merge', $7, $8, $9, $10, $6, e.seq, e.balance, coalesce(x.dates, '{}'), coalesce(x.amounts, '{}')
    from change e
    join loyalty.customer c on c.tenant_id = $3 and c.id = e.customer_id
    cross join lateral (
      select array_agg(l.expires_on order by l.expires_on) as dates, array_agg(l.amount order by l.expires_on) as amounts
      from (
        select lot.expires_on, case when e.customer_id = $5 then lot.remaining - lot.own else -lot.brought end as amount
        from lot
        where lot.unit = e.unit
      ) l
      where l.amount <> 0
    ) x
    returning 1
  )
  select;

-- openAllSQL (core/ledger/set.go): If a customer is missing, this divides by zero, which fails the transaction: a queued
-- statement returns no result.
-- $1=points_end $2=points_expire_on $3=stamps_end $4=stamps_expire_on $5=customers $6=points $7=stamps $8=ends
-- $9=points_idle_on $10=stamps_idle_on $11=tenant_id $12=now $13=reason $14=actor_kind $15=actor_id $16=actor_name
prepare openAllSQL as
  with opening as (
    select customer_id, points, stamps, coalesce(case when $1::boolean then ends end, $2::date) as points_expire_on,
      coalesce(case when $3::boolean then ends end, $4::date) as stamps_expire_on
    from unnest($5::uuid[], $6::bigint[], $7::bigint[], $8::date[]) given (customer_id, points, stamps, ends)
  ), opened as (
    insert into loyalty.account (tenant_id, customer_id, points, stamps, entries,
      points_expire_on, stamps_expire_on, points_idle_on, stamps_idle_on)
    select c.tenant_id, c.id, points, stamps, (points <> 0)::int + (stamps <> 0)::int,
      case when points <> 0 then points_expire_on end, case when stamps <> 0 then stamps_expire_on end,
      case when points <> 0 then $9::date end, case when stamps <> 0 then $10::date end
    from opening o
    join loyalty.customer c on c.tenant_id = $11 and c.id = o.customer_id
    returning 1
  ), balance as materialized (
    select loyalty.new_ulid($12) as id, o.customer_id, e.unit, e.amount, e.seq, e.expires_on
    from opening o
    cross join lateral (values
      ('points', o.points, 1, o.points_expire_on),
      ('stamps', o.stamps, 1 + (o.points <> 0)::int, o.stamps_expire_on)
    ) e (unit, amount, seq, expires_on)
    where e.amount <> 0
  ), entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
      kind, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
    select c.tenant_id, a.id, c.id, a.unit, a.amount,
      'opening', $13, $14, $15, $16, $12, a.seq, a.amount, a.expires_on
    from balance a
    join loyalty.customer c on c.tenant_id = $11 and c.id = a.customer_id
    returning 1
  )
  select 1 / (count(*) = cardinality($5::uuid[]))::int
  from opened;

-- postedSQL (core/ledger/sql.go), for ReadPosted: ReadPosted returns a reading of the entries of a cause, in order.
-- $1=tenant_id $2=cause
prepare postedSQL as
  select kind, unit, amount, balance_after, created_at
  from loyalty.ledger_entry
  where tenant_id = $1
    and cause = $2
  order by seq;

-- postedOfSaleSQL (core/ledger/sql.go): In the order of time: a merge may have given the later entries to another
-- customer.
-- $1=tenant_id $2=sale
prepare postedOfSaleSQL as
  select kind, unit, amount, balance_after, created_at
  from loyalty.ledger_entry
  where tenant_id = $1
    and cause = any (array(
      select $2::uuid
      union all
      select id
      from loyalty.refund
      where tenant_id = $1
        and transaction_id = $2
    ))
  order by created_at, seq;

-- openSQL (core/ledger/sql.go), for Open: Open queues the account of a new customer.
-- $1=tenant_id $2=customer
prepare openSQL as
  insert into loyalty.account (tenant_id, customer_id)
  values ($1, $2);

-- awardSQL (core/ledger/sql.go): An award is in the lot of its last day from the next settlement on (settleSQL).
-- $1=unit $2=amount $3=expires_on $4=points_idle_on $5=stamps_idle_on $6=tenant_id $7=customer $8=id $9=kind $10=cause
-- $11=turn $12=reason $13=actor_kind $14=actor_id $15=actor_name $16=now
prepare awardSQL as
  with moved as (
    update loyalty.account
    set points = points + case when $1::text = 'points' then $2::bigint else 0 end,
      stamps = stamps + case when $1 = 'stamps' then $2 else 0 end,
      entries = entries + 1,
      points_expire_on = case when $1 = 'points' and points + $2 > 0 then least(points_expire_on, nullif($3::date, 'infinity')) else points_expire_on end,
      stamps_expire_on = case when $1 = 'stamps' and stamps + $2 > 0 then least(stamps_expire_on, nullif($3::date, 'infinity')) else stamps_expire_on end,
      points_idle_on = greatest(points_idle_on, $4::date),
      stamps_idle_on = greatest(stamps_idle_on, $5::date)
    where tenant_id = $6
      and customer_id = $7
    returning tenant_id, customer_id, entries, points, stamps
  ), entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
      kind, cause, turn, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
    select c.tenant_id, $8, c.id, $1, $2,
      $9, $10, $11, $12, $13, $14, $15, $16, m.entries, case when $1 = 'points' then m.points else m.stamps end, $3
    from moved m
    join loyalty.customer c on c.tenant_id = $6 and c.id = m.customer_id
  )
  select points, stamps
  from moved;

-- awardOrFailSQL (core/ledger/sql.go): An award is in the lot of its last day from the next settlement on (settleSQL).
-- $1=unit $2=amount $3=expires_on $4=points_idle_on $5=stamps_idle_on $6=tenant_id $7=customer $8=id $9=kind $10=cause
-- $11=turn $12=reason $13=actor_kind $14=actor_id $15=actor_name $16=now
prepare awardOrFailSQL as
  with moved as (
    update loyalty.account
    set points = points + case when $1::text = 'points' then $2::bigint else 0 end,
      stamps = stamps + case when $1 = 'stamps' then $2 else 0 end,
      entries = entries + 1,
      points_expire_on = case when $1 = 'points' and points + $2 > 0 then least(points_expire_on, nullif($3::date, 'infinity')) else points_expire_on end,
      stamps_expire_on = case when $1 = 'stamps' and stamps + $2 > 0 then least(stamps_expire_on, nullif($3::date, 'infinity')) else stamps_expire_on end,
      points_idle_on = greatest(points_idle_on, $4::date),
      stamps_idle_on = greatest(stamps_idle_on, $5::date)
    where tenant_id = $6
      and customer_id = $7
    returning tenant_id, customer_id, entries, points, stamps
  ), entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
      kind, cause, turn, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after, expires_on)
    select c.tenant_id, $8, c.id, $1, $2,
      $9, $10, $11, $12, $13, $14, $15, $16, m.entries, case when $1 = 'points' then m.points else m.stamps end, $3
    from moved m
    join loyalty.customer c on c.tenant_id = $6 and c.id = m.customer_id
  )
  select 1 / count(*)
  from moved;

-- deductSQL (core/ledger/sql.go): A deduction, from an account that is locked and settled.
-- $1=amount $2=tenant_id $3=customer $4=unit $5=award $6=turn $7=points_idle_on $8=stamps_idle_on $9=kind $10=id
-- $11=cause $12=reason $13=actor_kind $14=actor_id $15=actor_name $16=now
prepare deductSQL as
  with part as materialized (
    select l.expires_on, l.remaining,
      least(l.remaining, greatest(0, -$1::bigint - (sum(l.remaining) over soonest - l.remaining)))::bigint as taken
    from loyalty.lot l
    where l.tenant_id = $2
      and l.customer_id = $3
      and l.unit = $4::text
    window soonest as (
      order by l.expires_on is distinct from (
        select coalesce(e.expires_on, (
            select p.opening_expires_on
            from loyalty.account f
            join loyalty.programme p on p.tenant_id = f.tenant_id and p.unit = e.unit
            where f.tenant_id = $2
            and f.customer_id = e.customer_id
            and e.seq <= coalesce(case when e.unit = 'points' then f.points_lots_from else f.stamps_lots_from end, e.seq)
          ), 'infinity')
        from loyalty.ledger_entry e
        where e.tenant_id = $2
          and e.cause = $5::uuid
          and e.kind in ('earn', 'voucher')
          and e.turn = $6
      ), l.expires_on
    )
  ), moved as (
    update loyalty.account
    set points = points + case when $4 = 'points' then $1 else 0 end,
      stamps = stamps + case when $4 = 'stamps' then $1 else 0 end,
      entries = entries + 1,
      points_lots_seq = case when $4 = 'points' and points_lots_from is not null then entries + 1 else points_lots_seq end,
      stamps_lots_seq = case when $4 = 'stamps' and stamps_lots_from is not null then entries + 1 else stamps_lots_seq end,
      points_expire_on = case when $4 = 'points' and points_lots_from is not null then next.expires_on else points_expire_on end,
      stamps_expire_on = case when $4 = 'stamps' and stamps_lots_from is not null then next.expires_on else stamps_expire_on end,
      points_idle_on = greatest(points_idle_on, $7::date),
      stamps_idle_on = greatest(stamps_idle_on, $8::date)
    from (select min(expires_on) as expires_on from part where remaining > taken and expires_on < 'infinity') next
    where tenant_id = $2
      and customer_id = $3
      and ($9::text in ('reversal', 'refund') or case when $4 = 'points' then points else stamps end + $1 >= 0)
    returning tenant_id, customer_id, entries, points, stamps
  ), emptied as (
    delete from loyalty.lot l
    using part p, moved m
    where l.tenant_id = $2
      and l.customer_id = $3
      and l.unit = $4
      and l.expires_on = p.expires_on
      and p.taken = p.remaining
  ), lessened as (
    update loyalty.lot l
    set remaining = l.remaining - p.taken
    from part p, moved m
    where l.tenant_id = $2
      and l.customer_id = $3
      and l.unit = $4
      and l.expires_on = p.expires_on
      and p.taken > 0
      and p.taken < p.remaining
  ), taken as (
    select coalesce(array_agg(expires_on order by expires_on), '{}') as dates, coalesce(array_agg(-taken order by expires_on), '{}') as amounts
    from part
    where taken > 0
  ), entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
      kind, cause, turn, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after, lot_dates, lot_amounts)
    select c.tenant_id, $10, c.id, $4, $1,
      $9, $11, $6, $12, $13, $14, $15, $16, m.entries, case when $4 = 'points' then m.points else m.stamps end,
      t.dates, t.amounts
    from moved m
    join loyalty.customer c on c.tenant_id = $2 and c.id = m.customer_id
    cross join taken t
  )
  select points, stamps
  from moved;

-- deductOrFailSQL (core/ledger/sql.go): A deduction, from an account that is locked and settled.
-- $1=amount $2=tenant_id $3=customer $4=unit $5=award $6=turn $7=points_idle_on $8=stamps_idle_on $9=kind $10=id
-- $11=cause $12=reason $13=actor_kind $14=actor_id $15=actor_name $16=now
prepare deductOrFailSQL as
  with part as materialized (
    select l.expires_on, l.remaining,
      least(l.remaining, greatest(0, -$1::bigint - (sum(l.remaining) over soonest - l.remaining)))::bigint as taken
    from loyalty.lot l
    where l.tenant_id = $2
      and l.customer_id = $3
      and l.unit = $4::text
    window soonest as (
      order by l.expires_on is distinct from (
        select coalesce(e.expires_on, (
            select p.opening_expires_on
            from loyalty.account f
            join loyalty.programme p on p.tenant_id = f.tenant_id and p.unit = e.unit
            where f.tenant_id = $2
            and f.customer_id = e.customer_id
            and e.seq <= coalesce(case when e.unit = 'points' then f.points_lots_from else f.stamps_lots_from end, e.seq)
          ), 'infinity')
        from loyalty.ledger_entry e
        where e.tenant_id = $2
          and e.cause = $5::uuid
          and e.kind in ('earn', 'voucher')
          and e.turn = $6
      ), l.expires_on
    )
  ), moved as (
    update loyalty.account
    set points = points + case when $4 = 'points' then $1 else 0 end,
      stamps = stamps + case when $4 = 'stamps' then $1 else 0 end,
      entries = entries + 1,
      points_lots_seq = case when $4 = 'points' and points_lots_from is not null then entries + 1 else points_lots_seq end,
      stamps_lots_seq = case when $4 = 'stamps' and stamps_lots_from is not null then entries + 1 else stamps_lots_seq end,
      points_expire_on = case when $4 = 'points' and points_lots_from is not null then next.expires_on else points_expire_on end,
      stamps_expire_on = case when $4 = 'stamps' and stamps_lots_from is not null then next.expires_on else stamps_expire_on end,
      points_idle_on = greatest(points_idle_on, $7::date),
      stamps_idle_on = greatest(stamps_idle_on, $8::date)
    from (select min(expires_on) as expires_on from part where remaining > taken and expires_on < 'infinity') next
    where tenant_id = $2
      and customer_id = $3
      and ($9::text in ('reversal', 'refund') or case when $4 = 'points' then points else stamps end + $1 >= 0)
    returning tenant_id, customer_id, entries, points, stamps
  ), emptied as (
    delete from loyalty.lot l
    using part p, moved m
    where l.tenant_id = $2
      and l.customer_id = $3
      and l.unit = $4
      and l.expires_on = p.expires_on
      and p.taken = p.remaining
  ), lessened as (
    update loyalty.lot l
    set remaining = l.remaining - p.taken
    from part p, moved m
    where l.tenant_id = $2
      and l.customer_id = $3
      and l.unit = $4
      and l.expires_on = p.expires_on
      and p.taken > 0
      and p.taken < p.remaining
  ), taken as (
    select coalesce(array_agg(expires_on order by expires_on), '{}') as dates, coalesce(array_agg(-taken order by expires_on), '{}') as amounts
    from part
    where taken > 0
  ), entry as (
    insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
      kind, cause, turn, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after, lot_dates, lot_amounts)
    select c.tenant_id, $10, c.id, $4, $1,
      $9, $11, $6, $12, $13, $14, $15, $16, m.entries, case when $4 = 'points' then m.points else m.stamps end,
      t.dates, t.amounts
    from moved m
    join loyalty.customer c on c.tenant_id = $2 and c.id = m.customer_id
    cross join taken t
  )
  select 1 / count(*)
  from moved;

-- VisitsCountedSQL (core/ledger/sql.go): VisitsCountedSQL has the transaction count visits and spend itself.
prepare VisitsCountedSQL as
  select set_config('app.visits_counted', 'yes', true) as set;

-- countVisitSQL (core/ledger/sql.go), for count: count queues a change of an account's visits and spend, and of its
-- standing.
-- $1=visits $2=spend $3=points_idle_on $4=stamps_idle_on $5=tenant_id $6=customer
prepare countVisitSQL as
  update loyalty.account
  set visits = visits + $1,
    spent_cents = spent_cents + $2::bigint,
    points_idle_on = greatest(points_idle_on, $3::date),
    stamps_idle_on = greatest(stamps_idle_on, $4::date)
  where tenant_id = $5
    and customer_id = $6;

-- countKnownSQL (core/ledger/sql.go), for count: count queues a change of an account's visits and spend, and of its
-- standing.
-- $1=visits $2=spend $3=points_idle_on $4=stamps_idle_on $5=earned_on $6=earned_points $7=earned_stamps $8=level_year
-- $9=level_sum $10=level_sum_before $11=level_id $12=level_until $13=level_by $14=tenant_id $15=customer
prepare countKnownSQL as
  update loyalty.account
  set visits = visits + $1,
    spent_cents = spent_cents + $2::bigint,
    points_idle_on = greatest(points_idle_on, $3::date),
    stamps_idle_on = greatest(stamps_idle_on, $4::date),
    earned_on = $5::date,
    earned_points = $6::bigint,
    earned_stamps = $7::bigint,
    level_year = $8::int,
    level_sum = $9::bigint,
    level_sum_before = $10::bigint,
    level_id = $11::bigint,
    level_until = $12::date,
    level_by = $13::text
  where tenant_id = $14
    and customer_id = $15;

-- standingSQL (core/ledger/standing.go), for LockStanding: LockStanding returns a reading that locks an account.
-- $1=tenant_id $2=customer
prepare standingSQL as
  select coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.account a
  where a.tenant_id = $1
    and a.customer_id = $2
  for no key update;

-- keepStandingSQL (core/ledger/standing.go), for KeepStanding: KeepStanding queues the new standing of an account that
-- is locked.
-- $1=earned_on $2=earned_points $3=earned_stamps $4=level_year $5=level_sum $6=level_sum_before $7=level_id
-- $8=level_until $9=level_by $10=tenant_id $11=customer
prepare keepStandingSQL as
  update loyalty.account
  set earned_on = $1::date,
    earned_points = $2::bigint,
    earned_stamps = $3::bigint,
    level_year = $4::int,
    level_sum = $5::bigint,
    level_sum_before = $6::bigint,
    level_id = $7::bigint,
    level_until = $8::date,
    level_by = $9::text
  where tenant_id = $10
    and customer_id = $11;

-- keepStandingsSQL (core/ledger/standing.go), for KeepStandings: KeepStandings is KeepStanding for many customers, whose
-- standings are in their order.
-- $1=customers $2=standings $3=tenant_id
prepare keepStandingsSQL as
  update loyalty.account a
  set earned_on = k.earned_on,
      earned_points = k.earned_points,
      earned_stamps = k.earned_stamps,
      level_year = k.level_year,
      level_sum = k.level_sum,
      level_sum_before = k.level_sum_before,
      level_id = k.level_id,
      level_until = k.level_until,
      level_by = k.level_by
  from unnest($1::uuid[]) with ordinality c (id, place)
  join jsonb_to_recordset($2::jsonb) k (place bigint, earned_on date, earned_points bigint, earned_stamps bigint,
      level_year int, level_sum bigint, level_sum_before bigint, level_id bigint, level_until date, level_by text) on k.place = c.place
  where a.tenant_id = $3
    and a.customer_id = c.id;
