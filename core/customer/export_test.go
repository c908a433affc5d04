package customer

import "context"

// Tend does the round that comes every minute.
func (s *Imports) Tend(ctx context.Context) error { return s.tend(ctx, importRound{}) }

// InBatches makes batches so many rows and jobs so many batches, of this service.
func (s *Imports) InBatches(rows, batches int) *Imports {
	s.batch, s.slice = rows, batches
	return s
}
