package job

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// This file is for the people who run the platform: it covers all tenants' jobs. Arguments and output
// are not shown, because they may hold secrets and customers' addresses.

// State is the state of a job.
type State string

// The states. Completed jobs are not listed.
const (
	Queued    State = "queued"   // waits for its time or for a worker
	Retrying  State = "retrying" // waits for its next attempt after a failure
	Running   State = "running"
	Failed    State = "failed" // for the last time
	Cancelled State = "cancelled"
)

// Filter narrows the list of jobs. Zero values match all.
type Filter struct {
	State State // Queued and Failed include Retrying
	Lane  Lane
}

// Job is a job in the list.
type Job struct {
	ID          int64
	Kind        string
	Lane        Lane
	Tenant      core.TenantID // 0: the platform's
	TenantName  string
	Suspended   bool // the tenant is
	State       State
	Attempt     int64 // counts the runs, including the current one
	MaxAttempts int64
	LastError   string // its first line
	CreatedAt   time.Time
	ScheduledAt time.Time  // when it may run or was last due
	AttemptedAt *time.Time // when its last run started or, while it runs, its claim was renewed
	FinalizedAt *time.Time
}

var jobList = db.NewList(`
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
	where j.state <> 'completed' {filters} {position}
	{page}`, db.Descending("j.id", "@number"), db.Filters{
	"lane":      "j.queue = @lane",
	"queued":    "j.state not in ('running', 'discarded', 'cancelled')",
	"retrying":  "j.state not in ('running', 'discarded', 'cancelled') and j.errors is not null",
	"running":   "j.state = 'running'",
	"failed":    "(j.state = 'discarded' or j.state not in ('running', 'cancelled') and j.errors is not null)",
	"cancelled": "j.state = 'cancelled'",
})

// List returns a page of the jobs that are not completed, newest first.
func (q *Queue) List(ctx context.Context, f Filter, p core.Page) (core.List[Job], error) {
	check := core.NewCheck(p.Malformed)
	core.OneOf(check, "state", f.State, "", Queued, Retrying, Running, Failed, Cancelled)
	core.OneOf(check, "lane", f.Lane, append([]Lane{""}, Lanes...)...)
	if err := check.Err(); err != nil {
		return core.List[Job]{}, err
	}
	args := db.Args{}
	if f.State != "" {
		args[string(f.State)] = true
	}
	if f.Lane != "" {
		args["lane"] = f.Lane
	}
	return db.ListPage(ctx, q.db, core.Actor{}, jobList, args, p, func(j Job) core.Cursor { return core.NumberCursor(j.CreatedAt, j.ID) })
}

// Load counts the jobs of a lane. A job that is retried counts both as queued and as failed.
type Load struct {
	Lane      Lane
	Queued    int64
	Running   int64
	Failed    int64
	Cancelled int64
	DueSince  *time.Time // when the job was first due that has waited longest; nil: none waits
	PausedBy  *string    // the name of who paused it; nil: not paused
}

const loadSQL = `
	select l.lane, l.queued, l.running, l.failed, l.cancelled, l.due_since, p.actor_name as paused_by
	from loyalty.job_load(@lanes::text[], @quick) l
	left join loyalty.queue_pause p on p.lane = l.lane
	order by array_position(@lanes::text[], l.lane)`

// Load returns the load of each lane, and who paused it.
func (q *Queue) Load(ctx context.Context) (list []Load, err error) {
	err = db.Together(ctx, q.db.Platform(), q.ReadLoad(&list))
	return list, err
}

// ReadLoad returns a reading of the load, for db.Together.
func (q *Queue) ReadLoad(to *[]Load) db.Reading {
	return db.AllInto(to, loadSQL, db.Args{"lanes": Lanes, "quick": q.quickKinds()})
}

// quickKinds lists the kinds of jobs that take a minute at most. A longer job that runs is making progress, also when it
// failed before.
func (q *Queue) quickKinds() []string {
	kinds := []string{}
	for kind, h := range q.handlers {
		if h.limit <= handlerLimit {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Refusals of operators' requests.
var (
	ErrNotRetried   = &core.Error{Kind: core.KindRule, Message: "This job can't be retried: it is running or done."}
	ErrNotCancelled = &core.Error{Kind: core.KindRule, Message: "This job can't be cancelled: it has already ended."}
)

// A job that has waited longer than others keeps its turn.
const retrySQL = `
	update river.river_job
	set state = 'available',
		max_attempts = greatest(max_attempts, attempt + 1),
		scheduled_at = case when state = 'available' then least(scheduled_at, now()) else now() end,
		finalized_at = null,
		metadata = metadata - 'cancel_attempted_at'
	where id = @id`

// RetryIn runs a job again as soon as a worker is free, even if it had failed for the last time.
func (q *Queue) RetryIn(ctx context.Context, tx *db.Tx, id int64) error {
	lane, err := lock(ctx, tx, id, ErrNotRetried, "running", "completed")
	if err != nil {
		return err
	}
	announce(tx, queuedChannel, message{Lane: lane})
	return db.Queue(tx, retrySQL, db.Args{"id": id})
}

// A running job is cancelled by its process, or when its claim expires.
const cancelSQL = `
	update river.river_job
	set state = case when state = 'running' then state else 'cancelled' end,
		finalized_at = case when state <> 'running' then now() end,
		metadata = metadata || jsonb_build_object('cancel_attempted_at', now())
	where id = @id`

// CancelIn removes a job from the queue for good, or stops it if it runs.
func (q *Queue) CancelIn(ctx context.Context, tx *db.Tx, id int64) error {
	lane, err := lock(ctx, tx, id, ErrNotCancelled, "completed", "discarded", "cancelled")
	if err != nil {
		return err
	}
	announce(tx, controlChannel, message{Action: "cancel", JobID: id, Lane: lane})
	return db.Queue(tx, cancelSQL, db.Args{"id": id})
}

const lockSQL = `
	select state::text, queue as lane
	from river.river_job
	where id = @id
	for update`

// lock locks a job, unless its state refuses that, and returns its lane.
func lock(ctx context.Context, tx *db.Tx, id int64, refusal error, unless ...string) (Lane, error) {
	job, err := db.One[struct {
		State string
		Lane  Lane
	}](ctx, tx, lockSQL, db.Args{"id": id})
	if err == nil && slices.Contains(unless, job.State) {
		err = refusal
	}
	return job.Lane, err
}
