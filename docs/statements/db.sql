-- The statements of core/db, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/db.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- settleSQL (core/db/db.go), for settle: settle returns the statement that makes the settings those of a transaction.
prepare settleSQL as
  select set_config(setting.name, setting.value, true)
  from unnest($1::text[], $2::text[]) setting (name, value);

-- becomeSQL (core/db/db.go): becomeSQL switches a connection to a role.
prepare becomeSQL as
  select pg_backend_pid(),
    set_config('app.tenant_id', '-1', false),
    (
      select set_config('role', rolname, false)
      from pg_catalog.pg_roles
      where rolname = '%s'
        and pg_catalog.pg_has_role(oid, 'member')
    );

-- isCitusSQL (core/db/distribute.go): isCitusSQL asks for the extension and not for nodes: a coordinator alone can be
-- distributed, too.
prepare isCitusSQL as
  select exists (select from pg_extension where extname = 'citus') as citus;

-- undistributedSQL (core/db/distribute.go): The tables that are not distributed yet, in an order in which they can be.
-- select 'loyalty.' || c.relname as name
-- from pg_class c
-- where c.relnamespace = 'loyalty'::regnamespace
--   and c.relkind = 'r'
--   and (c.relname in ('plan', 'tenant', 'programme', 'level_programme', 'days_counted', 'idempotency')
--     or exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant'))
--   and c.relname not in ('invitation', 'password_reset', 'weekly_preference', 'tenant_look', 'logo_drawing')
--   and not exists (select from pg_dist_partition d where d.logicalrelid = c.oid)
-- order by array_position(array['plan', 'tenant', 'programme', 'level_programme', 'days_counted', 'customer'], c.relname::text), c.relname

-- foreignKeysSQL (core/db/distribute.go): The foreign keys of these tables and to them, and whether they can be kept:
-- the coordinator's own tables can't be referred to from a node, nor refer to one.
-- $1=tables
-- select 'loyalty.' || c.relname as on_table, k.conname as name, pg_get_constraintdef(k.oid) as definition,
--   (k.conrelid = any ($1::regclass[]) or exists (select from pg_dist_partition d where d.logicalrelid = k.conrelid))
--   and (k.confrelid = any ($1::regclass[]) or exists (select from pg_dist_partition d where d.logicalrelid = k.confrelid)) as kept
-- from pg_constraint k
-- join pg_class c on c.oid = k.conrelid
-- where k.contype = 'f'
--   and (k.conrelid = any ($1::regclass[]) or k.confrelid = any ($1::regclass[]))
-- order by c.relname, k.conname

-- policySQL (core/db/distribute.go): policySQL rewrites a policy.
-- do $$
-- declare
--   walled regclass := '%s';
--   named text;
--   others text;
-- begin
--   select polname, case polname when 'tenant_or_platform' then 'current_setting(''app.tenant_id'', true) = ''0'' or ' else '' end
--   into named, others
--   from pg_policy
--   where polrelid = walled;
--   execute format('drop policy %%I on %%s', named, walled);
--   execute format('create policy %%I on %%s using (%%s %s::text = current_setting(''app.tenant_id'', true))', named, walled, others);
-- end
-- $$

-- lockKeySQL (core/db/idempotency.go), for firstResponse: firstResponse locks the key and returns the stored response,
-- or nil.
-- $1=caller $2=key $3=tenant
prepare lockKeySQL as
  select pg_try_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 7)) as mine
  from (values (1)) as always
  left join (
    select
    from loyalty.idempotency
    where tenant_id = $3
    limit 0
  ) response on true;

-- awaitKeySQL (core/db/idempotency.go), for firstResponse: firstResponse locks the key and returns the stored response,
-- or nil.
-- $1=caller $2=key $3=tenant
prepare awaitKeySQL as
  select true as mine
  from pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 7))
  left join (
    select
    from loyalty.idempotency
    where tenant_id = $3
    limit 0
  ) response on true;

-- findResponseSQL (core/db/idempotency.go): A statement of its own, after the lock: its snapshot includes what the last
-- holder committed.
-- $1=now $2=tenant $3=caller $4=key
prepare findResponseSQL as
  select fingerprint, status, body, created_at <= $1::timestamptz - interval '24 hours' as expired
  from loyalty.idempotency
  where tenant_id = $2
    and caller = $3
    and key = $4;

-- storeResponseSQL (core/db/idempotency.go), for storeResponse: storeResponse queues the response, to be stored with the
-- commit.
-- $1=tenant $2=caller $3=key $4=fingerprint $5=status $6=body $7=now
prepare storeResponseSQL as
  insert into loyalty.idempotency (tenant_id, caller, key, fingerprint, status, body, created_at)
  values ($1, $2, $3, $4, $5, $6, $7);

-- deleteExpiredSQL (core/db/idempotency.go), for firstResponse: firstResponse locks the key and returns the stored
-- response, or nil.
-- $1=tenant $2=caller $3=key
prepare deleteExpiredSQL as
  delete from loyalty.idempotency
  where tenant_id = $1
    and caller = $2
    and key = $3;

-- deleteOldResponsesSQL (core/db/idempotency.go), for DeleteOldResponses: DeleteOldResponses deletes responses that are
-- older than a day, the oldest first and at most upTo, in a transaction of the platform.
-- $1=now $2=up_to
prepare deleteOldResponsesSQL as
  delete from loyalty.idempotency
  where (caller, key) in (
    select caller, key
    from loyalty.idempotency
    where created_at <= $1::timestamptz - interval '24 hours'
    order by created_at
    limit $2
  );

-- deleteResponsesNamingSQL (core/db/idempotency.go): Bodies have no index: customers are rarely erased, and half a
-- million responses are searched in a quarter of a second.
-- $1=tenant_id $2=id
prepare deleteResponsesNamingSQL as
  delete from loyalty.idempotency
  where tenant_id = $1
    and position(convert_to($2, 'UTF8') in body) > 0;

-- lockKeysSQL (core/db/idempotency.go), for ReadKeyed: ReadKeyed returns the requests with these keys, and the readings
-- to run before their first use.
-- $1=caller $2=keys $3=tenant
prepare lockKeysSQL as
  select given.key, pg_try_advisory_xact_lock(hashtextextended($1 || ' ' || given.key, 7)) as mine
  from unnest($2::text[]) given (key)
  left join (
    select
    from loyalty.idempotency
    where tenant_id = $3
    limit 0
  ) response on true;

-- findResponsesSQL (core/db/idempotency.go), for ReadKeyed: ReadKeyed returns the requests with these keys, and the
-- readings to run before their first use.
-- $1=now $2=tenant $3=caller $4=keys
prepare findResponsesSQL as
  select key, fingerprint, status, body, created_at <= $1::timestamptz - interval '24 hours' as expired
  from loyalty.idempotency
  where tenant_id = $2
    and caller = $3
    and key = any($4::text[]);

-- deleteAllExpiredSQL (core/db/idempotency.go), for Save: Save queues the responses, to be stored with the commit.
-- $1=tenant $2=caller $3=keys
prepare deleteAllExpiredSQL as
  delete from loyalty.idempotency
  where tenant_id = $1
    and caller = $2
    and key = any($3::text[]);

-- storeResponsesSQL (core/db/idempotency.go), for Save: Save queues the responses, to be stored with the commit.
-- $1=tenant $2=caller $3=now $4=keys $5=fingerprints $6=statuses $7=bodies
prepare storeResponsesSQL as
  insert into loyalty.idempotency (tenant_id, caller, key, fingerprint, status, body, created_at)
  select $1, $2, key, fingerprint, status, body, $3
  from unnest($4::text[], $5::bytea[], $6::int[], $7::bytea[]) given (key, fingerprint, status, body)
  returning 1;

-- countTimeSQL (core/db/list.go): A page must not wait for its count: with rare combinations of filters it reads many
-- records.
-- $1=timeout
prepare countTimeSQL as
  select set_config('statement_timeout', $1, true) as set;

-- asyncSQL (core/db/listen.go): The transaction stores nothing, so its commit need not wait for the disk.
-- set local synchronous_commit = off

-- notifySQL (core/db/listen.go): The transaction stores nothing, so its commit need not wait for the disk.
prepare notifySQL as
  select pg_notify(note.channel, note.payload)
  from unnest($1::text[], $2::text[]) note (channel, payload);

-- giveWaySQL (core/db/migrate.go): giveWaySQL cancels a migration that waits, through any number of others, for itself.
prepare giveWaySQL as
  with recursive waiting (migration, for_pid) as (
    select a.pid, blocker
    from pg_stat_activity a
    cross join unnest(pg_blocking_pids(a.pid)) blocker
    where a.datname = current_database()
      and a.application_name = $1
      and a.wait_event_type = 'Lock'
    union
    select w.migration, blocker
    from waiting w
    cross join unnest(pg_blocking_pids(w.for_pid)) blocker
    where w.for_pid <> w.migration
  )
  select pg_cancel_backend(migration)
  from waiting
  where for_pid = migration;

-- appliedSQL (core/db/migrate.go), for ReadSteps: ReadSteps returns a reading of the database's migrations, for
-- Together.
prepare appliedSQL as
  select version_id as version
  from public.goose_db_version
  where is_applied
    and version_id > 0
  order by version_id;

-- idleSQL (core/db/pulse.go): idleSQL returns the connections that don't work on a statement, nor have done so a moment
-- ago.
prepare idleSQL as
  select backend.pid
  from unnest($1::int[]) backend (pid)
  left join pg_stat_activity activity using (pid)
  where activity.pid is null
    or activity.state like 'idle%'
    and activity.state_change < clock_timestamp() - interval '1 second';

-- prereleaseSQL (core/db/reach.go), for tryLogin: tryLogin opens a connection, and returns errPrerelease for a database
-- of that time, or what another check of it returns.
prepare prereleaseSQL as
  select exists (
    select
    from public.goose_db_version
    where version_id between 1 and 100
  );

-- ownerSQL (core/db/reach.go): ownerSQL says who owns the product's tables, and whether this login may act as the owner.
prepare ownerSQL as
  select pg_get_userbyid(relowner), pg_has_role(relowner, 'usage'), current_user::text
  from pg_class
  where oid = to_regclass('loyalty.tenant');

-- touchSQL (core/db/ready.go): One process writes at a time.
-- $1=now
prepare touchSQL as
  update loyalty.write_check
  set written_at = $1
  where id in (
    select id
    from loyalty.write_check
    where written_at not between $1::timestamptz - interval '3 seconds' and $1::timestamptz + interval '1 minute'
    for update skip locked
  );

-- smallMemorySQL (core/db/ready.go), for CheckWritable: CheckWritable returns nil when the database can write: it
-- commits a change of one row (at most every three seconds over all processes) and briefly uses some disk space.
prepare smallMemorySQL as
  select set_config('work_mem', '64kB', true);

-- spillSQL (core/db/ready.go): An updated row may fit into existing files.
prepare spillSQL as
  select count(*)
  from (
    select n, repeat('x', 100) as filling
    from generate_series(1, 10000) n
    order by filling, n desc
  ) s;

-- findTenantSQL (core/db/tenant.go), for FindTenant: FindTenant finds a tenant without its theme, for jobs, or
-- core.ErrNotFound.
-- $1=id
prepare findTenantSQL as
  select coalesce(n.id, 0) as tenant_id, coalesce(n.name, '') as tenant_name, coalesce(n.slug, '') as tenant_slug,
    coalesce(n.timezone, 'UTC') as timezone, coalesce(n.currency, '') as currency, coalesce(n.country, '') as country,
    coalesce(n.confirm_above_cents, 0) as confirm_above_cents, coalesce(n.status, 'active') <> 'active' as suspended,
    coalesce(n.phone_optional, false) as phone_optional, coalesce(n.test, false) as test,
    coalesce(n.programme, '{}') as programme, coalesce(n.earning_version, 0) as earning_version
  from loyalty.tenant n
  where n.id = $1;

-- beginSQL (core/db/tx.go), for sendNotifications: sendNotifications empties the outbox.
-- begin

-- enterSQL (core/db/tx.go): A plain select, so that it can be prepared and take the tenant (0: the platform) as an
-- argument.
prepare enterSQL as
  select loyalty.enter($1);

-- enterAtSQL (core/db/tx.go), for enterAt: enterAt is enter for a transaction that writes records of an instant.
prepare enterAtSQL as
  select loyalty.enter($1, $2);

-- gateSQL (core/db/tx.go), for start: start returns the calls with which the transaction enters its tenant or the
-- platform.
prepare gateSQL as
  select loyalty.require_active();

-- commitSQL (core/db/tx.go), for sendNotifications: sendNotifications empties the outbox.
-- commit

-- rollbackSQL (core/db/tx.go), for sendNotifications: sendNotifications empties the outbox.
-- rollback

-- takeTimeSQL (core/db/tx.go), for TakeTime: TakeTime allows each further statement and lock of the transaction ten
-- minutes instead of the few seconds that a till may wait: for work on all records of a large business.
-- $1=tenant
prepare takeTimeSQL as
  select set_config('statement_timeout', '10min', true), set_config('lock_timeout', '10min', true),
    set_config('application_name', 'loyalty of ' || $1::bigint, true);
