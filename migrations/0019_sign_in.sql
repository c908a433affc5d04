-- Signing in: forgotten passwords, the second factor, and who tried how often.
-- +goose Up

-- Somebody who forgot their password is mailed a secret, once, and chooses another one.
create table loyalty.password_reset (
	tenant_id bigint not null references loyalty.tenant,
	id uuid not null,
	staff_id bigint not null references loyalty.staff,
	hash bytea not null, -- SHA-256 of the secret
	expires_at timestamptz(3) not null,
	taken_at timestamptz(3), -- or withdrawn
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint password_reset_hash unique (tenant_id, hash)
);
create index password_reset_of_person on loyalty.password_reset (tenant_id, staff_id) where taken_at is null;
select loyalty.wall('loyalty.password_reset');
revoke delete on loyalty.password_reset from loyalty_app;

create index invitation_of_person on loyalty.invitation (tenant_id, staff_id) where taken_at is null;

-- A second factor that is being set up, sealed like the one that is in use.
alter table loyalty.staff add column totp_pending bytea;

-- What a person signs in with when the second factor is lost: each code once.
create table loyalty.recovery_code (
	tenant_id bigint references loyalty.tenant, -- null: the platform
	staff_id bigint not null references loyalty.staff,
	hash bytea not null, -- SHA-256 of the code
	primary key (staff_id, hash)
);
select loyalty.platform_wall('loyalty.recovery_code');

-- How often somebody tried to sign in, or the like, within a while. Neither accounts
-- nor addresses can be read from it.
create table loyalty.attempt (
	key bytea primary key, -- SHA-256 of what was tried, and of whose or from where
	used int not null,
	ends_at timestamptz(3) not null -- then the count begins anew
);
grant select, insert, update, delete on loyalty.attempt to loyalty_app;
-- Addresses try at many tenants: for the platform, no tenant set.
alter table loyalty.attempt enable row level security;
create policy platform on loyalty.attempt using (nullif(current_setting('app.tenant_id', true), '') is null);
