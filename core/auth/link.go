package auth

import (
	"context"
	"time"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// forgetLinks is the job that deletes invitations and resets that expired a while ago. The audit
// log keeps who was invited and who asked for a reset.
type forgetLinks struct{}

// Kind names the job in the queue.
func (forgetLinks) Kind() string { return "forget_links" }

// linksKept is how long an invitation or a reset is kept after it expired.
const linksKept = 30 * 24 * time.Hour

func (s *Service) forgetLinks(ctx context.Context, _ forgetLinks) error {
	return job.Drain(ctx, s.db, "expired links", func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.Value[int64](ctx, tx, forgetLinksSQL, db.Args{"before": tx.Now.Add(-linksKept), "up_to": job.Batch})
	})
}
