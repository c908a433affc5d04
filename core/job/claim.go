package job

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river/rivertype"

	"example.com/loyalty/core/db"
)

// A job that runs is claimed by its process: the claim is its row's attempted_at, which
// the process moves forward while it lives. Were claims only as long as the longest job
// may take, the mail of a killed process would wait longer than the link in it works.

// timing is when claims are renewed and when they end.
type timing struct {
	renew    time.Duration // claims are renewed this often, and abandoned ones looked for
	lease    time.Duration // work is stopped when its claim was not renewed for so long …
	rescue   time.Duration // … and after this, another process may take the job
	patience time.Duration // what a statement about claims may take
	drain    time.Duration // running jobs may go on for so long when the queue stops
}

// A claim survives two failed renewals. Work is stopped well before its job is taken, so
// that clocks need not agree: the lease is measured by this process, the rest by the
// database.
var production = timing{
	renew: 15 * time.Second, lease: 45 * time.Second, rescue: time.Minute,
	patience: 5 * time.Second, drain: 15 * time.Second,
}

// attempt names one run of a job.
type attempt struct {
	id int64
	n  int
}

// claim is this process's hold on a job that it runs.
type claim struct {
	attempt
	kind   string
	lane   Lane
	tenant string          // "": the platform's
	ctx    context.Context // of the work; nil until it begins
	cancel context.CancelCauseFunc
	lease  *time.Timer // ends the claim
}

// claims are those of this process.
type claims struct {
	mu    sync.Mutex
	held  map[attempt]*claim
	freed map[Lane]bool // a free place is about to be announced
}

// running counts the jobs of each tenant that run in a lane. The caller holds mu.
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
	errTimeUp     = errors.New("the job took longer than it may")
	errNotRenewed = errors.New("the claim on the job could not be renewed")
	errTaken      = errors.New("the claim on the job was lost")
)

// claimLostError is what work returns whose claim is lost. Its job is another process's
// by now, and River would write the outcome of this attempt over that one's. It reports
// an outcome for each of Jobs: for none.
type claimLostError struct{}

// Error says so.
func (claimLostError) Error() string { return errTaken.Error() }

// Jobs are those whose outcome is reported.
func (claimLostError) Jobs() []*rivertype.JobRow { return nil }

// ErrorsByID are their outcomes.
func (claimLostError) ErrorsByID() map[int64]error { return nil }

// addClaim claims a job that was taken from the queue.
func (q *Queue) addClaim(row *rivertype.JobRow) {
	c := &claim{
		attempt: attempt{row.ID, row.Attempt}, kind: row.Kind, lane: Lane(row.Queue), tenant: tenantOf(row.Metadata),
	}
	q.claims.mu.Lock()
	defer q.claims.mu.Unlock()
	q.claims.held[c.attempt] = c
	c.lease = time.AfterFunc(q.timing.lease, func() { q.dropClaim(c, errNotRenewed) })
}

// beginWork names the work's context, which ends with the claim. It returns nil where the
// claim ended before the work began.
func (q *Queue) beginWork(ctx context.Context, cancel context.CancelCauseFunc, this attempt) *claim {
	q.claims.mu.Lock()
	defer q.claims.mu.Unlock()
	c := q.claims.held[this]
	if c != nil {
		c.ctx, c.cancel = ctx, cancel
	}
	return c
}

// release ends a claim after the work, and reports whether it was held until now.
func (q *Queue) release(c *claim) (held bool) {
	q.claims.mu.Lock()
	defer q.claims.mu.Unlock()
	if held = q.claims.held[c.attempt] == c; held && c.tenant != "" && q.claims.running(c.lane)[c.tenant] == int64(lanes[c.lane].share) {
		q.announce(c.ctx, c.lane)
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

// work runs one attempt of a job, for as long as it may take and its claim is held.
func (q *Queue) work(ctx context.Context, row *rivertype.JobRow, run func(ctx context.Context) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, q.handlers[row.Kind].limit, errTimeUp)
	defer stop()
	c := q.beginWork(ctx, cancel, attempt{row.ID, row.Attempt})
	if c == nil {
		return claimLostError{}
	}
	defer func() {
		if !q.release(c) {
			err = claimLostError{}
		}
	}()
	return run(ctx)
}

// renewClaims renews the claims of this process, and takes back expired claims of other processes,
// until ctx ends.
func (q *Queue) renewClaims(ctx context.Context) {
	defer close(q.kept)
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

// The attempt is compared as well: of a job that was taken meanwhile, it is the next one.
const renewSQL = `
	update river.river_job j
	set attempted_at = now()
	from unnest(@ids::bigint[], @attempts::int[]) as held (id, attempt)
	where j.id = held.id
		and j.attempt = held.attempt
		and j.state = 'running'
	returning j.id, j.attempt`

// renew renews the claims whose work still has time. One round trip, and none where
// nothing runs.
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
	renewed, err := db.PlatformAll[struct{ ID, Attempt int64 }](statement, q.db, renewSQL, db.Args{"ids": ids, "attempts": attempts})
	if err != nil {
		q.log.WarnContext(ctx, "claims on running jobs not renewed", slog.Int("jobs", len(held)), slog.Any("error", err))
		return
	}
	again := map[attempt]bool{}
	for _, r := range renewed {
		again[attempt{r.ID, int(r.Attempt)}] = true
	}
	for _, c := range held {
		if !again[c.attempt] {
			q.dropClaim(c, errTaken)
		} else if c.lease.Stop() { // unless it ended in this very moment
			c.lease.Reset(q.timing.lease)
		}
	}
}

// renewable are the claims to renew. Work whose time is up, or that was cancelled, may
// hold its claim no longer: should it never return, another process takes the job.
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

// A job that lost its process is run again at once, the first time. One that loses a
// process again and again is likely to be the reason, and waits longer each time.
const rescueSQL = `
	with abandoned as (
		select id, coalesce((metadata ->> 'rescues')::int, 0) as rescues
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
		metadata = j.metadata || jsonb_build_object('rescues', a.rescues + 1),
		errors = array_append(j.errors, jsonb_build_object(
			'at', now(), 'attempt', j.attempt, 'trace', '', 'error', 'the process that ran this job is gone'))
	from abandoned a
	where j.id = a.id
	returning j.id, j.kind`

// rescue puts jobs back into the queue whose claim ended. Any process may: who leads
// makes no difference, and a leader may be the one that is gone. One round trip.
func (q *Queue) rescue(ctx context.Context) {
	statement, cancel := context.WithTimeout(ctx, q.timing.patience)
	defer cancel()
	abandoned, err := db.PlatformAll[struct {
		ID   int64
		Kind string
	}](statement, q.db, rescueSQL, db.Args{"after": q.timing.rescue, "most": maxBackoff.Seconds()})
	if err != nil {
		q.log.WarnContext(ctx, "abandoned jobs not looked for", slog.Any("error", err))
		return
	}
	for _, a := range abandoned {
		q.log.WarnContext(ctx, "abandoned job taken back", slog.String("kind", a.Kind), slog.Int64("id", a.ID))
	}
}
