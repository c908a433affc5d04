package customer

import (
	"context"

	"example.com/loyalty/core"
)

// Request is a request to upsert a customer that is sent together with others.
type Request struct {
	New
	Once *core.Once[Upserted]
}

// UpsertEach does for each request what Upsert does, in their order.
func (s *Service) UpsertEach(ctx context.Context, by core.Actor, requests []Request) ([]core.Outcome[Upserted], error) {
	if err := by.Require(core.Cashier); err != nil {
		return nil, err
	}
	outcomes := make([]core.Outcome[Upserted], len(requests))
	for i, r := range requests {
		reply, err := s.Upsert(ctx, by, r.New, r.Once)
		outcomes[i] = core.Outcome[Upserted]{Reply: reply, Err: err}
	}
	return outcomes, nil
}
