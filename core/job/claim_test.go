package job_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
)

// "Stuck work is taken up within two minutes" after a process is killed, in the worst case.
func TestAbandonedJobsAreTakenUpWithinTwoMinutes(t *testing.T) {
	t.Parallel()
	renew, lease, rescue, patience, _ := job.Production()
	// The claim was renewed just before the kill, and another process has just searched. Its statement is slow,
	// fails, and succeeds the next time. The process that takes jobs misses the notification, polls (a tenth later
	// than usual), and is slow, too.
	worst := rescue + 2*(renew+patience) + job.PollEvery + patience
	t.Logf("at worst %s", worst)
	if worst >= 2*time.Minute {
		t.Errorf("an abandoned job is taken up after %s", worst)
	}
	// The work of a living process stops before its job is taken. Its lease counts from the answer to the last
	// renewal, which started earlier.
	if lease+patience >= rescue {
		t.Errorf("work stops %s after its claim was renewed, and another process may begin after %s", lease+patience, rescue)
	}
	// Two renewals may fail, each as late as possible.
	if 3*renew+patience-renew > lease {
		t.Errorf("two renewals that fail end a claim of %s", lease)
	}
}

// "Long work that renews is not run twice", however many processes search for abandoned jobs.
func TestWorkThatRenewsItsClaimIsNotRunTwice(t *testing.T) {
	t.Parallel()
	f := newHastyFloor(t)
	other := f.with(t, job.NewHasty)
	var runs atomic.Int32
	work := func(ctx context.Context, _ greeting) error {
		runs.Add(1)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(job.HastyRescue + 1500*time.Millisecond):
			return nil
		}
	}
	job.Handle(f.Queue, job.Imports, work)
	job.Handle(other.Queue, job.Imports, work)
	f.queue(t, greeting{"Anna"})
	f.start(t)
	defer f.stop(t)
	other.start(t)
	defer other.stop(t)
	await(t, "the work is done", func() bool { return one[string](t, f, "select state::text from river.river_job") == "completed" })
	if got := one[int](t, f, "select attempt from river.river_job"); got != 1 || runs.Load() != 1 {
		t.Errorf("%d attempts, %d runs", got, runs.Load())
	}
}

// "Where the claim is lost, the job's context ends", and the attempt's outcome doesn't overwrite the next
// attempt's.
func TestLostClaimStopsWork(t *testing.T) {
	t.Parallel()
	f := newHastyFloor(t)
	stopped := make(chan error, 10)
	finish := make(chan bool)
	var runs atomic.Int32
	job.Handle(f.Queue, job.Mail, func(ctx context.Context, _ greeting) error {
		if runs.Add(1) > 1 {
			<-finish
			return nil
		}
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return errors.New("what the first attempt came to")
	})
	f.queue(t, greeting{"Anna"})
	f.start(t)
	defer f.stop(t)
	defer close(finish)
	await(t, "the work begins", func() bool { return runs.Load() == 1 })
	// Another process takes the job.
	if _, err := dbtest.Owner(f.db).Exec(t.Context(), "update river.river_job set attempt = 2, attempted_at = now() + interval '1 hour'"); err != nil {
		t.Fatal(err)
	}
	if cause := receive(t, stopped); cause == nil || errors.Is(cause, context.DeadlineExceeded) {
		t.Errorf("the work was stopped by %v", cause)
	}
	time.Sleep(500 * time.Millisecond) // for what must not be written
	if got := one[string](t, f, "select state || ' ' || attempt || ' ' || coalesce(cardinality(errors), 0) from river.river_job"); got != "running 2 0" {
		t.Errorf("the other process's attempt became %s", got)
	}
	if lines := f.log.lines("job stopped"); len(lines) != 1 {
		t.Errorf("logged %q", f.log.lines(""))
	}
}

// "… or cannot be renewed for 45 s": work stops before another process may take its job.
func TestUnrenewedClaimStopsWork(t *testing.T) {
	t.Parallel()
	f := newHastyFloor(t)
	began, stopped := make(chan time.Time, 10), make(chan time.Time, 10)
	job.Handle(f.Queue, job.Mail, func(ctx context.Context, _ greeting) error {
		began <- time.Now()
		<-ctx.Done()
		stopped <- time.Now()
		return ctx.Err()
	})
	f.queue(t, greeting{"Anna"})
	f.start(t)
	defer f.stop(t)
	receive(t, began)
	held, err := dbtest.Owner(f.db).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), "select from river.river_job for update"); err != nil {
		t.Fatal(err)
	}
	cut := time.Now()
	at := receive(t, stopped)
	if took := at.Sub(cut); took > job.HastyLease+2*time.Second { // for the machine
		t.Errorf("stopped %s after its claim could not be renewed", took)
	}
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := receive(t, began); again.Before(at) {
		t.Error("the job began anew before it was stopped")
	}
}

// Work that ignores its time limit loses its job to another worker, and its outcome is not stored.
func TestWorkThatDoesNotEndLosesItsJob(t *testing.T) {
	t.Parallel()
	f := newHastyFloor(t)
	var runs atomic.Int32
	finish := make(chan bool)
	end := sync.OnceFunc(func() { close(finish) })
	job.HandleWithin(f.Queue, job.Mail, 300*time.Millisecond, func(context.Context, greeting) error {
		if runs.Add(1) == 1 {
			<-finish
			return errors.New("far too late")
		}
		return nil
	})
	f.queue(t, greeting{"Anna"})
	f.start(t)
	defer f.stop(t)
	defer end()
	const state = "select state || ' ' || attempt || ' ' || coalesce(cardinality(errors), 0) from river.river_job"
	await(t, "another worker did it", func() bool { return one[string](t, f, state) == "completed 2 1" })
	end()
	time.Sleep(300 * time.Millisecond)
	if got := one[string](t, f, state); got != "completed 2 1" {
		t.Errorf("the job became %s", got)
	}
}

// A job that loses its process repeatedly waits longer each time and is given up in the end. One that was to
// be cancelled is cancelled.
func TestAbandonedJobs(t *testing.T) {
	t.Parallel()
	f := newHastyFloor(t)
	for name, c := range map[string]struct {
		row  string // attempt, max_attempts, metadata
		want string // its state, in how many seconds it runs, its number of errors
	}{
		"the first time": {`1, 150, '{}'`, "available 0 1"},
		"the third":      {`4, 150, '{"rescues": 2}'`, "available 16 1"},
		"the 20th":       {`20, 150, '{"rescues": 19}'`, "available 3600 1"},
		"the last":       {`150, 150, '{"rescues": 3}'`, "discarded 81 1"},
		"cancelled":      {`1, 150, '{"cancel_attempted_at": "2026-03-01T12:00:00Z"}'`, "cancelled 0 1"},
	} {
		_, err := dbtest.Owner(f.db).Exec(t.Context(), `
			insert into river.river_job (args, kind, queue, state, attempted_at, tags, attempt, max_attempts, metadata)
			select '{}', 'tidying', 'upkeep', 'running', now() - interval '5 s', array[$1::text], `+c.row, name)
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := dbtest.Owner(f.db).Exec(t.Context(), `
		insert into river.river_job (args, kind, queue, state, attempted_at, tags, attempt, max_attempts)
		select '{}', 'tidying', 'upkeep', 'running', now() + interval '1 hour', array['alive'], 1, 150`)
	if err != nil {
		t.Fatal(err)
	}
	f.RescueOnce(t.Context())
	for name, want := range map[string]string{
		"the first time": "available 0 1", "the third": "available 16 1", "the 20th": "available 3600 1",
		"the last": "discarded 81 1", "cancelled": "cancelled 0 1", "alive": "running 0 0",
	} {
		got := one[string](t, f, `
			select state || ' ' || round(extract(epoch from greatest(scheduled_at - now(), interval '0'))) || ' ' || coalesce(cardinality(errors), 0)
			from river.river_job where tags = array[$1::text]::varchar[]`, name)
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := one[int](t, f, "select count(*) from river.river_job where (state in ('discarded', 'cancelled')) <> (finalized_at is not null)"); got != 0 {
		t.Errorf("%d jobs are final without a time, or the other way round", got)
	}
	if lines := f.log.lines("abandoned job taken back"); len(lines) != 5 {
		t.Errorf("logged %q", lines)
	}
	// Its error is no obstacle.
	job.Handle(f.Queue, job.Upkeep, func(context.Context, tidying) error { return nil })
	f.start(t)
	defer f.stop(t)
	await(t, "the first one is run", func() bool {
		return one[string](t, f, "select state::text from river.river_job where tags = array['the first time']::varchar[]") == "completed"
	})
}

// A stop cancels long work after a while and puts it back into the queue, without counting an attempt.
func TestAStopPutsLongWorkBack(t *testing.T) {
	t.Parallel()
	f := newHastyFloor(t)
	running := make(chan bool, 10)
	job.HandleWithin(f.Queue, job.Imports, time.Hour, func(ctx context.Context, _ greeting) error {
		running <- true
		<-ctx.Done()
		return ctx.Err()
	})
	f.queue(t, greeting{"Anna"})
	f.start(t)
	receive(t, running)
	f.stop(t)
	if got := one[string](t, f, "select state || ' ' || attempt || ' ' || coalesce(cardinality(errors), 0) from river.river_job"); got != "available 0 0" {
		t.Errorf("the job is %s", got)
	}
}
