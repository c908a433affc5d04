package limit

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Lines limits how many callers with the same key work at once. Others wait in the order in which they
// came; callers with different keys don't wait for each other.
type Lines[K comparable] struct {
	share int64

	mu   sync.Mutex
	open map[K]*line // of keys whose callers work or wait
}

// line is the places of one key.
type line struct {
	places  *semaphore.Weighted
	callers int // that work or wait
}

// NewLines returns lines with share places for each key.
func NewLines[K comparable](share int) *Lines[K] {
	return &Lines[K]{share: int64(share), open: map[K]*line{}}
}

// Enter waits for a place and returns the function that gives it back, or the error of ctx.
func (l *Lines[K]) Enter(ctx context.Context, key K) (leave func(), err error) {
	own := l.join(key)
	if err := own.places.Acquire(ctx, 1); err != nil {
		l.leave(key, own)
		return nil, err
	}
	return func() {
		own.places.Release(1)
		l.leave(key, own)
	}, nil
}

// TryEnter is Enter for callers that don't wait. It returns false if no place is free.
func (l *Lines[K]) TryEnter(key K) (leave func(), entered bool) {
	own := l.join(key)
	if !own.places.TryAcquire(1) {
		l.leave(key, own)
		return nil, false
	}
	return func() {
		own.places.Release(1)
		l.leave(key, own)
	}, true
}

func (l *Lines[K]) join(key K) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.open[key]
	if own == nil {
		own = &line{places: semaphore.NewWeighted(l.share)}
		l.open[key] = own
	}
	own.callers++
	return own
}

func (l *Lines[K]) leave(key K, own *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own.callers--; own.callers == 0 {
		delete(l.open, key)
	}
}
