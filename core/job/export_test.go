package job

import (
	"context"
	"log/slog"
	"time"

	"example.com/loyalty/core/db"
)

// NewHasty is New with claims that end within seconds. A busy machine may pause a test for
// a second, so they are no shorter.
func NewHasty(d *db.DB, log *slog.Logger) (*Queue, error) {
	return newQueue(d, log, timing{
		renew: 150 * time.Millisecond, lease: HastyLease, rescue: HastyRescue,
		patience: production.patience, drain: 500 * time.Millisecond,
	})
}

// HastyLease is how long such a claim lasts without being renewed, HastyRescue after what
// time its job is taken.
const (
	HastyLease  = 1500 * time.Millisecond
	HastyRescue = 2500 * time.Millisecond
)

// Production is when claims are renewed and end, and how long a stop waits.
func Production() (renew, lease, rescue, patience, drain time.Duration) {
	return production.renew, production.lease, production.rescue, production.patience, production.drain
}

// RescueOnce takes back abandoned jobs.
func (q *Queue) RescueOnce(ctx context.Context) { q.rescue(ctx) }

// RetryDelay is how long to wait after that many attempts, of at most MaxAttempts.
func RetryDelay(attempts int) time.Duration { return retryDelay(attempts) }

// MaxAttempts is how often a job is tried.
const MaxAttempts = maxAttempts

// Staffing is how many workers a lane has, and how many of them a tenant may use.
func Staffing(lane Lane) (workers, share int) { return lanes[lane].workers, lanes[lane].share }

// DrainWithin is Drain with another time until other jobs have their turn.
func DrainWithin(ctx context.Context, d *db.DB, within time.Duration, what string, batch func(ctx context.Context, tx *db.Tx) (int64, error)) error {
	return drain(ctx, d, within, what, batch)
}
