#!/bin/sh
# create-database.sh, run once as the superuser (PGUSER, or postgres): the login that owns the
# database. It is no superuser: what serves must not be able to pass by the wall between tenants.
set -eu
psql --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres --set password="$POSTGRES_PASSWORD" <<'SQL'
create role loyalty login createrole password :'password';
create database loyalty owner loyalty;
SQL
