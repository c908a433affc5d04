-- The wall between tenants, and what every later migration builds with.
-- +goose Up

create schema loyalty;

-- Substring search and its index with the tenant in front. Both extensions are
-- trusted: the owner of the database may create them without being a superuser.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- The role that serves. It owns nothing, cannot log in and cannot bypass a
-- policy; the owner's connections become it at the start of each transaction.
-- Roles belong to the cluster, so another database of it may have made it already.
-- +goose StatementBegin
do $$
begin
	if not exists (select from pg_roles where rolname = 'loyalty_app') then
		create role loyalty_app nologin nosuperuser nobypassrls;
	end if;
	if not pg_has_role(current_user, 'loyalty_app', 'member') then
		execute format('grant loyalty_app to %I', current_user);
	end if;
end
$$;
-- +goose StatementEnd

grant usage on schema loyalty to loyalty_app;
-- /readyz asks whether the migrations are current.
grant select on public.goose_db_version to loyalty_app;

-- The tenant of the running transaction; null when none is set. A setting that
-- was set once in a session is '' afterwards, not null.
create function loyalty.current_tenant() returns bigint
	language sql stable parallel safe
	return nullif(current_setting('app.tenant_id', true), '')::bigint;

-- wall makes a table a tenant table: its rows exist only for their own tenant.
-- Called by each migration after create table. The policy spells the setting out:
-- inlined, it costs an index condition and not a call per row.
-- +goose StatementBegin
create function loyalty.wall(walled regclass) returns void
	language plpgsql as $$
begin
	execute format('alter table %s enable row level security', walled);
	execute format(
		'create policy tenant on %s using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::bigint)',
		walled);
	execute format('grant select, insert, update, delete on %s to loyalty_app', walled);
end
$$;

-- platform_wall is for the few global tables whose rows belong to a tenant or to
-- the platform: a tenant sees its own rows; with no tenant set (authentication,
-- super-admins, jobs) all rows are seen.
create function loyalty.platform_wall(walled regclass) returns void
	language plpgsql as $$
begin
	execute format('alter table %s enable row level security', walled);
	execute format(
		'create policy tenant_or_platform on %s using (
			nullif(current_setting(''app.tenant_id'', true), '''') is null
			or tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::bigint)',
		walled);
	execute format('grant select, insert, update, delete on %s to loyalty_app', walled);
end
$$;
-- +goose StatementEnd

-- A ULID for inserts of whole sets: 48 bits of milliseconds, then chance.
create function loyalty.new_ulid(made_at timestamptz) returns uuid
	language sql volatile parallel safe
	return (lpad(to_hex(floor(extract(epoch from made_at) * 1000)::bigint), 12, '0')
		|| right(replace(gen_random_uuid()::text, '-', ''), 20))::uuid;
