-- The statements of core/programme, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/programme.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- storeSQL (core/programme/sample.go), for Store: Store queues a rule as it is, without a hold, jobs or e-mails, and the
-- last day of what was there before (nil: none): for businesses that are made with a past.
-- $1=tenant_id $2=unit $3=expiry $4=months $5=round_to $6=month $7=day $8=grace_days $9=opening $10=hold $11=now
prepare storeSQL as
  insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, yearly_month, yearly_day, grace_days,
    opening_expires_on, hold_until, begun_at, updated_at)
  values ($1, $2, $3, nullif($4, 0), nullif($5, ''), nullif($6, 0), nullif($7, 0), $8,
    $9::date, $10::date, $11, $11)
  on conflict (tenant_id, unit) do update
  set expiry = excluded.expiry,
    months = excluded.months,
    round_to = excluded.round_to,
    yearly_month = excluded.yearly_month,
    yearly_day = excluded.yearly_day,
    grace_days = excluded.grace_days,
    hold_until = excluded.hold_until,
    version = programme.version + 1,
    updated_at = excluded.updated_at;

-- storeRunSQL (core/programme/sample.go), for StoreRun: StoreRun queues that everything which ended before the
-- transaction's day was posted.
-- $1=day $2=tenant_id $3=unit
prepare storeRunSQL as
  update loyalty.programme
  set expired_through = greatest(expired_through, $1::date)
  where tenant_id = $2
    and unit = $3
    and coalesce(hold_until, '-infinity') <= $1::date;

-- rulesSQL (core/programme/sql.go), for Settings: Settings returns the rules of the actor's business, for owners.
-- $1=tenant_id
prepare rulesSQL as
  select u.unit, coalesce(p.expiry, 'never') as rule, coalesce(p.months, 0) as months, coalesce(p.round_to, '') as round_to,
    coalesce(p.yearly_month, 0) as month, coalesce(p.yearly_day, 0) as day, coalesce(p.grace_days, 30) as grace_days,
    coalesce(nullif(p.hold_until, 'infinity'), '0001-01-01') as hold, coalesce(p.hold_until = 'infinity', false) as holds_all,
    p.opening_expires_on, p.opening_idle_on, coalesce(p.version, 0) as version
  from unnest(array['points', 'stamps']) u (unit)
  left join loyalty.programme p on p.tenant_id = $1 and p.unit = u.unit;

-- holdingsSQL (core/programme/sql.go): What customers have of a unit, and the first days on which some of it ends.
-- $1=unit $2=tenant_id
prepare holdingsSQL as
  select count(*) as customers, coalesce(sum(h.amount), 0)::bigint as amount, count(c.email) as mails,
    min(h.expire_on) as first_on, min(h.idle_on) as first_idle
  from (
    select a.customer_id,
      case when $1::text = 'stamps' then a.stamps else a.points end as amount,
      case when $1 = 'stamps' then a.stamps_expire_on else a.points_expire_on end as expire_on,
      case when $1 = 'stamps' then a.stamps_idle_on else a.points_idle_on end as idle_on
    from loyalty.account a
    where a.tenant_id = $2
  ) h
  join loyalty.customer c on c.tenant_id = $2 and c.id = h.customer_id
  where h.amount > 0;

-- writeSQL (core/programme/sql.go): The days of what was there before are those of the first rule.
-- $1=tenant_id $2=unit $3=expiry $4=months $5=round_to $6=yearly_month $7=yearly_day $8=grace_days $9=opening_expires_on
-- $10=opening_idle_on $11=first $12=hold_until $13=now $14=version
prepare writeSQL as
  insert into loyalty.programme as p (tenant_id, unit, expiry, months, round_to, yearly_month, yearly_day, grace_days,
    opening_expires_on, opening_idle_on, opened_to, told_to, hold_until, begun_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8,
    $9, $10, $11, $11, $12::text::date, $13, $13)
  on conflict (tenant_id, unit) do update
  set expiry = excluded.expiry,
    months = excluded.months,
    round_to = excluded.round_to,
    yearly_month = excluded.yearly_month,
    yearly_day = excluded.yearly_day,
    grace_days = excluded.grace_days,
    hold_until = excluded.hold_until,
    version = p.version + 1,
    updated_at = excluded.updated_at
  where p.version = $14
  returning version;

-- shareSQL (core/programme/sql.go): What requests read, with the tenant.
-- $1=tenant
prepare shareSQL as
  select loyalty.share_programme($1);

-- resumeSQL (core/programme/sql.go), for Resume: Resume has nothing of a business end for a while after its suspension,
-- in the caller's transaction of the platform: its customers could spend nothing meanwhile.
-- $1=until $2=tenant
prepare resumeSQL as
  update loyalty.programme
  set hold_until = greatest(hold_until, $1)
  where tenant_id = $2
    and expiry <> 'never';

-- lockStateSQL (core/programme/sql.go): One job at a time goes on from where it is.
-- $1=tenant_id $2=unit
prepare lockStateSQL as
  select p.unit, coalesce(p.expiry, 'never') as rule, coalesce(p.months, 0) as months, coalesce(p.round_to, '') as round_to,
    coalesce(p.yearly_month, 0) as month, coalesce(p.yearly_day, 0) as day, coalesce(p.grace_days, 30) as grace_days,
    coalesce(nullif(p.hold_until, 'infinity'), '0001-01-01') as hold, coalesce(p.hold_until = 'infinity', false) as holds_all,
    p.opening_expires_on, p.opening_idle_on, coalesce(p.version, 0) as version, p.opened_to, p.told_to, p.run_customers, p.run_points, p.run_stamps
  from loyalty.programme p
  where p.tenant_id = $1
    and p.unit = $2
  for no key update;

-- stateSQL (core/programme/sql.go)
-- $1=tenant_id $2=unit
prepare stateSQL as
  select opening_expires_on, opening_idle_on, opened_to
  from loyalty.programme
  where tenant_id = $1
    and unit = $2
    and opened_to is not null;

-- openedSQL (core/programme/sql.go): Another job may have come further meanwhile.
-- $1=to $2=tenant_id $3=unit $4=from
prepare openedSQL as
  update loyalty.programme
  set opened_to = $1
  where tenant_id = $2
    and unit = $3
    and opened_to = $4;

-- toldSQL (core/programme/sql.go), for MailNotices: MailNotices queues the e-mails to a number of customers, and is
-- queued again until all have theirs.
-- $1=to $2=tenant_id $3=unit
prepare toldSQL as
  update loyalty.programme
  set told_to = $1
  where tenant_id = $2
    and unit = $3;

-- toldNextSQL (core/programme/sql.go): Customers after one who have something of a unit, and an e-mail address.
-- $1=unit $2=tenant_id $3=after $4=limit
prepare toldNextSQL as
  select c.id, case when c.unchecked_since is null then c.first_name else '' end as first_name, c.email, c.link_version,
    case when $1::text = 'stamps' then a.stamps else a.points end as balance
  from loyalty.customer c
  join loyalty.account a on a.tenant_id = $2 and a.customer_id = c.id
  where c.tenant_id = $2
    and c.id > $3
    and c.email is not null
    and case when $1 = 'stamps' then a.stamps else a.points end > 0
  order by c.id
  limit $4;

-- colourSQL (core/programme/sql.go), for MailNotices: MailNotices queues the e-mails to a number of customers, and is
-- queued again until all have theirs.
-- $1=tenant_id
prepare colourSQL as
  select max(colour) as colour
  from loyalty.tenant_look
  where tenant_id = $1;

-- countRunSQL (core/programme/sql.go): Counts what was expired, unless a hold has begun meanwhile.
-- $1=customers $2=points $3=stamps $4=tenant_id $5=unit $6=today
prepare countRunSQL as
  update loyalty.programme
  set run_customers = run_customers + $1,
    run_points = run_points + $2,
    run_stamps = run_stamps + $3
  where tenant_id = $4
    and unit = $5
    and coalesce(hold_until, '-infinity') < $6::date;

-- endRunSQL (core/programme/sql.go), for endRun: endRun stores that all earlier days are done, and writes into the audit
-- log what has ended since the last time.
-- $1=through $2=tenant_id $3=unit
prepare endRunSQL as
  update loyalty.programme
  set expired_through = greatest(expired_through, $1::date),
    run_customers = 0,
    run_points = 0,
    run_stamps = 0
  where tenant_id = $2
    and unit = $3;

-- findWorkSQL (core/programme/sql.go): What is to be done for businesses: a day that has ended, or a first rule.
-- $1=now
prepare findWorkSQL as
  select p.tenant_id as tenant, p.unit, w.expiring, w.opening, w.telling
  from loyalty.programme p
  join loyalty.tenant n on n.id = p.tenant_id
  cross join lateral (select ($1::timestamptz at time zone n.timezone)::date as today) local
  cross join lateral (
    select coalesce(p.hold_until, '-infinity') < local.today and coalesce(p.expired_through, '-infinity') < local.today - 1 as expiring,
      p.opened_to is not null as opening,
      p.told_to is not null and p.expiry <> 'never' as telling
  ) w
  where n.status = 'active'
    and (w.expiring or w.opening or w.telling)
  order by p.tenant_id, p.unit;
