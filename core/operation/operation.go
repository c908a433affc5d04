// Package operation is what the people who run the platform do to the running
// installation, and what they see of it: queues paused and resumed, jobs retried and
// cancelled, how everything is. What they do is in the platform's audit log.
package operation

import (
	"context"
	"strconv"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Service is for super-admins: everybody else gets core.ErrAdmin.
type Service struct {
	db   *db.DB // the one that jobs run on, past a transaction pooler
	jobs *job.Queue
}

// NewService makes the service on the database that the job queue uses.
func NewService(d *db.DB, jobs *job.Queue) *Service { return &Service{db: d, jobs: jobs} }

// Pause keeps a queue from taking jobs in all processes, within a second. Jobs that run go
// on, and jobs can still be queued. A queue that is paused stays so. core.ErrNotFound: there
// is no such queue.
func (s *Service) Pause(ctx context.Context, by core.Actor, lane job.Lane) error {
	return s.change(ctx, by, func(tx *db.Tx) error {
		changed, err := job.Pause(ctx, tx, by, lane)
		if err != nil || !changed {
			return err
		}
		return audit.Write(tx, by, audit.Entry{Action: "queue.pause", Subject: "queue", ID: string(lane), Name: string(lane)})
	})
}

// Resume lets a queue take jobs again, within a second.
func (s *Service) Resume(ctx context.Context, by core.Actor, lane job.Lane) error {
	return s.change(ctx, by, func(tx *db.Tx) error {
		changed, err := job.Resume(ctx, tx, lane)
		if err != nil || !changed {
			return err
		}
		return audit.Write(tx, by, audit.Entry{Action: "queue.resume", Subject: "queue", ID: string(lane), Name: string(lane)})
	})
}

// Retry runs a job again as soon as a worker is free, or fails with job.ErrNotRetried.
func (s *Service) Retry(ctx context.Context, by core.Actor, id int64) error {
	return s.change(ctx, by, func(tx *db.Tx) error {
		if err := s.jobs.RetryIn(ctx, tx, id); err != nil {
			return err
		}
		return audit.Write(tx, by, audit.Entry{Action: "job.retry", Subject: "job", ID: strconv.FormatInt(id, 10)})
	})
}

// Cancel takes a job out of its queue, or stops it where it runs, or fails with
// job.ErrNotCancelled.
func (s *Service) Cancel(ctx context.Context, by core.Actor, id int64) error {
	return s.change(ctx, by, func(tx *db.Tx) error {
		if err := s.jobs.CancelIn(ctx, tx, id); err != nil {
			return err
		}
		return audit.Write(tx, by, audit.Entry{Action: "job.cancel", Subject: "job", ID: strconv.FormatInt(id, 10)})
	})
}

func (s *Service) change(ctx context.Context, by core.Actor, fn func(*db.Tx) error) error {
	if err := by.RequireAdmin(); err != nil {
		return err
	}
	_, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) { return 0, fn(tx) })
	return err
}
