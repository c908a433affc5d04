#!/bin/sh
# create-database.sh creates the login that owns the database, and the database. Run it once as the
# superuser (POSTGRES_USER, or postgres). The owner is not a superuser, who would bypass the isolation of
# tenants. With BACKUP_PASSWORD, it also creates the login for backups, loyalty_backup.
set -eu
psql --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres --set password="$POSTGRES_PASSWORD" <<'SQL'
create role loyalty login createrole password :'password';
create database loyalty owner loyalty;
SQL
if test -n "${BACKUP_PASSWORD:-}"; then
	psql --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres --set password="$BACKUP_PASSWORD" <<'SQL'
create role loyalty_backup login replication password :'password';
SQL
fi
