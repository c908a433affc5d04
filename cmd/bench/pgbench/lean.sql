-- The tables of a program that does nothing but record sales and show customers: no tenants'
-- policies, no foreign keys, and only the indexes that recording and a customer's page need. Its data
-- is that of the business for API requests.
create schema lean;
grant usage on schema lean to public;

create table lean.customer (
	id uuid primary key,
	first_name text not null,
	last_name text not null,
	phone text not null,
	email text,
	status text not null,
	points bigint not null,
	stamps bigint not null,
	entries bigint not null,
	created_at timestamptz not null,
	updated_at timestamptz not null
) with (fillfactor = 70);

create table lean.transaction (
	id uuid primary key,
	customer_id uuid not null,
	spend_amount_cents bigint not null,
	points_awarded bigint not null,
	created_at timestamptz not null
);

create table lean.ledger_entry (
	customer_id uuid not null,
	seq bigint not null,
	amount bigint not null,
	balance_after bigint not null,
	cause uuid not null,
	created_at timestamptz not null,
	primary key (customer_id, seq)
);

insert into lean.customer
select c.id, first_name, last_name, phone, email, status, points, stamps, entries, c.created_at, updated_at
from loyalty.customer c
join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
where c.tenant_id = :tenant;

insert into lean.transaction
select id, customer_id, spend_amount_cents, points_awarded, created_at
from loyalty.transaction
where tenant_id = :tenant;
create index transaction_of_customer on lean.transaction (customer_id, id);

insert into lean.ledger_entry
select customer_id, seq, amount, balance_after, cause, created_at
from loyalty.ledger_entry
where tenant_id = :tenant
	and cause is not null;

grant select, insert, update on all tables in schema lean to public;
vacuum analyze lean.customer, lean.transaction, lean.ledger_entry;
