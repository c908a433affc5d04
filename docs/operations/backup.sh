#!/bin/sh
# backup.sh takes a base backup, next to the WAL archive, as a login with REPLICATION. Run it every
# night. It removes older base backups, and the WAL that only they need.
#
#   BACKUP_DIR  where base/ and wal/ are (/backup); the archive is written by archive-wal.sh
#   KEEP        how many base backups to keep (14)
#   PGHOST, PGPORT, PGUSER, PGPASSWORD  as for psql
set -eu
dir=${BACKUP_DIR:-/backup}
keep=${KEEP:-14}
name=$(date -u +%Y%m%dT%H%M%SZ)
mkdir -p "$dir/base"
# The backup includes the WAL that it needs itself; later WAL is in the archive.
pg_basebackup --pgdata "$dir/base/$name.part" --format tar --gzip --wal-method stream --checkpoint fast --label "$name"
mv "$dir/base/$name.part" "$dir/base/$name"
sync "$dir/base"
echo "created $dir/base/$name"

# Remove older backups, and the segments that only they need.
find "$dir/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.part' | sort | head -n "-$keep" | while read -r old; do
	rm -rf "$old"
	echo "removed $old"
done
oldest=$(find "$dir/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.part' | sort | head -n 1)
first=$(tar -xzOf "$oldest/base.tar.gz" backup_label | sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p')
if test -n "$first" && test -d "$dir/wal"; then
	pg_archivecleanup "$dir/wal" "$first"
fi
