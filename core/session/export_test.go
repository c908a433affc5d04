package session

import "context"

// Forget does the hourly job.
func (s *Service) Forget(ctx context.Context) error { return s.forget(ctx, forget{}) }
