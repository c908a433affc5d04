-- Billing: the platform's settings, what was billed for which days, and invoices as they were
-- issued.
-- +goose Up

-- What the platform decides for all tenants: one row.
create table loyalty.platform_setting (
	id int primary key default 1 check (id = 1),
	issuer_name text not null default '', -- on invoices
	issuer_address text not null default '', -- with line breaks
	issuer_tax_number text not null default '',
	issuer_email text not null default '',
	tax_name text not null default 'VAT',
	tax_rate int not null default 0 check (tax_rate between 0 and 10000), -- hundredths of a percent
	payment_text text not null default '',
	payment_days int not null default 30 check (payment_days between 0 and 365),
	issue_automatically boolean not null default false,
	mail_name text not null default '', -- the sender of mails; '': the installation's setting
	mail_address text not null default ''
);
insert into loyalty.platform_setting default values;
grant select, update on loyalty.platform_setting to loyalty_app;

-- The number of the invoice that was issued last. An invoice is issued in the transaction
-- that takes its number, so numbers have no gap.
create table loyalty.invoice_counter (
	id int primary key default 1 check (id = 1),
	last bigint not null default 0
);
insert into loyalty.invoice_counter default values;
-- Tenants can't read how many invoices there are.
select loyalty.platform_only('loyalty.invoice_counter');
revoke insert, delete on loyalty.invoice_counter from loyalty_app;

-- How far a tenant was billed, and what its invoices say of it. Locked by whoever bills it.
create table loyalty.billing_account (
	tenant_id bigint primary key references loyalty.tenant,
	anchor_day int not null check (anchor_day between 1 and 31), -- of the month: periods begin on it
	billed_through date not null, -- the last day of the last period, in the tenant's zone
	name text not null default '', -- of the company; '': the tenant's
	address text not null default '',
	tax_number text not null default ''
);
select loyalty.platform_wall('loyalty.billing_account');
revoke delete on loyalty.billing_account from loyalty_app;

create table loyalty.invoice (
	id bigserial primary key,
	tenant_id bigint not null references loyalty.tenant,
	number bigint unique, -- given when it is issued
	status text not null default 'draft' check (status in ('draft', 'issued', 'paid', 'overdue', 'void')),
	currency text not null, -- the plan's
	lines jsonb not null check (jsonb_typeof(lines) = 'array'), -- of {description, quantity, unit_cents, amount_cents}
	amount_cents bigint not null check (amount_cents >= 0), -- the sum of the lines
	tax_name text not null default 'VAT',
	tax_rate int not null default 0, -- hundredths of a percent
	tax_cents bigint not null check (tax_cents >= 0),
	total_cents bigint not null check (total_cents > 0), -- a zero total makes no invoice
	period_start date not null, -- days in the tenant's zone
	period_end date not null, -- included
	issued_at timestamptz(3),
	due_at timestamptz(3),
	paid_at timestamptz(3),
	voided_at timestamptz(3),
	void_reason text not null default '',
	issuer jsonb, -- {name, address, tax_number, email}, as of the issue; null: a draft
	recipient jsonb, -- likewise
	payment_text text not null default '',
	sent_at timestamptz(3), -- mailed last
	sent_to text not null default '',
	reminded_at timestamptz(3), -- that it is overdue
	created_at timestamptz(3) not null,
	constraint invoice_total check (total_cents = amount_cents + tax_cents),
	constraint invoice_period check (period_start <= period_end),
	-- A draft is not issued; it may be made void and never be.
	constraint invoice_issued check ((number is null) = (issued_at is null)
		and (due_at is null) = (issued_at is null)
		and case when status = 'draft' then number is null when status = 'void' then true else number is not null end),
	constraint invoice_paid check ((status = 'paid') = (paid_at is not null)),
	constraint invoice_void check ((status = 'void') = (voided_at is not null))
);
create index invoice_age on loyalty.invoice (created_at, id);
create index invoice_of_tenant on loyalty.invoice (tenant_id, created_at, id);
create index invoice_open on loyalty.invoice (due_at) where status in ('draft', 'issued', 'overdue');
-- Of few tenants there are any.
create index invoice_overdue on loyalty.invoice (tenant_id) where status = 'overdue';
select loyalty.platform_wall('loyalty.invoice');
revoke delete on loyalty.invoice from loyalty_app;
grant usage on sequence loyalty.invoice_id_seq to loyalty_app;

-- The days that a tenant was billed for: what makes it impossible to bill them twice.
create table loyalty.billing_period (
	tenant_id bigint not null references loyalty.tenant,
	period_start date not null, -- in the tenant's zone
	period_end date not null, -- included
	billing_cycle text not null check (billing_cycle in ('monthly', 'yearly')),
	plan_id bigint not null references loyalty.plan, -- in force now
	rate_cents bigint not null check (rate_cents >= 0), -- of the plan in force, for the whole period
	price_cents bigint not null check (price_cents >= 0), -- what was billed at its start
	currency text not null,
	invoice_id bigint references loyalty.invoice, -- null: there was nothing to pay
	created_at timestamptz(3) not null,
	primary key (tenant_id, period_start),
	constraint billing_period_days check (period_start <= period_end)
);
select loyalty.platform_wall('loyalty.billing_period');
revoke delete on loyalty.billing_period from loyalty_app;

-- Amounts that go on the next invoice: prorations of changed plans, credit that was left.
create table loyalty.billing_item (
	tenant_id bigint not null references loyalty.tenant,
	id uuid not null,
	description text not null,
	amount_cents bigint not null check (amount_cents <> 0), -- below zero: a credit
	currency text not null,
	carried boolean not null, -- credit that one invoice could not use up
	created_at timestamptz(3) not null,
	settled_at timestamptz(3), -- null: it waits
	invoice_id bigint references loyalty.invoice, -- where it is a line; null: its credit was carried on
	primary key (tenant_id, id),
	constraint billing_item_settled check (invoice_id is null or settled_at is not null)
);
create index billing_item_waiting on loyalty.billing_item (tenant_id) where settled_at is null;
select loyalty.platform_wall('loyalty.billing_item');
revoke delete on loyalty.billing_item from loyalty_app;
