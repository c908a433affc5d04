package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

// probed is a process's readiness check, with a clock that the test moves, and the number of its
// database checks.
type probed struct {
	*readinessCheck
	mu    sync.Mutex
	time  time.Time
	asked int
}

// TraceQueryStart does nothing.
func (p *probed) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd does nothing.
func (p *probed) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart does nothing.
func (p *probed) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery counts the checks of migrations.
func (p *probed) TraceBatchQuery(_ context.Context, _ *pgx.Conn, q pgx.TraceBatchQueryData) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if strings.Contains(q.SQL, "goose_db_version") {
		p.asked++
	}
}

// TraceBatchEnd does nothing.
func (p *probed) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func newProbed(t *testing.T, url string) *probed {
	t.Helper()
	p := &probed{time: time.Now()}
	d, err := db.Open(t.Context(), url, db.Options{MaxConns: 1, Tracer: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	p.readinessCheck = newReadiness(d)
	p.now = func() time.Time { p.mu.Lock(); defer p.mu.Unlock(); return p.time }
	return p
}

func (p *probed) pass(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.time = p.time.Add(d)
}

// "Readiness kept for a second": many callers cause one database check a second, and a caller who
// disconnects doesn't affect the others.
func TestReadinessIsCachedForASecond(t *testing.T) {
	t.Parallel()
	p := newProbed(t, dbtest.OwnURL(t))
	gone, leave := context.WithCancel(t.Context())
	leave()
	asking := []context.Context{t.Context(), gone}
	for round := 1; round <= 3; round++ {
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if _, err := p.check(asking[i%2]); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if p.asked != round {
			t.Errorf("round %d: the database was asked %d times", round, p.asked)
		}
		p.pass(readyFresh)
	}
}

// "`/readyz` stays 200 on a full disk: it says that nothing can be written." A read-only
// database, such as a standby, is not ready.
func TestReadinessOfAReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	url := dbtest.OwnURL(t)
	p := newProbed(t, url)
	conn := connect(t, url)
	readOnly := func(on string) {
		t.Helper()
		// This connection stays as it is; the others are closed.
		if _, err := conn.Exec(t.Context(), "set default_transaction_read_only = off"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), `do $$ begin execute format('alter database %I set default_transaction_read_only = `+on+`', current_database()); end $$`); err != nil {
			t.Fatal(err)
		}
		if on == "off" {
			return // a connection of that time notices by itself
		}
		if _, err := conn.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'loyalty'"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	readOnly("on")
	p.pass(writeEvery)
	_, err := p.check(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "nothing can be written, because the database is read-only: ") {
		t.Errorf("read-only: %v", err)
	}
	p.pass(readyFresh)
	if _, again := p.check(t.Context()); again == nil {
		t.Error("it is ready a second later")
	}
	readOnly("off")
	p.pass(readyFresh)
	if _, err := p.check(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Readiness is not affected by a process that stopped during its own check.
func TestReadinessWithABusyPool(t *testing.T) {
	t.Parallel()
	url := dbtest.OwnURL(t)
	p := newProbed(t, url)
	busy := connect(t, url)
	tx, err := busy.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select from loyalty.write_check for update"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.check(t.Context()); err != nil {
		t.Errorf("another process holds the row: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Two processes at once write one row.
	other := newProbed(t, url)
	var all sync.WaitGroup
	for _, one := range []*probed{p, other} {
		one.pass(writeEvery)
		all.Go(func() {
			if _, err := one.check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := ask[int](busy, "select count(*) from loyalty.write_check where written_at > now() - interval '1 minute'"); n != 1 {
		t.Errorf("%d rows were written, want 1", n)
	}
}
