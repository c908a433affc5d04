-- Billing: the platform's settings, what was billed for which days, and invoices as they
-- were issued.
-- +goose Up

alter table loyalty.plan
	add constraint plan_limits check (least(customers_limit, staff_limit, sends_limit) >= 0);
grant delete on loyalty.plan to loyalty_app;

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
grant select, update on loyalty.invoice_counter to loyalty_app;
-- Tenants can't read how many invoices there are.
alter table loyalty.invoice_counter enable row level security;
create policy platform on loyalty.invoice_counter using (nullif(current_setting('app.tenant_id', true), '') is null);

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

alter table loyalty.invoice
	add column tax_name text not null default 'VAT',
	add column tax_rate int not null default 0,
	add column issuer jsonb, -- {name, address, tax_number, email}, as of the issue; null: a draft
	add column recipient jsonb, -- likewise
	add column payment_text text not null default '',
	add column voided_at timestamptz(3),
	add column void_reason text not null default '',
	add column sent_at timestamptz(3), -- mailed last
	add column sent_to text not null default '',
	add column reminded_at timestamptz(3); -- that it is overdue
update loyalty.invoice set voided_at = created_at where status = 'void';
alter table loyalty.invoice add constraint invoice_void check ((status = 'void') = (voided_at is not null));
create index invoice_open on loyalty.invoice (due_at) where status in ('draft', 'issued', 'overdue');

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

-- An invoice travels with its mail.
alter table loyalty.mail
	add column attachment_name text,
	add column attachment bytea;
