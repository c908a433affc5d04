-- What a database that is distributed by tenant has instead of the migrations' own. They are run again
-- after later migrations, which may have replaced them.

-- Only a set statement reaches the nodes, and only with this setting. The role must not: Citus reaches a node by the
-- role's own login, and by the owner's in functions that see all tenants.
do $$ begin execute format('alter database %I set citus.propagate_set_commands = local', current_database()); end $$;
create or replace function loyalty.enter(tenant bigint) returns void
	language plpgsql volatile
as $$
begin
	execute format('set local app.tenant_id = %L', tenant);
	perform set_config('role', 'loyalty_app', true);
end;
$$;

-- These run within statements that a node got, and their own statements stay on it.
alter function loyalty.find_customers(text[], boolean, text, text, text, text, timestamptz, timestamptz, timestamptz, uuid, boolean, bigint)
	set citus.allow_nested_distributed_execution = on;
alter function loyalty.forget_customer(uuid, text) set citus.allow_nested_distributed_execution = on;
alter function loyalty.forget_voucher_mails(uuid) set citus.allow_nested_distributed_execution = on;

-- The entries of tenants are on the nodes, and those of the platform are not: each are read on their own. The caller
-- sorts both.
create or replace function loyalty.audit_page(
	after_id uuid, before_id uuid, of_tenant bigint, of_actions text[], of_actor_kinds text[], of_actor_ids text[], oldest boolean, up_to bigint
)
	returns table (
		tenant_id bigint, id uuid, created_at timestamptz(3), action text, subject_kind text, subject_id text, subject_name text,
		customer_id uuid, customer_name text, old jsonb, new jsonb,
		actor_kind text, actor_id text, actor_name text, address text, request_id text
	)
	language plpgsql stable security definer set search_path = ''
as $$
declare
	picked text := 'e.id > $1 and e.id < $2';
	of_one text := '';
	ordered constant text := case when oldest then ' order by e.id limit $7' else ' order by e.id desc limit $7' end;
begin
	perform loyalty.require_platform();
	if of_actions is not null then
		picked := picked || ' and e.action = any ($4)';
	end if;
	if of_actor_ids is not null then
		picked := picked || ' and (e.actor_kind || '' '' || e.actor_id) = any ($5) and e.actor_id = any ($6)';
	end if;
	if of_tenant is not null then
		of_one := ' and e.tenant_id = $3';
	end if;
	return query execute
		'select e.tenant_id, e.id, e.created_at, e.action, e.subject_kind, e.subject_id, e.subject_name, e.customer_id, e.customer_name,
			e.old, e.new, e.actor_kind, e.actor_id, e.actor_name, e.address, e.request_id
		from loyalty.audit_entry e
		where ' || picked || of_one || ordered
	using after_id, before_id, of_tenant, of_actions,
		array(select w.kind || ' ' || w.id from unnest(of_actor_kinds, of_actor_ids) w (kind, id)), of_actor_ids, up_to;
	if of_tenant is not null then
		of_one := ' and e.subject_kind = ''tenant'' and e.subject_id = $3::text';
	end if;
	return query execute
		'select null::bigint, e.id, e.created_at, e.action, e.subject_kind, e.subject_id, e.subject_name, null::uuid, '''',
			e.old, e.new, e.actor_kind, e.actor_id, e.actor_name, e.address, e.request_id
		from loyalty.platform_audit_entry e
		where ' || picked || of_one || ordered
	using after_id, before_id, of_tenant, of_actions,
		array(select w.kind || ' ' || w.id from unnest(of_actor_kinds, of_actor_ids) w (kind, id)), of_actor_ids, up_to;
end;
$$;
