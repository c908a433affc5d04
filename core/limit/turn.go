package limit

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"
)

// computing has places for half of the cores. The other half stays free for short requests, such as
// sales.
var computing = semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))

// turnLength is how long work computes before it lets waiting work go first.
const turnLength = 10 * time.Millisecond

// Turn is held by long computations, such as hashing a password or writing an Excel file. They
// take turns, first come, first served. End it before waiting for the database: a slow query
// would hold up everything else that computes. The zero Turn is not held.
type Turn struct {
	held  bool
	since time.Time
}

// Take waits for the turn. Called while the turn is held, it lets others go first once 10 ms have
// passed. It returns the error of ctx.
func (t *Turn) Take(ctx context.Context) error {
	if t.held && time.Since(t.since) < turnLength {
		return nil
	}
	t.End()
	if err := computing.Acquire(ctx, 1); err != nil {
		return err
	}
	t.held, t.since = true, time.Now() //nolint:forbidigo // measures the turn; not stored
	return nil
}

// End gives the turn back, if it is held.
func (t *Turn) End() {
	if t.held {
		computing.Release(1)
		t.held = false
	}
}
