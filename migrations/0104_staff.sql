-- People: of a tenant, or super-admins of the platform; how they sign in, and who tried.
-- +goose Up

create table loyalty.staff (
	id bigserial primary key,
	tenant_id bigint references loyalty.tenant, -- null: the platform
	role text not null check (role in ('super_admin', 'owner', 'manager', 'cashier')),
	name text not null,
	email text not null,
	email_key text not null, -- lower case
	status text not null default 'active' check (status in ('active', 'inactive')),
	created_at timestamptz(3) not null,
	constraint staff_platform_or_tenant check ((tenant_id is null) = (role = 'super_admin')),
	constraint staff_email unique nulls not distinct (tenant_id, email_key)
);
-- A person is found by their e-mail address, at whatever business they work.
create index staff_email_key on loyalty.staff (email_key);
select loyalty.platform_wall('loyalty.staff');
grant usage on sequence loyalty.staff_id_seq to loyalty_app;

-- How people sign in, apart from who they are and what they may do.
create table loyalty.credential (
	staff_id bigint primary key references loyalty.staff,
	tenant_id bigint references loyalty.tenant, -- null: the platform
	password_hash text, -- null until an invitation is accepted
	password_set_at timestamptz(3), -- a password given before this instant signs nobody in
	totp_secret bytea, -- sealed with the installation's secret; null: no two-step verification
	totp_step bigint not null default 0, -- the last 30 seconds whose code was accepted: no code works twice
	totp_pending bytea, -- sealed; being set up
	totp_pending_at timestamptz(3)
);
select loyalty.platform_wall('loyalty.credential');
revoke delete on loyalty.credential from loyalty_app;

-- What a person signs in with when their app is lost: each code once.
create table loyalty.recovery_code (
	tenant_id bigint references loyalty.tenant, -- null: the platform
	staff_id bigint not null references loyalty.staff,
	hash bytea not null, -- SHA-256 of the code
	primary key (staff_id, hash)
);
select loyalty.platform_wall('loyalty.recovery_code');

-- A person without a password is mailed a secret, once, and chooses one with it.
create table loyalty.invitation (
	tenant_id bigint not null references loyalty.tenant,
	id uuid not null,
	staff_id bigint not null references loyalty.staff,
	hash bytea not null, -- SHA-256 of the secret
	expires_at timestamptz(3) not null,
	taken_at timestamptz(3),
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint invitation_hash unique (tenant_id, hash)
);
create index invitation_of_person on loyalty.invitation (tenant_id, staff_id) where taken_at is null;
select loyalty.wall('loyalty.invitation');
revoke delete on loyalty.invitation from loyalty_app;

-- A person who forgot their password is mailed a secret, once, and chooses another one.
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

-- Sessions in the panels. The cookie's token is not stored, only its SHA-256.
create table loyalty.session (
	hash bytea primary key,
	tenant_id bigint references loyalty.tenant, -- null: the platform
	staff_id bigint references loyalty.staff, -- null: not signed in
	data bytea not null,
	created_at timestamptz(3) not null,
	last_seen_at timestamptz(3) not null,
	expires_at timestamptz(3) not null,
	ended_at timestamptz(3), -- the row stays for a while: a slow request must not bring it back
	address text not null,
	user_agent text not null
);
create index session_of_person on loyalty.session (staff_id) where ended_at is null;
select loyalty.platform_wall('loyalty.session');

-- How often something was tried within a while. Neither accounts nor addresses can be read
-- from it.
create table loyalty.attempt (
	key bytea primary key, -- SHA-256 of what was tried, and of whose or from where
	used int not null,
	ends_at timestamptz(3) not null -- then the count begins anew
);
-- Addresses try at many tenants.
select loyalty.platform_only('loyalty.attempt');
