-- What API tokens were used for in the last days, the e-mails before they expire, and businesses that are for tests.
-- +goose Up

-- The requests of each token, by day in the time zone of its business. Each process adds its sums every few seconds.
create table loyalty.token_request (
	tenant_id bigint references loyalty.tenant, -- null: a platform token
	token_id bigint not null references loyalty.token on delete cascade,
	day date not null,
	method text not null, -- '' with an endpoint of '*'
	endpoint text not null, -- as documented; '': an unknown path; '*': more at once than a process counts apart
	status int not null,
	requests bigint not null check (requests > 0),
	primary key (token_id, day, method, endpoint, status)
);
create index token_request_day on loyalty.token_request (day);
select loyalty.platform_wall('loyalty.token_request');

-- The newest refusals of each token: why, never what was sent.
create table loyalty.token_refusal (
	tenant_id bigint references loyalty.tenant, -- null: a platform token
	token_id bigint not null references loyalty.token on delete cascade,
	id uuid not null, -- a ULID, by time
	at timestamptz(3) not null,
	request_id text not null,
	method text not null,
	endpoint text not null,
	status int not null,
	title text not null,
	detail text not null,
	code text not null, -- of a business rule; '': none
	fields text[] not null, -- names of what failed a validation
	primary key (token_id, id)
);
create index token_refusal_at on loyalty.token_refusal (at);
select loyalty.platform_wall('loyalty.token_refusal');

alter table loyalty.token add column last_address text not null default ''; -- of its last request
alter table loyalty.token add column warned_days int; -- how many days before the end its owners were last mailed; null: not yet
create index token_expiring on loyalty.token (expires_at) where expires_at is not null and revoked_at is null;

alter table loyalty.tenant add column test boolean not null default false; -- for tests of an integration: never billed
