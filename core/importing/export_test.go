package importing

import "context"

// Tend does the round that comes every minute.
func (s *Service) Tend(ctx context.Context) error { return s.tend(ctx, upkeep{}) }

// InBatches makes batches so many rows and jobs so many batches, of this service.
func (s *Service) InBatches(rows, batches int) *Service {
	s.batch, s.slice = rows, batches
	return s
}
