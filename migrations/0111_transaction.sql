-- Sales: what kinds there are, where they happen, and each one.
-- +goose Up

create table loyalty.transaction_type (
	tenant_id bigint not null references loyalty.tenant,
	id bigserial not null,
	name text not null,
	rule_type text not null check (rule_type in ('points', 'stamps')),
	active boolean not null default true,
	points_per_unit bigint not null default 0 check (points_per_unit >= 0),
	unit_cents bigint not null default 100 check (unit_cents > 0),
	stamps_per_transaction bigint not null default 0 check (stamps_per_transaction >= 0),
	min_spend_cents bigint not null default 0 check (min_spend_cents >= 0),
	max_award bigint check (max_award > 0), -- of one transaction; null: no cap
	created_at timestamptz(3) not null,
	primary key (tenant_id, id)
);
select loyalty.wall('loyalty.transaction_type');
grant usage on sequence loyalty.transaction_type_id_seq to loyalty_app;

create table loyalty.location (
	tenant_id bigint not null references loyalty.tenant,
	id bigserial not null,
	name text not null,
	name_key text not null generated always as (lower(name)) stored,
	active boolean not null default true,
	primary key (tenant_id, id),
	-- Two branches of one name could not be told apart at the till.
	constraint location_name unique (tenant_id, name_key)
);
select loyalty.wall('loyalty.location');
grant usage on sequence loyalty.location_id_seq to loyalty_app;

create table loyalty.transaction (
	tenant_id bigint not null,
	id uuid not null, -- made at created_at, so the order of ids is the order in time
	customer_id uuid not null,
	transaction_type_id bigint not null,
	rule_type text not null check (rule_type in ('points', 'stamps')),
	spend_amount_cents bigint not null check (spend_amount_cents between 0 and 1000000000000),
	points_awarded bigint check (points_awarded >= 0),
	stamps_awarded bigint check (stamps_awarded >= 0),
	status text not null default 'completed' check (status in ('completed', 'voided')),
	voided_at timestamptz(3),
	source text not null check (source in ('api', 'pos', 'panel')),
	location_id bigint,
	external_reference text,
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint transaction_customer foreign key (tenant_id, customer_id) references loyalty.customer,
	constraint transaction_type foreign key (tenant_id, transaction_type_id) references loyalty.transaction_type,
	constraint transaction_location foreign key (tenant_id, location_id) references loyalty.location,
	constraint transaction_award check (case when rule_type = 'points' then points_awarded is not null and stamps_awarded is null
		else stamps_awarded is not null and points_awarded is null end),
	constraint transaction_voided check ((status = 'voided') = (voided_at is not null))
);
-- Only of pages that were vacuumed does an index speak for the table. By default a table waits
-- until a fifth of it is new: for the sales of months.
alter table loyalty.transaction set (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);
-- Reports add up completed sales: an index has those alone, and carries what is added up. All
-- its entries are of one size, without which PostgreSQL splits a full page in the middle and
-- leaves both half empty, though a tenant's next sale always follows the one before.
create index transaction_completed on loyalty.transaction (tenant_id, id)
	include (customer_id, spend_amount_cents, points_awarded, stamps_awarded) where status = 'completed';
create index transaction_voided_id on loyalty.transaction (tenant_id, id) include (points_awarded) where status = 'voided';
-- What was voided lately, whenever it was recorded.
create index transaction_voided_at on loyalty.transaction (tenant_id, voided_at, id) where status = 'voided';
create index transaction_of_customer on loyalty.transaction (tenant_id, customer_id, id);
-- Sales of a type, of a source or of a location, newest first.
create index transaction_of_type on loyalty.transaction (tenant_id, transaction_type_id, id);
create index transaction_of_source on loyalty.transaction (tenant_id, source, id);
create index transaction_of_location on loyalty.transaction (tenant_id, location_id, id) where location_id is not null;
create unique index transaction_external_reference on loyalty.transaction (tenant_id, external_reference)
	where external_reference is not null;
select loyalty.wall('loyalty.transaction');
revoke delete on loyalty.transaction from loyalty_app;
