package walkin

import "context"

// Forget runs the job once.
func (s *Service) Forget(ctx context.Context) error { return s.cleanUp(ctx, cleanup{}) }
