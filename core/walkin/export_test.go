package walkin

import "context"

// Forget runs the clean-up job.
func (s *Service) Forget(ctx context.Context) error { return s.cleanUp(ctx, cleanup{}) }
