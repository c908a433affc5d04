-- What the platform keeps of its tenants: who was invited, and what is billed.
-- +goose Up

-- The list of tenants, newest first.
create index tenant_age on loyalty.tenant (created_at, id);

-- Somebody without a password is mailed a secret, once, and chooses one with it.
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
select loyalty.wall('loyalty.invitation');
revoke delete on loyalty.invitation from loyalty_app;

create table loyalty.invoice (
	id bigserial primary key,
	tenant_id bigint not null references loyalty.tenant,
	number bigint unique, -- given when it is issued
	status text not null default 'draft' check (status in ('draft', 'issued', 'paid', 'overdue', 'void')),
	currency text not null, -- the plan's
	lines jsonb not null check (jsonb_typeof(lines) = 'array'), -- of {description, quantity, unit_cents, amount_cents}
	amount_cents bigint not null check (amount_cents >= 0), -- the sum of the lines
	tax_cents bigint not null check (tax_cents >= 0),
	total_cents bigint not null check (total_cents > 0), -- a zero total makes no invoice
	period_start date not null, -- days in the tenant's zone
	period_end date not null, -- included
	issued_at timestamptz(3),
	due_at timestamptz(3),
	paid_at timestamptz(3),
	created_at timestamptz(3) not null,
	constraint invoice_total check (total_cents = amount_cents + tax_cents),
	constraint invoice_period check (period_start <= period_end),
	-- A draft is not issued; it may be made void and never be.
	constraint invoice_issued check ((number is null) = (issued_at is null)
		and (due_at is null) = (issued_at is null)
		and case status when 'draft' then number is null when 'void' then true else number is not null end),
	constraint invoice_paid check ((status = 'paid') = (paid_at is not null))
);
create index invoice_age on loyalty.invoice (created_at, id);
create index invoice_of_tenant on loyalty.invoice (tenant_id, created_at, id);
select loyalty.platform_wall('loyalty.invoice');
revoke delete on loyalty.invoice from loyalty_app;
grant usage on sequence loyalty.invoice_id_seq to loyalty_app;
