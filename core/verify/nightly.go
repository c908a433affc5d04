package verify

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// When the nightly run begins, and when it may. A run reads every record, so it is made up
// for by day only where two nights went by without one.
const (
	nightBegins = 2 * time.Hour // after midnight, UTC
	nightEnds   = 5 * time.Hour
	apart       = 12 * time.Hour // of two runs that nobody asked for
	overdue     = 48 * time.Hour

	limit   = 2 * time.Hour        // of one run
	keptFor = 400 * 24 * time.Hour // a run's result
)

// The kinds of counted runs (Counted).
const (
	Clean  = "clean"
	Wrong  = "wrong"  // it found differences
	Failed = "failed" // it could not look at everything
)

// Metric are the runs that ended one way in this process.
func Metric(result string) db.Metric { return db.Metric{Thing: "verify", Kind: result} }

// ErrRunning refuses a run while another one is waiting or under way.
var ErrRunning = &core.Error{Kind: core.KindRule, Message: "A check is already waiting or running."}

// Service runs the checks at night, and keeps what they found.
type Service struct {
	db   *db.DB
	jobs *job.Queue
	log  *slog.Logger
}

// NewService makes the service and registers its job.
func NewService(d *db.DB, jobs *job.Queue, log *slog.Logger) *Service {
	s := &Service{db: d, jobs: jobs, log: log}
	job.HandleWithin(jobs, job.Upkeep, limit, s.check)
	job.Every(jobs, river.PeriodicInterval(time.Hour), Check{})
	return s
}

// Check is the job that runs the checks.
type Check struct {
	AskedBy string `json:"asked_by,omitempty"` // "": it is the nightly one
}

// Kind names the job in the queue.
func (Check) Kind() string { return "verify" }

// PastRun is a run as it is kept.
type PastRun struct {
	ID         int64
	AskedBy    *string // nil: the nightly one
	StartedAt  time.Time
	FinishedAt *time.Time // nil: it is under way, or its process is gone
	Clean      *bool      // nil: not finished, or it could not look at everything
	Results    []Result
	Error      *string
}

// Request queues a run, or fails with ErrRunning. For super-admins.
func (s *Service) Request(ctx context.Context, by core.Actor) error {
	if err := by.RequireAdmin(); err != nil {
		return err
	}
	_, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		if err := db.Queue(tx, lockAskingSQL, nil); err != nil {
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

// ReadLast is a reading of the run that began last, for db.PlatformTogether. It leaves to
// empty where there was none.
func ReadLast(to *[]PastRun) db.Reading { return db.AllInto(to, lastSQL, nil) }

// ReadEnded is ReadLast for the run that ended last and could look at everything.
func ReadEnded(to *[]PastRun) db.Reading { return db.AllInto(to, endedSQL, nil) }

// Last returns the run that began last, or core.ErrNotFound. One round trip.
func (s *Service) Last(ctx context.Context) (PastRun, error) {
	return db.PlatformOne[PastRun](ctx, s.db, lastSQL, nil)
}

// isDue reports whether the nightly run is to be made now.
func isDue(now time.Time, last *PastRun) bool {
	if last != nil && now.Sub(last.StartedAt) < apart {
		return false
	}
	night := now.UTC().Sub(now.UTC().Truncate(24 * time.Hour))
	return night >= nightBegins && night < nightEnds || last != nil && now.Sub(last.StartedAt) > overdue
}

func (s *Service) check(ctx context.Context, c Check) error {
	var mine bool
	err := db.AsOwner(ctx, s.db, func(tx pgx.Tx) error {
		// One at a time in the whole installation; a process that dies lets go of it.
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
		return job.Again(time.Minute) // after the one that is under way
	}
	return err
}

// shouldRun reports whether a run is to be made, of the one process that may make it.
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
	return db.Platform(ctx, s.db, system, func(tx *db.Tx) (int64, error) {
		if err := db.Queue(tx, forgetSQL, db.Args{"before": tx.Now.Add(-keptFor)}); err != nil {
			return 0, err
		}
		if err := db.Queue(tx, abandonSQL, db.Args{"now": tx.Now}); err != nil {
			return 0, err
		}
		var asked *string
		if c.AskedBy != "" {
			asked = &c.AskedBy
		}
		return db.Value[int64](ctx, tx, beginSQL, db.Args{"asked_by": asked, "now": tx.Now})
	})
}

var system = core.System(core.Tenant{}, "verify")

// finishRun keeps what a run found, or why it could not look.
func (s *Service) finishRun(ctx context.Context, id int64, results []Result, cause error) error {
	outcome, args := Clean, db.Args{"id": id, "clean": nil, "results": nil, "error": nil}
	if cause != nil {
		outcome, args["error"] = Failed, cause.Error()
	} else {
		text, err := json.Marshal(results)
		if err != nil {
			return err
		}
		if wrong := differences(results); wrong > 0 {
			outcome = Wrong
			s.logWrong(ctx, results)
		}
		args["clean"], args["results"] = outcome == Clean, string(text)
	}
	// Also where the job is told to stop: that is worth knowing.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := db.Platform(ctx, s.db, system, func(tx *db.Tx) (int64, error) {
		db.Count(tx, Metric(outcome), 1)
		args["now"] = tx.Now
		return db.Exec(ctx, tx, finishSQL, args)
	})
	return err
}

func differences(results []Result) (n int64) {
	for _, r := range results {
		n += r.Wrong
	}
	return n
}

func (s *Service) logWrong(ctx context.Context, results []Result) {
	for _, r := range results {
		if r.Wrong > 0 {
			s.log.ErrorContext(ctx, "verify found differences", slog.String("check", r.Check),
				slog.Int64("wrong", r.Wrong), slog.Any("examples", r.Examples))
		}
	}
}
