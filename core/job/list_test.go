package job_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
)

// office is a queue with a job in every state, none of which runs.
type office struct {
	floor
	ids map[string]int64 // by what is said of them below
}

func newOffice(t *testing.T) office {
	t.Helper()
	o := office{newFloor(t), map[string]int64{}}
	const failed = `array['{"at": "2026-03-01T12:00:00Z", "attempt": 1, "error": "first", "trace": ""}', '{"at": "2026-03-01T12:01:00Z", "attempt": 2, "error": "no luck\nat all", "trace": ""}']::jsonb[]`
	for _, j := range []struct{ name, queue, state, attempt, errors, finalized, scheduled string }{
		{"waiting", "mail", "available", "0", "null", "null", "now() - interval '5 min'"},
		{"planned", "mail", "scheduled", "0", "null", "null", "now() + interval '1 h'"},
		{"retried", "mail", "retryable", "2", failed, "null", "now() + interval '1 min'"},
		{"again", "sends", "available", "2", failed, "null", "now() - interval '1 min'"},
		{"running", "sends", "running", "1", "null", "null", "now()"},
		{"failed", "imports", "discarded", "2", failed, "now()", "now()"},
		{"cancelled", "imports", "cancelled", "0", "null", "now()", "now()"},
		{"done", "upkeep", "completed", "1", "null", "now()", "now()"},
	} {
		o.ids[j.name] = one[int64](t, o.floor, fmt.Sprintf(`
			insert into river.river_job (args, kind, queue, state, attempt, max_attempts, errors, finalized_at, scheduled_at, metadata, attempted_at)
			values ('{"secret": "hush"}', 'greeting', $1, '%s', %s, 2, %s, %s, %s, jsonb_build_object('tenant', $2::bigint), now())
			returning id`, j.state, j.attempt, j.errors, j.finalized, j.scheduled), j.queue, o.by.Tenant.ID)
	}
	return o
}

func (o office) list(t *testing.T, f job.Filter) (names []string) {
	t.Helper()
	l, err := o.List(t.Context(), f, core.Page{Size: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range l.Items {
		for name, id := range o.ids {
			if id == j.ID {
				names = append(names, name)
			}
		}
	}
	return names
}

// "queued = available, scheduled and retryable; failed = retryable with errors and
// discarded", newest first, in one lane or in all.
func TestFilters(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, c := range []struct {
		filter job.Filter
		want   []string
	}{
		{job.Filter{}, []string{"cancelled", "failed", "running", "again", "retried", "planned", "waiting"}},
		{job.Filter{State: job.Queued}, []string{"again", "retried", "planned", "waiting"}},
		{job.Filter{State: job.Retrying}, []string{"again", "retried"}},
		{job.Filter{State: job.Running}, []string{"running"}},
		{job.Filter{State: job.Failed}, []string{"failed", "again", "retried"}},
		{job.Filter{State: job.Cancelled}, []string{"cancelled"}},
		{job.Filter{Lane: job.Mail}, []string{"retried", "planned", "waiting"}},
		{job.Filter{Lane: job.Sends, State: job.Failed}, []string{"again"}},
		{job.Filter{Lane: job.Upkeep}, nil},
	} {
		if diff := cmp.Diff(c.want, o.list(t, c.filter)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.filter, diff)
		}
	}
	for _, f := range []job.Filter{{State: "completed"}, {Lane: "default"}} {
		if _, err := o.List(t.Context(), f, core.Page{Size: 5}); !core.IsKind(err, core.KindInvalid) {
			t.Errorf("%+v: %v, want it refused", f, err)
		}
	}
}

// The list shows the first line of a job's last error, and none of its arguments.
func TestAJobInTheList(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	l, err := o.List(t.Context(), job.Filter{State: job.Failed, Lane: job.Imports}, core.Page{Size: 5})
	if err != nil || len(l.Items) != 1 {
		t.Fatal(l, err)
	}
	got := l.Items[0]
	if got.AttemptedAt == nil || got.FinalizedAt == nil || time.Since(got.CreatedAt) > time.Minute || time.Since(got.ScheduledAt) > time.Minute {
		t.Errorf("times: %+v", got)
	}
	want := job.Job{
		ID: o.ids["failed"], Kind: "greeting", Lane: job.Imports, Tenant: o.by.Tenant.ID, TenantName: o.by.Tenant.Name, State: job.Failed,
		Attempt: 2, MaxAttempts: 2, LastError: "no luck",
		CreatedAt: got.CreatedAt, ScheduledAt: got.ScheduledAt, AttemptedAt: got.AttemptedAt, FinalizedAt: got.FinalizedAt,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A job of the platform has no tenant, nor has one whose tenant doesn't exist.
	if _, err := dbtest.Owner(o.db).Exec(t.Context(), `update river.river_job set metadata = case when id % 2 = 0 then '{}' else '{"tenant": "x"}'::jsonb end`); err != nil {
		t.Fatal(err)
	}
	all, err := o.List(t.Context(), job.Filter{}, core.Page{Size: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range all.Items {
		if j.Tenant != 0 || j.TenantName != "" {
			t.Errorf("%+v", j)
		}
	}
}

// Pages forward and backward.
func TestPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	numbers := func(l core.List[job.Job]) (ids []int64) {
		for _, j := range l.Items {
			ids = append(ids, j.ID)
		}
		return ids
	}
	page := core.Page{Size: 3}
	next := func() core.List[job.Job] {
		l, err := o.List(t.Context(), job.Filter{}, page)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	last := next()
	forward := numbers(last)
	for ; last.Next != nil; forward = append(forward, numbers(last)...) {
		page.Cursor = last.Next
		last = next()
	}
	back := numbers(last)
	for ; last.Prev != nil; back = append(numbers(last), back...) {
		page.Cursor = last.Prev
		last = next()
	}
	if len(forward) != 7 || !slices.Equal(forward, back) || !slices.IsSortedFunc(forward, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("forward %v, back %v", forward, back)
	}
}

// "Counts per lane and state, oldest waiting job per lane": a scheduled job doesn't wait.
func TestLoad(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	got, err := o.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var due []time.Duration
	for i := range got {
		if got[i].DueSince == nil {
			due = append(due, 0)
		} else {
			due = append(due, time.Since(*got[i].DueSince).Round(time.Minute))
		}
		got[i].DueSince = nil
	}
	want := []job.Load{
		{Lane: job.Mail, Queued: 3, Failed: 1},
		{Lane: job.Sends, Queued: 1, Running: 1, Failed: 1},
		{Lane: job.Imports, Failed: 1, Cancelled: 1},
		{Lane: job.Upkeep},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Equal(due, []time.Duration{5 * time.Minute, time.Minute, 0, 0}) {
		t.Errorf("due since %v", due)
	}
}

// An ended job can't be cancelled, a running or completed one can't be retried, and a missing one is not
// found.
func TestRetryAndCancel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ retry, cancel error }{
		"waiting":   {nil, nil},
		"planned":   {nil, nil},
		"retried":   {nil, nil},
		"running":   {job.ErrNotRetried, nil},
		"failed":    {nil, job.ErrNotCancelled},
		"cancelled": {nil, job.ErrNotCancelled},
		"done":      {job.ErrNotRetried, job.ErrNotCancelled},
		"":          {core.ErrNotFound, core.ErrNotFound},
	} {
		t.Run("job "+name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			if err := o.Retry(t.Context(), o.ids[name]); !errors.Is(err, c.retry) {
				t.Errorf("retry: %v, want %v", err, c.retry)
			}
			if c.retry == nil {
				if got := one[string](t, o.floor, "select state || ' ' || (scheduled_at <= now()) || ' ' || (attempt < max_attempts) || ' ' || (finalized_at is null) from river.river_job where id = $1", o.ids[name]); got != "available true true true" {
					t.Errorf("retried, it is %s", got)
				}
			}
			o = newOffice(t)
			if err := o.Cancel(t.Context(), o.ids[name]); !errors.Is(err, c.cancel) {
				t.Errorf("cancel: %v, want %v", err, c.cancel)
			}
			if c.cancel == nil && name != "running" {
				if got := one[string](t, o.floor, "select state::text from river.river_job where id = $1", o.ids[name]); got != "cancelled" {
					t.Errorf("cancelled, it is %s", got)
				}
			}
		})
	}
}

// A running job is cancelled whatever its process, and a failed one runs again.
func TestOperatorsReachRunningJobs(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	running := make(chan bool, 10)
	job.HandleWithin(f.Queue, job.Imports, time.Hour, func(ctx context.Context, _ greeting) error {
		running <- true
		<-ctx.Done()
		return ctx.Err()
	})
	f.queue(t, greeting{"Anna"})
	f.start(t)
	defer f.stop(t)
	receive(t, running)
	id := one[int64](t, f, "select id from river.river_job")
	another := f.with(t, job.New) // which runs nothing itself
	if err := another.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	state := func() string { return one[string](t, f, "select state::text from river.river_job") }
	await(t, "the job is cancelled", func() bool { return state() == "cancelled" })
	if err := another.Retry(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	receive(t, running)
	if err := f.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	await(t, "the job is cancelled again", func() bool { return state() == "cancelled" })
}

// The documented number of round trips.
func TestListRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	f := floor{db: d}.with(t, job.New)
	for round := range 2 { // in the first, statements are prepared
		before := count()
		if _, err := f.List(t.Context(), job.Filter{State: job.Failed}, core.Page{Size: 5}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := count() - before; got != 2 && round > 0 {
			t.Errorf("%d round trips, want 2", got)
		}
	}
}

// Many jobs are queued in as many round trips as one.
func TestAddAllRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	f := floor{db: d, by: core.System(core.Tenant{}, "test")}.with(t, job.New)
	job.Handle(f.Queue, job.Upkeep, func(context.Context, greeting) error { return nil })
	trips := func(jobs int) int {
		before := count()
		f.queue(t, slices.Repeat([]job.Args{greeting{"Anna"}}, jobs)...)
		d.WaitForNotifications()
		return count() - before
	}
	trips(1) // prepares the statements
	if one, many := trips(1), trips(50); one != many {
		t.Errorf("one job takes %d round trips, fifty take %d", one, many)
	}
}
