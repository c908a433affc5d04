#!/bin/sh
# restore.sh BASE DIRECTORY [TIME]: restores a base backup into an empty directory, and has
# PostgreSQL go on from there by the archive of the WAL to TIME ("2026-05-01 12:00:00+00"), or to its
# end. The server is then started as usual; it opens for writing when it has arrived.
#
#   BACKUP_DIR  where wal/ is (/backup)
set -eu
base=$1
data=$2
time=${3:-}
archive=${BACKUP_DIR:-/backup}/wal
if test -n "$(ls -A "$data" 2>/dev/null)"; then
	echo "$data is not empty: restore beside the damaged database, never over it" >&2
	exit 1
fi
mkdir -p "$data"
chmod 0700 "$data"
tar -xzf "$base/base.tar.gz" -C "$data"
tar -xzf "$base/pg_wal.tar.gz" -C "$data/pg_wal"
{
	echo "restore_command = 'cp \"$archive/%f\" \"%p\"'"
	echo "recovery_target_timeline = 'current'"
	if test -n "$time"; then
		echo "recovery_target_time = '$time'"
		echo "recovery_target_action = 'promote'"
	fi
	# The copy must not write into the archive of the original.
	echo "archive_mode = 'off'"
} >>"$data/postgresql.auto.conf"
touch "$data/recovery.signal"
echo "restored $base; start PostgreSQL on $data"
