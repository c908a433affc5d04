package token

import "context"

// Announce runs the job.
func (s *Service) Announce(ctx context.Context, a Announcement) error { return s.announce(ctx, a) }

// DeleteOld runs the job that deletes old tokens.
func (s *Service) DeleteOld(ctx context.Context) error { return s.deleteOld(ctx, deleteOld{}) }
