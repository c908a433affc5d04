#!/bin/sh
# backup.sh takes a base backup, next to the WAL archive, verifies it, and records it in the database, where
# monitoring looks. Run it every night as loyalty_backup. It removes older base backups, and the WAL that only
# they need.
#
#   BACKUP_DIR  where base/ and wal/ are (/backup); the archive is written by archive-wal.sh
#   VERIFY_DIR  where the backup is extracted for a moment, to verify it (BACKUP_DIR)
#   KEEP        how many base backups to keep (14)
#   PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE (loyalty)  as for psql
set -eu
dir=${BACKUP_DIR:-/backup}
keep=${KEEP:-14}
name=$(date -u +%Y%m%dT%H%M%SZ)
part=$dir/base/$name.part
extracted=
mkdir -p "$dir/base"
# A copy that fails is not kept: the next attempts would fill the disk of the archive.
trap 'rm -rf "$part" "$extracted"' EXIT
extract() { # FILE DIRECTORY: if the disk is full, tar says so of each file
	said=$(tar -xzf "$1" -C "$2" 2>&1) || {
		echo "$said" | head -n 1 >&2
		echo "$1 can't be extracted in $2" >&2
		exit 1
	}
}
# The backup includes the WAL that it needs itself; later WAL is in the archive.
pg_basebackup --pgdata "$part" --format tar --gzip --wal-method stream --checkpoint fast --label "$name"

# What is stored must be what the server sent. pg_verifybackup reads no archives before PostgreSQL 18.
extracted=$(mktemp -d "${VERIFY_DIR:-$dir}/verify-XXXXXX")
extract "$part/base.tar.gz" "$extracted"
extract "$part/pg_wal.tar.gz" "$extracted/pg_wal"
pg_verifybackup --quiet --manifest-path "$part/backup_manifest" "$extracted" || {
	rm -rf "$dir/base/damaged.part"
	mv "$part" "$dir/base/damaged.part"
	echo "the backup is damaged: kept for a day as $dir/base/damaged.part" >&2
	exit 1
}
rm -rf "$extracted"

mv "$part" "$dir/base/$name"
sync "$dir/base"
echo "created and verified $dir/base/$name"
recorded=yes
echo "select loyalty.record_backup('base', :'label')" |
	psql --no-psqlrc --quiet --output /dev/null --set ON_ERROR_STOP=1 --set label="$name" "${PGDATABASE:-loyalty}" || recorded=no

# Remove older backups, and the segments that only they need, and what a killed run left.
find "$dir" "$dir/base" -mindepth 1 -maxdepth 1 -type d \( -name '*.part' -o -name 'verify-??????' \) -mmin +1440 -exec rm -rf {} +
find "$dir/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.part' | sort | head -n "-$keep" | while read -r old; do
	rm -rf "$old"
	echo "removed $old"
done
oldest=$(find "$dir/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.part' | sort | head -n 1)
first=$(tar -xzOf "$oldest/base.tar.gz" backup_label | sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p')
if test -n "$first" && test -d "$dir/wal"; then
	pg_archivecleanup "$dir/wal" "$first"
fi
if test "$recorded" = no; then
	echo "the backup is complete, but it could not be recorded: monitoring will report that it is missing" >&2
	exit 1
fi
