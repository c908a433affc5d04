package operation_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/operation"
	"example.com/loyalty/core/verify"
	"example.com/loyalty/migrations"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var root = core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", Role: core.SuperAdmin}

type errand struct{}

func (errand) Kind() string { return "errand" }

// room is a platform with its operators.
type room struct {
	*operation.Service
	db   *db.DB
	jobs *job.Queue
}

func newRoom(t *testing.T) room {
	t.Helper()
	d := dbtest.OwnDB(t)
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	job.Handle(jobs, job.Sends, func(context.Context, errand) error { return nil })
	verify.NewService(d, jobs, slog.New(slog.DiscardHandler))
	return room{operation.NewService(d, jobs), d, jobs}
}

func (r room) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := dbtest.Owner(r.db).Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func (r room) log(t *testing.T) (text string) {
	t.Helper()
	err := dbtest.Owner(r.db).QueryRow(t.Context(), "select coalesce(string_agg(concat_ws(' ', action, subject_id, actor_name), ', ' order by id), '') from loyalty.platform_audit_entry").Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Only super-admins pause, resume, retry and cancel, and each change is in the audit log.
func TestOperationsAreLogged(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	ctx := t.Context()
	_, err := db.In(ctx, r.db.Platform(), func(tx *db.Tx) (int, error) { return 0, r.jobs.Add(ctx, tx, errand{}) })
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if err := dbtest.Owner(r.db).QueryRow(ctx, "select id from river.river_job").Scan(&id); err != nil {
		t.Fatal(err)
	}
	owner := dbtest.Tenant(t, r.db)
	owner.Role = core.SuperAdmin // of a tenant, there are none
	for _, by := range []core.Actor{owner, dbtest.Tenant(t, r.db), {Kind: core.ByCustomer}} {
		for name, do := range map[string]func() error{
			"pause": func() error { return r.Pause(ctx, by, job.Sends) }, "resume": func() error { return r.Resume(ctx, by, job.Sends) },
			"retry": func() error { return r.Retry(ctx, by, id) }, "cancel": func() error { return r.Cancel(ctx, by, id) },
			"health": func() error { _, err := r.Health(ctx, by); return err },
		} {
			if err := do(); !errors.Is(err, core.ErrAdmin) {
				t.Errorf("%s by %s of %q: %v, want ErrAdmin", name, by.Role, by.Tenant.Slug, err)
			}
		}
	}
	before := r.log(t)
	for _, do := range []func() error{
		func() error { return r.Pause(ctx, root, job.Sends) }, func() error { return r.Pause(ctx, root, job.Sends) },
		func() error { return r.Resume(ctx, root, job.Sends) }, func() error { return r.Resume(ctx, root, job.Sends) },
		func() error { return r.Cancel(ctx, root, id) }, func() error { return r.Retry(ctx, root, id) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	want := "queue.pause sends Root, queue.resume sends Root, job.cancel 1 Root, job.retry 1 Root"
	if got := strings.TrimPrefix(strings.TrimPrefix(r.log(t), before), ", "); got != want {
		t.Errorf("log %q, want %q", got, want)
	}
	if err := r.Pause(ctx, root, "bus"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("no such queue: %v", err)
	}
	if err := r.Retry(ctx, root, 99); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("no such job: %v", err)
	}
	r.exec(t, "update river.river_job set state = 'completed', finalized_at = now()")
	if err := r.Cancel(ctx, root, id); !errors.Is(err, job.ErrNotCancelled) {
		t.Errorf("done already: %v", err)
	}
}

// A part that can't be read has its error; the others are shown.
func TestHealth(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.exec(t, `
		insert into loyalty.mail (id, recipient, subject, text, html, created_at, status, done_at) values
			(gen_random_uuid(), 'a@example.com', '', '', '', now(), 'queued', null),
			(gen_random_uuid(), 'b@example.com', '', '', '', now(), 'failed', now() - interval '23 hours'),
			(gen_random_uuid(), 'c@example.com', '', '', '', now(), 'failed', now() - interval '25 hours')`)
	if err := r.Pause(t.Context(), root, job.Sends); err != nil {
		t.Fatal(err)
	}
	h, err := r.Health(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"database": h.Database.Err, "steps": h.Steps.Err, "queues": h.Queues.Err, "mails": h.Mails.Err, "verify": h.Verify.Err} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d := h.Database.Value; !strings.HasPrefix(d.Version, "1") || d.Bytes < 1<<20 || d.Connections < 1 || d.MaxConns < d.Connections {
		t.Errorf("database %+v", d)
	}
	if s := h.Steps.Value; !slices.Equal(s.Applied, migrations.Versions()) || s.Missing != nil || s.Unknown != nil {
		t.Errorf("steps %+v", s)
	}
	if q := h.Queues.Value; len(q) != 4 || q[1].PausedBy == nil || q[0].PausedBy != nil {
		t.Errorf("queues %+v", q)
	}
	if m := h.Mails.Value; m.Single.Waiting != 1 || m.Single.Failed != 1 || m.Sends.Waiting != 0 || m.Sends.Failed != 0 {
		t.Errorf("mails %+v", m)
	}
	if len(h.Verify.Value) != 0 {
		t.Errorf("verify %+v", h.Verify.Value)
	}

	r.exec(t, "alter table loyalty.verify_run rename to gone; alter function loyalty.mailing_progress rename to gone; delete from goose_db_version where version_id = 110; insert into goose_db_version (version_id, is_applied) values (4711, true)")
	h, err = r.Health(t.Context(), root)
	if err != nil || h.Verify.Err == nil || h.Mails.Err == nil || h.Database.Err != nil || h.Queues.Err != nil {
		t.Errorf("with a table gone: %+v, %v", h, err)
	}
	if s := h.Steps.Value; !slices.Equal(s.Missing, []int64{110}) || !slices.Equal(s.Unknown, []int64{4711}) {
		t.Errorf("steps %+v", s)
	}
}

// What a scrape of /metrics reads takes one round trip.
func TestABacklogIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := operation.NewService(d, jobs)
	read := func() operation.Backlog {
		b, err := s.Backlog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	read()
	before := count()
	if b := read(); count()-before != 1 || len(b.Queues) != len(job.Lanes) {
		t.Errorf("%d round trips for %+v", count()-before, b)
	}
}

// No tenant can read the figures of all tenants.
func TestMailFiguresAreForThePlatform(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	by := dbtest.Tenant(t, r.db)
	_, err := db.In(t.Context(), r.db.Tenant(by), func(tx *db.Tx) (int64, error) {
		return db.One[int64](t.Context(), tx, "select waiting from loyalty.mailing_progress(now())", nil)
	})
	if err == nil || !strings.Contains(err.Error(), "works on all tenants") {
		t.Errorf("a tenant gets %v", err)
	}
	for _, table := range []string{"queue_pause", "verify_run"} {
		r.exec(t, "insert into loyalty.queue_pause values ('mail', 'Root', now()) on conflict do nothing; insert into loyalty.verify_run (started_at) values (now())")
		n, err := db.In(t.Context(), r.db.Tenant(by), func(tx *db.Tx) (int64, error) {
			return db.One[int64](t.Context(), tx, "select count(*) from loyalty."+table, nil)
		})
		if err != nil || n != 0 {
			t.Errorf("a tenant sees %d rows of %s, %v", n, table, err)
		}
	}
}
