-- What operators watch: how old the last backup is, and since when jobs have waited.
-- +goose Up

-- The login that takes backups and records them. Only a superuser may let it replicate, so it can't log in until one has
-- (docs/operations.md).
-- +goose StatementBegin
do $$
begin
	if not exists (select from pg_roles where rolname = 'loyalty_backup') then
		create role loyalty_backup nologin nosuperuser nobypassrls;
	end if;
end
$$;
-- +goose StatementEnd
grant usage on schema loyalty to loyalty_backup;

-- The last backup of each kind that was verified.
create table loyalty.backup (
	kind text primary key check (kind in ('base', 'dump')),
	label text not null, -- its name, where backups are stored
	finished_at timestamptz(3) not null
);
select loyalty.platform_only('loyalty.backup');
revoke insert, update, delete on loyalty.backup from loyalty_app;

-- +goose StatementBegin
create function loyalty.record_backup(kind text, label text) returns void
	language sql volatile security definer set search_path = ''
as $$
	insert into loyalty.backup (kind, label, finished_at)
	values ($1, $2, now())
	on conflict on constraint backup_pkey do update
	set label = excluded.label,
		finished_at = excluded.finished_at;
$$;
-- +goose StatementEnd
revoke execute on function loyalty.record_backup from public;
grant execute on function loyalty.record_backup to loyalty_backup;

-- A job that fails keeps in its metadata when it was due ("due", in milliseconds since 1970, which has 13 digits until
-- 2286 and so is ordered as a text), because each retry moves its scheduled_at.
create index river_job_failing on river.river_job (queue, (metadata ->> 'due'))
	where errors is not null and state not in ('completed', 'cancelled', 'discarded');

-- What is counted of waiting e-mails: with the tenant, the policy needs nothing but the index.
create index mail_queued on loyalty.mail (tenant_id) where status = 'queued';

-- job_load counts the jobs of each lane, and finds when the one was due that has waited longest. A running job counts as
-- waiting if it failed before and is of a quick kind: it is tried again, for a minute at most. It runs as the owner
-- because the policies on jobs would keep PostgreSQL from using these indexes.
-- +goose StatementBegin
create function loyalty.job_load(lanes text[], quick text[])
	returns table (lane text, queued bigint, running bigint, failed bigint, cancelled bigint, due_since timestamptz)
	language plpgsql stable security definer set search_path = ''
as $$
begin
	perform loyalty.require_platform();
	return query
	select l.name, n.queued, n.running, n.discarded + f.failing - n.retried, n.cancelled, least(f.due_since, w.due_since)
	from unnest(lanes) l (name)
	cross join lateral (
		select
			coalesce(sum(c.jobs) filter (where s.state not in ('running', 'discarded', 'cancelled')), 0)::bigint,
			coalesce(sum(c.jobs) filter (where s.state = 'running'), 0)::bigint,
			coalesce(sum(c.jobs) filter (where s.state = 'discarded'), 0)::bigint,
			coalesce(sum(c.jobs) filter (where s.state = 'cancelled'), 0)::bigint,
			(select count(*) from river.river_job j where j.queue = l.name and j.state = 'running' and j.errors is not null)
		from unnest(array['available', 'cancelled', 'discarded', 'pending', 'retryable', 'running', 'scheduled']::river.river_job_state[]) s (state)
		cross join lateral (select count(*) from river.river_job j where j.queue = l.name and j.state = s.state) c (jobs)
	) n (queued, running, discarded, cancelled, retried)
	cross join lateral (
		select
			(
				select count(*)
				from river.river_job j
				where j.queue = l.name
					and j.errors is not null
					and j.state not in ('completed', 'cancelled', 'discarded')
			),
			(
				select to_timestamp(min(j.metadata ->> 'due')::bigint / 1000.0)
				from river.river_job j
				where j.queue = l.name
					and j.errors is not null
					and j.state not in ('completed', 'cancelled', 'discarded')
					and (j.state <> 'running' or j.kind = any (quick))
			)
	) f (failing, due_since)
	cross join lateral (
		select min(first.scheduled_at)
		from unnest(array['available', 'retryable', 'scheduled']::river.river_job_state[]) s (state)
		cross join generate_series(1, 4) p (priority)
		cross join lateral (
			select j.scheduled_at
			from river.river_job j
			where j.state = s.state
				and j.queue = l.name
				and j.priority = p.priority
				and j.scheduled_at <= now()
			order by j.scheduled_at
			limit 1
		) first
	) w (due_since);
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.job_load');
