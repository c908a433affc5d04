package token

import "context"

// Announce does the job.
func (s *Service) Announce(ctx context.Context, a Announcement) error { return s.announce(ctx, a) }
