// Package job queues work in the transaction of its cause and runs it later
// (River). A job may run more than once: what it does must bear that.
package job

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/loyalty/core/db"
	"example.com/loyalty/migrations"
)

// Queue takes jobs, and where it is started works them off.
type Queue struct {
	client  *river.Client[pgx.Tx]
	workers *river.Workers
	log     *slog.Logger
}

// New makes a queue on d, which is opened for listening and, where there is a
// transaction pooler, past it.
func New(d *db.DB, log *slog.Logger) (*Queue, error) {
	workers := river.NewWorkers()
	client, err := river.NewClient(riverpgxv5.New(d.Pool()), &river.Config{
		Schema:  migrations.JobSchema,
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 4}},
		Workers: workers,
		Logger:  slog.New(ended{log.Handler()}),
	})
	if err != nil {
		return nil, fmt.Errorf("job queue: %w", err)
	}
	return &Queue{client: client, workers: workers, log: log}, nil
}

// ended leaves out what the queue says of a context that ended: it was told to stop,
// which is no fault.
type ended struct{ slog.Handler }

// Handle passes a record on, unless it tells of that.
func (h ended) Handle(ctx context.Context, r slog.Record) error {
	told := false
	r.Attrs(func(a slog.Attr) bool {
		told = strings.Contains(a.Value.String(), context.Canceled.Error())
		return !told
	})
	if told {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps leaving it out.
func (h ended) WithAttrs(attrs []slog.Attr) slog.Handler { return ended{h.Handler.WithAttrs(attrs)} }

// WithGroup keeps leaving it out.
func (h ended) WithGroup(name string) slog.Handler { return ended{h.Handler.WithGroup(name)} }

// Handle names the worker of one kind of job, which gets a minute each time.
func Handle[T river.JobArgs](q *Queue, work func(ctx context.Context, args T) error) {
	HandleWithin(q, time.Minute, work)
}

// HandleWithin is Handle for work that may take so long.
func HandleWithin[T river.JobArgs](q *Queue, limit time.Duration, work func(ctx context.Context, args T) error) {
	river.AddWorker(q.workers, worker[T]{limit: limit, work: work})
}

// worker is what River calls.
type worker[T river.JobArgs] struct {
	river.WorkerDefaults[T]
	limit time.Duration
	work  func(ctx context.Context, args T) error
}

// Work does one job.
func (w worker[T]) Work(ctx context.Context, j *river.Job[T]) error { return w.work(ctx, j.Args) }

// Timeout is when the job's context ends.
func (w worker[T]) Timeout(*river.Job[T]) time.Duration { return w.limit }

// Every adds a job that runs at an interval, once in the whole installation.
func Every(q *Queue, schedule river.PeriodicSchedule, args river.JobArgs) {
	q.client.PeriodicJobs().Add(river.NewPeriodicJob(schedule,
		func() (river.JobArgs, *river.InsertOpts) { return args, nil }, &river.PeriodicJobOpts{RunOnStart: true}))
}

// Add queues a job in the transaction: it runs after the commit, or never.
func (q *Queue) Add(ctx context.Context, tx *db.Tx, args river.JobArgs) error {
	raw, err := tx.Raw(ctx)
	if err != nil {
		return err
	}
	if _, err := q.client.InsertTx(ctx, raw, args, nil); err != nil {
		return fmt.Errorf("queue %s: %w", args.Kind(), err)
	}
	return nil
}

// Start works jobs off until Stop.
func (q *Queue) Start(ctx context.Context) error { return q.client.Start(ctx) }

// Stop lets the running jobs finish.
func (q *Queue) Stop(ctx context.Context) error { return q.client.Stop(ctx) }
