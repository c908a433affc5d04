package limit

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"
)

// computing are the places of what computes for long: half of the cores. The others stay free
// for what people wait for at a till, whatever is asked for at once.
var computing = semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))

// turnLength is how long work computes before another one has its turn.
const turnLength = 10 * time.Millisecond

// Turn is held by work that computes for long, such as hashing a password or making an Excel
// file, while it computes. Such work takes turns, in the order in which it asked. The zero
// Turn is not held.
type Turn struct {
	held  bool
	since time.Time
}

// Take waits for the turn. It does nothing while the turn is held, unless that has been long
// and others wait: then they come first. Its error is that of ctx.
func (t *Turn) Take(ctx context.Context) error {
	if t.held && time.Since(t.since) < turnLength {
		return nil
	}
	t.End()
	if err := computing.Acquire(ctx, 1); err != nil {
		return err
	}
	t.held, t.since = true, time.Now() //nolint:forbidigo // to measure by, and stored nowhere
	return nil
}

// End gives the turn back, if it is held.
func (t *Turn) End() {
	if t.held {
		computing.Release(1)
		t.held = false
	}
}
