package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// againError has a job wait.
type againError struct{ after time.Duration }

// Error returns the message.
func (e againError) Error() string { return fmt.Sprintf("again after %s", e.after) }

// Again returns an error with which a handler has its job run again after a while. It counts neither
// as a failure nor as an attempt.
func Again(after time.Duration) error { return againError{after} }

// postponed is a failure that isn't the installation's.
type postponed struct{ error }

// Unwrap returns the failure.
func (p postponed) Unwrap() error { return p.error }

// Postponed returns an error with which a handler has its job retried as after any failure, but not counted as late
// until then: another party asked to wait, such as a full mailbox.
func Postponed(failure error) error { return postponed{failure} }

// panicError is the error of an attempt that panicked.
type panicError struct {
	cause any
	stack []byte
}

// Error returns what the attempt panicked with.
func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.cause) }

// A failed job is retried after a second, then less and less often, and from the eighth attempt on
// every hour, for six days in all, because a mail is given up after five.
const (
	maxAttempts = 150
	maxBackoff  = time.Hour
)

// retryDelay returns how long to wait after a number of attempts.
func retryDelay(attempts int) time.Duration {
	n := time.Duration(min(max(attempts, 1), 100))
	return min(n*n*n*n*time.Second, maxBackoff)
}

// suspendedFor is how long a job of a suspended business waits in the queue before it asks again.
const suspendedFor = 10 * time.Minute

// work runs an attempt, and returns a panic as an error.
func (q *Queue) work(c *claim) (err error) {
	h, known := q.handlers[c.Kind]
	if !known {
		return fmt.Errorf("%w: %s", errNoHandler, c.Kind)
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = panicError{cause, debug.Stack()}
		}
	}()
	if err = h.work(c.ctx, c.taken); errors.Is(err, core.ErrSuspended) {
		return Again(suspendedFor)
	}
	return err
}

// outcome returns the state of a job after an attempt that ended with err, and for how long the job waits then.
func outcome(c *claim, err error) (state string, wait time.Duration) {
	var again againError
	switch {
	case err == nil:
		return "completed", 0
	case errors.Is(err, errCancelled), errors.Is(err, errOtherTenant):
		return "cancelled", 0
	case errors.As(err, &again) && again.after > 0:
		return "scheduled", again.after
	case errors.As(err, &again), errors.Is(context.Cause(c.ctx), errStopped):
		return "available", 0
	case c.Attempt >= c.MaxAttempts:
		return "discarded", 0
	}
	wait = retryDelay(int(c.Attempt))
	return "retryable", wait + time.Duration((rand.Float64()-0.5)/5*float64(wait)) // 10% either way, so that jobs that failed together are not retried together
}

// isPatient reports whether an error has its job wait on purpose.
func isPatient(err error) bool {
	var again againError
	var asked postponed
	return errors.As(err, &again) || errors.As(err, &asked)
}

// logFailure logs a failed attempt, with the request that caused the job.
func (q *Queue) logFailure(c *claim, state string, err error) {
	about := []slog.Attr{
		slog.String("kind", c.Kind), slog.Int64("id", c.ID), slog.String("queue", string(c.lane)),
		slog.Int64("attempt", c.Attempt), slog.Any("error", err),
	}
	level := slog.LevelWarn
	var panicked panicError
	if errors.As(err, &panicked) {
		level, about = slog.LevelError, append(about, slog.String("stack", string(panicked.stack)))
	}
	switch state {
	case "retryable":
		q.log.LogAttrs(c.ctx, level, "job failed", about...)
	case "discarded":
		q.log.LogAttrs(c.ctx, slog.LevelError, "job failed for the last time", about...)
	case "cancelled":
		q.log.LogAttrs(c.ctx, slog.LevelError, "job cancelled", about...)
	}
}

// endSQL stores the outcome of an attempt, unless the job was taken back. A retry moves a job's scheduled_at, so a job that
// fails keeps in its metadata when it was first due: the age of the oldest job (Load.DueSince) must not begin anew with each
// failure. A job that waits on purpose is due when it says. job_load (migration 0152) reads this.
const endSQL = `
	with ended as (
		select id,
			case when metadata ? 'cancel_attempted_at' and @state not in ('completed', 'discarded') then 'cancelled' else @state::text end as state,
			coalesce((metadata ->> 'due')::bigint, floor(extract(epoch from scheduled_at) * 1000)::bigint) as due
		from river.river_job
		where id = @id
			and attempt = @attempt
			and state = 'running'
		for update
	)
	update river.river_job as job
	set state = ended.state::river.river_job_state,
		attempt = case when ended.state in ('available', 'scheduled') then attempt - 1 else attempt end,
		scheduled_at = case when ended.state in ('available', 'scheduled', 'retryable') then now() + @wait::interval else scheduled_at end,
		finalized_at = case when ended.state in ('completed', 'cancelled', 'discarded') then now() end,
		errors = case
			when @state in ('completed', 'available', 'scheduled') then errors
			else array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt, 'trace', '', 'error', @failure::text))
		end,
		metadata = case when @late then metadata || jsonb_build_object('due', ended.due) else metadata - 'due' end
	from ended
	where job.id = ended.id`

// end stores what an attempt came to. If its claim was lost, another process may run the job by now, and nothing is stored.
// If the database can't be reached for as long as a claim lasts, the job is taken back and runs again.
func (q *Queue) end(c *claim, err error) {
	if !q.release(c) {
		return
	}
	args := db.Args{"id": c.ID, "attempt": c.Attempt, "late": err != nil && !isPatient(err), "failure": ""}
	if err != nil {
		if errors.Is(context.Cause(c.ctx), errCancelled) {
			err = errCancelled
		}
		args["failure"] = strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "�") // as the database takes it
	}
	state, wait := outcome(c, err)
	args["state"], args["wait"] = state, wait
	if err != errCancelled { //nolint:errorlint // it was set above
		q.logFailure(c, state, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), q.timing.lease)
	defer cancel()
	for ctx.Err() == nil {
		_, err := exec[struct{}](ctx, q, endSQL, args)
		if err == nil {
			return
		}
		q.warn(ctx, "outcome of a job not stored", err, slog.String("kind", c.Kind), slog.Int64("id", c.ID))
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
