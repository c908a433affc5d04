package job

import (
	"context"
	"strconv"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/loyalty/core/db"
)

// River takes jobs in the order of their scheduled_at, so one tenant's jobs can delay all others. Here
// a lane first takes jobs of the tenant with the fewest running jobs, and no more of a tenant than its
// share.
//
// River has no option for this, so its driver is wrapped; tests notice if a new version of River
// breaks that. Rejected: snoozing jobs that exceed a share after River took them. Every job of a flood
// would have to be taken and put back before the job behind it is seen, and two tenants, each within
// its share, could fill the lane and keep out a third.

// driver is River's driver with another way of taking jobs.
type driver struct {
	*riverpgxv5.Driver
	queue *Queue
}

// GetExecutor returns the executor of River's statements.
func (d driver) GetExecutor() riverdriver.Executor {
	return executor{d.Driver.GetExecutor(), d.queue}
}

type executor struct {
	riverdriver.Executor
	queue *Queue
}

// JobGetAvailable takes jobs for the free workers of a lane.
func (e executor) JobGetAvailable(ctx context.Context, p *riverdriver.JobGetAvailableParams) (*riverdriver.JobGetAvailableResult, error) {
	q, lane := e.queue, Lane(p.Queue)
	ctx, cancel := context.WithTimeout(ctx, q.timing.patience) // after a longer time, the claims would soon end
	defer cancel()
	share := lanes[lane].share
	if share == 0 {
		share = p.MaxToLock
	}
	tenants, jobs := q.usedShares(lane)
	taken, err := db.All[struct{ ID int64 }](ctx, q.db.Platform(), takeSQL, db.Args{
		"lane": lane, "share": share, "most": p.MaxToLock, "tenants": tenants, "jobs": jobs, "client": p.ClientID,
	})
	if err != nil || len(taken) == 0 {
		return &riverdriver.JobGetAvailableResult{}, err
	}
	ids := make([]int64, len(taken))
	for i, t := range taken {
		ids[i] = t.ID
	}
	// If this fails, the jobs' claims are not renewed, and they are taken again later.
	rows, err := e.JobGetByIDMany(ctx, &riverdriver.JobGetByIDManyParams{ID: ids, Schema: p.Schema})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if _, known := q.handlers[row.Kind]; known { // River refuses unknown kinds without running them
			q.addClaim(row)
		}
	}
	return &riverdriver.JobGetAvailableResult{Jobs: rows}, nil
}

// usedShares returns how many jobs of each tenant this process runs in a lane.
func (q *Queue) usedShares(lane Lane) (tenants []string, jobs []int64) {
	q.claims.mu.Lock()
	defer q.claims.mu.Unlock()
	tenants, jobs = []string{}, []int64{}
	for tenant, n := range q.claims.running(lane) {
		tenants, jobs = append(tenants, tenant), append(jobs, n)
	}
	return tenants, jobs
}

const announceSQL = `
	select pg_notify('river.river_insert', json_build_object('queue', @lane::text)::text)::text as sent`

// announceSoon has workers look for jobs of a tenant whose share was used up until now. River looks when
// a job is queued, when it found more jobs than workers, and every second, so a tenant with many jobs
// would otherwise get one job a second. Jobs that end within 20 ms are announced together. The caller
// holds claims.mu.
func (q *Queue) announceSoon(ctx context.Context, lane Lane) {
	if q.claims.freed[lane] {
		return
	}
	q.claims.freed[lane] = true
	time.AfterFunc(20*time.Millisecond, func() {
		q.claims.mu.Lock()
		q.claims.freed[lane] = false
		q.claims.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.timing.patience)
		defer cancel()
		// If this fails, workers look within a second.
		_, _ = db.One[struct{ Sent string }](ctx, q.db.Platform(), announceSQL, db.Args{"lane": lane})
	})
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
	returning j.id`
