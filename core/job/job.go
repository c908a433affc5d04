// Package job queues work in the transaction that asks for it and runs it after the
// commit (River). Each kind of job belongs to a lane with workers of its own.
//
// Its surprising rule: a job may run more than once, even twice at the same time for
// a moment, so what it does must be safe to repeat. A process that runs a job renews its
// claim on it; a job whose claim is not renewed is given to another process (claim.go).
package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/migrations"
)

// Lane is a queue with workers of its own, so that long work of one sort never delays
// another sort.
type Lane string

// The lanes.
const (
	Mail    Lane = "mail"    // mails, and the look-ups that lead to one: people wait for these
	Sends   Lane = "sends"   // coupon sends
	Imports Lane = "imports" // files of customers, checked and imported
	Upkeep  Lane = "upkeep"  // periodic cleaning, notices
)

// Lanes are all lanes, in the order in which people read them.
var Lanes = []Lane{Mail, Sends, Imports, Upkeep}

// staffing is the size of a lane in each process.
type staffing struct {
	workers int
	share   int // of these, how many one tenant may use at once; 0: all
}

// Mail waits for mail servers, not for the database: more workers cost little, and half
// of eight send the mails of one large coupon send as fast as four shared workers did.
// The others hold a database connection each while they work, so they are few.
var lanes = map[Lane]staffing{
	Mail:    {workers: 8, share: 4},
	Sends:   {workers: 4, share: 2},
	Imports: {workers: 3, share: 1},
	Upkeep:  {workers: 2},
}

// Queue takes jobs, and runs them once it is started.
type Queue struct {
	db       *db.DB
	client   *river.Client[pgx.Tx]
	workers  *river.Workers
	handlers map[string]handler // by kind
	log      *slog.Logger
	timing   timing
	claims   claims

	stop func()        // ends what renews claims
	kept chan struct{} // closed when that has ended
}

// handler is how a kind of job is run.
type handler struct {
	lane  Lane
	limit time.Duration
}

// New makes a queue on d, which is opened for listening and, where there is a
// transaction pooler, past it.
func New(d *db.DB, log *slog.Logger) (*Queue, error) { return newQueue(d, log, production) }

func newQueue(d *db.DB, log *slog.Logger, t timing) (*Queue, error) {
	q := &Queue{
		db: d, workers: river.NewWorkers(), handlers: map[string]handler{}, timing: t,
		claims: claims{held: map[attempt]*claim{}, freed: map[Lane]bool{}}, log: slog.New(quietHandler{log.Handler()}),
	}
	queues := map[string]river.QueueConfig{}
	for lane, size := range lanes {
		queues[string(lane)] = river.QueueConfig{MaxWorkers: size.workers}
	}
	client, err := river.NewClient(driver{d.River(), q}, &river.Config{
		Schema:       migrations.JobSchema,
		Queues:       queues,
		Workers:      q.workers,
		Middleware:   []rivertype.Middleware{river.WorkerMiddlewareFunc(q.work)},
		ErrorHandler: failures{q.log},
		Logger:       q.log,
		MaxAttempts:  maxAttempts,
		RetryPolicy:  backoff{},
		// River would judge by one limit, without knowing whether a job still runs. work
		// keeps the limit of each kind, and rescue finds jobs whose process is gone.
		JobTimeout:      -1,
		SoftStopTimeout: t.drain,
	})
	if err != nil {
		return nil, fmt.Errorf("job queue: %w", err)
	}
	q.client = client
	return q, nil
}

// quietHandler leaves out what the queue says of a context that ended: it was told to stop,
// which is no fault.
type quietHandler struct{ slog.Handler }

// Handle passes a record on, unless it tells of that.
func (h quietHandler) Handle(ctx context.Context, r slog.Record) error {
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
func (h quietHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup keeps leaving it out.
func (h quietHandler) WithGroup(name string) slog.Handler {
	return quietHandler{h.Handler.WithGroup(name)}
}

// failures logs each failed attempt once. A panic is not among them: River logs it, with
// the kind and the id.
type failures struct{ log *slog.Logger }

// HandleError logs an attempt that returned an error.
func (f failures) HandleError(ctx context.Context, row *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	about := []any{
		slog.String("kind", row.Kind), slog.Int64("id", row.ID), slog.String("queue", row.Queue),
		slog.Int("attempt", row.Attempt), slog.Any("error", err),
	}
	if row.Attempt >= row.MaxAttempts {
		f.log.ErrorContext(ctx, "job failed for the last time", about...)
	} else {
		f.log.WarnContext(ctx, "job failed", about...)
	}
	return nil
}

// HandlePanic leaves the log to River.
func (f failures) HandlePanic(context.Context, *rivertype.JobRow, any, string) *river.ErrorHandlerResult {
	return nil
}

// A job is tried again after a second, then after longer and longer, and from the eighth
// attempt on every hour: for six days, because a mail is given up after five.
const (
	maxAttempts = 150
	maxBackoff  = time.Hour
)

type backoff struct{}

// NextRetry is when a job that failed is tried again.
func (backoff) NextRetry(row *rivertype.JobRow) time.Time {
	delay := retryDelay(row.Attempt)
	delay += time.Duration((rand.Float64() - 0.5) / 5 * float64(delay)) // 10% either way: what failed together is not tried together
	return time.Now().Add(delay)                                        //nolint:forbidigo // River compares it with this machine's clock
}

// retryDelay is how long to wait after that many attempts.
func retryDelay(attempts int) time.Duration {
	n := time.Duration(min(max(attempts, 1), 100))
	return min(n*n*n*n*time.Second, maxBackoff)
}

// Handle names the work of one kind of job. It gets a minute each time.
func Handle[T river.JobArgs](q *Queue, lane Lane, work func(ctx context.Context, args T) error) {
	HandleWithin(q, lane, time.Minute, work)
}

// HandleWithin is Handle for work that may take longer.
func HandleWithin[T river.JobArgs](q *Queue, lane Lane, limit time.Duration, work func(ctx context.Context, args T) error) {
	var args T
	q.handlers[args.Kind()] = handler{lane, limit}
	river.AddWorker(q.workers, river.WorkFunc(func(ctx context.Context, j *river.Job[T]) error { return work(ctx, j.Args) }))
}

// periodicAttempts is how often a periodic job is tried: soon after that comes the next.
const periodicAttempts = 3

// Every adds a job of a kind that is handled at an interval, once in the whole
// installation.
func Every(q *Queue, schedule river.PeriodicSchedule, args river.JobArgs) {
	opts, err := q.options(args, 0)
	if err != nil {
		panic(err) // a mistake in the wiring, like a kind that is handled twice
	}
	opts.MaxAttempts = periodicAttempts
	q.client.PeriodicJobs().Add(river.NewPeriodicJob(schedule,
		func() (river.JobArgs, *river.InsertOpts) { return args, opts }, &river.PeriodicJobOpts{RunOnStart: true}))
}

// Add queues a job in the transaction: it runs after the commit, or never. Where args
// implement interface{ ForTenant() core.TenantID }, the job counts towards that tenant's
// share of its lane, as does one that is queued in a tenant's transaction.
func (q *Queue) Add(ctx context.Context, tx *db.Tx, args river.JobArgs) error {
	return q.AddAt(ctx, tx, args, time.Time{})
}

// AddAt is Add for a job that runs at that time. The zero time is now.
func (q *Queue) AddAt(ctx context.Context, tx *db.Tx, args river.JobArgs, at time.Time) error {
	opts, err := q.options(args, tx.Tenant)
	if err != nil {
		return err
	}
	opts.ScheduledAt = at
	raw, err := tx.Raw(ctx)
	if err != nil {
		return err
	}
	if _, err := q.client.InsertTx(ctx, raw, args, opts); err != nil {
		return fmt.Errorf("queue %s: %w", args.Kind(), err)
	}
	return nil
}

var errNoHandler = errors.New("no handler for jobs of this kind")

// options put a job into the lane of its kind, under the name of the tenant it is for, or else
// of the one whose transaction queues it.
func (q *Queue) options(args river.JobArgs, tenant core.TenantID) (*river.InsertOpts, error) {
	h, known := q.handlers[args.Kind()]
	if !known {
		return nil, fmt.Errorf("queue %s: %w", args.Kind(), errNoHandler)
	}
	opts := &river.InsertOpts{Queue: string(h.lane)}
	if owned, ok := args.(interface{ ForTenant() core.TenantID }); ok && owned.ForTenant() != 0 {
		tenant = owned.ForTenant()
	}
	if tenant != 0 {
		metadata, err := json.Marshal(ownership{tenant})
		if err != nil {
			return nil, err
		}
		opts.Metadata = metadata
	}
	return opts, nil
}

// ownership is the part of a job's metadata that names its tenant. Beside the arguments,
// because these are each package's own and statements need one place to look.
type ownership struct {
	Tenant core.TenantID `json:"tenant"`
}

const pendingSQL = `
	select args, state = 'cancelled' as cancelled
	from river.river_job
	where kind = @kind
		and state in ('available', 'scheduled', 'retryable', 'running', 'cancelled')`

// Pending returns the arguments of all jobs of a kind that are still to be done, and of
// those that an operator cancelled in the last day: for what makes sure that no job was
// lost. One round trip.
func Pending[T river.JobArgs](ctx context.Context, tx *db.Tx) (pending, cancelled []T, err error) {
	var kind T
	rows, err := db.All[struct {
		Args      []byte
		Cancelled bool
	}](ctx, tx, pendingSQL, db.Args{"kind": kind.Kind()})
	if err != nil {
		return nil, nil, err
	}
	for _, r := range rows {
		var args T
		if err := json.Unmarshal(r.Args, &args); err != nil {
			return nil, nil, err
		}
		if r.Cancelled {
			cancelled = append(cancelled, args)
		} else {
			pending = append(pending, args)
		}
	}
	return pending, cancelled, nil
}

// Again is returned by work that wants to run again after a while. It counts neither as
// a failure nor as an attempt.
func Again(after time.Duration) error { return river.JobSnooze(after) }

// Start runs jobs until Stop.
func (q *Queue) Start(ctx context.Context) error {
	if err := q.client.Start(ctx); err != nil {
		return err
	}
	ctx, q.stop = context.WithCancel(ctx)
	q.kept = make(chan struct{})
	go q.renewClaims(ctx)
	return nil
}

// Stop lets the running jobs finish for a while. Then they are told to end, and go back
// into the queue for the next process.
func (q *Queue) Stop(ctx context.Context) error {
	if err := q.client.Stop(ctx); err != nil {
		return err // the jobs that still run keep their claims until the process ends
	}
	if q.stop != nil {
		q.stop()
		<-q.kept
	}
	return nil
}
