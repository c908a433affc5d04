#!/bin/sh
# restore-test.sh LOYALTY tests backup.sh, archive-wal.sh and restore.sh on its own PostgreSQL (make
# restore-test): a base backup of the demo, more sales, an accident, and a restore to the moment before
# it, on which `loyalty verify` must find no difference.
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
cleanup() {
	for data in "$top/first" "$top/second"; do
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
wait_for() { # WHAT DATABASE SQL: until it says t
	for _ in $(seq 300); do
		test "$(ask "$2" "$3" 2>/dev/null || true)" = t && return
		sleep 0.2
	done
	echo "waited in vain: $1" >&2
	exit 1
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
run POSTGRES_PASSWORD=unused "$top/scripts/create-database.sh"
product migrate up >/dev/null
product demo >/dev/null 2>&1

echo "2. base backups: of three, two are kept, with the WAL that they need"
for _ in 1 2 3; do
	run KEEP=2 "$top/scripts/backup.sh"
	sleep 1 # their names are seconds
	product sandbox --out "$top/home/sandbox.json" >/dev/null
done
test "$(ls "$top/backup/base" | wc -l)" = 2
base=$(find "$top/backup/base" -mindepth 1 -maxdepth 1 | sort | head -n 1)

echo "3. the moment to go back to"
before=$(ask loyalty "$facts")
moment=$(ask loyalty "select clock_timestamp()")
echo "   $moment: $before"
sleep 1

echo "4. an accident: sales are deleted, and business goes on"
ask loyalty "set session_replication_role = replica; delete from loyalty.ledger_entry where kind = 'earn'; delete from loyalty.transaction"
product sandbox --out "$top/home/sandbox.json" >/dev/null
product verify >/dev/null && { echo "verify did not see the accident" >&2; exit 1; }
last=$(ask loyalty "select pg_walfile_name(pg_switch_wal())")
wait_for "the last segment is in the archive" loyalty "select last_archived_wal >= '$last' from pg_stat_archiver"
test "$(ask loyalty "select failed_count from pg_stat_archiver")" = 0
run pg_ctl -D "$top/first" -m immediate stop >/dev/null

echo "5. restored beside it"
run "$top/scripts/restore.sh" "$base" "$top/second" "$moment" >/dev/null
start "$top/second"
wait_for "the restored server is open for writing" loyalty "select not pg_is_in_recovery()"
after=$(ask loyalty "$facts")
echo "   $after"
test "$before" = "$after"
product verify | tail -n 1
product migrate status >/dev/null
run "$top/scripts/restore.sh" "$base" "$top/first" >/dev/null 2>&1 && { echo "restore.sh wrote over a database" >&2; exit 1; }
echo "restored: what was before the accident is there, and nothing after it"
