-- What the platform alone writes: in a tenant's transaction, no statement changes it, whatever its condition. And a job
-- that a tenant's transaction queues is of that tenant, in its arguments as in its metadata.
-- +goose Up

-- platform_writes is for the global tables that only the platform writes. A tenant reads the rows that the condition
-- says.
-- +goose StatementBegin
create function loyalty.platform_writes(walled regclass, readable text) returns void
	language plpgsql as $$
begin
	execute format('alter table %s enable row level security', walled);
	execute format('drop policy if exists tenant_or_platform on %s', walled);
	execute format('create policy platform on %s using (current_setting(''app.tenant_id'', true) = ''0'')', walled);
	execute format('create policy readable on %s for select using (%s)', walled, readable);
end
$$;
-- +goose StatementEnd
select loyalty.platform_writes('loyalty.plan', 'true');
select loyalty.platform_writes('loyalty.platform_setting', 'true');
select loyalty.platform_writes('loyalty.deprecation', 'true');
select loyalty.platform_writes('loyalty.invoice', 'tenant_id = current_setting(''app.tenant_id'', true)::bigint');
select loyalty.platform_writes('loyalty.billing_period', 'tenant_id = current_setting(''app.tenant_id'', true)::bigint');
select loyalty.platform_writes('loyalty.billing_item', 'tenant_id = current_setting(''app.tenant_id'', true)::bigint');
select loyalty.platform_writes('loyalty.deprecation_notice', 'tenant_id = current_setting(''app.tenant_id'', true)::bigint');

-- A tenant writes its own row, but not what the platform decides about it. A policy can't tell the columns apart. A
-- database that is distributed by tenant has no triggers.
-- +goose StatementBegin
create function loyalty.refuse_tenant() returns trigger
	language plpgsql
as $$
begin
	raise exception 'only the platform may change this of %', tg_table_name using errcode = 'insufficient_privilege';
end;
$$;

do $$
begin
	if not exists (select from pg_extension where extname = 'citus') then
		create trigger platform_decides
			before update of slug, email, plan_id, billing_cycle, payment_method, status, suspended_at, suspend_reason on loyalty.tenant
			for each row when (current_setting('app.tenant_id', true) ~ '^[1-9]')
			execute function loyalty.refuse_tenant();
		create trigger platform_decides
			before update of anchor_day, billed_through on loyalty.billing_account
			for each row when (current_setting('app.tenant_id', true) ~ '^[1-9]')
			execute function loyalty.refuse_tenant();
	end if;
end
$$;
-- +goose StatementEnd

alter policy tenant on river.river_job
	using (metadata ->> 'tenant' = current_setting('app.tenant_id', true))
	with check (
		metadata ->> 'tenant' = current_setting('app.tenant_id', true)
		and coalesce(args ->> 'tenant', metadata ->> 'tenant') = metadata ->> 'tenant'
	);
