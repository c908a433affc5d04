package limit

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/loyalty/core"
)

// Gate limits how many callers do heavy work at once, in total and for each tenant, so that one tenant's
// callers wait for each other and don't hold up other tenants. The platform (tenant 0) counts as a
// tenant.
type Gate struct {
	all   *semaphore.Weighted
	share int64
	wait  time.Duration
	busy  string
	rests bool

	mu    sync.Mutex
	lines map[core.TenantID]*line // of tenants that work or wait
}

const (
	shortUse    = 50 * time.Millisecond // needs no rest
	longestRest = time.Second           // well below the time that callers wait
)

// line is the places of one tenant.
type line struct {
	places  *semaphore.Weighted
	callers int // that work or wait
}

// NewGate returns a gate for most callers at once, share of them of one tenant. A caller who has waited
// longer than wait is refused with the message busy.
func NewGate(most, share int, wait time.Duration, busy string) *Gate {
	return &Gate{
		all: semaphore.NewWeighted(int64(most)), share: int64(share), wait: wait, busy: busy,
		lines: map[core.TenantID]*line{},
	}
}

// Resting makes a tenant's place rest after a use of more than 50 ms, for as long as the use took, at
// most a second. One tenant's repeated heavy work then leaves time for other tenants.
func (g *Gate) Resting() *Gate {
	g.rests = true
	return g
}

// Enter waits for a place and returns the function that gives it back. Callers of one tenant enter in
// the order in which they came, and so do tenants. After too long a wait the error is of
// core.KindUnavailable and says when to try again.
func (g *Gate) Enter(ctx context.Context, tenant core.TenantID) (leave func(), err error) {
	l := g.joinLine(tenant)
	waiting, cancel := context.WithTimeout(ctx, g.wait)
	defer cancel()
	// The tenant's places come first, so that no more of its callers wait for a place of all than may
	// work at once.
	if err := l.places.Acquire(waiting, 1); err != nil {
		g.leaveLine(tenant, l)
		return nil, g.refusal(ctx, err)
	}
	if err := g.all.Acquire(waiting, 1); err != nil {
		l.places.Release(1)
		g.leaveLine(tenant, l)
		return nil, g.refusal(ctx, err)
	}
	entered := time.Now() //nolint:forbidigo // measures the use; not stored
	return func() {
		g.all.Release(1)
		free := func() {
			l.places.Release(1)
			g.leaveLine(tenant, l)
		}
		if used := time.Since(entered); g.rests && used > shortUse {
			time.AfterFunc(min(used, longestRest), free)
			return
		}
		free()
	}, nil
}

// refusal returns why a caller could not enter: they left, or waited too long.
func (g *Gate) refusal(ctx context.Context, err error) error {
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return core.Busy(g.busy, g.wait)
}

func (g *Gate) joinLine(tenant core.TenantID) *line {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lines[tenant]
	if l == nil {
		l = &line{places: semaphore.NewWeighted(g.share)}
		g.lines[tenant] = l
	}
	l.callers++
	return l
}

func (g *Gate) leaveLine(tenant core.TenantID, l *line) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.callers--; l.callers == 0 {
		delete(g.lines, tenant)
	}
}
