-- What points and stamps are exchanged for, and each exchange.
-- +goose Up

create table loyalty.reward (
	tenant_id bigint not null references loyalty.tenant,
	id uuid not null,
	name text not null,
	description text,
	points_cost bigint check (points_cost > 0), -- either this
	stamps_cost bigint check (stamps_cost > 0), -- or that
	stock bigint check (stock >= 0), -- null: unlimited
	active boolean not null default true,
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint reward_cost check (num_nonnulls(points_cost, stamps_cost) = 1)
);
create index reward_age on loyalty.reward (tenant_id, created_at, id);
select loyalty.wall('loyalty.reward');
revoke delete on loyalty.reward from loyalty_app;

create table loyalty.redemption (
	tenant_id bigint not null,
	id uuid not null,
	customer_id uuid not null,
	reward_id uuid not null,
	points_spent bigint not null check (points_spent >= 0),
	stamps_spent bigint not null check (stamps_spent >= 0),
	took_stock boolean not null, -- from a stock that had an end: voiding gives it back
	status text not null default 'pending' check (status in ('pending', 'fulfilled', 'voided')),
	fulfilled_at timestamptz(3),
	voided_at timestamptz(3),
	actor_kind text not null,
	actor_id text not null,
	actor_name text not null,
	created_at timestamptz(3) not null,
	primary key (tenant_id, id),
	constraint redemption_customer foreign key (tenant_id, customer_id) references loyalty.customer,
	constraint redemption_reward foreign key (tenant_id, reward_id) references loyalty.reward,
	constraint redemption_fulfilled check ((status = 'fulfilled') = (fulfilled_at is not null)),
	constraint redemption_voided check ((status = 'voided') = (voided_at is not null))
);
create index redemption_of_customer on loyalty.redemption (tenant_id, customer_id, id);
-- Redemptions of a status: the queue of the pending ones, and each other; and those of a
-- reward, which are counted from the index alone.
create index redemption_of_status on loyalty.redemption (tenant_id, status, id);
create index redemption_of_reward on loyalty.redemption (tenant_id, reward_id, id) include (status);
create index redemption_voided_at on loyalty.redemption (tenant_id, voided_at, id) where status = 'voided';
-- As of sales: by default a fifth of a table must be new before its pages speak for themselves.
alter table loyalty.redemption set (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);
select loyalty.wall('loyalty.redemption');
revoke delete on loyalty.redemption from loyalty_app;
