package token

import (
	"context"
	"time"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

const forgetSQL = `
	delete from loyalty.token
	where id in (
		select id
		from loyalty.token
		where revoked_at < @before
			or expires_at < @before
		limit @up_to
	)`

// cleanup is the job that deletes tokens a year after they were revoked or expired. The audit log keeps
// who created and revoked them.
type cleanup struct{}

// Kind names the job in the queue.
func (cleanup) Kind() string { return "forget_tokens" }

const endedKept = 365 * 24 * time.Hour

func (s *Service) cleanUp(ctx context.Context, _ cleanup) error {
	return job.Drain(ctx, s.db, "ended tokens", func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.Exec(ctx, tx, forgetSQL, db.Args{"before": tx.Now.Add(-endedKept), "up_to": job.Batch})
	})
}
