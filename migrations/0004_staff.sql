-- People who sign in: of a tenant, or super-admins of the platform.
-- +goose Up

create table loyalty.staff (
	id bigserial primary key,
	tenant_id bigint references loyalty.tenant, -- null: the platform
	role text not null check (role in ('super_admin', 'owner', 'manager', 'cashier')),
	name text not null,
	email text not null,
	email_key text not null, -- lower case
	password_hash text, -- null until the invitation is taken up
	status text not null default 'active' check (status in ('active', 'inactive')),
	created_at timestamptz(3) not null,
	constraint staff_platform_or_tenant check ((tenant_id is null) = (role = 'super_admin')),
	constraint staff_email unique nulls not distinct (tenant_id, email_key)
);
select loyalty.platform_wall('loyalty.staff');
grant usage on sequence loyalty.staff_id_seq to loyalty_app;
