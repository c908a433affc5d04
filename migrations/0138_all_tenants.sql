-- What works on all tenants chooses rows of all of them, and then writes them tenant by tenant, each tenant's
-- in a statement that names it: in a database that is distributed by tenant, such a statement is run by one node.
-- +goose Up

-- +goose StatementBegin
create or replace function loyalty.expire_vouchers(at timestamptz, up_to bigint) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	due record;
	n bigint;
	total bigint := 0;
begin
	perform loyalty.require_platform();
	for due in
		select v.tenant_id, array_agg(v.id) as ids
		from (
			select v.tenant_id, v.id
			from loyalty.voucher v
			where v.status = 'pending'
				and v.expires_at <= at
			limit up_to
		) v
		group by v.tenant_id
	loop
		-- A voucher that is just redeemed is left to the next run, if it is still due then.
		with free as (
			select v.id
			from loyalty.voucher v
			where v.tenant_id = due.tenant_id
				and v.id = any (due.ids)
				and v.status = 'pending'
			for no key update skip locked
		)
		update loyalty.voucher v
		set status = 'expired'
		from free
		where v.tenant_id = due.tenant_id
			and v.id = free.id;
		get diagnostics n = row_count;
		total := total + n;
	end loop;
	return total;
end;
$$;

create or replace function loyalty.forget_imports(
	ended_before timestamptz, uploaded_before timestamptz, arrived_before timestamptz, up_to bigint
) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	due record;
	n bigint;
	total bigint := 0;
begin
	perform loyalty.require_platform();
	for due in
		select i.tenant_id, array_agg(i.id) as ids
		from (
			select i.tenant_id, i.id
			from loyalty.customer_import i
			where (i.status in ('done', 'cancelled') and i.moved_at < ended_before)
				or (i.status in ('uploaded', 'checked') and i.created_at < uploaded_before)
				or (i.status = 'arriving' and i.created_at < arrived_before)
			limit up_to
		) i
		group by i.tenant_id
	loop
		-- An import that has just been started is kept.
		with free as (
			select i.id
			from loyalty.customer_import i
			where i.tenant_id = due.tenant_id
				and i.id = any (due.ids)
				and i.status not in ('checking', 'running')
			for update skip locked
		)
		delete from loyalty.customer_import i
		using free
		where i.tenant_id = due.tenant_id
			and i.id = free.id;
		get diagnostics n = row_count;
		total := total + n;
	end loop;
	return total;
end;
$$;

create or replace function loyalty.forget_pins(made_before timestamptz, up_to bigint) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	due record;
	n bigint;
	total bigint := 0;
begin
	perform loyalty.require_platform();
	for due in
		select p.tenant_id, array_agg(p.id) as ids
		from (
			select p.tenant_id, p.id
			from loyalty.pin p
			where p.created_at < made_before
			limit up_to
		) p
		group by p.tenant_id
	loop
		delete from loyalty.pin p
		where p.tenant_id = due.tenant_id
			and p.id = any (due.ids);
		get diagnostics n = row_count;
		total := total + n;
	end loop;
	return total;
end;
$$;

-- Entries of the last 90 days stay, whatever the caller says.
create or replace function loyalty.forget_audit(written_before timestamptz, up_to bigint) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	first_kept constant uuid :=
		(lpad(to_hex(floor(extract(epoch from least(written_before, now() - interval '90 days')) * 1000)::bigint), 12, '0')
			|| repeat('0', 20))::uuid;
	due record;
	n bigint;
	total bigint := 0;
begin
	perform loyalty.require_platform();
	for due in
		select e.tenant_id, array_agg(e.id) as ids
		from (
			select e.tenant_id, e.id
			from loyalty.audit_entry e
			where e.id < first_kept
			order by e.id
			limit up_to
		) e
		group by e.tenant_id
	loop
		delete from loyalty.audit_entry e
		where e.tenant_id = due.tenant_id
			and e.id = any (due.ids);
		get diagnostics n = row_count;
		total := total + n;
	end loop;
	delete from loyalty.platform_audit_entry
	where id in (
		select e.id
		from loyalty.platform_audit_entry e
		where e.id < first_kept
		order by e.id
		limit up_to
	);
	get diagnostics n = row_count;
	return total + n;
end;
$$;

-- count_tenants counts all tenants, as of an instant. Sales since then are those from the id on. It returns how
-- many tenants there are.
create or replace function loyalty.count_tenants(counted timestamptz, sales_since uuid) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	one record;
	facts record;
	total bigint := 0;
begin
	perform loyalty.require_platform();
	for one in
		select t.id, date_trunc('month', counted at time zone t.timezone) at time zone t.timezone as month
		from loyalty.tenant t
		order by t.id
	loop
		select
			-- Two counts that are read from an index each.
			(select count(*) from loyalty.customer c where c.tenant_id = one.id)
				- (select count(*) from loyalty.customer c where c.tenant_id = one.id and c.status = 'inactive') as customers,
			(
				select count(*)
				from loyalty.transaction s
				where s.tenant_id = one.id
					and s.id >= sales_since
					and s.status = 'completed'
			) as sales,
			(
				select count(*)
				from loyalty.coupon_send s
				where s.tenant_id = one.id
					and s.created_at >= one.month
					and s.status not in ('cancelled', 'failed')
			) as sends,
			(
				select s.created_at
				from loyalty.transaction s
				where s.tenant_id = one.id
				order by s.id desc
				limit 1
			) as sold_at,
			(
				select e.created_at
				from loyalty.audit_entry e
				where e.tenant_id = one.id
					and e.actor_kind in ('staff', 'token', 'customer')
				order by e.id desc
				limit 1
			) as acted_at
		into facts;
		insert into loyalty.tenant_usage as u
			(tenant_id, customers, sales_lately, staff, sends_this_month, sold, last_activity_at, counted_at)
		values (one.id, facts.customers, facts.sales,
			(select count(*) from loyalty.staff p where p.tenant_id = one.id and p.status = 'active'),
			facts.sends, facts.sold_at is not null, greatest(facts.sold_at, facts.acted_at), counted)
		on conflict (tenant_id) do update
		set customers = excluded.customers,
			sales_lately = excluded.sales_lately,
			staff = excluded.staff,
			sends_this_month = excluded.sends_this_month,
			sold = excluded.sold,
			last_activity_at = excluded.last_activity_at,
			counted_at = excluded.counted_at
		where u.counted_at < excluded.counted_at;
		total := total + 1;
	end loop;
	return total;
end;
$$;
-- +goose StatementEnd
