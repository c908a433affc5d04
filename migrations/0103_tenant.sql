-- Businesses, the plans they are on, how their pages look, how far their set-up is, and how
-- much they are used.
-- +goose Up

create table loyalty.plan (
	id bigserial primary key,
	name text not null unique,
	monthly_cents bigint not null check (monthly_cents >= 0),
	yearly_cents bigint not null check (yearly_cents >= 0),
	currency text not null,
	customers_limit bigint, -- null: none
	staff_limit bigint,
	sends_limit bigint, -- a month
	retired boolean not null default false,
	constraint plan_limits check (least(customers_limit, staff_limit, sends_limit) >= 0)
);
grant select, insert, update, delete on loyalty.plan to loyalty_app;
grant usage on sequence loyalty.plan_id_seq to loyalty_app;

-- Something to be on from the first minute.
insert into loyalty.plan (name, monthly_cents, yearly_cents, currency) values ('Free', 0, 0, 'EUR');

create table loyalty.tenant (
	id bigserial primary key,
	name text not null,
	slug text not null unique check (slug ~ '^[a-z0-9](-?[a-z0-9])+$' and length(slug) between 3 and 40),
	email text not null,
	plan_id bigint not null references loyalty.plan,
	billing_cycle text not null check (billing_cycle in ('monthly', 'yearly')),
	payment_method text not null check (payment_method in ('manual', 'bank_transfer', 'card', 'stripe', 'paypal')),
	status text not null default 'active' check (status in ('active', 'suspended')),
	suspended_at timestamptz(3), -- null: active
	suspend_reason text, -- null: active, or suspended through the API
	timezone text not null default 'UTC',
	currency text not null default 'EUR',
	country text,
	-- Above this amount, in the smallest unit of the currency, the panel and the till ask once
	-- more before they record a sale. Null: they never ask.
	confirm_above_cents bigint default 100000 check (confirm_above_cents > 0),
	consent_text text, -- what customers agree to when they join; null: the product's own words
	privacy_url text,
	created_at timestamptz(3) not null
);
-- The list of tenants, newest first.
create index tenant_age on loyalty.tenant (created_at, id);
grant select, insert, update on loyalty.tenant to loyalty_app;
grant usage on sequence loyalty.tenant_id_seq to loyalty_app;
-- A tenant may see itself; the platform sees all.
alter table loyalty.tenant enable row level security;
create policy tenant_or_platform on loyalty.tenant using (
	current_setting('app.tenant_id', true) = '0'
	or id = current_setting('app.tenant_id', true)::bigint);

create table loyalty.tenant_look (
	tenant_id bigint primary key references loyalty.tenant,
	colour text check (colour ~ '^#[0-9a-f]{6}$'), -- null: the product's own
	logo bytea check (octet_length(logo) between 1 and 262144), -- null: none
	logo_type text check (logo_type in ('image/png', 'image/jpeg', 'image/webp')),
	logo_hash bytea, -- SHA-256: its address
	updated_at timestamptz(3) not null,
	constraint tenant_look_logo check (num_nonnulls(logo, logo_type, logo_hash) in (0, 3))
);
select loyalty.wall('loyalty.tenant_look');
revoke delete on loyalty.tenant_look from loyalty_app;

-- How far a new business's owner is with the guide that sets it up.
create table loyalty.tenant_setup (
	tenant_id bigint primary key references loyalty.tenant,
	business_at timestamptz(3), -- when country, currency and time zone were confirmed; null: not yet
	skipped text[] not null default '{}' check (skipped <@ '{business,rule,reward,customer,sale}'),
	steps_done int not null default 0 check (steps_done between 0 and 5), -- as of the last look: other pages do steps, too
	finished_at timestamptz(3), -- completed or dismissed; null: still shown
	updated_at timestamptz(3) not null
);
select loyalty.platform_wall('loyalty.tenant_setup');
revoke delete on loyalty.tenant_setup from loyalty_app;

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
	perform loyalty.require_platform();
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
select loyalty.serves('loyalty.count_tenants');
