package transaction

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"example.com/loyalty/core"
)

// Request is a request to record a sale that is sent together with others.
type Request struct {
	Sale
	Unread core.Fields // what the front end could not read
	Once   *core.Once[Transaction]
}

// aloneAtOnce limits the sales of one RecordEach that are recorded or refused alone at the same time.
const aloneAtOnce = 8

// RecordEach does for each request what Record does. They go side by side, so most of them are recorded together, but requests that
// have a customer, an idempotency key or a receipt number in common go in their order. When the time of the context is up, those that
// have not begun are refused with its error.
func (s *Service) RecordEach(ctx context.Context, by core.Actor, requests []Request) ([]core.Outcome[Transaction], error) {
	if err := by.Require(core.Cashier); err != nil {
		return nil, err
	}
	outcomes, ended := make([]core.Outcome[Transaction], len(requests)), make([]chan struct{}, len(requests))
	places := make(chan struct{}, aloneAtOnce)
	last, types := map[any]chan struct{}{}, map[int64]chan struct{}{}
	var all sync.WaitGroup
	for i, r := range requests {
		ended[i] = make(chan struct{})
		var before []chan struct{}
		for _, claim := range r.claims() {
			if earlier := last[claim]; earlier != nil {
				before = append(before, earlier)
			}
			last[claim] = ended[i]
		}
		// The first sale of a type makes it known, so that the others can go together.
		if first := types[r.TransactionTypeID]; first != nil {
			before = append(before, first)
		} else if _, _, known := s.books.findType(by.Tenant.ID, r.TransactionTypeID); !known {
			types[r.TransactionTypeID] = ended[i]
		}
		all.Go(func() {
			defer close(ended[i])
			for _, earlier := range before {
				<-earlier
			}
			outcomes[i] = s.recordSafely(ctx, by, r, places)
		})
	}
	all.Wait()
	return outcomes, nil
}

// recordSafely is Record with a place among those that go alone. A panic is an error, because nothing else would catch it here.
func (s *Service) recordSafely(ctx context.Context, by core.Actor, r Request, places chan struct{}) (outcome core.Outcome[Transaction]) {
	defer func() {
		if broken := recover(); broken != nil {
			outcome = core.Outcome[Transaction]{Err: fmt.Errorf("transaction: a sale of several panicked: %v\n%s", broken, debug.Stack())}
		}
	}()
	reply, done, err := s.recordTogether(ctx, by, r.Sale, r.Unread, r.Once)
	if done {
		return core.Outcome[Transaction]{Reply: reply, Err: err}
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-ctx.Done():
		return core.Outcome[Transaction]{Err: ctx.Err()}
	}
	reply, err = s.recordAlone(ctx, by, r.Sale, r.Unread, r.Once)
	return core.Outcome[Transaction]{Reply: reply, Err: err}
}

// claims returns what makes a request wait for an earlier one.
func (r Request) claims() (claims []any) {
	type reference string
	if r.CustomerID != (core.ID{}) {
		claims = append(claims, r.CustomerID)
	}
	if r.ExternalReference != nil {
		claims = append(claims, reference(asReference(*r.ExternalReference)))
	}
	if r.Once != nil {
		claims = append(claims, r.Once.Key)
	}
	return claims
}
