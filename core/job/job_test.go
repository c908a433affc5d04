package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
)

type greeting struct {
	Name string `json:"name"`
}

func (greeting) Kind() string { return "greeting" }

// errand is a tenant's job.
type errand struct {
	Tenant core.TenantID `json:"tenant"`
	N      int           `json:"n"`
}

func (errand) Kind() string { return "errand" }

func (e errand) ForTenant() core.TenantID { return e.Tenant }

type tidying struct{}

func (tidying) Kind() string { return "tidying" }

// floor is a test's own database with a queue.
type floor struct {
	*job.Queue
	db  *db.DB
	by  core.Actor
	log *record
}

func newFloor(t *testing.T) floor {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return floor{db: d, by: dbtest.Tenant(t, d)}.with(t, job.New)
}

// newHastyFloor returns a floor whose claims last seconds.
func newHastyFloor(t *testing.T) floor {
	t.Helper()
	return newFloor(t).with(t, job.NewHasty)
}

// with returns another queue on the same database, like another process.
func (f floor) with(t *testing.T, newQueue func(*db.DB, *slog.Logger) (*job.Queue, error)) floor {
	t.Helper()
	f.log = &record{}
	q, err := newQueue(f.db, slog.New(slog.NewTextHandler(f.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	f.Queue = q
	return f
}

// record collects log lines.
type record struct {
	sync.Mutex
	bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.Lock()
	defer r.Unlock()
	return r.Buffer.Write(b)
}

// lines returns the lines that contain a text.
func (r *record) lines(text string) (found []string) {
	r.Lock()
	defer r.Unlock()
	for line := range strings.Lines(r.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// queue adds jobs in a transaction of the platform.
func (f floor) queue(t *testing.T, jobs ...job.Args) {
	t.Helper()
	_, err := db.In(t.Context(), f.db.Platform(), func(tx *db.Tx) (int, error) {
		return 0, f.AddAll(t.Context(), tx, jobs)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// errands returns n errands of a tenant.
func errands(tenant core.TenantID, from, n int) (jobs []job.Args) {
	for i := range n {
		jobs = append(jobs, errand{tenant, from + i})
	}
	return jobs
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// one returns the value of a query.
func one[T any](t *testing.T, f floor, query string, args ...any) (v T) {
	t.Helper()
	if err := dbtest.Owner(f.db).QueryRow(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func (f floor) start(t *testing.T) {
	t.Helper()
	if err := f.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func (f floor) stop(t *testing.T) {
	t.Helper()
	if err := f.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// greet queues a greeting in a transaction that ends with an error or not.
func (f floor) greet(ctx context.Context, name string, end error) error {
	_, err := db.In(ctx, f.db.Tenant(f.by), func(tx *db.Tx) (int, error) {
		if err := f.Add(ctx, tx, greeting{name}); err != nil {
			return 0, err
		}
		return 0, end
	})
	return err
}

func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came")
	}
	return v
}

// A job runs after the commit of its transaction, or never.
func TestAJobRunsAfterTheCommitOrNever(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	greeted := make(chan string, 10)
	job.Handle(f.Queue, job.Upkeep, func(_ context.Context, g greeting) error { greeted <- g.Name; return nil })

	changed := errors.New("changed my mind")
	if err := f.greet(t.Context(), "never", changed); !errors.Is(err, changed) {
		t.Fatal(err)
	}
	if err := f.greet(t.Context(), "Anna", nil); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	if got := receive(t, greeted); got != "Anna" {
		t.Errorf("greeted %s, want Anna", got)
	}
	if err := f.greet(t.Context(), "Bo", nil); err != nil { // while it runs
		t.Fatal(err)
	}
	if got := receive(t, greeted); got != "Bo" {
		t.Errorf("greeted %s, want Bo", got)
	}
	f.stop(t)
	if len(greeted) != 0 {
		t.Errorf("greeted %s as well", <-greeted)
	}
}

// AddAt queues a job that runs at an instant, never after a rollback, and with the next process if none was
// running.
func TestAJobWaitsForItsInstant(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	greetAt := func(name string, at time.Time, end error) error {
		_, err := db.In(t.Context(), f.db.Tenant(f.by), func(tx *db.Tx) (int, error) {
			if err := f.AddAt(t.Context(), tx, greeting{name}, at); err != nil {
				return 0, err
			}
			return 0, end
		})
		return err
	}
	greeted := make(chan string, 10)
	job.Handle(f.Queue, job.Mail, func(_ context.Context, g greeting) error { greeted <- g.Name; return nil })
	changed := errors.New("changed my mind")
	if err := greetAt("never", f.db.Now().Add(-time.Minute), changed); !errors.Is(err, changed) {
		t.Fatal(err)
	}
	inAnHour := f.db.Now().Add(time.Hour)
	if err := errors.Join(greetAt("Anna", inAnHour, nil), greetAt("Bo", f.db.Now().Add(-time.Minute), nil)); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	if got := receive(t, greeted); got != "Bo" {
		t.Errorf("greeted %s, want Bo", got)
	}
	f.stop(t)
	if len(greeted) != 0 {
		t.Errorf("greeted %s as well", <-greeted)
	}
	var state string
	var at time.Time
	err := dbtest.Owner(f.db).QueryRow(t.Context(), "select state, scheduled_at from river.river_job where args->>'name' = 'Anna'").Scan(&state, &at)
	if err != nil || state != "scheduled" || !at.Equal(inAnHour) {
		t.Errorf("the other one is %s at %s, %v, want scheduled at %s", state, at, err, inAnHour)
	}
}

// A failed job runs again.
func TestAJobThatFailsIsRunAgain(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	runs := make(chan string, 10)
	var failed atomic.Bool
	job.Handle(f.Queue, job.Upkeep, func(_ context.Context, g greeting) error {
		runs <- g.Name
		if failed.CompareAndSwap(false, true) {
			return errors.New("not now")
		}
		return nil
	})
	if err := f.greet(t.Context(), "Anna", nil); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	defer f.stop(t)
	receive(t, runs)
	receive(t, runs)
}

// "Jobs … log the request that caused them": every line of a job, of the jobs that it queues, and about its failures and
// panics has the ID of the request. Jobs that no request caused have none.
func TestLinesOfAJobNameTheRequestThatCausedIt(t *testing.T) {
	t.Parallel()
	const request = "01JAKZW3M8Q4"
	f, written := newFloor(t), &record{}
	log := slog.New(core.LogRequests(slog.NewTextHandler(written, nil)))
	q, err := job.New(f.db, slog.New(core.LogRequests(slog.NewTextHandler(written, &slog.HandlerOptions{Level: slog.LevelWarn}))))
	if err != nil {
		t.Fatal(err)
	}
	f.Queue = q
	job.Handle(q, job.Upkeep, func(ctx context.Context, g greeting) error {
		log.InfoContext(ctx, "greeting", slog.String("name", g.Name))
		_, err := db.In(ctx, f.db.Tenant(f.by), func(tx *db.Tx) (int, error) {
			return 0, q.AddAll(ctx, tx, errands(tx.Tenant, 0, 1))
		})
		return errors.Join(err, errors.New("not at home"))
	})
	job.Handle(q, job.Mail, func(ctx context.Context, _ errand) error {
		log.InfoContext(ctx, "on an errand")
		panic("the street is closed")
	})
	job.Handle(q, job.Upkeep, func(ctx context.Context, _ tidying) error {
		log.InfoContext(ctx, "tidying")
		return errors.New("too much")
	})
	job.Every(q, time.Hour, tidying{})
	ctx, _ := core.WithRequestLog(t.Context(), request)
	if err := f.greet(ctx, "Anna", nil); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	defer f.stop(t)
	await(t, "the jobs have run", func() bool {
		return len(written.lines("panic: the street is closed")) > 0 && len(written.lines("too much")) > 0
	})
	for line, of := range map[string]string{
		"name=Anna": request, "not at home": request, "on an errand": request, "panic: the street is closed": request,
		"msg=tidying": "", "too much": "",
	} {
		lines := written.lines(line)
		if len(lines) == 0 {
			t.Errorf("no line says %q", line)
		}
		for _, l := range lines {
			if _, got, _ := strings.Cut(strings.TrimSpace(l), " request="); got != of {
				t.Errorf("the request of %q is %q, want %q", l, got, of)
			}
		}
	}
}

// A job has a minute, or the time limit of its kind.
func TestAJobGetsItsTime(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	left := make(chan time.Duration, 10)
	until := func(ctx context.Context) error {
		end, _ := ctx.Deadline()
		left <- time.Until(end).Round(time.Minute)
		return nil
	}
	job.HandleWithin(f.Queue, job.Upkeep, 7*time.Minute, func(ctx context.Context, _ greeting) error { return until(ctx) })
	job.Handle(f.Queue, job.Upkeep, func(ctx context.Context, _ tidying) error { return until(ctx) })
	if err := f.greet(t.Context(), "Anna", nil); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	defer f.stop(t)
	if got := receive(t, left); got != 7*time.Minute {
		t.Errorf("%s, want 7m", got)
	}
	if _, err := db.In(t.Context(), f.db.Tenant(f.by), func(tx *db.Tx) (int, error) { return 0, f.Add(t.Context(), tx, tidying{}) }); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, left); got != time.Minute {
		t.Errorf("%s, want 1m", got)
	}
}

// Stop waits for running jobs.
func TestStopLetsARunningJobFinish(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	running, finish, finished := make(chan string), make(chan bool), make(chan bool, 1)
	job.Handle(f.Queue, job.Upkeep, func(_ context.Context, g greeting) error {
		running <- g.Name
		<-finish
		finished <- true
		return nil
	})
	if err := f.greet(t.Context(), "Anna", nil); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	receive(t, running)
	stopped := make(chan error)
	go func() { stopped <- f.Stop(context.Background()) }()
	select {
	case err := <-stopped:
		t.Fatalf("stopped beside a running job: %v", err)
	default:
	}
	close(finish)
	if err := receive(t, stopped); err != nil || len(finished) != 1 {
		t.Errorf("stopped: %v, finished %d jobs", err, len(finished))
	}
}

// Every runs a job at the start and at its interval.
func TestEveryRunsAtTheStart(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	tidied := make(chan bool, 10)
	job.Handle(f.Queue, job.Upkeep, func(context.Context, tidying) error { tidied <- true; return nil })
	job.Every(f.Queue, time.Hour, tidying{})
	f.start(t)
	defer f.stop(t)
	receive(t, tidied)
}

// sweeping is the kind of job that an earlier build calls tidying.
type sweeping struct{}

func (sweeping) Kind() string { return "sweeping" }

func (sweeping) KindAliases() []string { return []string{"tidying"} }

// During an upgrade, this build runs the jobs that an earlier build has queued under another name. Processes of the
// earlier build refuse the new name, and the job waits for one of this build.
func TestARenamedKind(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	earlier := f.with(t, job.New)
	job.Handle(earlier.Queue, job.Upkeep, func(context.Context, tidying) error { return nil })
	swept := make(chan bool, 10)
	job.Handle(f.Queue, job.Upkeep, func(context.Context, sweeping) error { swept <- true; return nil })
	job.Every(f.Queue, time.Hour, sweeping{})
	earlier.start(t)
	f.queue(t, sweeping{})
	await(t, "the earlier build refuses the new name", func() bool {
		return one[int](t, f, "select count(*) from river.river_job where kind = 'sweeping' and errors is not null and finalized_at is null") == 1
	})
	earlier.stop(t)
	earlier.queue(t, tidying{})
	f.start(t)
	for range 3 { // the refused one, the earlier one, and that of the start
		receive(t, swept)
	}
	f.stop(t)
	if got := one[int](t, f, "select max(max_attempts) from river.river_job where kind = 'sweeping' and metadata ? 'periodic'"); got != 8 {
		t.Errorf("the periodic job is tried %d times", got)
	}
	_, err := db.In(t.Context(), f.db.Platform(), func(tx *db.Tx) (int, error) {
		if err := f.Add(t.Context(), tx, sweeping{}); err != nil {
			return 0, err
		}
		if err := earlier.Add(t.Context(), tx, tidying{}); err != nil {
			return 0, err
		}
		pending, _, err := job.Pending[sweeping](t.Context(), tx)
		if len(pending) != 2 {
			t.Errorf("%d jobs of the kind are pending, want 2 under both names", len(pending))
		}
		return 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// "The job's tenant is taken from one place": a tenant's transaction queues no job for another tenant, and a job whose
// arguments name another tenant than its metadata is not run.
func TestAJobIsOfOneTenant(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	mine, other := f.by.Tenant.ID, dbtest.Tenant(t, f.db).Tenant.ID
	done := make(chan errand, 10)
	job.Handle(f.Queue, job.Upkeep, func(_ context.Context, e errand) error { done <- e; return nil })
	for what, add := range map[string]func(tx *db.Tx) error{
		"alone":      func(tx *db.Tx) error { return f.Add(t.Context(), tx, errand{other, 1}) },
		"with mine":  func(tx *db.Tx) error { return f.AddAll(t.Context(), tx, append(errands(mine, 1, 1), errand{other, 1})) },
		"in an hour": func(tx *db.Tx) error { return f.AddAt(t.Context(), tx, errand{other, 1}, time.Now().Add(time.Hour)) },
	} {
		if _, err := db.In(t.Context(), f.db.Tenant(f.by), func(tx *db.Tx) (int, error) { return 0, add(tx) }); err == nil {
			t.Errorf("another tenant's job is queued: %s", what)
		}
	}
	if n := one[int](t, f, "select count(*) from river.river_job where kind = 'errand'"); n != 0 {
		t.Fatalf("%d jobs are queued", n)
	}
	f.queue(t, errand{mine, 1}, errand{other, 2}, errand{mine, 3}, errand{mine, 4})
	if _, err := dbtest.Owner(f.db).Exec(t.Context(), `
		update river.river_job
		set args = case args ->> 'n' when '1' then jsonb_set(args, '{tenant}', to_jsonb($1::bigint)) else args - 'tenant' end
		where args ->> 'n' in ('1', '4')`, int64(other)); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	defer f.stop(t)
	ran := []errand{receive(t, done), receive(t, done)}
	if !slices.Contains(ran, errand{other, 2}) || !slices.Contains(ran, errand{mine, 3}) {
		t.Errorf("%v ran, want the second of %d and the third of %d", ran, other, mine)
	}
	await(t, "the first and the last, which names none, are cancelled", func() bool {
		return one[int](t, f, "select count(*) from river.river_job where args ->> 'n' in ('1', '4') and state = 'cancelled'") == 2
	})
	if lines := f.log.lines("another tenant"); len(lines) != 2 {
		t.Errorf("logged %q", lines)
	}
}

// untagged and unnamed are mistakes: the database finds no tenant in their arguments.
type (
	untagged struct{ Tenant core.TenantID }
	unnamed  struct {
		Tenant core.TenantID `json:"tenant"`
	}
	unowned struct{}
)

func (untagged) Kind() string { return "untagged" }

func (u untagged) ForTenant() core.TenantID { return u.Tenant }

func (unnamed) Kind() string { return "unnamed" }

func (unowned) Kind() string { return "unowned" }

func (unowned) ForTenant() core.TenantID { return 1 }

// Arguments name their tenant by a field "tenant" and by ForTenant, or not at all.
func TestArgumentsNameTheirTenant(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	for kind, handle := range map[string]func(){
		"untagged": func() { job.Handle(f.Queue, job.Upkeep, func(context.Context, untagged) error { return nil }) },
		"unnamed":  func() { job.Handle(f.Queue, job.Upkeep, func(context.Context, unnamed) error { return nil }) },
		"unowned":  func() { job.Handle(f.Queue, job.Upkeep, func(context.Context, unowned) error { return nil }) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a handler of %s is registered", kind)
				}
			}()
			handle()
		}()
	}
}

// A queue that stops while it starts logs nothing about cancelled work.
func TestAStopIsNoFault(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	for range 5 {
		q, err := job.New(d, log)
		if err != nil {
			t.Fatal(err)
		}
		job.Handle(q, job.Upkeep, func(context.Context, tidying) error { return nil })
		job.Every(q, time.Hour, tidying{})
		if err := q.Start(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
		if err := q.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(said.String(), context.Canceled.Error()) {
		t.Errorf("the log says %s", said.String())
	}
}

// A job runs not before its time.
func TestAddAt(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	greeted := make(chan string, 10)
	job.Handle(f.Queue, job.Mail, func(_ context.Context, g greeting) error { greeted <- g.Name; return nil })
	for name, at := range map[string]time.Time{"later": time.Now().Add(time.Hour), "soon": time.Now().Add(time.Second), "now": {}} {
		_, err := db.In(t.Context(), f.db.Tenant(f.by), func(tx *db.Tx) (int, error) {
			return 0, f.AddAt(t.Context(), tx, greeting{name}, at)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	f.start(t)
	defer f.stop(t)
	if first, second := receive(t, greeted), receive(t, greeted); first != "now" || second != "soon" {
		t.Errorf("greeted %s, then %s", first, second)
	}
	if got := one[string](t, f, "select state::text from river.river_job where args ->> 'name' = 'later'"); got != "scheduled" || len(greeted) > 0 {
		t.Errorf("the job of an hour later is %s", got)
	}
}

// Again counts neither as a failure nor as an attempt.
func TestAgain(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	var runs atomic.Int32
	job.Handle(f.Queue, job.Mail, func(context.Context, greeting) error {
		if runs.Add(1) < 4 {
			return fmt.Errorf("not yet: %w", job.Again(10*time.Millisecond))
		}
		return nil
	})
	f.queue(t, greeting{"Anna"})
	f.start(t)
	defer f.stop(t)
	const state = "select state || ' ' || attempt || ' ' || coalesce(cardinality(errors), 0) from river.river_job"
	await(t, "the job is done", func() bool { return one[string](t, f, state) == "completed 1 0" })
	if lines := f.log.lines("greeting"); runs.Load() != 4 || len(lines) > 0 {
		t.Errorf("%d runs, logged %q", runs.Load(), lines)
	}
}

// A kind without a handler is refused when it is queued.
func TestAKindWithoutAHandlerIsRefused(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	job.Handle(f.Queue, job.Upkeep, func(context.Context, tidying) error { return nil })
	if err := f.greet(t.Context(), "Anna", nil); err == nil || !strings.Contains(err.Error(), "greeting") {
		t.Errorf("queued: %v", err)
	}
	if n := one[int](t, f, "select count(*) from river.river_job"); n != 0 {
		t.Errorf("%d jobs", n)
	}
}

// "A job that failed is logged once, with kind and id."
func TestAFailureIsLoggedOnce(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("no luck") },
		"panic": func() error { panic("no luck") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFloor(t)
			job.Handle(f.Queue, job.Sends, func(context.Context, greeting) error { return fail() })
			f.queue(t, greeting{"Anna"})
			f.start(t)
			defer f.stop(t)
			await(t, "the job failed", func() bool { return one[bool](t, f, "select errors is not null from river.river_job") })
			id := one[int64](t, f, "select id from river.river_job")
			attempts := one[int](t, f, "select cardinality(errors) from river.river_job")
			lines := f.log.lines("no luck")
			if len(lines) < attempts || len(lines) > attempts+1 { // the next attempt may be under way
				t.Fatalf("%d attempts, logged %q", attempts, lines)
			}
			for _, part := range []string{"id=" + strconv.FormatInt(id, 10), "kind=greeting"} {
				if !strings.Contains(lines[0], part) {
					t.Errorf("%s is missing in %s", part, lines[0])
				}
			}
		})
	}
}

// Retries come after a second, then less and less often, and from the eighth attempt on every hour for six
// days, because a mail is given up after five.
func TestRetryDelays(t *testing.T) {
	t.Parallel()
	var all time.Duration
	for attempt := 1; attempt < job.MaxAttempts; attempt++ {
		delay := job.RetryDelay(attempt)
		if delay < job.RetryDelay(attempt-1) || delay > time.Hour {
			t.Errorf("after %d attempts: %s", attempt, delay)
		}
		all += delay
	}
	if job.RetryDelay(1) != time.Second || job.RetryDelay(2) != 16*time.Second || job.RetryDelay(8) != time.Hour {
		t.Errorf("delays: %s, %s, …, %s", job.RetryDelay(1), job.RetryDelay(2), job.RetryDelay(8))
	}
	if all*9/10 < 5*24*time.Hour || all > 7*24*time.Hour { // 10% less at worst
		t.Errorf("a job is tried for %s", all)
	}
}
