#!/bin/sh
# restore-test.sh LOYALTY tests backup.sh, archive-wal.sh and restore.sh on its own PostgreSQL (make
# restore-test): a base backup of the demo, more sales, an accident, a restore to the moment before it, on
# which `loyalty verify` must find no difference, and the restored copy as the production server, with backups of
# its own.
set -eu
loyalty=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
for dir in $(echo "$PATH" | tr : ' ') /usr/lib/postgresql/*/bin; do
	test -x "$dir/initdb" && bin=$dir
done
: "${bin:?PostgreSQL is not installed}"
top=$(mktemp -d /tmp/loyalty-restore-XXXXXX)
mkdir "$top/backup" "$top/sockets" "$top/scripts" "$top/home"
cp "$here"/*.sh "$top/scripts"
cp "$loyalty" "$top/loyalty"
chmod 755 "$top"

# PostgreSQL refuses to run as root.
if test "$(id -u)" = 0; then
	chown -R postgres "$top"
	run() { runuser -u postgres -- env PATH="$bin:$PATH" HOME="$top/home" BACKUP_DIR="$top/backup" PGHOST="$top/sockets" PGUSER=postgres "$@"; }
else
	run() { env PATH="$bin:$PATH" BACKUP_DIR="$top/backup" PGHOST="$top/sockets" PGUSER=postgres "$@"; }
fi
backup() { run PGUSER=loyalty_backup "$top/scripts/backup.sh"; }
cleanup() {
	for data in "$top"/first "$top"/second "$top"/third "$top"/fourth; do
		! test -f "$data/postmaster.pid" || run pg_ctl -D "$data" -m immediate stop >/dev/null 2>&1 || true
	done
	rm -rf "$top"
	return 0
}
trap cleanup EXIT
start() { run pg_ctl -D "$1" -l "$top/$(basename "$1").log" -w -t 120 -o "-k $top/sockets -c listen_addresses=''" start >/dev/null; }
ask() { run psql -XAtq -v ON_ERROR_STOP=1 -d "$1" -c "$2"; }
product() {
	run DATABASE_URL="postgres://loyalty@/loyalty?host=$top/sockets" LOYALTY_SECRET=a-secret-for-the-restore-test-alone \
		LOYALTY_DATA_DIR="$top/home" LOYALTY_SANDBOX=1 LOYALTY_METRICS_ADDR=off "$top/loyalty" "$@"
}
fail() {
	echo "$1" >&2
	exit 1
}
wait_for() { # WHAT DATABASE SQL: until it says t
	for _ in $(seq 300); do
		test "$(ask "$2" "$3" 2>/dev/null || true)" = t && return
		sleep 0.2
	done
	fail "waited in vain: $1"
}
switch_wal() { # finishes a segment, and waits until it is in the archive
	last=$(ask loyalty "select pg_walfile_name(pg_switch_wal())")
	wait_for "the last segment is in the archive" loyalty "select last_archived_wal >= '$last' from pg_stat_archiver"
}
facts="select (select count(*) from loyalty.tenant) || ' businesses, ' || (select count(*) from loyalty.customer) || ' customers, ' ||
	(select count(*) from loyalty.transaction) || ' sales, ' || (select sum(amount) from loyalty.ledger_entry where unit = 'points') || ' points'"

echo "1. a database with the demo"
run initdb -D "$top/first" -U postgres --locale=C.UTF-8 --auth=trust >/dev/null
cat >>"$top/first/postgresql.conf" <<CONF
archive_mode = on
archive_command = 'BACKUP_DIR=$top/backup $top/scripts/archive-wal.sh %p %f'
archive_timeout = 5
CONF
start "$top/first"
run POSTGRES_PASSWORD=unused BACKUP_PASSWORD=unused "$top/scripts/create-database.sh" >/dev/null
product migrate up >/dev/null
product demo >/dev/null 2>&1

echo "2. base backups: of three, two are kept, with the WAL that they need"
for _ in 1 2 3; do
	KEEP=2 backup
	sleep 1 # their names are seconds
	product sandbox --out "$top/home/sandbox.json" >/dev/null
done
test "$(ls "$top/backup/base" | wc -l)" = 2
base=$(find "$top/backup/base" -mindepth 1 -maxdepth 1 | sort | head -n 1)
recorded="select kind || ' ' || label || ' ' || (finished_at > now() - interval '1 minute') from loyalty.backup"
newest=$(ls "$top/backup/base" | tail -n 1)
test "$(ask loyalty "$recorded")" = "base $newest true" || fail "the newest backup is not recorded"

echo "   a damaged one is neither kept nor recorded"
mkdir "$top/damaging"
cat >"$top/damaging/pg_basebackup" <<DAMAGE
#!/bin/sh
# pg_basebackup whose result lacks the last bytes of a file.
"$bin/pg_basebackup" "\$@"
rm -rf "$top/unpacked" && mkdir "$top/unpacked"
tar -xzf "\$2/base.tar.gz" -C "$top/unpacked"
truncate --size 4 "$top/unpacked/PG_VERSION" # of 3 bytes
tar -czf "\$2/base.tar.gz" -C "$top/unpacked" .
DAMAGE
chmod 755 "$top/damaging/pg_basebackup"
damaged() { run PATH="$top/damaging:$bin:$PATH" PGUSER=loyalty_backup "$top/scripts/backup.sh" >"$top/damaged.log" 2>&1; }
damaged && fail "backup.sh kept a damaged backup"
grep -q 'PG_VERSION' "$top/damaged.log" || fail "backup.sh does not say what is damaged: $(cat "$top/damaged.log")"
test "$(ls "$top/backup/base" | grep -vc part)" = 2
test "$(ask loyalty "$recorded")" = "base $newest true" || fail "a damaged backup is recorded"
mv "$top/backup/base/damaged.part" "$top/damaged"

echo "   one that can't be verified is not left behind, where repeated ones would fill the disk"
if run VERIFY_DIR="$top/nowhere" PGUSER=loyalty_backup "$top/scripts/backup.sh" >/dev/null 2>&1; then
	fail "backup.sh kept a backup without verifying it"
fi
test "$(ls "$top/backup/base" | wc -l)" = 2 || fail "backup.sh left $(ls "$top/backup/base")"

echo "3. the moment to go back to"
before=$(ask loyalty "$facts")
moment=$(ask loyalty "select clock_timestamp()")
echo "   $moment: $before"
sleep 1

echo "4. an accident: sales are deleted, and business goes on"
ask loyalty "set session_replication_role = replica; delete from loyalty.ledger_entry where kind = 'earn'; delete from loyalty.transaction"
product sandbox --out "$top/home/sandbox.json" >/dev/null
product verify >/dev/null && { echo "verify did not see the accident" >&2; exit 1; }
switch_wal
test "$(ask loyalty "select failed_count from pg_stat_archiver")" = 0
run pg_ctl -D "$top/first" -m immediate stop >/dev/null

echo "5. restored beside it"
archived() { find "$top/backup/wal" -type f -exec cksum {} + | sort; }
before_trial=$(archived)
run "$top/scripts/restore.sh" "$base" "$top/second" "$moment" >"$top/next.txt"
start "$top/second"
wait_for "the restored server is open for writing" loyalty "select not pg_is_in_recovery()"
after=$(ask loyalty "$facts")
echo "   $after"
test "$before" = "$after"
product verify | tail -n 1
product migrate status >/dev/null
run "$top/scripts/restore.sh" "$base" "$top/first" >/dev/null 2>&1 && fail "restore.sh wrote over a database"
run "$top/scripts/restore.sh" "$top/damaged" "$top/third" >/dev/null 2>&1 && fail "restore.sh restored a damaged backup"
rm -rf "$top/third"

echo "6. on trial, it writes nothing to the archive"
ask loyalty "select pg_switch_wal()" >/dev/null
wait_for "PostgreSQL has tried to archive" loyalty "select failed_count > 0 from pg_stat_archiver"
test "$before_trial" = "$(archived)" || fail "a copy on trial wrote to the archive"

echo "7. as the production server, it archives its WAL from the beginning"
golive=$(sed -n 's/^ *\(rm .*\)$/\1/p' "$top/next.txt")
test -n "$golive" || fail "restore.sh does not say how to go live: $(cat "$top/next.txt")"
run sh -c "$golive"
switch_wal
product sandbox --out "$top/home/sandbox.json" >/dev/null
switch_wal
backup
product sandbox --out "$top/home/sandbox.json" >/dev/null
switch_wal
latest=$(ask loyalty "$facts")
echo "   $latest"
newest=$(ls "$top/backup/base" | tail -n 1)
run pg_ctl -D "$top/second" -m immediate stop >/dev/null

echo "8. its backup is restored to the end, and so is one from before"
restored() { # BASE DIRECTORY: to the end of the archive
	run "$top/scripts/restore.sh" "$1" "$2" >/dev/null
	start "$2"
	wait_for "the restored server is open for writing" loyalty "select not pg_is_in_recovery()"
	test "$latest" = "$(ask loyalty "$facts")" || fail "restored from $1: $(ask loyalty "$facts")"
	product verify | tail -n 1
	run pg_ctl -D "$2" -m immediate stop >/dev/null
}
restored "$top/backup/base/$newest" "$top/third"
restored "$base" "$top/fourth"
echo "restored: what was before the accident is there, and nothing after it; and then what the restored server recorded"
