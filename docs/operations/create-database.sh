#!/bin/sh
# create-database.sh creates the database and its logins. Run it once as the superuser (POSTGRES_USER, or postgres),
# and again to change a password:
#
#   runuser -u postgres -- sh <create-database.sh
#
#   POSTGRES_PASSWORD  of loyalty, which owns the database. It is not a superuser, who would bypass the
#                      isolation of tenants
#   APP_PASSWORD       of loyalty_app, which serves requests
#   BACKUP_PASSWORD    of loyalty_backup, which takes base backups, and can't log in without one
#
# A login whose variable is empty keeps its password.
set -eu
cd /
psql --set ON_ERROR_STOP=1 --quiet --username "${POSTGRES_USER:-postgres}" --dbname postgres --set owner="${POSTGRES_PASSWORD:-}" \
	--set app="${APP_PASSWORD:-}" --set backup="${BACKUP_PASSWORD:-}" <<'SQL'
set client_min_messages = warning;
select format('create role %I', name)
from (values ('loyalty'), ('loyalty_app'), ('loyalty_backup')) as login (name)
where not exists (select from pg_roles where rolname = name) \gexec

select format('alter role %I login %s', name, rights) || case when password <> '' then format(' password %L', password) else '' end
from (values ('loyalty', 'createrole', :'owner'), ('loyalty_app', 'noinherit', :'app'), ('loyalty_backup', 'replication', :'backup'))
	as login (name, rights, password)
where name <> 'loyalty_backup' or password <> '' \gexec

-- Migrations grant it rights, which from PostgreSQL 16 on only its administrator may.
grant loyalty_app to loyalty with admin option;

select 'create database loyalty owner loyalty' where not exists (select from pg_database where datname = 'loyalty') \gexec
SQL
