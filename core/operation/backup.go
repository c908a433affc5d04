package operation

import (
	"time"

	"example.com/loyalty/core/db"
)

// Backups is the state of the backups, as PostgreSQL knows it.
type Backups struct {
	Label      *string    // of the last backup that was recorded; nil: none
	FinishedAt *time.Time // when it was
	Expected   bool       // the database is set up for backups as docs/operations.md says

	Archives   bool       // finished segments of the WAL are archived
	ArchivedAt *time.Time // when the last one was; nil: none yet
	Unarchived int64      // finished segments that wait for it
}

// Backups are expected where the login for them may be used, or archive-wal.sh archives the WAL: providers of databases
// have their own ways. The segments in the archive are told by the name of the last one, "000000010000000A000000FE" or,
// after a base backup, this followed by ".00000028.backup": timeline, and number in two parts.
const backupsSQL = `
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
	) b on true`

func readBackups(to *Backups) db.Reading { return db.OneInto(to, backupsSQL, nil) }

// ArchiveLate is how long a finished segment may wait for its archive.
const ArchiveLate = 10 * time.Minute

// IsLate reports whether finished segments wait although none was archived for a while.
func (b Backups) IsLate(now time.Time) bool {
	return b.Unarchived > 0 && (b.ArchivedAt == nil || now.Sub(*b.ArchivedAt) > ArchiveLate)
}
