// Package job queues jobs in the caller's transaction and runs them after the commit, with River.
// Each kind of job belongs to a lane with its own workers.
//
// Its surprising rule: a job may run more than once, for a moment even twice at the same time, so it
// must be safe to repeat. A process renews its claims on the jobs that it runs; a job whose claim is
// not renewed goes to another process (claim.go).
package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/migrations"
)

// Lane is a queue with its own workers, so that long jobs of one sort never delay another sort.
type Lane string

// The lanes.
const (
	Mail    Lane = "mail"    // mails that people wait for, and the look-ups before them
	Sends   Lane = "sends"   // coupon sends
	Imports Lane = "imports" // files of customers, checked and imported
	Upkeep  Lane = "upkeep"  // periodic clean-up, notices
)

// Lanes lists all lanes in the order of pages.
var Lanes = []Lane{Mail, Sends, Imports, Upkeep}

// staffing is the size of a lane in each process.
type staffing struct {
	workers int
	share   int // how many of them one tenant may use at once; 0: all
}

// Mail jobs wait for mail servers, not for the database, so they can have more workers. The other
// workers hold a database connection each.
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

	endRenewal   func()        // ends renewClaims
	renewalEnded chan struct{} // closed when it has ended
}

// handler is the lane and the time limit of a kind of job.
type handler struct {
	lane  Lane
	limit time.Duration
}

// New makes a queue. Its database must be opened for listening and must not be a transaction
// pooler's.
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
		// River has one limit for all kinds and can't tell whether a job still runs. work applies
		// each kind's limit, and rescue finds jobs that lost their process.
		JobTimeout:      -1,
		SoftStopTimeout: t.drain,
	})
	if err != nil {
		return nil, fmt.Errorf("job queue: %w", err)
	}
	q.client = client
	return q, nil
}

// quietHandler drops records about cancelled contexts: a queue that stops is no fault.
type quietHandler struct{ slog.Handler }

// Handle drops such a record and passes others on.
func (h quietHandler) Handle(ctx context.Context, r slog.Record) error {
	isCancel := false
	r.Attrs(func(a slog.Attr) bool {
		isCancel = strings.Contains(a.Value.String(), context.Canceled.Error())
		return !isCancel
	})
	if isCancel {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs returns a quiet handler with attributes.
func (h quietHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup returns a quiet handler with a group.
func (h quietHandler) WithGroup(name string) slog.Handler {
	return quietHandler{h.Handler.WithGroup(name)}
}

// failures logs each failed attempt once, with the request that caused the job.
type failures struct{ log *slog.Logger }

// HandleError logs an attempt that returned an error or panicked.
func (f failures) HandleError(ctx context.Context, row *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	about := []slog.Attr{
		slog.String("kind", row.Kind), slog.Int64("id", row.ID), slog.String("queue", row.Queue),
		slog.Int("attempt", row.Attempt), slog.Any("error", err),
	}
	level := slog.LevelWarn
	var panicked panicError
	if errors.As(err, &panicked) {
		level, about = slog.LevelError, append(about, slog.String("stack", string(panicked.stack)))
	}
	ctx = caused(ctx, row.Metadata)
	if row.Attempt >= row.MaxAttempts {
		f.log.LogAttrs(ctx, slog.LevelError, "job failed for the last time", about...)
	} else {
		f.log.LogAttrs(ctx, level, "job failed", about...)
	}
	return nil
}

// HandlePanic does nothing, because panics of handlers are errors here (panicError), and River logs its own.
func (f failures) HandlePanic(context.Context, *rivertype.JobRow, any, string) *river.ErrorHandlerResult {
	return nil
}

// panicError is the error of an attempt that panicked. River would log it without the request.
type panicError struct {
	cause any
	stack []byte
}

// Error returns what the attempt panicked with.
func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.cause) }

// A failed job is retried after a second, then less and less often, and from the eighth attempt on
// every hour, for six days in all, because a mail is given up after five.
const (
	maxAttempts = 150
	maxBackoff  = time.Hour
)

type backoff struct{}

// NextRetry returns when a failed job is retried.
func (backoff) NextRetry(row *rivertype.JobRow) time.Time {
	delay := retryDelay(row.Attempt)
	delay += time.Duration((rand.Float64() - 0.5) / 5 * float64(delay)) // 10% either way, so that jobs that failed together are not retried together
	return time.Now().Add(delay)                                        //nolint:forbidigo // River compares it with this machine's clock
}

// retryDelay returns how long to wait after a number of attempts.
func retryDelay(attempts int) time.Duration {
	n := time.Duration(min(max(attempts, 1), 100))
	return min(n*n*n*n*time.Second, maxBackoff)
}

// handlerLimit is the time limit of most kinds of jobs.
const handlerLimit = time.Minute

// Handle registers the handler of a kind of job, with a time limit of a minute.
func Handle[T river.JobArgs](q *Queue, lane Lane, work func(ctx context.Context, args T) error) {
	HandleWithin(q, lane, handlerLimit, work)
}

// HandleWithin is Handle with another time limit.
func HandleWithin[T river.JobArgs](q *Queue, lane Lane, limit time.Duration, work func(ctx context.Context, args T) error) {
	var args T
	checkOwner(args)
	for _, kind := range kinds(args) {
		q.handlers[kind] = handler{lane, limit}
	}
	river.AddWorker(q.workers, river.WorkFunc(func(ctx context.Context, j *river.Job[T]) error {
		if o, isOwned := any(j.Args).(owned); isOwned && o.ForTenant() != originOf(j.Metadata).Tenant {
			q.log.ErrorContext(ctx, "job cancelled", slog.String("kind", j.Kind), slog.Int64("id", j.ID), slog.Any("error", errOtherTenant))
			return river.JobCancel(errOtherTenant) // River doesn't log it
		}
		return work(ctx, j.Args)
	}))
}

// kinds returns the name of a kind of job, and those that earlier builds queue it under.
func kinds(args river.JobArgs) []string {
	names := []string{args.Kind()}
	if renamed, isRenamed := args.(river.JobArgsWithKindAliases); isRenamed {
		names = append(names, renamed.KindAliases()...)
	}
	return names
}

// OrHold returns a handler for jobs that act for a business (core.Job). If the business is suspended, hold keeps
// what the job would have done until the people of the business decide, and the job ends.
func OrHold[T river.JobArgs](work, hold func(ctx context.Context, args T) error) func(ctx context.Context, args T) error {
	return func(ctx context.Context, args T) error {
		err := work(ctx, args)
		if errors.Is(err, core.ErrSuspended) {
			return hold(ctx, args)
		}
		return err
	}
}

// suspendedFor is how long a job of a suspended business waits in the queue before it asks again.
const suspendedFor = 10 * time.Minute

const (
	// periodicAttempts is how often a periodic job is tried: the next one follows soon.
	periodicAttempts = 3
	// renamedAttempts is how often it is tried under a new name: for more than an hour. Processes of an earlier build
	// take it during an upgrade and refuse it, because they don't know the name.
	renamedAttempts = 8
)

// Every queues a job of a handled kind at an interval, once in the whole installation.
func Every(q *Queue, schedule river.PeriodicSchedule, args river.JobArgs) {
	opts, err := q.options(args, 0, "")
	if err != nil {
		panic(err) // a mistake in the code, like two handlers of a kind
	}
	opts.MaxAttempts = periodicAttempts
	if len(kinds(args)) > 1 {
		opts.MaxAttempts = renamedAttempts
	}
	q.client.PeriodicJobs().Add(river.NewPeriodicJob(schedule,
		func() (river.JobArgs, *river.InsertOpts) { return args, opts }, &river.PeriodicJobOpts{RunOnStart: true}))
}

// Add queues a job in the transaction, to run after the commit. The job is of the transaction's tenant or, on the
// platform, of the one that args name (owned).
func (q *Queue) Add(ctx context.Context, tx *db.Tx, args river.JobArgs) error {
	return q.AddAt(ctx, tx, args, time.Time{})
}

// AddAt is Add for a job that runs at a time. The zero time is now.
func (q *Queue) AddAt(ctx context.Context, tx *db.Tx, args river.JobArgs, at time.Time) error {
	opts, err := q.options(args, tx.Tenant, core.RequestID(ctx))
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

// AddAll is Add for many jobs, in one round trip.
func (q *Queue) AddAll(ctx context.Context, tx *db.Tx, all []river.JobArgs) error {
	if len(all) == 0 {
		return nil
	}
	jobs := make([]river.InsertManyParams, len(all))
	for i, args := range all {
		opts, err := q.options(args, tx.Tenant, core.RequestID(ctx))
		if err != nil {
			return err
		}
		jobs[i] = river.InsertManyParams{Args: args, InsertOpts: opts}
	}
	raw, err := tx.Raw(ctx)
	if err != nil {
		return err
	}
	if _, err := q.client.InsertManyTx(ctx, raw, jobs); err != nil {
		return fmt.Errorf("queue %d jobs: %w", len(jobs), err)
	}
	return nil
}

var (
	errNoHandler   = errors.New("no handler for jobs of this kind")
	errOtherTenant = errors.New("the job's arguments name another tenant")
)

// options returns the lane of a job, its tenant, and the request that causes it.
func (q *Queue) options(args river.JobArgs, tenant core.TenantID, request string) (*river.InsertOpts, error) {
	h, known := q.handlers[args.Kind()]
	if !known {
		return nil, fmt.Errorf("queue %s: %w", args.Kind(), errNoHandler)
	}
	opts := &river.InsertOpts{Queue: string(h.lane)}
	if o, isOwned := args.(owned); isOwned {
		if tenant != 0 && o.ForTenant() != tenant {
			return nil, fmt.Errorf("queue %s: %w", args.Kind(), errOtherTenant)
		}
		tenant = o.ForTenant()
	}
	var err error
	opts.Metadata, err = json.Marshal(origin{tenant, request})
	return opts, err
}

// origin is our part of a job's metadata. The arguments of each kind differ, and statements and the log need one place to look.
type origin struct {
	Tenant  core.TenantID `json:"tenant,omitempty"`  // 0: the platform
	Request string        `json:"request,omitempty"` // the request that caused it, maybe through other jobs; "": none
}

func originOf(metadata []byte) (o origin) {
	if json.Unmarshal(metadata, &o) != nil {
		return origin{}
	}
	return o
}

// caused returns the context of a job's work, whose log lines, and the jobs that it queues, name the request that caused the job.
func caused(ctx context.Context, metadata []byte) context.Context {
	if request := originOf(metadata).Request; request != "" {
		ctx, _ = core.WithRequestLog(ctx, request)
	}
	return ctx
}

// owned are arguments that name a tenant; 0: the platform. A handler acts for that tenant, so it is the job's: a tenant's transaction
// queues no job for another one, and the database refuses it, too (migration 0151).
type owned interface{ ForTenant() core.TenantID }

// checkOwner panics if arguments name a tenant elsewhere than in the field "tenant", where the database looks for it, or
// not by ForTenant. Both are mistakes in the code.
func checkOwner(args river.JobArgs) {
	_, isOwned := args.(owned)
	var names, tagged bool
	for _, field := range reflect.VisibleFields(reflect.TypeOf(args)) {
		if field.Type == reflect.TypeFor[core.TenantID]() {
			names, tagged = true, field.Tag.Get("json") == "tenant"
		}
	}
	if names != isOwned || tagged != isOwned {
		panic(args.Kind() + `: arguments name their tenant by a field "tenant" and by ForTenant, or not at all`)
	}
}

const pendingSQL = `
	select args, state = 'cancelled' as cancelled
	from river.river_job
	where kind = any(@kinds)
		and state in ('available', 'scheduled', 'retryable', 'running', 'cancelled')`

// Pending returns the arguments of all unfinished jobs of a kind, and of those that an operator
// cancelled in the last day, so that a caller can find lost jobs.
func Pending[T river.JobArgs](ctx context.Context, tx *db.Tx) (pending, cancelled []T, err error) {
	var kind T
	rows, err := db.All[struct {
		Args      []byte
		Cancelled bool
	}](ctx, tx, pendingSQL, db.Args{"kinds": kinds(kind)})
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

// Again returns an error with which a handler has its job run again after a while. It counts neither
// as a failure nor as an attempt.
func Again(after time.Duration) error { return river.JobSnooze(after) }

// Start runs jobs until Stop.
func (q *Queue) Start(ctx context.Context) error {
	if err := q.client.Start(ctx); err != nil {
		return err
	}
	ctx, q.endRenewal = context.WithCancel(ctx)
	q.renewalEnded = make(chan struct{})
	go q.renewClaims(ctx)
	return nil
}

// Stop waits a while for the running jobs. Then it cancels them and puts them back into the queue for
// the next process.
func (q *Queue) Stop(ctx context.Context) error {
	if err := q.client.Stop(ctx); err != nil {
		return err // jobs that still run keep their claims until the process ends
	}
	if q.endRenewal != nil {
		q.endRenewal()
		<-q.renewalEnded
	}
	return nil
}
