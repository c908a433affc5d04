package audit

import (
	"context"
	"time"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// LeastRetention is how long entries are kept at least, whatever the installation's setting: the
// database refuses to delete younger ones.
const LeastRetention = 90 * 24 * time.Hour

const deleteOldSQL = `
	select loyalty.forget_audit(@before, @up_to)`

// deleteOld is the job that deletes old entries.
type deleteOld struct{}

// Kind names the job in the queue.
func (deleteOld) Kind() string { return "delete_old_audit_entries" }

// KindAliases has the name that earlier builds queue it under.
func (deleteOld) KindAliases() []string { return []string{"forget_audit"} }

// RegisterRetention registers the job that deletes the entries of every log that are older than
// the period; 0: none.
func RegisterRetention(d *db.DB, jobs *job.Queue, period time.Duration) {
	job.Handle(jobs, job.Upkeep, func(ctx context.Context, _ deleteOld) error { return DeleteOlder(ctx, d, period) })
	job.Every(jobs, time.Hour, deleteOld{})
}

// DeleteOlder deletes entries older than the period; 0: none.
func DeleteOlder(ctx context.Context, d *db.DB, period time.Duration) error {
	if period == 0 {
		return nil
	}
	return job.Drain(ctx, d, func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.One[int64](ctx, tx, deleteOldSQL, db.Args{"before": tx.Now.Add(-period), "up_to": job.Batch})
	})
}
