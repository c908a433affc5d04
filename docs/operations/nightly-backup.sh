#!/bin/sh
# nightly-backup.sh runs backup.sh every night, for machines without a scheduler (compose.yml). If the last night's
# backup is missing, it is taken at once; if it fails, it is tried again.
#
#   AT     when, as a time of day in UTC (01:30)
#   PAUSE  seconds until it looks again whether a backup is due (300)
#   BACKUP_DIR, KEEP, PGHOST …  as for backup.sh
set -eu
dir=${BACKUP_DIR:-/backup}
here=$(dirname "$0")
while true; do
	due=$(date -u -d "today ${AT:-01:30}" +%s)
	test "$due" -le "$(date +%s)" || due=$((due - 86400))
	mkdir -p "$dir/base"
	if test -z "$(find "$dir/base" -mindepth 1 -maxdepth 1 -type d ! -name '*.part' -newermt "@$due")"; then
		"$here/backup.sh" || echo "the backup failed; it is tried again in ${PAUSE:-300} seconds" >&2
	fi
	sleep "${PAUSE:-300}"
done
