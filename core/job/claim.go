package job

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"example.com/loyalty/core/db"
)

// A process claims each job that it runs: the claim is the job's attempted_at, which the process
// renews. Without renewals, a job could be taken back only after the longest time that any job may take; a killed
// process's mail would then arrive after its link has expired.

// timing is how long claims last.
type timing struct {
	renew    time.Duration // the interval of renewals and of the search for abandoned claims
	lease    time.Duration // work is stopped when its claim was not renewed for this long
	rescue   time.Duration // another process may take the job after this time, which is longer
	patience time.Duration // the timeout of the queue's own statements
	drain    time.Duration // how long running jobs may go on when the queue stops
}

// A claim survives two failed renewals. Work is stopped well before another process takes its job,
// so that clocks need not agree: this process measures the lease, the database measures the rest.
var production = timing{
	renew: 15 * time.Second, lease: 45 * time.Second, rescue: time.Minute,
	patience: 5 * time.Second, drain: 15 * time.Second,
}

// attempt identifies one run of a job.
type attempt struct{ id, n int64 }

// claim is this process's claim on a job that it runs.
type claim struct {
	taken
	lane   Lane
	tenant string          // "": the platform's
	ctx    context.Context // of the work; ends with its time or the claim
	cancel context.CancelCauseFunc
	lease  *time.Timer // drops the claim
}

func (c *claim) attempt() attempt { return attempt{c.ID, c.Attempt} }

// Why work is stopped.
var (
	errTimeUp     = errors.New("the job exceeded its time limit")
	errNotRenewed = errors.New("the claim on the job could not be renewed")
	errTaken      = errors.New("the claim on the job was lost")
	errStopped    = errors.New("the process stops")
	errCancelled  = errors.New("an operator cancelled the job")
)

// begin claims a job that was taken from the queue, and works on it until its time limit or the end of the claim.
func (q *Queue) begin(ctx context.Context, lane Lane, j taken) {
	ctx, cancel := context.WithCancelCause(caused(ctx, j.Metadata))
	ctx, stop := context.WithTimeoutCause(ctx, q.handlers[j.Kind].limit, errTimeUp)
	c := &claim{taken: j, lane: lane, tenant: turnOf(j.Metadata), ctx: ctx, cancel: cancel}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy[lane]++
	q.held[c.attempt()] = c
	c.lease = time.AfterFunc(q.timing.lease, func() { q.dropClaim(c, errNotRenewed) })
	q.working.Go(func() {
		defer stop()
		defer cancel(nil)
		q.end(c, q.work(c))
		q.mu.Lock()
		q.busy[lane]--
		q.mu.Unlock()
		q.wakeLane(lane)
	})
}

// release ends a claim, and reports whether it was still held.
func (q *Queue) release(c *claim) (held bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	held = q.held[c.attempt()] == c
	if held {
		delete(q.held, c.attempt())
	}
	c.lease.Stop()
	return held
}

// dropClaim stops the work of a claim that is no longer this process's.
func (q *Queue) dropClaim(c *claim, why error) {
	if q.release(c) {
		q.log.WarnContext(c.ctx, "job stopped", slog.String("kind", c.Kind), slog.Int64("id", c.ID), slog.Any("cause", why))
		c.cancel(why)
	}
}

// cancelHeld stops the work on a job that an operator has cancelled.
func (q *Queue) cancelHeld(id int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range q.held {
		if c.ID == id {
			c.cancel(errCancelled)
		}
	}
}

// renewAndRescue renews the claims of this process and puts abandoned jobs back into the queue.
func (q *Queue) renewAndRescue(ctx context.Context) {
	q.renew(ctx)
	q.rescue(ctx)
}

// The attempt differs if another process has taken the job meanwhile.
const renewSQL = `
	update river.river_job j
	set attempted_at = now()
	from unnest(@ids::bigint[], @attempts::int[]) as held (id, attempt)
	where j.id = held.id
		and j.attempt = held.attempt
		and j.state = 'running'
	returning j.id, j.attempt, j.metadata ? 'cancel_attempted_at' as cancelled`

// renew renews the claims of work that may go on.
func (q *Queue) renew(ctx context.Context) {
	held := q.renewable()
	if len(held) == 0 {
		return
	}
	renewed, err := exec[struct {
		ID, Attempt int64
		Cancelled   bool
	}](ctx, q, renewSQL, db.Args{
		"ids":      db.Column(held, func(c *claim) int64 { return c.ID }),
		"attempts": db.Column(held, func(c *claim) int64 { return c.Attempt }),
	})
	if err != nil {
		q.warn(ctx, "claims on running jobs not renewed", err, slog.Int("jobs", len(held)))
		return
	}
	isRenewed := map[attempt]bool{}
	for _, r := range renewed {
		isRenewed[attempt{r.ID, r.Attempt}] = true
		if r.Cancelled { // its message was lost
			q.cancelHeld(r.ID)
		}
	}
	for _, c := range held {
		if !isRenewed[c.attempt()] {
			q.dropClaim(c, errTaken)
		} else if c.lease.Stop() { // false if the lease has just ended
			c.lease.Reset(q.timing.lease)
		}
	}
}

// renewable returns the claims to renew. Work that was cancelled or exceeded its time loses its
// claim, so that another process takes the job even if the work never returns.
func (q *Queue) renewable() (held []*claim) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range q.held {
		if c.ctx.Err() == nil {
			held = append(held, c)
		}
	}
	return held
}

// A job that lost its process runs again at once the first time. A job that loses processes
// repeatedly may be the cause, so it waits longer each time.
const rescueSQL = `
	with abandoned as (
		select id, coalesce((metadata ->> 'rescues')::int, 0) as rescues,
			coalesce((metadata ->> 'due')::bigint, floor(extract(epoch from scheduled_at) * 1000)::bigint) as due
		from river.river_job
		where state = 'running'
			and attempted_at < now() - @after::interval
		for update skip locked
	)
	update river.river_job j
	set state = case
			when j.metadata ? 'cancel_attempted_at' then 'cancelled'
			when j.attempt >= j.max_attempts then 'discarded'
			else 'available'
		end::river.river_job_state,
		finalized_at = case when j.metadata ? 'cancel_attempted_at' or j.attempt >= j.max_attempts then now() end,
		scheduled_at = now() + least(power(a.rescues, 4), @most) * interval '1 second',
		metadata = j.metadata || jsonb_build_object('rescues', a.rescues + 1, 'due', a.due),
		errors = array_append(j.errors, jsonb_build_object(
			'at', now(), 'attempt', j.attempt, 'trace', '', 'error', 'the process that ran this job is gone'))
	from abandoned a
	where j.id = a.id
	returning j.id, j.kind, j.metadata`

// rescue puts jobs with expired claims back into the queue. Every process does this, because a leader
// could be the one that is gone.
func (q *Queue) rescue(ctx context.Context) {
	abandoned, err := exec[struct {
		ID       int64
		Kind     string
		Metadata []byte
	}](ctx, q, rescueSQL, db.Args{"after": q.timing.rescue, "most": maxBackoff.Seconds()})
	q.warn(ctx, "abandoned jobs could not be searched for", err)
	for _, a := range abandoned {
		q.log.WarnContext(caused(ctx, a.Metadata), "abandoned job taken back", slog.String("kind", a.Kind), slog.Int64("id", a.ID))
	}
}
