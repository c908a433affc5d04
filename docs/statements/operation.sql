-- The statements of core/operation, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/operation.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- backupsSQL (core/operation/backup.go): Backups are expected where the login for them may be used, or archive-wal.sh
-- archives the WAL: providers of databases have their own ways.
prepare backupsSQL as
  with wal as (
    select a.last_archived_time, a.last_failed_time,
      pg_size_bytes(current_setting('wal_segment_size')) as size,
      case when not pg_is_in_recovery() then pg_current_wal_lsn() - '0/0' end as written,
      ('x' || substring(a.last_archived_wal from '^[0-9A-F]{8}([0-9A-F]{8})[0-9A-F]{8}'))::bit(32)::bigint as high,
      ('x' || substring(a.last_archived_wal from '^[0-9A-F]{16}([0-9A-F]{8})'))::bit(32)::bigint as low
    from pg_stat_archiver a
  )
  select b.label, b.finished_at,
    current_setting('archive_command') like '%archive-wal.sh%'
      or exists (select from pg_roles where rolname = 'loyalty_backup' and rolcanlogin) as expected,
    current_setting('archive_mode') <> 'off' as archives,
    w.last_archived_time as archived_at,
    case
      when current_setting('archive_mode') = 'off' then 0
      else greatest(
        coalesce(trunc(w.written / w.size) - coalesce(w.high * (4294967296 / w.size) + w.low, 0) - 1, 0),
        (w.last_failed_time > coalesce(w.last_archived_time, '-infinity'))::int,
        0
      )
    end::bigint as unarchived
  from wal w
  left join (
    select label, finished_at
    from loyalty.backup
    order by finished_at desc
    limit 1
  ) b on true;

-- databaseSQL (core/operation/health.go), for Health: Health returns the state of the installation.
prepare databaseSQL as
  select current_setting('server_version') as version, pg_database_size(current_database()) as bytes,
    (select count(*) from pg_stat_activity where datname = current_database()) as connections,
    current_setting('max_connections')::bigint as max_conns;

-- mailingSQL (core/operation/health.go)
-- $1=after
prepare mailingSQL as
  select waiting, failed
  from loyalty.mailing_progress($1);

-- mailedSendsSQL (core/operation/health.go): The job that e-mails a send's vouchers lasts until all are sent.
prepare mailedSendsSQL as
  select min(created_at) as queued_since
  from river.river_job
  where kind = 'coupon_delivery'
    and state in ('available', 'scheduled', 'retryable', 'running');
