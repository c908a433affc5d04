#!/bin/sh
# restore.sh BASE DIRECTORY [TIME] restores a base backup into an empty directory, verifies it, and lets
# PostgreSQL replay the WAL archive to TIME ("2026-05-01 12:00:00+00"), or to its end. It says what to do next.
#
#   BACKUP_DIR  where wal/ is (/backup)
#   TIMELINE    which history to follow, if the database was restored before (latest)
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
data=$(cd "$data" && pwd)
tar -xzf "$base/base.tar.gz" -C "$data"
tar -xzf "$base/pg_wal.tar.gz" -C "$data/pg_wal"
pg_verifybackup --quiet --manifest-path "$base/backup_manifest" "$data"

# The database may have been restored before, then its settings are still there. An earlier version of this
# script also turned archiving off.
sed -i -e '/^restore_command *=/d' -e '/^recovery_target[a-z_]* *=/d' -e "/^archive_mode = 'off'$/d" "$data/postgresql.auto.conf"
{
	echo "restore_command = 'cp \"$archive/%f\" \"%p\"'"
	echo "recovery_target_timeline = '${TIMELINE:-latest}'"
	if test -n "$time"; then
		echo "recovery_target_time = '$time'"
		echo "recovery_target_action = 'promote'"
	fi
} >>"$data/postgresql.auto.conf"
touch "$data/recovery.signal"
# The copy must not write to the original's archive: archive-wal.sh refuses while this file exists.
touch "$data/archive-nothing"

# On a port of its own: the damaged database may still run.
start="pg_ctl -D $data -l $data.log -o '-p 5433' start"
production=
if ! test -e "$data/postgresql.conf"; then # Debian keeps the configuration apart, so it isn't in the backup
	etc=/etc/postgresql/$(cat "$data/PG_VERSION")/main
	start="pg_ctl -D $etc -l $data.log -o '-p 5433 -c data_directory=$data -c external_pid_file=' start"
	production="
   In $etc/postgresql.conf, set data_directory = '$data'."
fi
cat <<TEXT
restored and verified $base. Next:

1. Start PostgreSQL on it, at port 5433:

       $start

   It accepts writes when it has reached the time.
2. Run loyalty verify on it, then stop it:

       pg_ctl -D $data stop

3. If it replaces the damaged database: stop that one for good.$production
   Let the copy archive its WAL,

       rm $data/archive-nothing

   start it as PostgreSQL is always started, and take a base backup with backup.sh. Until then it archives nothing, and keeps
   its WAL, so its disk fills.
TEXT
