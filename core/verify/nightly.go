package verify

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// When the nightly run starts. A run reads every record, so it runs by day only after two nights without
// a run.
const (
	nightBegins = 2 * time.Hour // after midnight, UTC
	nightEnds   = 5 * time.Hour
	minInterval = 12 * time.Hour // between two nightly runs
	overdue     = 48 * time.Hour

	limit   = 2 * time.Hour        // of one run
	keptFor = 400 * 24 * time.Hour // a run's result
)

// The outcomes of a run.
const (
	Clean  = "clean"
	Wrong  = "wrong"  // it found wrong records
	Failed = "failed" // a check could not run
)

// Metric returns the metric of an outcome.
func Metric(outcome string) db.Metric { return db.Metric{Thing: "verify", Kind: outcome} }

// ErrRunning refuses a run while another one is waiting or running.
var ErrRunning = &core.Error{Kind: core.KindRule, Message: "A check is already waiting or running."}

// Service runs the checks at night and stores their results.
type Service struct {
	db   *db.DB
	jobs *job.Queue
	log  *slog.Logger
}

// NewService makes the service and registers its job.
func NewService(d *db.DB, jobs *job.Queue, log *slog.Logger) *Service {
	s := &Service{db: d, jobs: jobs, log: log}
	job.HandleWithin(jobs, job.Upkeep, limit, s.check)
	job.Every(jobs, time.Hour, Check{})
	return s
}

// Check is the job that runs the checks.
type Check struct {
	AskedBy string `json:"asked_by,omitempty"` // "": the nightly run
}

// Kind names the job in the queue.
func (Check) Kind() string { return "verify" }

// PastRun is a stored run.
type PastRun struct {
	ID         int64
	AskedBy    *string // nil: the nightly run
	StartedAt  time.Time
	FinishedAt *time.Time // nil: it is running, or its process is gone
	Clean      *bool      // nil: not finished, or a check could not run
	Results    []Result
	Error      *string
}

// Request queues a run, or fails with ErrRunning. For super-admins.
func (s *Service) Request(ctx context.Context, by core.Actor) error {
	if err := by.RequireAdmin(); err != nil {
		return err
	}
	_, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (int, error) {
		if err := db.Queue(tx, lockRequestsSQL, nil); err != nil {
			return 0, err
		}
		pending, _, err := job.Pending[Check](ctx, tx)
		if err != nil {
			return 0, err
		}
		for _, c := range pending {
			if c.AskedBy != "" {
				return 0, ErrRunning
			}
		}
		last, err := db.All[PastRun](ctx, tx, lastSQL, nil)
		if err != nil {
			return 0, err
		}
		if len(last) > 0 && last[0].FinishedAt == nil && tx.Now.Sub(last[0].StartedAt) < limit {
			return 0, ErrRunning
		}
		if err := audit.Write(tx, by, audit.Entry{Action: "verify.run", Subject: "verify"}); err != nil {
			return 0, err
		}
		return 0, s.jobs.Add(ctx, tx, Check{AskedBy: by.Name})
	})
	return err
}

// ReadLast returns a reading of the run that started last, for db.Together. The slice is empty if
// there was none.
func ReadLast(to *[]PastRun) db.Reading { return db.AllInto(to, lastSQL, nil) }

// ReadEnded is ReadLast for the last run whose checks all ran.
func ReadEnded(to *[]PastRun) db.Reading { return db.AllInto(to, endedSQL, nil) }

// Last returns the run that started last, or core.ErrNotFound.
func (s *Service) Last(ctx context.Context) (PastRun, error) {
	return db.One[PastRun](ctx, s.db.Platform(), lastSQL, nil)
}

// isDue reports whether the nightly run is due.
func isDue(now time.Time, last *PastRun) bool {
	if last != nil && now.Sub(last.StartedAt) < minInterval {
		return false
	}
	night := now.UTC().Sub(now.UTC().Truncate(24 * time.Hour))
	return night >= nightBegins && night < nightEnds || last != nil && now.Sub(last.StartedAt) > overdue
}

func (s *Service) check(ctx context.Context, c Check) error {
	var mine bool
	err := db.Snapshot(ctx, s.db, func(tx pgx.Tx) error {
		if err := db.RequireOwner(ctx, tx); err != nil {
			return err
		}
		// One run at a time in the installation. The lock of a process that dies is released.
		if err := tx.QueryRow(ctx, lockSQL).Scan(&mine); err != nil || !mine {
			return err
		}
		if wanted, err := s.shouldRun(ctx, c); err != nil || !wanted {
			return err
		}
		id, err := s.startRun(ctx, c)
		if err != nil {
			return err
		}
		results, err := runIn(ctx, tx)
		return errors.Join(err, s.finishRun(ctx, id, results, err))
	})
	if err == nil && !mine && c.AskedBy != "" {
		return job.Again(time.Minute) // after the running one
	}
	return err
}

// shouldRun reports whether to start a run. The caller holds the lock.
func (s *Service) shouldRun(ctx context.Context, c Check) (bool, error) {
	if c.AskedBy != "" {
		return true, nil
	}
	last, err := s.Last(ctx)
	if errors.Is(err, core.ErrNotFound) {
		return isDue(s.db.Now(), nil), nil
	}
	return err == nil && isDue(s.db.Now(), &last), err
}

func (s *Service) startRun(ctx context.Context, c Check) (int64, error) {
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) (int64, error) {
		if err := db.Queue(tx, deleteOldSQL, db.Args{"before": tx.Now.Add(-keptFor)}); err != nil {
			return 0, err
		}
		if err := db.Queue(tx, abandonSQL, db.Args{"now": tx.Now}); err != nil {
			return 0, err
		}
		var asked *string
		if c.AskedBy != "" {
			asked = &c.AskedBy
		}
		return db.One[int64](ctx, tx, beginSQL, db.Args{"asked_by": asked, "now": tx.Now})
	})
}

// finishRun stores a run's results, or the error.
func (s *Service) finishRun(ctx context.Context, id int64, results []Result, cause error) error {
	outcome, args := Clean, db.Args{"id": id, "clean": nil, "results": nil, "error": nil}
	if cause != nil {
		outcome, args["error"] = Failed, cause.Error()
	} else {
		text, err := json.Marshal(results)
		if err != nil {
			return err
		}
		for _, r := range results {
			if r.Wrong > 0 {
				outcome = Wrong
				s.log.ErrorContext(ctx, "verify found differences", slog.String("check", r.Check),
					slog.Int64("wrong", r.Wrong), slog.Any("examples", r.Examples))
			}
		}
		args["clean"], args["results"] = outcome == Clean, string(text)
	}
	// Also when the job is cancelled.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (int64, error) {
		db.Count(tx, Metric(outcome), 1)
		args["now"] = tx.Now
		return db.Exec(ctx, tx, finishSQL, args)
	})
	return err
}
