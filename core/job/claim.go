package job

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/riverqueue/river/rivertype"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// A process claims each job that it runs: the claim is the job's attempted_at, which the process
// renews. River instead takes a job back after the longest time that any job may take; a killed
// process's mail would then arrive after its link has expired.

// timing is how long claims last.
type timing struct {
	renew    time.Duration // the interval of renewals and of the search for abandoned claims
	lease    time.Duration // work is stopped when its claim was not renewed for this long
	rescue   time.Duration // another process may take the job after this time, which is longer
	patience time.Duration // the timeout of a statement about claims
	drain    time.Duration // how long running jobs may go on when the queue stops
}

// A claim survives two failed renewals. Work is stopped well before another process takes its job,
// so that clocks need not agree: this process measures the lease, the database measures the rest.
var production = timing{
	renew: 15 * time.Second, lease: 45 * time.Second, rescue: time.Minute,
	patience: 5 * time.Second, drain: 15 * time.Second,
}

// attempt identifies one run of a job.
type attempt struct {
	id int64
	n  int
}

// claim is this process's claim on a job that it runs.
type claim struct {
	attempt
	kind   string
	lane   Lane
	tenant string          // "": the platform's
	ctx    context.Context // of the work; nil until that starts
	cancel context.CancelCauseFunc
	lease  *time.Timer // drops the claim
}

// claims are the claims of this process.
type claims struct {
	mu    sync.Mutex
	held  map[attempt]*claim
	freed map[Lane]bool // announceSoon will announce a free worker
}

// running counts each tenant's running jobs in a lane. The caller holds mu.
func (s *claims) running(lane Lane) map[string]int64 {
	count := map[string]int64{}
	for _, c := range s.held {
		if c.lane == lane {
			count[c.tenant]++
		}
	}
	return count
}

// Why work is stopped.
var (
	errTimeUp     = errors.New("the job exceeded its time limit")
	errNotRenewed = errors.New("the claim on the job could not be renewed")
	errTaken      = errors.New("the claim on the job was lost")
)

// claimLostError is returned by work that lost its claim. Another process may run the job by now,
// and River would overwrite that attempt's outcome, so this error reports an outcome for no job.
type claimLostError struct{}

// Error returns the message.
func (claimLostError) Error() string { return errTaken.Error() }

// Jobs returns the jobs whose outcome is reported: none.
func (claimLostError) Jobs() []*rivertype.JobRow { return nil }

// ErrorsByID returns their outcomes: none.
func (claimLostError) ErrorsByID() map[int64]error { return nil }

// addClaim claims a job that was taken from the queue.
func (q *Queue) addClaim(row *rivertype.JobRow) {
	c := &claim{
		attempt: attempt{row.ID, row.Attempt}, kind: row.Kind, lane: Lane(row.Queue), tenant: turnOf(row.Metadata),
	}
	q.claims.mu.Lock()
	defer q.claims.mu.Unlock()
	q.claims.held[c.attempt] = c
	c.lease = time.AfterFunc(q.timing.lease, func() { q.dropClaim(c, errNotRenewed) })
}

// startWork gives a claim the work's context, which ends with the claim. It returns nil if the claim
// ended before the work started.
func (q *Queue) startWork(ctx context.Context, cancel context.CancelCauseFunc, a attempt) *claim {
	q.claims.mu.Lock()
	defer q.claims.mu.Unlock()
	c := q.claims.held[a]
	if c != nil {
		c.ctx, c.cancel = ctx, cancel
	}
	return c
}

// release ends a claim after its work, and reports whether it was still held.
func (q *Queue) release(c *claim) (held bool) {
	q.claims.mu.Lock()
	defer q.claims.mu.Unlock()
	if held = q.claims.held[c.attempt] == c; held && c.tenant != "" && q.claims.running(c.lane)[c.tenant] == int64(lanes[c.lane].share) {
		q.announceSoon(c.ctx, c.lane)
	}
	delete(q.claims.held, c.attempt)
	c.lease.Stop()
	return held
}

// dropClaim stops the work of a claim that is no longer this process's.
func (q *Queue) dropClaim(c *claim, why error) {
	q.claims.mu.Lock()
	held := q.claims.held[c.attempt] == c
	delete(q.claims.held, c.attempt)
	ctx, cancel := c.ctx, c.cancel
	q.claims.mu.Unlock()
	c.lease.Stop()
	if !held || cancel == nil {
		return
	}
	q.log.WarnContext(ctx, "job stopped", slog.String("kind", c.kind), slog.Int64("id", c.id), slog.Any("cause", why))
	cancel(why)
}

// work runs one attempt of a job until its time limit or the end of its claim.
func (q *Queue) work(ctx context.Context, row *rivertype.JobRow, run func(ctx context.Context) error) (err error) {
	ctx, cancel := context.WithCancelCause(caused(ctx, row.Metadata))
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, q.handlers[row.Kind].limit, errTimeUp)
	defer stop()
	c := q.startWork(ctx, cancel, attempt{row.ID, row.Attempt})
	if c == nil {
		return claimLostError{}
	}
	defer func() {
		if !q.release(c) {
			err = claimLostError{}
		}
	}()
	err = recovered(ctx, run)
	if errors.Is(err, core.ErrSuspended) {
		err = Again(suspendedFor)
	}
	noteDue(ctx, row, err != nil && !isPatient(err))
	return err
}

// recovered runs an attempt, and returns a panic as an error.
func recovered(ctx context.Context, run func(ctx context.Context) error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = panicError{cause, debug.Stack()}
		}
	}()
	return run(ctx)
}

// renewClaims renews the claims of this process and puts abandoned jobs back into the queue, until
// ctx ends.
func (q *Queue) renewClaims(ctx context.Context) {
	defer close(q.renewalEnded)
	tick := time.NewTicker(q.timing.renew)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		q.renew(ctx)
		q.rescue(ctx)
	}
}

// The attempt differs if another process has taken the job meanwhile.
const renewSQL = `
	update river.river_job j
	set attempted_at = now()
	from unnest(@ids::bigint[], @attempts::int[]) as held (id, attempt)
	where j.id = held.id
		and j.attempt = held.attempt
		and j.state = 'running'
	returning j.id, j.attempt`

// renew renews the claims of work that may go on.
func (q *Queue) renew(ctx context.Context) {
	held := q.renewable()
	if len(held) == 0 {
		return
	}
	ids, attempts := make([]int64, len(held)), make([]int64, len(held))
	for i, c := range held {
		ids[i], attempts[i] = c.id, int64(c.n)
	}
	statement, cancel := context.WithTimeout(ctx, q.timing.patience)
	defer cancel()
	renewed, err := db.All[struct{ ID, Attempt int64 }](statement, q.db.Platform(), renewSQL, db.Args{"ids": ids, "attempts": attempts})
	if err != nil {
		q.log.WarnContext(ctx, "claims on running jobs not renewed", slog.Int("jobs", len(held)), slog.Any("error", err))
		return
	}
	isRenewed := map[attempt]bool{}
	for _, r := range renewed {
		isRenewed[attempt{r.ID, int(r.Attempt)}] = true
	}
	for _, c := range held {
		if !isRenewed[c.attempt] {
			q.dropClaim(c, errTaken)
		} else if c.lease.Stop() { // false if the lease has just ended
			c.lease.Reset(q.timing.lease)
		}
	}
}

// renewable returns the claims to renew. Work that was cancelled or exceeded its time loses its
// claim, so that another process takes the job even if the work never returns.
func (q *Queue) renewable() (held []*claim) {
	q.claims.mu.Lock()
	defer q.claims.mu.Unlock()
	for _, c := range q.claims.held {
		if c.ctx == nil || c.ctx.Err() == nil {
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
	statement, cancel := context.WithTimeout(ctx, q.timing.patience)
	defer cancel()
	abandoned, err := db.All[struct {
		ID       int64
		Kind     string
		Metadata []byte
	}](statement, q.db.Platform(), rescueSQL, db.Args{"after": q.timing.rescue, "most": maxBackoff.Seconds()})
	if err != nil {
		q.log.WarnContext(ctx, "abandoned jobs could not be searched for", slog.Any("error", err))
		return
	}
	for _, a := range abandoned {
		q.log.WarnContext(caused(ctx, a.Metadata), "abandoned job taken back", slog.String("kind", a.Kind), slog.Int64("id", a.ID))
	}
}
