-- What the platform's list of tenants shows: how much each of them is used, since when and
-- why one is suspended.
-- +goose Up

-- Both are null for a tenant that is active. One that was suspended through the API has no
-- reason.
alter table loyalty.tenant
	add column suspended_at timestamptz(3),
	add column suspend_reason text;
update loyalty.tenant set suspended_at = now() where status = 'suspended';

-- How much a tenant is used, as of counted_at. Counted every few minutes, so that the list
-- costs the same however many sales there are.
create table loyalty.tenant_usage (
	tenant_id bigint primary key references loyalty.tenant,
	customers bigint not null, -- active ones
	sales_lately bigint not null, -- completed ones of the last 30 days
	staff bigint not null, -- active people
	sends_this_month bigint not null, -- of the calendar month in the tenant's zone
	sold boolean not null, -- there is a sale
	last_activity_at timestamptz(3), -- of its people, tokens and customers; null: none yet
	counted_at timestamptz(3) not null
);
select loyalty.platform_wall('loyalty.tenant_usage');
revoke insert, update, delete on loyalty.tenant_usage from loyalty_app;

-- count_tenants counts all tenants, as of an instant. Sales since then are those from the id
-- on. It returns how many tenants there are.
-- +goose StatementBegin
create function loyalty.count_tenants(counted timestamptz, sales_since uuid) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	n bigint;
begin
	if coalesce(current_setting('app.tenant_id', true), '') <> '' then
		raise exception 'count_tenants works on all tenants';
	end if;
	insert into loyalty.tenant_usage as u (tenant_id, customers, sales_lately, staff, sends_this_month, sold, last_activity_at, counted_at)
	select t.id,
		-- Two counts that are read from an index each.
		(select count(*) from loyalty.customer c where c.tenant_id = t.id)
			- (select count(*) from loyalty.customer c where c.tenant_id = t.id and c.status = 'inactive'),
		(select count(*) from loyalty.transaction s where s.tenant_id = t.id and s.id >= sales_since and s.status = 'completed'),
		(select count(*) from loyalty.staff p where p.tenant_id = t.id and p.status = 'active'),
		(
			select count(*)
			from loyalty.coupon_send s
			where s.tenant_id = t.id
				and s.created_at >= date_trunc('month', counted at time zone t.timezone) at time zone t.timezone
				and s.status not in ('cancelled', 'failed')
		),
		sale.created_at is not null,
		greatest(sale.created_at, entry.created_at),
		counted
	from loyalty.tenant t
	left join lateral (
		select s.created_at
		from loyalty.transaction s
		where s.tenant_id = t.id
		order by s.id desc
		limit 1
	) sale on true
	left join lateral (
		select e.created_at
		from loyalty.audit_entry e
		where e.tenant_id = t.id
			and e.actor_kind in ('staff', 'token', 'customer')
		order by e.id desc
		limit 1
	) entry on true
	order by t.id
	on conflict (tenant_id) do update
	set customers = excluded.customers,
		sales_lately = excluded.sales_lately,
		staff = excluded.staff,
		sends_this_month = excluded.sends_this_month,
		sold = excluded.sold,
		last_activity_at = excluded.last_activity_at,
		counted_at = excluded.counted_at
	where u.counted_at < excluded.counted_at;
	select count(*) into n from loyalty.tenant;
	return n;
end;
$$;
-- +goose StatementEnd
revoke execute on function loyalty.count_tenants from public;
grant execute on function loyalty.count_tenants to loyalty_app;

-- Of few tenants there are any.
create index invoice_overdue on loyalty.invoice (tenant_id) where status = 'overdue';
