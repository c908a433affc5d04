package job

import (
	"context"
	"strconv"

	"example.com/loyalty/core/db"
)

// A lane first takes jobs of the tenant with the fewest running jobs, and no more of a tenant than its
// share. In the order of their scheduled_at, one tenant's jobs could delay all others.

// taken is a job that this process took from the queue.
type taken struct {
	ID, Attempt, MaxAttempts int64
	Kind                     string
	Args, Metadata           []byte
}

// take takes jobs for the free workers of a lane. It isn't interrupted: jobs that were taken, but not received, would wait
// until their claims expire.
func (q *Queue) take(ctx, work context.Context, lane Lane) {
	free, tenants, jobs := q.free(lane)
	if free == 0 {
		return
	}
	share := lanes[lane].share
	if share == 0 {
		share = free
	}
	all, err := exec[taken](context.WithoutCancel(ctx), q, takeSQL, db.Args{
		"lane": lane, "share": share, "most": free, "tenants": tenants, "jobs": jobs, "client": q.name,
	})
	q.warn(ctx, "jobs not taken", err)
	for _, j := range all {
		q.begin(work, lane, j)
	}
}

// free returns how many workers of a lane are free, and how many jobs of each tenant the others run.
func (q *Queue) free(lane Lane) (free int, tenants []string, jobs []int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	count := map[string]int64{}
	for _, c := range q.held {
		if c.lane == lane {
			count[c.tenant]++
		}
	}
	tenants, jobs = []string{}, []int64{}
	for tenant, n := range count {
		tenants, jobs = append(tenants, tenant), append(jobs, n)
	}
	return lanes[lane].workers - q.busy[lane], tenants, jobs
}

// turnOf returns whose turn a job takes, as takeSQL names it: "" for the platform's.
func turnOf(metadata []byte) string {
	if tenant := originOf(metadata).Tenant; tenant != 0 {
		return strconv.FormatInt(int64(tenant), 10)
	}
	return ""
}

// takeSQL takes at most @most due jobs. It steps from tenant to tenant along an index
// (river_job_waiting) instead of reading all waiting jobs, which may be a hundred thousand mails of one
// send. A job's turn is the number of its tenant's jobs that run before it. The platform's jobs have
// no share, but take turns like a tenant's. Jobs that another process is taking are locked, so there
// are four times as many candidates.
const takeSQL = `
	with recursive waiting (tenant) as (
		(
			select coalesce(metadata ->> 'tenant', '')
			from river.river_job
			where state = 'available'
				and queue = @lane
				and not exists (select from loyalty.queue_pause where lane = @lane)
			order by coalesce(metadata ->> 'tenant', '')
			limit 1
		)
		union all
		select (
			select coalesce(j.metadata ->> 'tenant', '')
			from river.river_job j
			where j.state = 'available'
				and j.queue = @lane
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
		left join unnest(@tenants::text[], @jobs::bigint[]) as r (tenant, jobs) on r.tenant = w.tenant
		cross join lateral (
			select id, priority, scheduled_at
			from river.river_job
			where state = 'available'
				and queue = @lane
				and coalesce(metadata ->> 'tenant', '') = w.tenant
				and scheduled_at <= now()
			order by priority, scheduled_at, id
			limit case
				when w.tenant = '' then @most::bigint
				else least(greatest(@share::bigint - coalesce(r.jobs, 0), 0), @most::bigint)
			end
		) j
		where w.tenant is not null
	), next as (
		select id, turn, scheduled_at
		from due
		order by turn, scheduled_at, id
		limit 4 * @most::bigint
	), taken as (
		select j.id
		from next
		join river.river_job j on j.id = next.id
		where j.state = 'available'
		order by next.turn, next.scheduled_at, j.id
		limit @most::bigint
		for update of j skip locked
	)
	update river.river_job j
	set state = 'running',
		attempt = j.attempt + 1,
		attempted_at = now(),
		attempted_by = array_append(j.attempted_by[greatest(coalesce(cardinality(j.attempted_by), 0) - 98, 1):], @client)
	from taken
	where j.id = taken.id
	returning j.id, j.kind, j.attempt, j.max_attempts, j.args, j.metadata`
