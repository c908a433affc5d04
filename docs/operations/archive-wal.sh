#!/bin/sh
# archive-wal.sh PATH NAME, PostgreSQL's archive_command: copies a finished segment of the WAL to
# the archive. It must not say "done" before the copy is safe, nor replace another segment.
set -eu
archive=${BACKUP_DIR:-/backup}/wal
mkdir -p "$archive"
if test -e "$archive/$2"; then
	cmp -s "$1" "$archive/$2" # asked again for one it has; another one by that name is an error
	exit
fi
cp "$1" "$archive/.$2.part"
sync "$archive/.$2.part"
mv "$archive/.$2.part" "$archive/$2"
sync "$archive"
