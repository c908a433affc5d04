package verify_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/verify"
)

var root = core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", Role: core.SuperAdmin}

// watch is the nightly check of a test's own database.
type watch struct {
	*verify.Service
	db   *db.DB
	jobs *job.Queue
	log  *bytes.Buffer
}

func newWatch(t *testing.T, d *db.DB) watch {
	t.Helper()
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w := watch{db: d, jobs: jobs, log: &bytes.Buffer{}}
	w.Service = verify.NewService(d, jobs, slog.New(slog.NewTextHandler(w.log, nil)))
	return w
}

func (w watch) last(t *testing.T) verify.PastRun {
	t.Helper()
	last, err := w.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func (w watch) runs(t *testing.T) (n int) {
	t.Helper()
	if err := dbtest.Owner(w.db).QueryRow(t.Context(), "select count(*) from loyalty.verify_run").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// "Runs each night": between two and five, once. By day only after two nights without a run.
func TestWhenTheNightlyRunIsDue(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		instant, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return instant
	}
	for _, c := range []struct {
		now, last string
		want      bool
	}{
		{"2026-06-02 02:00", "2026-06-01 02:40", true},
		{"2026-06-02 04:59", "2026-06-01 02:40", true},
		{"2026-06-02 03:40", "2026-06-02 02:40", false},
		{"2026-06-02 05:00", "2026-06-01 02:40", false},
		{"2026-06-02 01:59", "2026-06-01 02:40", false},
		{"2026-06-03 14:00", "2026-06-01 02:40", true}, // two nights went by
		{"2026-06-02 14:00", "", false},                // a new installation waits for its night
		{"2026-06-02 02:10", "", true},
		{"2026-06-02 02:10", "2026-06-01 20:00", false}, // one was just requested
	} {
		var last *verify.PastRun
		if c.last != "" {
			last = &verify.PastRun{StartedAt: at(c.last)}
		}
		if got := verify.Due(at(c.now), last); got != c.want {
			t.Errorf("at %s, the last one at %q: due is %v", c.now, c.last, got)
		}
	}
}

// "Result kept in loyalty.verify_run, logged as an error and counted when not clean."
func TestARunIsKept(t *testing.T) {
	t.Parallel()
	s := trading(t)
	w := newWatch(t, s.DB)
	if _, err := w.Last(t.Context()); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("before the first run: %v", err)
	}
	s.Check(w.Check(t.Context(), verify.Check{AskedBy: "Root"}))
	clean := w.last(t)
	if clean.Clean == nil || !*clean.Clean || clean.FinishedAt == nil || len(clean.Results) < 30 || *clean.AskedBy != "Root" || w.log.Len() > 0 {
		t.Errorf("kept %+v, logged %s", clean, w.log)
	}
	s.Exec("update loyalty.account set points = points + 1")
	s.Check(w.Check(t.Context(), verify.Check{AskedBy: "Root"}))
	wrong := w.last(t)
	if wrong.Clean == nil || *wrong.Clean || !strings.Contains(w.log.String(), "level=ERROR msg=\"verify found differences\" check=\"Every balance is the sum of its entries.\"") {
		t.Errorf("kept %+v, logged %s", wrong, w.log)
	}
	if got := s.DB.Counts(); got[verify.Metric(verify.Clean)] != 1 || got[verify.Metric(verify.Wrong)] != 1 {
		t.Errorf("counted %v", got)
	}
	// A check that could not run is neither clean nor wrong.
	s.Exec("alter table loyalty.voucher rename to voucher_away")
	if err := w.Check(t.Context(), verify.Check{AskedBy: "Root"}); err == nil {
		t.Error("a check that can't look succeeds")
	}
	if failed := w.last(t); failed.Clean != nil || failed.Error == nil || !strings.Contains(*failed.Error, "voucher") || s.DB.Counts()[verify.Metric(verify.Failed)] != 1 {
		t.Errorf("kept %+v", failed)
	}
	var ended []verify.PastRun
	if err := db.Together(t.Context(), s.DB.Platform(), verify.ReadEnded(&ended)); err != nil || len(ended) != 1 || ended[0].ID != wrong.ID {
		t.Errorf("the last complete run is %+v, %v", ended, err)
	}
}

// "One at a time however many processes."
func TestOneRunAtATime(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	night := time.Date(2030, 1, 2, 2, 30, 0, 0, time.UTC)
	processes := []watch{newWatch(t, d.At(night)), newWatch(t, d.At(night)), newWatch(t, d.At(night))}
	var all sync.WaitGroup
	for range 3 {
		for _, w := range processes {
			all.Go(func() {
				if err := w.Check(t.Context(), verify.Check{}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if got := processes[0].runs(t); got != 1 {
		t.Errorf("%d runs in one night, want 1", got)
	}
	// A run whose process is gone is ended by the next run.
	if _, err := dbtest.Owner(d).Exec(t.Context(), "insert into loyalty.verify_run (started_at) values ($1)", night.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := processes[0].Check(t.Context(), verify.Check{AskedBy: "Root"}); err != nil {
		t.Fatal(err)
	}
	var gone string
	if err := dbtest.Owner(d).QueryRow(t.Context(), "select error from loyalty.verify_run where error is not null").Scan(&gone); err != nil || gone != "The process that ran it is gone." {
		t.Errorf("%q, %v", gone, err)
	}
}

// "Run now": for super-admins, once, and in the platform's audit log.
func TestAskingForARun(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	w := newWatch(t, d)
	var asked, refused int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			err := w.Request(t.Context(), root)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				asked++
			case errors.Is(err, verify.ErrRunning):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if asked != 1 || refused != 3 {
		t.Errorf("%d asked, %d refused, want 1, 3", asked, refused)
	}
	var log string
	if err := dbtest.Owner(d).QueryRow(t.Context(), "select string_agg(concat_ws(' ', action, actor_name), ', ') from loyalty.platform_audit_entry where subject_kind = 'verify'").Scan(&log); err != nil || log != "verify.run Root" {
		t.Errorf("log %q, %v", log, err)
	}
	if err := w.Request(t.Context(), dbtest.Tenant(t, d)); !errors.Is(err, core.ErrAdmin) {
		t.Errorf("an owner: %v, want ErrAdmin", err)
	}
	if got := w.runs(t); got != 0 {
		t.Errorf("%d runs before a worker took the job", got)
	}
}
