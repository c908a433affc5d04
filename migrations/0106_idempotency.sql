-- Answers of requests that carried an idempotency key, stored for 24 hours. An
-- answer is written in the transaction of its effect.
-- +goose Up

create table loyalty.idempotency (
	tenant_id bigint references loyalty.tenant, -- null: a platform token's
	caller text not null, -- kind and id of the actor
	key text not null,
	fingerprint bytea not null,
	status smallint not null,
	body bytea not null,
	created_at timestamptz(3) not null,
	primary key (caller, key)
);
create index idempotency_age on loyalty.idempotency (created_at);
select loyalty.platform_wall('loyalty.idempotency');
