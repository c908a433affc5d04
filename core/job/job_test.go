package job_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

type greeting struct {
	Name string `json:"name"`
}

func (greeting) Kind() string { return "greeting" }

type tidying struct{}

func (tidying) Kind() string { return "tidying" }

// floor is a database of the test's own with a queue on it.
type floor struct {
	*job.Queue
	db *db.DB
	by core.Actor
}

func newFloor(t *testing.T) floor {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	q, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return floor{q, d, dbtest.Tenant(t, d)}
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

// greet queues a greeting in a transaction that ends so.
func (f floor) greet(ctx context.Context, name string, end error) error {
	_, err := db.InTenant(ctx, f.db, f.by, func(tx *db.Tx) (int, error) {
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

// "Queues work in the transaction of its cause": it runs after the commit, or never.
func TestAJobRunsAfterTheCommitOrNever(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	greeted := make(chan string, 10)
	job.Handle(f.Queue, func(_ context.Context, g greeting) error { greeted <- g.Name; return nil })

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

// "Effects leave through the database": a job that fails is run again.
func TestAJobThatFailsIsRunAgain(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	runs := make(chan string, 10)
	var failed atomic.Bool
	job.Handle(f.Queue, func(_ context.Context, g greeting) error {
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

// "A minute each time", or as long as the work may take.
func TestAJobGetsItsTime(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	left := make(chan time.Duration, 10)
	until := func(ctx context.Context) error {
		end, _ := ctx.Deadline()
		left <- time.Until(end).Round(time.Minute)
		return nil
	}
	job.HandleWithin(f.Queue, 7*time.Minute, func(ctx context.Context, _ greeting) error { return until(ctx) })
	job.Handle(f.Queue, func(ctx context.Context, _ tidying) error { return until(ctx) })
	if err := f.greet(t.Context(), "Anna", nil); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	defer f.stop(t)
	if got := receive(t, left); got != 7*time.Minute {
		t.Errorf("%s, want 7m", got)
	}
	if _, err := db.InTenant(t.Context(), f.db, f.by, func(tx *db.Tx) (int, error) { return 0, f.Add(t.Context(), tx, tidying{}) }); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, left); got != time.Minute {
		t.Errorf("%s, want 1m", got)
	}
}

// "Stop lets the running jobs finish."
func TestStopLetsARunningJobFinish(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	running, finish, finished := make(chan string), make(chan bool), make(chan bool, 1)
	job.Handle(f.Queue, func(_ context.Context, g greeting) error {
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
	job.Handle(f.Queue, func(context.Context, tidying) error { tidied <- true; return nil })
	job.Every(f.Queue, river.PeriodicInterval(time.Hour), tidying{})
	f.start(t)
	defer f.stop(t)
	receive(t, tidied)
}

// A queue that stops while it is still starting says nothing of what it broke off.
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
		job.Handle(q, func(context.Context, tidying) error { return nil })
		job.Every(q, river.PeriodicInterval(time.Hour), tidying{})
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
