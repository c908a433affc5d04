#!/bin/sh
# restore.sh BASE DIRECTORY [TIME] restores a base backup into an empty directory, and lets PostgreSQL
# replay the WAL archive to TIME ("2026-05-01 12:00:00+00"), or to its end. Then start the server as
# usual; it accepts writes when it has reached that time.
#
#   BACKUP_DIR  where wal/ is (/backup)
set -eu
base=$1
data=$2
time=${3:-}
archive=${BACKUP_DIR:-/backup}/wal
if test -n "$(ls -A "$data" 2>/dev/null)"; then
	echo "$data is not empty: restore next to the damaged database, never over it" >&2
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
	# The copy must not write to the original's archive.
	echo "archive_mode = 'off'"
} >>"$data/postgresql.auto.conf"
touch "$data/recovery.signal"
echo "restored $base; start PostgreSQL on $data"
