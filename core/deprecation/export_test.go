package deprecation

import (
	"context"
	"testing"
	"time"
)

// Age makes the deprecations that were read older.
func (s *Service) Age(t testing.TB, by time.Duration) {
	t.Helper()
	known := *s.known.Load()
	known.at = known.at.Add(-by)
	s.known.Store(&known)
}

// Notify runs the job that mails the tenants.
func (s *Service) Notify(ctx context.Context, n Notice) error { return s.notify(ctx, n) }

// NoticeBatch is the number of tenants in a transaction.
const NoticeBatch = noticeBatch
