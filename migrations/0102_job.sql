-- The tables of the job queue, as version 8 of the library River had them: earlier builds keep the queue with it.
-- +goose Up
create schema if not exists river;

create table river.river_migration (
	line text not null,
	version bigint not null,
	created_at timestamptz not null default now(),
	constraint line_length check (char_length(line) > 0 and char_length(line) < 128),
	constraint version_gte_1 check (version >= 1),
	constraint river_migration_pkey1 primary key (line, version) -- as River names it
);
insert into river.river_migration (line, version)
select 'main', version
from generate_series(1, 8) version;

create type river.river_job_state as enum ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled');

create table river.river_job (
	id bigserial primary key,
	state river.river_job_state not null default 'available',
	attempt smallint not null default 0,
	max_attempts smallint not null default 25,
	attempted_at timestamptz,
	created_at timestamptz not null default now(),
	finalized_at timestamptz,
	scheduled_at timestamptz not null default now(),
	priority smallint not null default 1,
	args jsonb not null,
	attempted_by text[],
	errors jsonb[],
	kind text not null,
	metadata jsonb not null default '{}',
	queue text not null default 'default',
	tags varchar(255)[] not null default '{}',
	unique_key bytea,
	unique_states bit(8),
	constraint max_attempts_is_positive check (max_attempts > 0),
	constraint priority_in_range check (priority >= 1 and priority <= 4),
	constraint queue_length check (char_length(queue) > 0 and char_length(queue) < 128),
	constraint kind_length check (char_length(kind) > 0 and char_length(kind) < 128),
	constraint finalized_or_finalized_at_null check (
		finalized_at is null and state not in ('cancelled', 'completed', 'discarded')
		or finalized_at is not null and state in ('cancelled', 'completed', 'discarded')
	)
);
create index river_job_kind on river.river_job (kind);
create index river_job_state_and_finalized_at_index on river.river_job (state, finalized_at) where finalized_at is not null;
create index river_job_prioritized_fetching_index on river.river_job (state, queue, priority, scheduled_at, id);
create index river_job_args_index on river.river_job using gin (args);
create index river_job_metadata_index on river.river_job using gin (metadata);

-- +goose StatementBegin
create function river.river_job_state_in_bitmask(bitmask bit(8), state river.river_job_state) returns boolean
	language sql immutable
as $$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$$;
-- +goose StatementEnd
create unique index river_job_unique_idx on river.river_job (unique_key)
	where unique_key is not null
		and unique_states is not null
		and river.river_job_state_in_bitmask(unique_states, state);

create unlogged table river.river_leader (
	elected_at timestamptz not null,
	expires_at timestamptz not null,
	leader_id text not null,
	name text primary key default 'default',
	constraint leader_id_length check (char_length(leader_id) > 0 and char_length(leader_id) < 128),
	constraint name_length check (name = 'default')
);

create table river.river_queue (
	name text primary key,
	created_at timestamptz not null default now(),
	metadata jsonb not null default '{}',
	paused_at timestamptz,
	updated_at timestamptz not null default current_timestamp
);

create table river.river_notification (
	id bigserial primary key,
	created_at timestamptz not null default now(),
	payload text not null,
	topic text not null,
	constraint topic_length check (length(topic) > 0 and length(topic) < 128)
);
create index river_notification_created_at_idx on river.river_notification (created_at);
create index river_notification_topic_id_idx on river.river_notification (topic, id);

-- The queue's connections have access to all jobs, and a tenant's transaction to its own. The queue has its own role with
-- a policy that is always true: with another policy, PostgreSQL would not use the indexes that begin with a job's state.
-- +goose StatementBegin
do $$
begin
	if not exists (select from pg_roles where rolname = 'loyalty_queue') then
		create role loyalty_queue nologin nosuperuser nobypassrls;
	end if;
	if exists (select from pg_roles where rolname = 'loyalty_app' and rolinherit) then
		alter role loyalty_app noinherit;
	end if;
	if not pg_has_role('loyalty_app', 'loyalty_queue', 'member') then
		grant loyalty_queue to loyalty_app;
	end if;
	if not pg_has_role(current_user, 'loyalty_queue', 'member') then
		execute format('grant loyalty_queue to %I', current_user);
	end if;
end
$$;
-- +goose StatementEnd
grant usage on schema loyalty to loyalty_queue; -- to enter the platform
grant usage on schema river to loyalty_app, loyalty_queue;
grant select, insert, update, delete on all tables in schema river to loyalty_app, loyalty_queue;
grant usage on all sequences in schema river to loyalty_app, loyalty_queue;
grant execute on all functions in schema river to loyalty_app, loyalty_queue;

-- +goose StatementBegin
do $$
declare
	part regclass;
begin
	for part in select oid from pg_class where relnamespace = 'river'::regnamespace and relkind = 'r' loop
		execute format('alter table %s enable row level security', part);
		execute format('create policy queue on %s to loyalty_queue using (true)', part);
		execute format('create policy platform on %s to loyalty_app using (current_setting(''app.tenant_id'', true) in (''0'', ''-1''))', part);
	end loop;
end
$$;
-- +goose StatementEnd
create policy tenant on river.river_job to loyalty_app using (metadata ->> 'tenant' = current_setting('app.tenant_id', true));

-- What waits, by tenant: the statement that takes jobs steps along it.
create index river_job_waiting on river.river_job (queue, (coalesce(metadata ->> 'tenant', '')), priority, scheduled_at, id)
	where state = 'available';
-- What is not done, for the page that lists it: done jobs stay for a day, and may be many.
create index river_job_unfinished on river.river_job (id)
	where state <> 'completed';
