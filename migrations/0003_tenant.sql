-- Businesses, and the plans they are on.
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
	retired boolean not null default false
);
grant select, insert, update on loyalty.plan to loyalty_app;
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
	timezone text not null default 'UTC',
	currency text not null default 'EUR',
	country text,
	created_at timestamptz(3) not null
);
grant select, insert, update on loyalty.tenant to loyalty_app;
grant usage on sequence loyalty.tenant_id_seq to loyalty_app;
-- A tenant may see itself; the platform sees all.
alter table loyalty.tenant enable row level security;
create policy tenant_or_platform on loyalty.tenant using (
	nullif(current_setting('app.tenant_id', true), '') is null
	or id = nullif(current_setting('app.tenant_id', true), '')::bigint);
