package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
)

var errDown = errors.New("the server is down")

// dueSince returns how long the oldest job of a lane has been due; 0: none is.
func dueSince(t *testing.T, q *job.Queue, lane job.Lane) time.Duration {
	t.Helper()
	loads, err := q.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range loads {
		if l.Lane == lane && l.DueSince != nil {
			return time.Since(*l.DueSince).Round(time.Minute)
		}
	}
	return 0
}

// tenMinutesLate has all jobs due ten minutes ago, or ten minutes longer if they have failed.
const tenMinutesLate = `
	update river.river_job
	set state = 'available',
		scheduled_at = now() - interval '10 min',
		metadata = case
			when metadata ->> 'due' is null then metadata
			else metadata || jsonb_build_object('due', (metadata ->> 'due')::bigint - 600000)
		end
	where state <> 'completed'`

// A retry doesn't make a job younger, and a job that waits on purpose isn't late.
func TestJobsAreLateSinceTheyWereDue(t *testing.T) {
	t.Parallel()
	const waited = 10 * time.Minute
	for name, c := range map[string]struct {
		ends []error // of its attempts, each ten minutes after it was due
		want time.Duration
	}{
		"fails":               {[]error{errDown}, waited},
		"fails three times":   {[]error{errDown, errDown, errDown}, 3 * waited},
		"waits on purpose":    {[]error{job.Again(10 * time.Minute)}, 0},
		"is of a suspended":   {[]error{core.ErrSuspended, core.ErrSuspended}, 0},
		"was asked to wait":   {[]error{job.Postponed(errDown)}, 0},
		"fails, then waits":   {[]error{errDown, job.Again(time.Hour)}, 0},
		"waits, then fails":   {[]error{errDown, job.Again(time.Hour), errDown}, waited},
		"fails, then is done": {[]error{errDown, nil}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFloor(t)
			ends := make(chan error, 1)
			work := func() {
				t.Helper()
				f := f.with(t, job.New)
				job.Handle(f.Queue, job.Mail, func(context.Context, greeting) error { return <-ends })
				f.start(t)
				await(t, "an attempt", func() bool { return len(ends) == 0 })
				f.stop(t)
			}
			job.Handle(f.Queue, job.Mail, func(context.Context, greeting) error { return nil })
			f.queue(t, greeting{"Anna"})
			for _, end := range c.ends {
				if _, err := dbtest.Owner(f.db).Exec(t.Context(), tenMinutesLate); err != nil {
					t.Fatal(err)
				}
				ends <- end
				work()
			}
			if got := dueSince(t, f.Queue, job.Mail); got != c.want {
				t.Errorf("due since %v, want %v", got, c.want)
			}
		})
	}
}

// A job whose processes are killed grows older, too.
func TestAbandonedJobsAreLateSinceTheyWereDue(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	if _, err := dbtest.Owner(o.db).Exec(t.Context(), `
		update river.river_job
		set attempted_at = now() - interval '1 h',
			scheduled_at = now() - interval '2 h'
		where id = $1`, o.ids["running"]); err != nil {
		t.Fatal(err)
	}
	o.RescueOnce(t.Context())
	if got := dueSince(t, o.Queue, job.Sends); got != 2*time.Hour {
		t.Errorf("due since %v, want 2h", got)
	}
}

// A job that runs isn't late, but one that is only tried again is.
func TestRunningJobs(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	job.HandleWithin(o.Queue, job.Imports, time.Hour, func(context.Context, tidying) error { return nil })
	job.Handle(o.Queue, job.Mail, func(context.Context, greeting) error { return nil })
	for _, c := range []struct {
		kind, metadata, errors string
		want                   time.Duration
	}{
		{"greeting", "'{}'", "null", 0},
		{"greeting", "jsonb_build_object('due', (extract(epoch from now() - interval '1 h') * 1000)::bigint)", "array['{}']::jsonb[]", time.Hour},
		{"tidying", "jsonb_build_object('due', (extract(epoch from now() - interval '1 h') * 1000)::bigint)", "array['{}']::jsonb[]", 0},
	} {
		if _, err := dbtest.Owner(o.db).Exec(t.Context(), `
			delete from river.river_job;
			insert into river.river_job (args, kind, queue, state, attempt, max_attempts, errors, scheduled_at, metadata, attempted_at)
			values ('{}', '`+c.kind+`', 'upkeep', 'running', 1, 2, `+c.errors+`, now() - interval '1 h', `+c.metadata+`, now())`); err != nil {
			t.Fatal(err)
		}
		if got := dueSince(t, o.Queue, job.Upkeep); got != c.want {
			t.Errorf("%s with the errors %s: due since %v, want %v", c.kind, c.errors, got, c.want)
		}
	}
}
