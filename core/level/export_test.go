package level

import (
	"context"
	"time"

	"example.com/loyalty/core"
)

// InBatchesOf is the service with smaller transactions.
func (s *Service) InBatchesOf(n int) *Service {
	small := *s
	small.sizes = sizes{n, n}
	return &small
}

// PreviewingFor is the service with another time for previews.
func (s *Service) PreviewingFor(d time.Duration) *Service {
	short := *s
	short.previewTime = d
	return &short
}

// CountNext does one step of counting, as a job that is killed after it.
func (s *Service) CountNext(ctx context.Context, by core.Actor) (done bool, err error) {
	return s.countNext(ctx, by)
}

// SettleNext settles one batch, as a job that is killed after it.
func (s *Service) SettleNext(ctx context.Context, by core.Actor) (ended bool, err error) {
	return s.settleNext(ctx, by)
}

// ErrBusy is what a job waits for.
var ErrBusy = errBusy
