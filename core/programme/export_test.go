package programme

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
)

// InBatchesOf is the service with smaller transactions.
func (s *Service) InBatchesOf(n int) *Service {
	small := *s
	small.sizes = sizes{n, n, n}
	return &small
}

// ExpireNext expires one batch, as a job that is killed after it.
func (s *Service) ExpireNext(ctx context.Context, by core.Actor, unit ledger.Unit) (ended bool, err error) {
	return s.expireNext(ctx, by, unit)
}

// OpenNext dates one batch, as a job that is killed after it.
func (s *Service) OpenNext(ctx context.Context, by core.Actor, unit ledger.Unit) (done bool, err error) {
	return s.openNext(ctx, by, unit)
}
