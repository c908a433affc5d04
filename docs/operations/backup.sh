#!/bin/sh
# backup.sh: a base backup beside the archive of the WAL, as a user who may replicate. Run it every
# night. It removes what no kept base backup needs.
#
#   BACKUP_DIR  where base/ and wal/ are (/backup); the archive is written by archive-wal.sh
#   KEEP        how many base backups to keep (14)
#   PGHOST, PGPORT, PGUSER, PGPASSWORD  as for psql
set -eu
dir=${BACKUP_DIR:-/backup}
keep=${KEEP:-14}
name=$(date -u +%Y%m%dT%H%M%SZ)
mkdir -p "$dir/base"
# The WAL that the backup itself needs comes with it; what happened since is in the archive.
pg_basebackup --pgdata "$dir/base/$name.part" --format tar --gzip --wal-method stream --checkpoint fast --label "$name"
mv "$dir/base/$name.part" "$dir/base/$name"
sync "$dir/base"
echo "made $dir/base/$name"

# Older ones, and the segments that only they need.
find "$dir/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.part' | sort | head -n "-$keep" | while read -r old; do
	rm -rf "$old"
	echo "removed $old"
done
oldest=$(find "$dir/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.part' | sort | head -n 1)
first=$(tar -xzOf "$oldest/base.tar.gz" backup_label | sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p')
if test -n "$first" && test -d "$dir/wal"; then
	pg_archivecleanup "$dir/wal" "$first"
fi
