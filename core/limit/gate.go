package limit

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/loyalty/core"
)

// Gate lets a limited number of callers do heavy work at once, and fewer of one tenant:
// what the others of that tenant ask for waits behind their own work, not in front of
// everybody else's. The platform (tenant 0) counts as a tenant.
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
	shortUse    = 50 * time.Millisecond // is followed by no rest
	longestRest = time.Second           // well below the patience of those who wait for the place
)

// line is the places of one tenant.
type line struct {
	places  *semaphore.Weighted
	callers int // that work or wait
}

// NewGate lets most callers work at once, and of these share of one tenant. A caller who
// has waited for longer than wait is refused with the sentence busy.
func NewGate(most, share int, wait time.Duration, busy string) *Gate {
	return &Gate{
		all: semaphore.NewWeighted(int64(most)), share: int64(share), wait: wait, busy: busy,
		lines: map[core.TenantID]*line{},
	}
}

// Resting makes a tenant's place rest after a use of more than 50 ms: for as long as the use took,
// a second at most. One tenant's repeated heavy work then leaves room for the others, who don't wait.
func (g *Gate) Resting() *Gate {
	g.rests = true
	return g
}

// Enter waits for a place, and returns what gives it back: call it once the work is done. A
// wait that is too long ends in an error of core.KindUnavailable that says when to try
// again. Callers of one tenant are let in by the order in which they came, and so are tenants.
func (g *Gate) Enter(ctx context.Context, tenant core.TenantID) (leave func(), err error) {
	l := g.join(tenant)
	waiting, cancel := context.WithTimeout(ctx, g.wait)
	defer cancel()
	// A tenant's own places come first: so no more of its callers wait for those of all than
	// may work at once.
	if err := l.places.Acquire(waiting, 1); err != nil {
		g.part(tenant, l)
		return nil, g.refusal(ctx, err)
	}
	if err := g.all.Acquire(waiting, 1); err != nil {
		l.places.Release(1)
		g.part(tenant, l)
		return nil, g.refusal(ctx, err)
	}
	entered := time.Now() //nolint:forbidigo // measures the use; not stored
	return func() {
		g.all.Release(1)
		free := func() {
			l.places.Release(1)
			g.part(tenant, l)
		}
		if used := time.Since(entered); g.rests && used > shortUse {
			time.AfterFunc(min(used, longestRest), free)
			return
		}
		free()
	}, nil
}

// refusal is why a caller was not let in: the caller left, or waited too long.
func (g *Gate) refusal(ctx context.Context, err error) error {
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return core.Busy(g.busy, g.wait)
}

func (g *Gate) join(tenant core.TenantID) *line {
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

func (g *Gate) part(tenant core.TenantID, l *line) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.callers--; l.callers == 0 {
		delete(g.lines, tenant)
	}
}
