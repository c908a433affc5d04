#!/bin/sh
# create-database.sh creates the database and its logins. Run it once as the superuser (POSTGRES_USER, or postgres),
# and again to change a password.
#
#   POSTGRES_PASSWORD  of loyalty, which owns the database. It is not a superuser, who would bypass the
#                      isolation of tenants
#   APP_PASSWORD       of loyalty_app, which serves requests
#   BACKUP_PASSWORD    of loyalty_backup, which takes base backups
#
# A login whose variable is empty keeps its password; a new one has none.
set -eu
psql --set ON_ERROR_STOP=1 --quiet --username "${POSTGRES_USER:-postgres}" --dbname postgres --set owner="${POSTGRES_PASSWORD:-}" \
	--set app="${APP_PASSWORD:-}" --set backup="${BACKUP_PASSWORD:-}" <<'SQL'
select format('create role %I login %s', name, rights)
from (values ('loyalty', 'createrole'), ('loyalty_app', 'noinherit'), ('loyalty_backup', 'replication')) as login (name, rights)
where not exists (select from pg_roles where rolname = name) \gexec

select format('alter role %I password %L', name, password)
from (values ('loyalty', :'owner'), ('loyalty_app', :'app'), ('loyalty_backup', :'backup')) as login (name, password)
where password <> '' \gexec

-- Migrations grant it rights, which from PostgreSQL 16 on only its administrator may.
grant loyalty_app to loyalty with admin option;

select 'create database loyalty owner loyalty' where not exists (select from pg_database where datname = 'loyalty') \gexec
SQL
