-- How people sign in, apart from who they are and what they may do.
-- +goose Up

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

insert into loyalty.credential (staff_id, tenant_id, password_hash, password_set_at, totp_secret, totp_step, totp_pending)
select id, tenant_id, password_hash, password_set_at, totp_secret, totp_step, totp_pending
from loyalty.staff;

alter table loyalty.staff
	drop column password_hash,
	drop column password_set_at,
	drop column totp_secret,
	drop column totp_step,
	drop column totp_pending;
