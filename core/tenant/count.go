package tenant

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// RecentPeriod is the period in which an overview counts sales: 30 days of 24 hours.
const RecentPeriod = 30 * 24 * time.Hour

const (
	countEvery = 10 * time.Minute
	countTime  = 8 * time.Minute
)

// count is the job that counts the usage of each tenant.
type count struct{}

// Kind names the job in the queue.
func (count) Kind() string { return "tenant_usage" }

// CountEvery registers the job that counts the figures of the overview: every ten minutes, once in the
// whole installation.
func (s *Service) CountEvery(jobs *job.Queue) {
	job.HandleWithin(jobs, job.Upkeep, countTime, func(ctx context.Context, _ count) error { return s.Count(ctx) })
	job.Every(jobs, river.PeriodicInterval(countEvery), count{})
}

// Count counts the usage of each tenant for the overview.
func (s *Service) Count(ctx context.Context) error {
	_, err := db.Platform(ctx, s.db, core.System(core.Tenant{}, "Tenant figures"), func(tx *db.Tx) (int64, error) {
		if err := db.TakeTime(tx); err != nil {
			return 0, err
		}
		return db.Value[int64](ctx, tx, countSQL, db.Args{"now": tx.Now, "since": core.FirstID(tx.Now.Add(-RecentPeriod))})
	})
	return err
}
