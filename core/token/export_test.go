package token

import "context"

// Announce runs the job.
func (s *Service) Announce(ctx context.Context, a Announcement) error { return s.announce(ctx, a) }

// Forget runs the job that deletes old tokens.
func (s *Service) Forget(ctx context.Context) error { return s.cleanUp(ctx, cleanup{}) }
