-- The statements of core/job, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/job.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- renewSQL (core/job/claim.go): The attempt differs if another process has taken the job meanwhile.
-- $1=ids $2=attempts
prepare renewSQL as
  update river.river_job j
  set attempted_at = now()
  from unnest($1::bigint[], $2::int[]) as held (id, attempt)
  where j.id = held.id
    and j.attempt = held.attempt
    and j.state = 'running'
  returning j.id, j.attempt, j.metadata ? 'cancel_attempted_at' as cancelled;

-- rescueSQL (core/job/claim.go): A job that lost its process runs again at once the first time.
-- $1=after $2=most
prepare rescueSQL as
  with abandoned as (
    select id, coalesce((metadata ->> 'rescues')::int, 0) as rescues,
      coalesce((metadata ->> 'due')::bigint, floor(extract(epoch from scheduled_at) * 1000)::bigint) as due
    from river.river_job
    where state = 'running'
      and attempted_at < now() - $1::interval
    for update skip locked
  )
  update river.river_job j
  set state = case
      when j.metadata ? 'cancel_attempted_at' then 'cancelled'
      when j.attempt >= j.max_attempts then 'discarded'
      else 'available'
    end::river.river_job_state,
    finalized_at = case when j.metadata ? 'cancel_attempted_at' or j.attempt >= j.max_attempts then now() end,
    scheduled_at = now() + least(power(a.rescues, 4), $2) * interval '1 second',
    metadata = j.metadata || jsonb_build_object('rescues', a.rescues + 1, 'due', a.due),
    errors = array_append(j.errors, jsonb_build_object(
      'at', now(), 'attempt', j.attempt, 'trace', '', 'error', 'the process that ran this job is gone'))
  from abandoned a
  where j.id = a.id
  returning j.id, j.kind, j.metadata;

-- insertSQL (core/job/job.go): insertSQL stores jobs, given as JSON (queued).
-- $1=at $2=jobs
prepare insertSQL as
  insert into river.river_job (kind, queue, args, metadata, max_attempts, state, scheduled_at)
  select kind, lane, args, metadata, max_attempts,
    case when $1::timestamptz > now() then 'scheduled' else 'available' end::river.river_job_state, coalesce($1, now())
  from jsonb_to_recordset($2::jsonb) job (kind text, lane text, args jsonb, metadata jsonb, max_attempts int);

-- pendingSQL (core/job/job.go), for Pending: Pending returns the arguments of all unfinished jobs of a kind, and of
-- those that an operator cancelled in the last day, so that a caller can find lost jobs.
-- $1=kinds
prepare pendingSQL as
  select args, state = 'cancelled' as cancelled
  from river.river_job
  where kind = any($1)
    and state in ('available', 'scheduled', 'retryable', 'running', 'cancelled');

-- jobList (core/job/list.go), for List: List returns a page of the jobs that are not completed, newest first.
-- $1=limit
-- filter: and j.state = 'cancelled'
-- filter: and (j.state = 'discarded' or j.state not in ('running', 'cancelled') and j.errors is not null)
-- filter: and j.queue = @lane
-- filter: and j.state not in ('running', 'discarded', 'cancelled')
-- filter: and j.state not in ('running', 'discarded', 'cancelled') and j.errors is not null
-- filter: and j.state = 'running'
prepare jobList as
  select j.id, j.kind, j.queue as lane, coalesce(t.id, 0) as tenant, coalesce(t.name, '') as tenant_name,
    coalesce(t.status = 'suspended', false) as suspended,
    case
      when j.state = 'running' then 'running'
      when j.state = 'discarded' then 'failed'
      when j.state = 'cancelled' then 'cancelled'
      when j.errors is null then 'queued'
      else 'retrying'
    end as state,
    j.attempt, j.max_attempts,
    left(split_part(coalesce(j.errors[cardinality(j.errors)] ->> 'error', ''), E'\n', 1), 1000) as last_error,
    j.created_at, j.scheduled_at, j.attempted_at, j.finalized_at
  from river.river_job j
  left join loyalty.tenant t on t.id::text = j.metadata ->> 'tenant'
  where j.state <> 'completed'
  order by j.id desc
  limit $1;

-- loadSQL (core/job/list.go), for ReadLoad: ReadLoad returns a reading of the load, for db.Together.
-- $1=lanes $2=quick
prepare loadSQL as
  select l.lane, l.queued, l.running, l.failed, l.cancelled, l.due_since, p.actor_name as paused_by
  from loyalty.job_load($1::text[], $2) l
  left join loyalty.queue_pause p on p.lane = l.lane
  order by array_position($1::text[], l.lane);

-- retrySQL (core/job/list.go): A job that has waited longer than others keeps its turn.
-- $1=id
prepare retrySQL as
  update river.river_job
  set state = 'available',
    max_attempts = greatest(max_attempts, attempt + 1),
    scheduled_at = case when state = 'available' then least(scheduled_at, now()) else now() end,
    finalized_at = null,
    metadata = metadata - 'cancel_attempted_at'
  where id = $1;

-- cancelSQL (core/job/list.go): A running job is cancelled by its process, or when its claim expires.
-- $1=id
prepare cancelSQL as
  update river.river_job
  set state = case when state = 'running' then state else 'cancelled' end,
    finalized_at = case when state <> 'running' then now() end,
    metadata = metadata || jsonb_build_object('cancel_attempted_at', now())
  where id = $1;

-- lockSQL (core/job/list.go), for lock: lock locks a job, unless its state refuses that, and returns its lane.
-- $1=id
prepare lockSQL as
  select state::text, queue as lane
  from river.river_job
  where id = $1
  for update;

-- endSQL (core/job/outcome.go): endSQL stores the outcome of an attempt, unless the job was taken back.
-- $1=state $2=id $3=attempt $4=wait $5=failure $6=late
prepare endSQL as
  with ended as (
    select id,
      case when metadata ? 'cancel_attempted_at' and $1 not in ('completed', 'discarded') then 'cancelled' else $1::text end as state,
      coalesce((metadata ->> 'due')::bigint, floor(extract(epoch from scheduled_at) * 1000)::bigint) as due
    from river.river_job
    where id = $2
      and attempt = $3
      and state = 'running'
    for update
  )
  update river.river_job as job
  set state = ended.state::river.river_job_state,
    attempt = case when ended.state in ('available', 'scheduled') then attempt - 1 else attempt end,
    scheduled_at = case when ended.state in ('available', 'scheduled', 'retryable') then now() + $4::interval else scheduled_at end,
    finalized_at = case when ended.state in ('completed', 'cancelled', 'discarded') then now() end,
    errors = case
      when $1 in ('completed', 'available', 'scheduled') then errors
      else array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt, 'trace', '', 'error', $5::text))
    end,
    metadata = case when $6 then metadata || jsonb_build_object('due', ended.due) else metadata - 'due' end
  from ended
  where job.id = ended.id;

-- pauseSQL (core/job/pause.go), for Pause: Pause keeps a lane from taking jobs, in all processes from the commit on.
-- $1=lane $2=actor $3=now
prepare pauseSQL as
  insert into loyalty.queue_pause (lane, actor_name, paused_at)
  values ($1, $2, $3)
  on conflict do nothing;

-- resumeSQL (core/job/pause.go), for Resume: Resume lets a lane take jobs again, within a second of the commit.
-- $1=lane
prepare resumeSQL as
  delete from loyalty.queue_pause
  where lane = $1;

-- electSQL (core/job/periodic.go): The table is River's: a leader of an earlier build keeps this process from leading,
-- and the other way round.
-- $1=term $2=name
prepare electSQL as
  insert into river.river_leader as l (elected_at, expires_at, leader_id)
  values (now(), now() + $1::interval, $2)
  on conflict (name) do update
  set expires_at = excluded.expires_at,
    elected_at = case when l.leader_id = excluded.leader_id and l.expires_at >= now() then l.elected_at else excluded.elected_at end,
    leader_id = excluded.leader_id
  where l.leader_id = excluded.leader_id
    or l.expires_at < now()
  returning elected_at, now() as now;

-- resignSQL (core/job/periodic.go), for resign: resign lets another process lead at once.
-- $1=name
prepare resignSQL as
  delete from river.river_leader
  where leader_id = $1;

-- deleteOldSQL (core/job/periodic.go), for lead: lead has this process lead, or go on leading, unless another one does.
-- $1=batch
prepare deleteOldSQL as
  delete from river.river_job j
  where j.id in (
    select old.id
    from (values ('completed', interval '1 day'), ('cancelled', interval '1 day'), ('discarded', interval '7 days')) as kept (state, age)
    cross join lateral (
      select w.id
      from river.river_job w
      where w.state = kept.state::river.river_job_state
        and w.finalized_at < now() - kept.age
      order by w.finalized_at
      limit $1
    ) old
  );

-- dueSQL (core/job/run.go): Jobs that wait for a time are not among those that takeSQL steps through.
-- $1=lanes $2=batch
prepare dueSQL as
  update river.river_job j
  set state = 'available'
  where j.id in (
    select due.id
    from unnest(array['retryable', 'scheduled']::river.river_job_state[]) s (state)
    cross join unnest($1::text[]) l (name)
    cross join generate_series(1, 4) p (priority)
    cross join lateral (
      select w.id
      from river.river_job w
      where w.state = s.state
        and w.queue = l.name
        and w.priority = p.priority
        and w.scheduled_at <= now()
      order by w.scheduled_at
      limit $2
      for update skip locked
    ) due
  );

-- becomeSQL (core/job/run.go): becomeSQL gives a transaction the role that sees all jobs.
prepare becomeSQL as
  select set_config('role', 'loyalty_queue', true) as role;

-- takeSQL (core/job/take.go): takeSQL takes at most @most due jobs.
-- $1=lane $2=tenants $3=jobs $4=most $5=share $6=client
prepare takeSQL as
  with recursive waiting (tenant) as (
    (
      select coalesce(metadata ->> 'tenant', '')
      from river.river_job
      where state = 'available'
        and queue = $1
        and not exists (select from loyalty.queue_pause where lane = $1)
      order by coalesce(metadata ->> 'tenant', '')
      limit 1
    )
    union all
    select (
      select coalesce(j.metadata ->> 'tenant', '')
      from river.river_job j
      where j.state = 'available'
        and j.queue = $1
        and coalesce(j.metadata ->> 'tenant', '') > w.tenant
      order by coalesce(j.metadata ->> 'tenant', '')
      limit 1
    )
    from waiting w
    where w.tenant is not null
  ), due as (
    select j.id, j.scheduled_at,
      coalesce(r.jobs, 0) + row_number() over (partition by w.tenant order by j.priority, j.scheduled_at, j.id) as turn
    from waiting w
    left join unnest($2::text[], $3::bigint[]) as r (tenant, jobs) on r.tenant = w.tenant
    cross join lateral (
      select id, priority, scheduled_at
      from river.river_job
      where state = 'available'
        and queue = $1
        and coalesce(metadata ->> 'tenant', '') = w.tenant
        and scheduled_at <= now()
      order by priority, scheduled_at, id
      limit case
        when w.tenant = '' then $4::bigint
        else least(greatest($5::bigint - coalesce(r.jobs, 0), 0), $4::bigint)
      end
    ) j
    where w.tenant is not null
  ), next as (
    select id, turn, scheduled_at
    from due
    order by turn, scheduled_at, id
    limit 4 * $4::bigint
  ), taken as (
    select j.id
    from next
    join river.river_job j on j.id = next.id
    where j.state = 'available'
    order by next.turn, next.scheduled_at, j.id
    limit $4::bigint
    for update of j skip locked
  )
  update river.river_job j
  set state = 'running',
    attempt = j.attempt + 1,
    attempted_at = now(),
    attempted_by = array_append(j.attempted_by[greatest(coalesce(cardinality(j.attempted_by), 0) - 98, 1):], $6)
  from taken
  where j.id = taken.id
  returning j.id, j.kind, j.attempt, j.max_attempts, j.args, j.metadata;
