package token

import "context"

// Announce runs the job.
func (s *Service) Announce(ctx context.Context, a Announcement) error { return s.announce(ctx, a) }

// DeleteOld runs the job that deletes old tokens.
func (s *Service) DeleteOld(ctx context.Context) error { return s.deleteOld(ctx, deleteOld{}) }

// DeleteOldUse runs the job that deletes what tokens were used for.
func (s *Service) DeleteOldUse(ctx context.Context) error { return s.deleteOldUse(ctx, deleteOldUse{}) }

// Warn runs the job that mails the owners of tokens that expire soon.
func (s *Service) Warn(ctx context.Context) error { return s.warn(ctx, warnExpiring{}) }

// Limits of a Meter.
const (
	MaxCounts   = maxCounts
	MaxRefusals = maxRefusals
)
