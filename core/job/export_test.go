package job

import (
	"context"
	"log/slog"
	"time"

	"example.com/loyalty/core/db"
)

// NewHasty is New with claims that last seconds. They are not shorter because a busy machine may pause
// a test for a second.
func NewHasty(d *db.DB, log *slog.Logger) (*Queue, error) {
	return newQueue(d, log, timing{
		renew: 150 * time.Millisecond, lease: HastyLease, rescue: HastyRescue,
		patience: production.patience, drain: 500 * time.Millisecond,
	}), nil
}

// HastyLease is how long such a claim lasts without renewal; HastyRescue is when its job is taken.
const (
	HastyLease  = 1500 * time.Millisecond
	HastyRescue = 2500 * time.Millisecond
)

// Production returns the timing of claims in production.
func Production() (renew, lease, rescue, patience, drain time.Duration) {
	return production.renew, production.lease, production.rescue, production.patience, production.drain
}

// PollEvery is how often a process looks for jobs that it was not told of.
const PollEvery = pollEvery

// AgainError is the error of Again.
type AgainError = againError

// Retry is RetryIn in its own transaction.
func (q *Queue) Retry(ctx context.Context, id int64) error {
	return q.inTransaction(ctx, id, q.RetryIn)
}

// Cancel is CancelIn in its own transaction.
func (q *Queue) Cancel(ctx context.Context, id int64) error {
	return q.inTransaction(ctx, id, q.CancelIn)
}

func (q *Queue) inTransaction(ctx context.Context, id int64, fn func(context.Context, *db.Tx, int64) error) error {
	_, err := db.In(ctx, q.db.Platform(), func(tx *db.Tx) (int, error) { return 0, fn(ctx, tx, id) })
	return err
}

// RescueOnce puts abandoned jobs back into the queue.
func (q *Queue) RescueOnce(ctx context.Context) { q.rescue(ctx) }

// RetryDelay returns how long to wait after a number of attempts.
func RetryDelay(attempts int) time.Duration { return retryDelay(attempts) }

// MaxAttempts is how often a job is tried.
const MaxAttempts = maxAttempts

// Staffing returns how many workers a lane has, and how many of them a tenant may use.
func Staffing(lane Lane) (workers, share int) { return lanes[lane].workers, lanes[lane].share }

// DrainWithin is Drain with another time limit.
func DrainWithin(ctx context.Context, d *db.DB, within time.Duration, batch func(ctx context.Context, tx *db.Tx) (int64, error)) error {
	return drain(ctx, d, within, batch)
}
