package importing

import (
	"context"

	"example.com/loyalty/core/job"
)

// RunUpkeep runs the upkeep job.
func (s *Service) RunUpkeep(ctx context.Context) error { return s.runUpkeep(ctx, upkeep{}) }

// RunJob runs the job of an import.
func (s *Service) RunJob(ctx context.Context, j Job) error { return job.OrHold(s.work, s.hold)(ctx, j) }

// InBatches sets the rows of a batch and the batches of a job.
func (s *Service) InBatches(rows, batches int) *Service {
	s.batch, s.slice = rows, batches
	return s
}
