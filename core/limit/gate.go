package limit

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/loyalty/core"
)

// Gate limits how much heavy work tenants do at once. The platform (tenant 0) counts as a tenant.
type Gate = KeyedGate[core.TenantID]

// KeyedGate limits how many callers do heavy work at once, in total and for each key, so that callers with
// one key wait for each other and don't hold up others.
type KeyedGate[K comparable] struct {
	all   *semaphore.Weighted
	lines *Lines[K]
	wait  time.Duration
	busy  string
	rests bool
	pace  time.Duration // from when a place is taken until it is free again, at least
}

const (
	shortUse    = 50 * time.Millisecond // needs no rest
	longestRest = time.Second           // well below the time that callers wait
)

// NewGate returns a gate for most callers at once, share of them of one tenant. A caller who has waited
// longer than wait is refused with the message busy.
func NewGate(most, share int, wait time.Duration, busy string) *Gate {
	return NewKeyedGate[core.TenantID](most, share, wait, busy)
}

// NewKeyedGate is NewGate for callers that aren't told apart by tenant.
func NewKeyedGate[K comparable](most, share int, wait time.Duration, busy string) *KeyedGate[K] {
	return &KeyedGate[K]{all: semaphore.NewWeighted(int64(most)), lines: NewLines[K](share), wait: wait, busy: busy}
}

// Resting makes a place of a key rest after a use of more than 50 ms, for twice as long as the use took, at
// most a second. One tenant's repeated heavy work then leaves time for other tenants.
func (g *KeyedGate[K]) Resting() *KeyedGate[K] {
	g.rests = true
	return g
}

// Paced makes a place of a key free again no earlier than pace after it was taken. However short the work is, callers
// with one key then leave time for others, who would otherwise wait for a core.
func (g *KeyedGate[K]) Paced(pace time.Duration) *KeyedGate[K] {
	g.pace = pace
	return g
}

// Enter waits for a place and returns the function that gives it back. Callers with one key enter in
// the order in which they came, and so do keys. After too long a wait the error is of
// core.KindUnavailable and says when to try again. The caller's own place (WithPlace) ends.
func (g *KeyedGate[K]) Enter(ctx context.Context, key K) (leave func(), err error) {
	endPlace(ctx)
	waiting, cancel := context.WithTimeout(ctx, g.wait)
	defer cancel()
	// The key's places come first, so that no more of its callers wait for a place of all than may
	// work at once.
	free, err := g.lines.Enter(waiting, key)
	if err != nil {
		return nil, g.refusal(ctx, err)
	}
	if err := g.all.Acquire(waiting, 1); err != nil {
		free()
		return nil, g.refusal(ctx, err)
	}
	entered := time.Now() //nolint:forbidigo // measures the use; not stored
	return func() {
		g.all.Release(1)
		used := time.Since(entered)
		rest := g.pace - used
		if g.rests && used > shortUse {
			rest = max(rest, min(2*used, longestRest))
		}
		if rest > 0 {
			time.AfterFunc(rest, free)
			return
		}
		free()
	}, nil
}

// Compute is Enter for work that keeps a core busy: after its place it also waits for its turn, so that all
// such work together leaves half of the cores free.
func (g *KeyedGate[K]) Compute(ctx context.Context, key K) (leave func(), err error) {
	free, err := g.Enter(ctx, key)
	if err != nil {
		return nil, err
	}
	var turn Turn
	if err := turn.Take(ctx); err != nil {
		free()
		return nil, err
	}
	return func() { turn.End(); free() }, nil
}

// refusal returns why a caller could not enter: they left, or waited too long.
func (g *KeyedGate[K]) refusal(ctx context.Context, err error) error {
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return core.Busy(g.busy, g.wait)
}
