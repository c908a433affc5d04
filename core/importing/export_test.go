package importing

import "context"

// RunUpkeep runs the upkeep job.
func (s *Service) RunUpkeep(ctx context.Context) error { return s.runUpkeep(ctx, upkeep{}) }

// InBatches sets the rows of a batch and the batches of a job.
func (s *Service) InBatches(rows, batches int) *Service {
	s.batch, s.slice = rows, batches
	return s
}
