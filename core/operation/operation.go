// Package operation lets the people who run the platform pause and resume queues, retry and cancel jobs,
// and see the installation's state. Their actions are in the platform's audit log.
package operation

import (
	"context"
	"strconv"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Service is for super-admins; others get core.ErrAdmin.
type Service struct {
	db   *db.DB // of the jobs, without a transaction pooler
	jobs *job.Queue
}

// NewService makes the service on the database that the job queue uses.
func NewService(d *db.DB, jobs *job.Queue) *Service { return &Service{db: d, jobs: jobs} }

// Pause keeps a queue from taking jobs in all processes, within a second. Running jobs go on, and jobs
// can still be queued. A paused queue stays paused. core.ErrNotFound: there is no such queue.
func (s *Service) Pause(ctx context.Context, by core.Actor, lane job.Lane) error {
	return s.switchQueue(ctx, by, lane, "queue.pause", func(tx *db.Tx) (bool, error) { return job.Pause(ctx, tx, by, lane) })
}

// Resume lets a queue take jobs again, within a second.
func (s *Service) Resume(ctx context.Context, by core.Actor, lane job.Lane) error {
	return s.switchQueue(ctx, by, lane, "queue.resume", func(tx *db.Tx) (bool, error) { return job.Resume(ctx, tx, lane) })
}

func (s *Service) switchQueue(ctx context.Context, by core.Actor, lane job.Lane, action string, change func(*db.Tx) (bool, error)) error {
	return s.change(ctx, by, func(tx *db.Tx) error {
		changed, err := change(tx)
		if err != nil || !changed {
			return err
		}
		return audit.Write(tx, by, audit.Entry{Action: action, Subject: "queue", ID: string(lane), Name: string(lane)})
	})
}

// Retry runs a job again as soon as a worker is free: job.ErrNotRetried.
func (s *Service) Retry(ctx context.Context, by core.Actor, id int64) error {
	return s.change(ctx, by, func(tx *db.Tx) error {
		if err := s.jobs.RetryIn(ctx, tx, id); err != nil {
			return err
		}
		return audit.Write(tx, by, audit.Entry{Action: "job.retry", Subject: "job", ID: strconv.FormatInt(id, 10)})
	})
}

// Cancel removes a job from its queue, or stops it while it runs: job.ErrNotCancelled.
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
	return db.Run(ctx, s.db.Platform(), fn)
}
