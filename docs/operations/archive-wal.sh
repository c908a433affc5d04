#!/bin/sh
# archive-wal.sh PATH NAME is PostgreSQL's archive_command: it copies a finished WAL segment to the
# archive. It must not succeed before the copy is on disk, nor replace another segment. PostgreSQL runs it
# in its data directory.
set -eu
if test -e archive-nothing; then # restore.sh creates it; PostgreSQL keeps its WAL meanwhile
	echo "this is a restored copy, which archives nothing until $(pwd)/archive-nothing is removed" >&2
	exit 1
fi
archive=${BACKUP_DIR:-/backup}/wal
mkdir -p "$archive"
if test -e "$archive/$2"; then
	cmp -s "$1" "$archive/$2" # a repeated segment is fine; a different one with that name is an error
	exit
fi
cp "$1" "$archive/.$2.part"
sync "$archive/.$2.part"
mv "$archive/.$2.part" "$archive/$2"
sync "$archive"
