package db

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"example.com/loyalty/core"
)

// Combiner does work of one kind together: what arrives while a batch is under way travels in the next
// one, as one statement for many callers. When nothing is under way, nothing waits. A batch starts after
// its callers arrived, so what it reads is not stale for any of them.
//
// Each tenant has its own batches, one at a time, so tenants don't wait for each other. Callers with the
// same key share a place. A caller who is cancelled leaves at once if their batch has not begun; after
// that they get its result. A batch that fails because of one of its keys is done again key by key.
type Combiner[K comparable, V any] struct {
	run   Batch[K, V]
	most  int           // keys of a batch
	apart func(K) []any // (Apart); nil: nothing

	mu     sync.Mutex
	queues map[core.TenantID]*queue[K, V] // of tenants with a batch under way
}

// Combined is the work of a combiner, its method Do. Services keep this, because the compiler would compile the methods of a Combiner anew for
// every package that knows a type with a field of it.
type Combined[K comparable, V any] func(ctx context.Context, tenant core.TenantID, key K) (V, error)

// MaxTogether is the usual size of a batch.
const MaxTogether = 64

// Batch does the work for keys of a tenant. A key without a result has core.ErrNotFound.
type Batch[K comparable, V any] func(ctx context.Context, tenant core.TenantID, keys []K) (map[K]V, error)

const (
	// maxWaiting limits the keys of a tenant that wait.
	maxWaiting = 10_000
	// batchTimeout ends a batch that hangs, so that no caller waits longer. The database gives up earlier.
	batchTimeout = 30 * time.Second

	tooMany = "Your business sends more requests than can be processed. Try again in a second."
)

// queue is the keys of a tenant that wait for their batch.
type queue[K comparable, V any] struct {
	waiting []*place[K, V]
	places  map[K]*place[K, V] // those in waiting, except those left by all callers
}

// place is a key with those who wait for its result.
type place[K comparable, V any] struct {
	key     K
	callers int
	done    chan struct{} // closed when the fields below are set
	value   V
	err     error
}

// NewCombiner returns a combiner whose batches have up to most keys.
func NewCombiner[K comparable, V any](most int, run Batch[K, V]) *Combiner[K, V] {
	return &Combiner[K, V]{run: run, most: most, queues: map[core.TenantID]*queue[K, V]{}}
}

// Apart returns the combiner with what only one key of a batch may have. A second key with it waits for the next batch. The function is called
// while other callers wait, so it only looks.
func (c *Combiner[K, V]) Apart(of func(K) []any) *Combiner[K, V] {
	c.apart = of
	return c
}

// Do returns the result for a key. Tenant 0 is the platform.
func (c *Combiner[K, V]) Do(ctx context.Context, tenant core.TenantID, key K) (V, error) {
	p, q, err := c.join(ctx, tenant, key)
	if err != nil {
		var none V
		return none, err
	}
	if q != nil {
		// Done here, because passing it to another goroutine takes time. Later batches are not this caller's.
		all := context.WithoutCancel(ctx)
		c.do(all, tenant, c.take(tenant, q))
		if next := c.take(tenant, q); len(next) > 0 {
			go c.work(all, tenant, q, next)
		}
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		if c.leave(tenant, p) {
			var none V
			return none, ctx.Err()
		}
		<-p.done
	}
	return p.value, p.err
}

// join adds a caller to the queue. If no batch is under way, it returns the new queue, whose first batch the
// caller does.
func (c *Combiner[K, V]) join(ctx context.Context, tenant core.TenantID, key K) (*place[K, V], *queue[K, V], error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	q, working := c.queues[tenant]
	if !working {
		q = &queue[K, V]{places: map[K]*place[K, V]{}}
		c.queues[tenant] = q
	}
	p := q.places[key]
	if p == nil {
		if len(q.waiting) >= maxWaiting {
			return nil, nil, core.Busy(tooMany, time.Second)
		}
		p = &place[K, V]{key: key, done: make(chan struct{})}
		q.waiting, q.places[key] = append(q.waiting, p), p
	}
	p.callers++
	if working {
		q = nil
	}
	return p, q, nil
}

// leave takes a caller out of the queue, and reports whether their batch had not begun.
func (c *Combiner[K, V]) leave(tenant core.TenantID, p *place[K, V]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[tenant]
	if q == nil || q.places[p.key] != p {
		return false
	}
	if p.callers--; p.callers == 0 {
		delete(q.places, p.key)
	}
	return true
}

// work does batches until no caller waits.
func (c *Combiner[K, V]) work(ctx context.Context, tenant core.TenantID, q *queue[K, V], batch []*place[K, V]) {
	for ; len(batch) > 0; batch = c.take(tenant, q) {
		c.do(ctx, tenant, batch)
	}
}

// take begins a batch with those who have waited longest. Without any, it ends the work.
func (c *Combiner[K, V]) take(tenant core.TenantID, q *queue[K, V]) (batch []*place[K, V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var later []*place[K, V]
	claimed := map[any]bool{}
	for len(q.waiting) > 0 && len(batch)+len(later) < c.most {
		p := q.waiting[0]
		q.waiting[0], q.waiting = nil, q.waiting[1:]
		switch {
		case p.callers == 0: // all have left
		case c.claims(p.key, claimed):
			batch = append(batch, p)
			delete(q.places, p.key)
		default:
			later = append(later, p)
		}
	}
	if len(later) > 0 {
		q.waiting = append(later, q.waiting...)
	}
	if len(batch) == 0 {
		delete(c.queues, tenant)
	}
	return batch
}

// claims reports whether a key has nothing that another one of its batch has claimed, and claims what it has.
func (c *Combiner[K, V]) claims(key K, claimed map[any]bool) bool {
	if c.apart == nil {
		return true
	}
	all := c.apart(key)
	if slices.ContainsFunc(all, func(one any) bool { return claimed[one] }) {
		return false
	}
	for _, one := range all {
		claimed[one] = true
	}
	return true
}

// do sets the results of a batch.
func (c *Combiner[K, V]) do(ctx context.Context, tenant core.TenantID, batch []*place[K, V]) {
	keys := make([]K, len(batch))
	for i, p := range batch {
		keys[i] = p.key
	}
	values, err := c.runSafely(ctx, tenant, keys)
	if len(batch) > 1 && isOfOneKey(err) {
		for i := range batch {
			c.do(ctx, tenant, batch[i:i+1])
		}
		return
	}
	for _, p := range batch {
		value, found := values[p.key]
		p.value, p.err = value, err
		if err == nil && !found {
			p.err = core.ErrNotFound
		}
		close(p.done)
	}
}

// runSafely runs a batch. A panic is an error: it must not end the process, nor leave callers waiting.
func (c *Combiner[K, V]) runSafely(ctx context.Context, tenant core.TenantID, keys []K) (values map[K]V, err error) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	defer func() {
		if broken := recover(); broken != nil {
			values, err = nil, fmt.Errorf("db: a batch panicked: %v\n%s", broken, debug.Stack())
		}
	}()
	return c.run(ctx, tenant, keys)
}

// isOfOneKey reports whether an error may be the fault of one key, and not of the database.
func isOfOneKey(err error) bool {
	var refusal *core.Error
	return err != nil && !errors.As(err, &refusal) && !errors.Is(err, context.DeadlineExceeded)
}
