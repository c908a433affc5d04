-- API tokens. The secret is not stored, only its SHA-256.
-- +goose Up

create table loyalty.token (
	id bigserial primary key,
	tenant_id bigint references loyalty.tenant, -- null: a platform token
	staff_id bigint not null references loyalty.staff,
	name text not null,
	hash bytea not null,
	abilities text[] not null,
	last_used_at timestamptz(3),
	expires_at timestamptz(3),
	revoked_at timestamptz(3),
	created_at timestamptz(3) not null,
	actor_kind text not null default '', -- who created it
	actor_name text not null default '',
	address text not null default '', -- from where
	told_at timestamptz(3) -- when its person was mailed about it; null: not yet
);
create index token_of_owner on loyalty.token (staff_id, created_at, id) where revoked_at is null;
create index token_told on loyalty.token (staff_id, told_at);
-- A person has few live tokens, and may have many that expired.
create index token_live on loyalty.token (staff_id, expires_at) where revoked_at is null;
select loyalty.platform_wall('loyalty.token');
grant usage on sequence loyalty.token_id_seq to loyalty_app;
