-- The wall between tenants, and what every later migration builds with.
-- +goose Up

create schema loyalty;

-- Substring search and its index with the tenant in front. Both extensions are
-- trusted: the owner of the database may create them without being a superuser.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- The role that serves: it owns nothing and no policy lets it pass. It can log in, once it
-- has a password or the server trusts it; an owner's connections can also become it. Roles
-- belong to the cluster, so another database of it may have created it already.
-- +goose StatementBegin
do $$
begin
	if not exists (select from pg_roles where rolname = 'loyalty_app') then
		create role loyalty_app login nosuperuser nobypassrls;
	end if;
	if not exists (select from pg_roles where rolname = 'loyalty_app' and rolcanlogin) then
		alter role loyalty_app login;
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

-- app.tenant_id says whose rows a transaction sees: a tenant's id, or 0 on the platform. A
-- connection that has entered neither has -1, or nothing at all, and sees no row.

-- enter has the rest of the transaction see a tenant, or with 0 the platform, as the role
-- that serves. In a database that is distributed by tenant, only a set statement reaches the
-- nodes that hold the tenant's rows.
-- +goose StatementBegin
do $$
begin
	if exists (select from pg_extension where extname = 'citus') then
		create function loyalty.enter(tenant bigint) returns void
			language plpgsql volatile
		as $enter$
		begin
			execute format('set local app.tenant_id = %L', tenant);
			set local role loyalty_app;
		end;
		$enter$;
	else
		create function loyalty.enter(tenant bigint) returns void
			language plpgsql volatile
		as $enter$
		begin
			perform set_config('app.tenant_id', tenant::text, true), set_config('role', 'loyalty_app', true);
		end;
		$enter$;
	end if;
end
$$;

-- require_platform refuses what works on all tenants inside a transaction of one of them.
create function loyalty.require_platform() returns void
	language plpgsql stable
as $$
begin
	if coalesce(current_setting('app.tenant_id', true), '') <> '0' then
		raise exception 'this works on all tenants: only the platform may do it';
	end if;
end;
$$;

-- wall makes a table a tenant table: its rows exist only for their own tenant. Called by each
-- migration after create table. The policy spells the setting out: inlined, it costs an index
-- condition and not a call per row.
create function loyalty.wall(walled regclass) returns void
	language plpgsql as $$
begin
	execute format('alter table %s enable row level security', walled);
	execute format('create policy tenant on %s using (tenant_id = current_setting(''app.tenant_id'', true)::bigint)', walled);
	execute format('grant select, insert, update, delete on %s to loyalty_app', walled);
end
$$;

-- platform_wall is for the few global tables whose rows belong to a tenant or to the platform:
-- a tenant sees its own rows, the platform (authentication, super-admins, jobs) sees all.
create function loyalty.platform_wall(walled regclass) returns void
	language plpgsql as $$
begin
	execute format('alter table %s enable row level security', walled);
	execute format(
		'create policy tenant_or_platform on %s using (
			current_setting(''app.tenant_id'', true) = ''0''
			or tenant_id = current_setting(''app.tenant_id'', true)::bigint)',
		walled);
	execute format('grant select, insert, update, delete on %s to loyalty_app', walled);
end
$$;

-- platform_only is for global tables that no tenant sees.
create function loyalty.platform_only(walled regclass) returns void
	language plpgsql as $$
begin
	execute format('alter table %s enable row level security', walled);
	execute format('create policy platform on %s using (current_setting(''app.tenant_id'', true) = ''0'')', walled);
	execute format('grant select, insert, update, delete on %s to loyalty_app', walled);
end
$$;

-- serves lets the role that serves call a function, and no one else.
create function loyalty.serves(callable regproc) returns void
	language plpgsql as $$
begin
	execute format('revoke execute on function %s from public', callable);
	execute format('grant execute on function %s to loyalty_app', callable);
end
$$;
-- +goose StatementEnd

-- A ULID for inserts of whole sets: 48 bits of milliseconds, then chance.
create function loyalty.new_ulid(made_at timestamptz) returns uuid
	language sql volatile parallel safe
	return (lpad(to_hex(floor(extract(epoch from made_at) * 1000)::bigint), 12, '0')
		|| right(replace(gen_random_uuid()::text, '-', ''), 20))::uuid;
