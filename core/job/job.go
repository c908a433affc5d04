// Package job queues jobs in the caller's transaction and runs them after the commit. Each kind of job belongs to a lane
// with its own workers.
//
// Its surprising rule: a job may run more than once, for a moment even twice at the same time, so it
// must be safe to repeat. A process renews its claims on the jobs that it runs; a job whose claim is
// not renewed goes to another process (claim.go).
//
// Earlier builds kept the queue with the library River, in the table that this package still uses. During an upgrade, and
// after going back, they take jobs that this build has queued, and the other way round. So what is stored here, and how
// processes notify each other, is what River would understand.
package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
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
	name     string             // of this process, among those that take jobs
	handlers map[string]handler // by kind
	log      *slog.Logger
	timing   timing
	wake     map[Lane]chan struct{} // has a lane look for jobs

	mu   sync.Mutex
	busy map[Lane]int // workers
	held map[attempt]*claim

	periodic []periodicJob
	term     time.Time // when this process began to lead; zero: another one leads

	looking, working sync.WaitGroup
	endLooking       context.CancelFunc // nil until the start
	endWork          context.CancelCauseFunc
}

// handler runs a kind of job.
type handler struct {
	lane  Lane
	limit time.Duration // the longest time
	work  func(ctx context.Context, j taken) error
}

// New makes a queue. Its database must be opened for listening and must not be a transaction
// pooler's.
func New(d *db.DB, log *slog.Logger) (*Queue, error) { return newQueue(d, log, production), nil }

// Args are the arguments of a job, which are stored as JSON. Kind names what the job does.
type Args interface{ Kind() string }

// renamed are arguments of a kind that earlier builds queue under other names.
type renamed interface{ KindAliases() []string }

// handlerLimit is the time limit of most kinds of jobs.
const handlerLimit = time.Minute

// Handle registers the handler of a kind of job, with a time limit of a minute.
func Handle[T Args](q *Queue, lane Lane, work func(ctx context.Context, args T) error) {
	HandleWithin(q, lane, handlerLimit, work)
}

// HandleWithin is Handle with another time limit.
func HandleWithin[T Args](q *Queue, lane Lane, limit time.Duration, work func(ctx context.Context, args T) error) {
	var kind T
	checkOwner(kind)
	h := handler{lane, limit, func(ctx context.Context, j taken) error {
		var args T
		if err := json.Unmarshal(j.Args, &args); err != nil {
			return err
		}
		if o, isOwned := any(args).(owned); isOwned && o.ForTenant() != originOf(j.Metadata).Tenant {
			return errOtherTenant
		}
		return work(ctx, args)
	}}
	for _, name := range kinds(kind) {
		q.handlers[name] = h
	}
}

// kinds returns the name of a kind of job, and those that earlier builds queue it under.
func kinds(args Args) []string {
	names := []string{args.Kind()}
	if r, isRenamed := args.(renamed); isRenamed {
		names = append(names, r.KindAliases()...)
	}
	return names
}

// OrHold returns a handler for jobs that act for a business (core.Job). If the business is suspended, hold keeps
// what the job would have done until the people of the business decide, and the job ends.
func OrHold[T Args](work, hold func(ctx context.Context, args T) error) func(ctx context.Context, args T) error {
	return func(ctx context.Context, args T) error {
		err := work(ctx, args)
		if errors.Is(err, core.ErrSuspended) {
			return hold(ctx, args)
		}
		return err
	}
}

// Add queues a job in the transaction, to run after the commit. The job is of the transaction's tenant or, on the
// platform, of the one that args name (owned).
func (q *Queue) Add(ctx context.Context, tx *db.Tx, args Args) error {
	return q.AddAt(ctx, tx, args, time.Time{})
}

// AddAt is Add for a job that runs at a time. The zero time is now.
func (q *Queue) AddAt(ctx context.Context, tx *db.Tx, args Args, at time.Time) error {
	return q.add(ctx, tx, at, []Args{args})
}

// AddAll is Add for many jobs.
func (q *Queue) AddAll(ctx context.Context, tx *db.Tx, all []Args) error {
	return q.add(ctx, tx, time.Time{}, all)
}

// insertSQL stores jobs, given as JSON (queued).
const insertSQL = `
	insert into river.river_job (kind, queue, args, metadata, max_attempts, state, scheduled_at)
	select kind, lane, args, metadata, max_attempts,
		case when @at::timestamptz > now() then 'scheduled' else 'available' end::river.river_job_state, coalesce(@at, now())
	from jsonb_to_recordset(@jobs::jsonb) job (kind text, lane text, args jsonb, metadata jsonb, max_attempts int)`

// add queues jobs with the next statement of the transaction or its commit.
func (q *Queue) add(ctx context.Context, tx *db.Tx, at time.Time, all []Args) error {
	jobs := make([]queued, len(all))
	toWake := map[Lane]bool{}
	for i, args := range all {
		var err error
		if jobs[i], err = q.queued(args, tx.Tenant, core.RequestID(ctx)); err != nil {
			return err
		}
		toWake[jobs[i].Lane] = true
	}
	if len(jobs) == 0 {
		return nil
	}
	var when *time.Time
	if !at.IsZero() {
		when = &at
	}
	if err := db.Queue(tx, insertSQL, db.Args{"jobs": jobs, "at": when}); err != nil {
		return err
	}
	if !at.After(tx.Now) {
		for lane := range toWake {
			announce(tx, queuedChannel, message{Lane: lane})
		}
	}
	return nil
}

var (
	errNoHandler   = errors.New("no handler for jobs of this kind")
	errOtherTenant = errors.New("the job's arguments name another tenant")
)

// queued is a job as insertSQL stores it.
type queued struct {
	Kind        string `json:"kind"`
	Lane        Lane   `json:"lane"`
	Args        Args   `json:"args"`
	Metadata    origin `json:"metadata"`
	MaxAttempts int    `json:"max_attempts"`
}

// queued returns a job with its lane, its tenant, and the request that causes it.
func (q *Queue) queued(args Args, tenant core.TenantID, request string) (queued, error) {
	h, known := q.handlers[args.Kind()]
	if !known {
		return queued{}, fmt.Errorf("queue %s: %w", args.Kind(), errNoHandler)
	}
	if o, isOwned := args.(owned); isOwned {
		if tenant != 0 && o.ForTenant() != tenant {
			return queued{}, fmt.Errorf("queue %s: %w", args.Kind(), errOtherTenant)
		}
		tenant = o.ForTenant()
	}
	return queued{args.Kind(), h.lane, args, origin{Tenant: tenant, Request: request}, maxAttempts}, nil
}

// origin is where a job comes from, in its metadata. The arguments of each kind differ, and statements and the log need one
// place to look.
type origin struct {
	Tenant   core.TenantID `json:"tenant,omitempty"`   // 0: the platform
	Request  string        `json:"request,omitempty"`  // the request that caused it, maybe through other jobs; "": none
	Periodic bool          `json:"periodic,omitempty"` // Every queued it
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
func checkOwner(args Args) {
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
func Pending[T Args](ctx context.Context, tx *db.Tx) (pending, cancelled []T, err error) {
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
