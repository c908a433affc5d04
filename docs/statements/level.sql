-- The statements of core/level, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/level.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- insertChangeSQL (core/level/change.go), for Queue: Queue queues changes of a customer's level, whose account the
-- transaction has locked.
-- $1=id $2=tenant_id $3=customer $4=from $5=to $6=reason $7=cause $8=note $9=from_until $10=until $11=actor_kind
-- $12=actor_id $13=actor_name $14=now
prepare insertChangeSQL as
  insert into loyalty.level_change (tenant_id, id, customer_id, seq, from_level, to_level, reason, cause, note, from_until, until,
    actor_kind, actor_id, actor_name, created_at)
  select c.tenant_id, $1, c.id, 1 + coalesce((
      select max(seq)
      from loyalty.level_change
      where tenant_id = $2
        and customer_id = $3
    ), 0), $4, $5, $6, $7, $8, $9, $10,
    $11, $12, $13, $14
  from loyalty.customer c
  where c.tenant_id = $2
    and c.id = $3
  returning 1;

-- insertChangesSQL (core/level/change.go), for QueueAll: QueueAll queues changes of many customers, which have no cause.
-- $1=tenant_id $2=actor_kind $3=actor_id $4=actor_name $5=now $6=ids $7=customers $8=from $9=to $10=reasons
-- $11=from_until $12=until
prepare insertChangesSQL as
  insert into loyalty.level_change (tenant_id, id, customer_id, seq, from_level, to_level, reason, from_until, until,
    actor_kind, actor_id, actor_name, created_at)
  select $1, c.id, c.customer, row_number() over (partition by c.customer order by c.id) + coalesce((
      select max(seq)
      from loyalty.level_change
      where tenant_id = $1
        and customer_id = c.customer
    ), 0), c.from_level, c.to_level, c.reason, c.from_until, c.until,
    $2, $3, $4, $5
  from unnest($6::uuid[], $7::uuid[], $8::bigint[], $9::bigint[], $10::text[], $11::date[], $12::date[])
    c (id, customer, from_level, to_level, reason, from_until, until)
  join loyalty.customer k on k.tenant_id = $1 and k.id = c.customer
  returning 1;

-- changesSQL (core/level/change.go): The newest ones are enough to see how the customer got the level that they have:
-- each of this year's is of a higher level.
-- $1=tenant_id $2=customer
prepare changesSQL as
  select from_level, to_level, reason, from_until, until, note, created_at
  from loyalty.level_change
  where tenant_id = $1
    and customer_id = $2
  order by seq desc
  limit 50;

-- forgetNotesSQL (core/level/change.go), for ForgetNotes: ForgetNotes queues that reasons which people wrote are
-- deleted.
-- $1=tenant_id $2=customers
prepare forgetNotesSQL as
  update loyalty.level_change
  set note = null
  where tenant_id = $1
    and customer_id = any ($2::uuid[])
    and note is not null;

-- clockSQL (core/level/count.go): A sale that began before a change of the levels is perhaps not counted for them.
prepare clockSQL as
  select clock_timestamp() as at;

-- beginCountSQL (core/level/count.go): A sale that began before a change of the levels is perhaps not counted for them.
-- $1=begun_at $2=first $3=tenant_id $4=version
prepare beginCountSQL as
  update loyalty.level_programme
  set begun_at = $1,
    counted_to = $2
  where tenant_id = $3
    and version = $4
    and counting
    and counted_to is null;

-- settleSQL (core/level/count.go): A sale that began before a change of the levels is perhaps not counted for them.
prepare settleSQL as
  select loyalty.settle_changes();

-- countedToSQL (core/level/count.go): A sale that began before a change of the levels is perhaps not counted for them.
-- $1=to $2=tenant_id $3=version $4=from
prepare countedToSQL as
  update loyalty.level_programme
  set counted_to = $1
  where tenant_id = $2
    and version = $3
    and counting
    and counted_to = $4;

-- endCountSQL (core/level/count.go): A sale that began before a change of the levels is perhaps not counted for them.
-- $1=tenant_id $2=version $3=from
prepare endCountSQL as
  update loyalty.level_programme
  set counting = frozen,
    frozen = false,
    counted_to = null
  where tenant_id = $1
    and version = $2
    and counting
    and counted_to = $3;

-- lockNextSQL (core/level/count.go): Locked in the order in which sales lock them.
-- $1=tenant_id $2=after $3=limit
prepare lockNextSQL as
  select a.customer_id, coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.account a
  where a.tenant_id = $1
    and a.customer_id > $2
  order by a.customer_id
  limit $3
  for no key update;

-- sumsSQL (core/level/count.go): What sales count by year, as award.Levels.Of counts each.
-- $1=zone $2=basis $3=customers $4=tenant_id $5=from_id $6=this_year $7=from_day
prepare sumsSQL as
  with sale as (
    select t.customer_id, (coalesce(t.occurred_at, t.created_at) at time zone $1)::date as day, t.spend_amount_cents, t.refunded_cents,
      case $2::text
        when 'visits' then 1
        when 'spend' then coalesce(t.eligible_cents, t.spend_amount_cents)
        else case when t.rule_type = 'points' then coalesce(t.base_award, t.points_awarded) else 0 end
      end as whole
    from unnest($3::uuid[]) c (id)
    join loyalty.transaction t on t.tenant_id = $4 and t.customer_id = c.id
    where t.id >= $5
      and t.status = 'completed'
  )
  select customer_id,
    coalesce(sum(counted) filter (where day >= $6::date), 0)::bigint as this,
    coalesce(sum(counted) filter (where day < $6::date), 0)::bigint as before
  from (
    select customer_id, day,
      case
        when $2 = 'visits' or refunded_cents = 0 then whole
        else div(whole::numeric * (spend_amount_cents - refunded_cents), spend_amount_cents)
      end as counted
    from sale
    where day >= $7::date
  ) part
  group by customer_id;

-- soldSQL (core/level/count.go), for NothingToCount: NothingToCount puts the levels of an actor's business in force at
-- once if it has no sale: it was just made, and its sales are all ahead.
-- $1=tenant_id
prepare soldSQL as
  select exists (select from loyalty.transaction where tenant_id = $1) as sold;

-- nothingToCountSQL (core/level/count.go), for NothingToCount: NothingToCount puts the levels of an actor's business in
-- force at once if it has no sale: it was just made, and its sales are all ahead.
-- $1=tenant_id
prepare nothingToCountSQL as
  update loyalty.level_programme
  set counting = false,
    frozen = false
  where tenant_id = $1
    and counted_to is null;

-- findWorkSQL (core/level/count.go): What is to be done for businesses: sales to count, or a day that has ended.
-- $1=now
prepare findWorkSQL as
  select p.tenant_id as tenant, p.counting, w.settling
  from loyalty.level_programme p
  join loyalty.tenant n on n.id = p.tenant_id
  cross join lateral (
    select not p.frozen and coalesce(p.settled_through, '-infinity') < ($1::timestamptz at time zone n.timezone)::date - 1 as settling
  ) w
  where n.status = 'active'
    and p.active
    and (p.counting or w.settling)
  order by p.tenant_id;

-- lockProgrammeSQL (core/level/edit.go), for Change: Change changes the levels, for owners.
-- $1=tenant_id
prepare lockProgrammeSQL as
  select p.active, p.basis, p.period, p.year_month as month, p.year_day as day, p.drops, p.starts_on, p.frozen,
    p.counting, p.counted_to, p.begun_at, p.settled_through as settled_thru, p.run_kept, p.run_dropped, p.version
  from loyalty.level_programme p
  where p.tenant_id = $1
  for no key update;

-- writeProgrammeSQL (core/level/edit.go), for Change: Change changes the levels, for owners.
-- $1=tenant_id $2=active $3=basis $4=period $5=month $6=day $7=drops $8=starts_on $9=frozen $10=counting $11=now
-- $12=version
prepare writeProgrammeSQL as
  insert into loyalty.level_programme as p (tenant_id, active, basis, period, year_month, year_day, drops, starts_on, frozen, counting, begun_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
  on conflict (tenant_id) do update
  set active = excluded.active,
    basis = excluded.basis,
    period = excluded.period,
    year_month = excluded.year_month,
    year_day = excluded.year_day,
    drops = excluded.drops,
    starts_on = excluded.starts_on,
    frozen = excluded.frozen,
    counting = excluded.counting,
    counted_to = null,
    begun_at = excluded.begun_at,
    version = p.version + 1,
    updated_at = excluded.updated_at
  where p.version = $12
  returning version;

-- addLevelSQL (core/level/edit.go), for write: write stores a level if it has changed, and returns its ID.
-- $1=tenant_id $2=name $3=rank $4=threshold $5=percent $6=colour $7=perks
prepare addLevelSQL as
  insert into loyalty.level (tenant_id, name, rank, threshold, percent, colour, perks)
  values ($1, $2, $3, $4, $5, $6, $7)
  returning id;

-- editLevelSQL (core/level/edit.go), for write: write stores a level if it has changed, and returns its ID.
-- $1=name $2=rank $3=threshold $4=percent $5=colour $6=perks $7=retired $8=now $9=tenant_id $10=id
prepare editLevelSQL as
  update loyalty.level
  set name = $1,
    rank = $2,
    threshold = $3,
    percent = $4,
    colour = $5,
    perks = $6,
    retired_at = case when $7 then coalesce(retired_at, $8) end
  where tenant_id = $9
    and id = $10;

-- standingSQL (core/level/give.go), for Readings: Readings returns the readings.
-- $1=tenant_id $2=customer
prepare standingSQL as
  select coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.account a
  where a.tenant_id = $1
    and a.customer_id = $2;

-- toldSQL (core/level/give.go), for Find: Find returns a customer's level by the levels of transaction.RulesNow: without
-- levels, nothing and in no round trip.
-- $1=tenant_id $2=customer
prepare toldSQL as
  select id, from_level, to_level, reason, cause, note, until, actor_kind, actor_name, created_at
  from loyalty.level_change
  where tenant_id = $1
    and customer_id = $2
  order by seq desc
  limit 100;

-- newestSQL (core/level/give.go): newestSQL is how a customer got the level that they have.
-- $1=tenant_id $2=customer
prepare newestSQL as
  select id, from_level, to_level, reason, cause, note, until, actor_kind, actor_name, created_at
  from loyalty.level_change
  where tenant_id = $1
    and customer_id = $2
  order by seq desc
  limit 1;

-- canAskSQL (core/level/give.go), for CanAsk: CanAsk reports whether something can ask for a level (nil: for none): one
-- that customers can rise to, or the one that it asked for before, whatever has become of it.
-- $1=tenant_id $2=level
prepare canAskSQL as
  select exists (
    select
    from loyalty.level
    where tenant_id = $1
      and id = $2
      and rank > 0
      and retired_at is null
  );

-- programmeSQL (core/level/level.go)
-- $1=tenant_id
prepare programmeSQL as
  select p.active, p.basis, p.period, p.year_month as month, p.year_day as day, p.drops, p.starts_on, p.frozen,
    p.counting, p.counted_to, p.begun_at, p.settled_through as settled_thru, p.run_kept, p.run_dropped, p.version
  from loyalty.level_programme p
  where p.tenant_id = $1;

-- levelsSQL (core/level/level.go), for Change: Change changes the levels, for owners.
-- $1=tenant_id
prepare levelsSQL as
  select id, name, rank, threshold, percent, colour, perks, retired_at is not null as retired
  from loyalty.level
  where tenant_id = $1
  order by rank, id;

-- customersAtSQL (core/level/level.go): How many customers have each level, or none, and how many of them are counted.
-- $1=tenant_id
prepare customersAtSQL as
  select a.level_id, count(*) as customers, count(*) filter (where p.counted_to >= c.id) as counted
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = $1 and a.customer_id = c.id
  left join loyalty.level_programme p on p.tenant_id = $1
  where c.tenant_id = $1
    and c.merged_into is null
    and coalesce(c.phone_key, c.email_key) is not null
  group by a.level_id;

-- askingSQL (core/level/preview.go), for Preview: Preview returns what a change would do now, for owners, or the refusal
-- of Change.
-- $1=tenant_id $2=level
prepare askingSQL as
  select (
      select count(*)
      from loyalty.reward
      where tenant_id = $1
        and active
        and (min_level_id = $2 or $2::bigint is null and min_level_id is not null)
    ) as rewards, (
      select count(*)
      from loyalty.coupon
      where tenant_id = $1
        and active
        and (min_level_id = $2 or $2::bigint is null and min_level_id is not null)
    ) as coupons;

-- standingsSQL (core/level/preview.go): Customers are grouped by the thresholds that their sums reach: which sum of a
-- group stands for it makes no difference.
-- $1=tenant_id $2=thresholds
prepare standingsSQL as
  with s as (
    select a.level_year, coalesce(a.level_sum, 0) as this, coalesce(a.level_sum_before, 0) as before, a.level_id, a.level_until, a.level_by
    from loyalty.account a
    where a.tenant_id = $1
  )
  select 0 as visits, null::date as earned_on, 0 as earned_points, 0 as earned_stamps, level_year, level_id, level_until, level_by, min(this) as level_sum, min(before) as level_sum_before, count(*) as customers
  from s
  group by level_year, level_id, level_until, level_by, width_bucket(this, $2::bigint[]), width_bucket(before, $2);

-- soldStandingsSQL (core/level/preview.go): Customers are grouped by the thresholds that their sums reach: which sum of
-- a group stands for it makes no difference.
-- $1=zone $2=basis $3=tenant_id $4=from_id $5=year $6=this_year $7=from_day $8=thresholds
prepare soldStandingsSQL as
  with sale as (
    select t.customer_id, (coalesce(t.occurred_at, t.created_at) at time zone $1)::date as day, t.spend_amount_cents, t.refunded_cents,
      case $2::text
        when 'visits' then 1
        when 'spend' then coalesce(t.eligible_cents, t.spend_amount_cents)
        else case when t.rule_type = 'points' then coalesce(t.base_award, t.points_awarded) else 0 end
      end as whole
    from loyalty.transaction t
    where t.tenant_id = $3
      and t.id >= $4
      and t.status = 'completed'
  ),
  s as (
    select $5::int as level_year, coalesce(sold.this, 0) as this, coalesce(sold.before, 0) as before, a.level_id, a.level_until, a.level_by
    from loyalty.account a
    left join (
      select customer_id,
      coalesce(sum(counted) filter (where day >= $6::date), 0)::bigint as this,
      coalesce(sum(counted) filter (where day < $6::date), 0)::bigint as before
      from (
        select customer_id, day,
        case
        when $2 = 'visits' or refunded_cents = 0 then whole
        else div(whole::numeric * (spend_amount_cents - refunded_cents), spend_amount_cents)
        end as counted
        from sale
        where day >= $7::date
      ) part
      group by customer_id) sold on sold.customer_id = a.customer_id
    where a.tenant_id = $3
  )
  select 0 as visits, null::date as earned_on, 0 as earned_points, 0 as earned_stamps, level_year, level_id, level_until, level_by, min(this) as level_sum, min(before) as level_sum_before, count(*) as customers
  from s
  group by level_year, level_id, level_until, level_by, width_bucket(this, $8::bigint[]), width_bucket(before, $8);

-- previewTimeSQL (core/level/preview.go), for Preview: Preview returns what a change would do now, for owners, or the
-- refusal of Change.
-- $1=milliseconds
prepare previewTimeSQL as
  select set_config('statement_timeout', $1::text, true) as set;

-- expiringSQL (core/level/settle.go): Expiry comes first at midnight, where something can expire.
-- $1=tenant_id $2=today
prepare expiringSQL as
  select exists (
    select from loyalty.programme
    where tenant_id = $1
      and coalesce(hold_until, '-infinity') < $2::date
      and coalesce(expired_through, '-infinity') < $2::date - 1
  ) as expiring;

-- lockDueSQL (core/level/settle.go), for settleNext: settleNext settles a batch, or ends the run if nothing is due.
-- $1=tenant_id $2=today $3=limit
prepare lockDueSQL as
  select a.customer_id, coalesce(a.visits, 0) as visits, a.earned_on, coalesce(a.earned_points, 0) as earned_points, coalesce(a.earned_stamps, 0) as earned_stamps,
    a.level_year, coalesce(a.level_sum, 0) as level_sum, coalesce(a.level_sum_before, 0) as level_sum_before,
    a.level_id, a.level_until, a.level_by
  from loyalty.account a
  where a.tenant_id = $1
    and a.level_until < $2::date
  order by a.customer_id
  limit $3
  for no key update skip locked;

-- anyDueSQL (core/level/settle.go), for endRun: endRun stores that all earlier days are done, and writes into the audit
-- log how many levels were kept and lost since the last time.
-- $1=tenant_id $2=today
prepare anyDueSQL as
  select exists (select from loyalty.account where tenant_id = $1 and level_until < $2::date) as due;

-- countRunSQL (core/level/settle.go), for settleNext: settleNext settles a batch, or ends the run if nothing is due.
-- $1=kept $2=dropped $3=tenant_id $4=version
prepare countRunSQL as
  update loyalty.level_programme
  set run_kept = run_kept + $1,
    run_dropped = run_dropped + $2
  where tenant_id = $3
    and version = $4
    and not frozen;

-- endRunSQL (core/level/settle.go), for endRun: endRun stores that all earlier days are done, and writes into the audit
-- log how many levels were kept and lost since the last time.
-- $1=today $2=tenant_id $3=version
prepare endRunSQL as
  update loyalty.level_programme
  set settled_through = greatest(settled_through, $1::date - 1),
    run_kept = 0,
    run_dropped = 0
  where tenant_id = $2
    and version = $3
    and not frozen;
