package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

const napSQL = `select pg_sleep(1)::text as pg_sleep`

const sleepSQL = `select pg_sleep(60)::text`

// backend returns the server process of a pool with one connection.
func (b business) backend(t *testing.T) int32 {
	t.Helper()
	pid, err := db.In(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) (int32, error) {
		return db.One[int32](t.Context(), tx, backendSQL, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// outage is a test's own database and a connection that breaks others.
type outage struct {
	business
	url   string
	admin *pgx.Conn
}

func newOutage(t *testing.T, o db.Options) outage {
	t.Helper()
	address := dbtest.OwnURL(t)
	d, err := db.Open(t.Context(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	admin, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close(context.Background()) })
	return outage{businessOf(t, d), address, admin}
}

// terminate ends every backend of the product, and waits for that.
func (o outage) terminate(t *testing.T) (ended int) {
	t.Helper()
	err := o.admin.QueryRow(t.Context(), `
		select count(pg_terminate_backend(pid, 10000))
		from pg_stat_activity
		where datname = current_database() and application_name = 'loyalty'`).Scan(&ended)
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

// untilAsleep waits until a backend sleeps in a statement.
func (o outage) untilAsleep(t *testing.T) { t.Helper(); o.until(t, "wait_event = 'PgSleep'") }

// untilWaiting waits until a backend waits for a lock.
func (o outage) untilWaiting(t *testing.T) { t.Helper(); o.until(t, "wait_event_type = 'Lock'") }

func (o outage) until(t *testing.T, condition string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for there := false; !there; {
		if time.Now().After(deadline) {
			t.Fatalf("no backend came to %s", condition)
		}
		err := o.admin.QueryRow(t.Context(), `
			select exists (select from `+dbtest.Activity(t)+` where datname = current_database() and state = 'active' and `+condition+`)`).Scan(&there)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// hold locks a branch until it is released. It needs another connection than the admin's, whose transaction
// has one snapshot of pg_stat_activity.
func (o outage) hold(t *testing.T, id int64) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), o.url)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select 1 from loyalty.transaction_type where tenant_id = $1 and id = $2 for update", o.by.Tenant.ID, id); err != nil {
		t.Fatal(err)
	}
	return func() { conn.Close(context.Background()) }
}

// fill opens all connections of the pool and leaves them idle.
func (o outage) fill(t *testing.T, connections int) {
	t.Helper()
	var all sync.WaitGroup
	var there sync.WaitGroup
	there.Add(connections)
	for n := range connections {
		by := o.by
		by.Tenant.ID += core.TenantID(n) // one tenant gets only its share of them
		all.Go(func() {
			_, err := db.In(t.Context(), o.db.Tenant(by), func(tx *db.Tx) (int32, error) {
				pid, err := db.One[int32](t.Context(), tx, backendSQL, nil)
				there.Done()
				there.Wait()
				return pid, err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A dead idle connection is noticed when it is used: after a restart of the database, the next call of each
// kind succeeds.
func TestARestartedDatabaseIsNotNoticed(t *testing.T) {
	t.Parallel()
	const connections = 5
	for name, call := range map[string]func(t *testing.T, o outage) error{
		"transaction": func(t *testing.T, o outage) error {
			t.Helper()
			_, err := db.In(t.Context(), o.db.Tenant(o.by), func(tx *db.Tx) (int64, error) {
				return db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "After"})
			})
			return err
		},
		"queued before the first statement": func(t *testing.T, o outage) error {
			t.Helper()
			_, err := db.In(t.Context(), o.db.Tenant(o.by), func(tx *db.Tx) (int32, error) {
				if err := db.Queue(tx, openBranchSQL, db.Args{"name": "After"}); err != nil {
					return 0, err
				}
				return db.One[int32](t.Context(), tx, backendSQL, nil)
			})
			return err
		},
		"answered once": func(t *testing.T, o outage) error {
			t.Helper()
			_, err := o.try(t.Context(), asking("After", "body"))
			return err
		},
		// It is not sent again, so "a connection that was idle for a second is tried first".
		"written together": func(t *testing.T, o outage) error {
			t.Helper()
			time.Sleep(1100 * time.Millisecond) // pgx's clock can't be moved
			return o.openTogether(t, o.db, "After")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOutage(t, db.Options{MaxConns: connections})
			o.fill(t, connections)
			if got := o.terminate(t); got != connections {
				t.Fatalf("%d connections were open, want %d", got, connections)
			}
			if err := call(t, o); err != nil {
				t.Errorf("the next call = %v", err)
			}
			o.wantNames(t, "After")

			o.fill(t, connections)
			o.terminate(t)
			o.wantNames(t, "After") // a read
		})
	}
}

// openTogether adds a branch by a single message, as recording does.
func (o outage) openTogether(t *testing.T, d *db.DB, name string) error {
	t.Helper()
	var ids []struct{ ID int64 }
	return db.Write(t.Context(), d, o.by.Tenant.ID, func(time.Time) ([]db.Reading, error) {
		return []db.Reading{db.AllInto(&ids, openBranchSQL, db.Args{"name": name})}, nil
	})
}

// A server that is killed during a transaction makes the call unavailable. Nothing is half done, and the use
// case doesn't run again.
func TestAServerKilledMidTransactionLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	o := newOutage(t, db.Options{MaxConns: 2})
	runs := 0
	_, err := db.In(t.Context(), o.db.Tenant(o.by), func(tx *db.Tx) (int64, error) {
		runs++
		if _, err := db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "Half"}); err != nil {
			return 0, err
		}
		o.terminate(t)
		return db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "Whole"})
	})
	if !core.IsKind(err, core.KindUnavailable) || runs != 1 {
		t.Errorf("killed between statements = %v after %d runs, want Unavailable after 1", err, runs)
	}

	result := make(chan error)
	go func() {
		_, err := db.In(t.Context(), o.db.Tenant(o.by), func(tx *db.Tx) (string, error) {
			if _, err := db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "Half"}); err != nil {
				return "", err
			}
			return db.One[string](t.Context(), tx, sleepSQL, nil)
		})
		result <- err
	}()
	o.untilAsleep(t)
	o.terminate(t)
	if err := <-result; !core.IsKind(err, core.KindUnavailable) {
		t.Errorf("killed within a statement = %v, want Unavailable", err)
	}
	o.wantNames(t)
}

// On a busy machine, a caller's cancellation may reach the next statement of the connection, which then runs
// again.
func TestStrayCancelIsRetried(t *testing.T) {
	t.Parallel()
	o := newOutage(t, db.Options{MaxConns: 1})
	done, runs := make(chan error), 0
	go func() {
		_, err := db.In(t.Context(), o.db.Tenant(o.by), func(tx *db.Tx) (int64, error) {
			if runs++; runs == 1 {
				if _, err := db.One[string](t.Context(), tx, sleepSQL, nil); err != nil {
					return 0, err
				}
			}
			return db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "Once"})
		})
		done <- err
	}()
	o.cancelSleeper(t)
	if err := <-done; err != nil || runs != 2 {
		t.Errorf("a transaction: %v after %d runs, want none after 2", err, runs)
	}
	o.wantNames(t, "Once")

	go func() {
		_, err := db.All[slept](t.Context(), o.db.Tenant(o.by), napSQL, nil)
		done <- err
	}()
	o.cancelSleeper(t)
	if err := <-done; err != nil {
		t.Errorf("a read: %v", err)
	}
}

type slept struct{ PgSleep string }

// cancelSleeper cancels a sleeping backend's statement.
func (o outage) cancelSleeper(t *testing.T) {
	t.Helper()
	o.untilAsleep(t)
	_, err := o.admin.Exec(t.Context(), `
		select pg_cancel_backend(pid)
		from pg_stat_activity
		where datname = current_database() and wait_event = 'PgSleep'`)
	if err != nil {
		t.Fatal(err)
	}
}

// A commit is never sent twice, because it may have happened before the connection died. Here the server
// commits and its answer is lost.
func TestACommitIsNeverSentTwice(t *testing.T) {
	t.Parallel()
	o := newOutage(t, db.Options{})
	cutURL, cut := cutAt(t, o.url, "COMMIT\x00")
	d, err := db.Open(t.Context(), cutURL, db.Options{MaxConns: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	behind := business{d, o.by}
	behind.open(t, "Before")

	for name, fn := range map[string]func(tx *db.Tx) (int64, error){
		"Queued": func(tx *db.Tx) (int64, error) {
			return 0, db.Queue(tx, openBranchSQL, db.Args{"name": "Queued"})
		},
		"Sent": func(tx *db.Tx) (int64, error) {
			return db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "Sent"})
		},
	} {
		cut.Store(true)
		_, err := db.In(t.Context(), d.Tenant(o.by), fn)
		if !core.IsKind(err, core.KindUnavailable) {
			t.Errorf("%s: the answer to the commit was lost: %v, want Unavailable", name, err)
		}
		if cut.Load() {
			t.Fatalf("%s: no commit was seen", name)
		}
	}
	behind.open(t, "After")
	counts := map[string]int{}
	for _, name := range o.names(t) {
		counts[name]++
	}
	for _, name := range []string{"Before", "Queued", "Sent", "After"} {
		if counts[name] != 1 {
			t.Errorf("%s happened %d times, want once", name, counts[name])
		}
	}
}

// "An error means that nothing was written, unless the connection was lost while committing": statements that are
// a transaction of their own aren't sent twice either, when the server commits and its answer is lost.
func TestAWriteIsNeverSentTwice(t *testing.T) {
	t.Parallel()
	o := newOutage(t, db.Options{})
	// The server answers the whole message after it has committed.
	cutURL, cut := cutAt(t, o.url, "INSERT 0 1\x00")
	d, err := db.Open(t.Context(), cutURL, db.Options{MaxConns: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	write := func(name string) error { return o.openTogether(t, d, name) }
	if err := write("Before"); err != nil {
		t.Fatal(err)
	}
	cut.Store(true)
	if err := write("Lost"); !core.IsKind(err, core.KindUnavailable) || cut.Load() {
		t.Errorf("the answer was lost (still armed: %t): %v, want Unavailable", cut.Load(), err)
	}
	if err := write("After"); err != nil {
		t.Error(err)
	}
	o.wantNames(t, "Before", "Lost", "After")
}

// cutAt is a proxy that, when armed, drops the answer in which the server says something.
func cutAt(t *testing.T, address, says string) (cutURL string, armed *atomic.Bool) {
	t.Helper()
	armed = &atomic.Bool{}
	n := newNetwork(t, address)
	n.join = func(client, server net.Conn) {
		go func() {
			_, _ = io.Copy(server, client)
			_ = server.Close()
		}()
		go func() {
			defer client.Close()
			defer server.Close()
			said := make([]byte, 1<<16)
			for {
				n, err := server.Read(said)
				if bytes.Contains(said[:n], []byte(says)) && armed.CompareAndSwap(true, false) {
					return
				}
				if _, err := client.Write(said[:n]); err != nil {
					return
				}
				if err != nil {
					return
				}
			}
		}()
	}
	n.open()
	return n.URL, armed
}

// "Retry 40001 and 40P01": PostgreSQL aborts one of two deadlocked transactions, which runs again.
func TestADeadlockIsRunAgain(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	left, right := b.open(t, "Left"), b.open(t, "Right")
	var bothHold sync.WaitGroup
	bothHold.Add(2)
	var runs atomic.Int32
	rename := func(order ...int64) error {
		first := true
		_, err := db.In(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) (int64, error) {
			runs.Add(1)
			for i, id := range order {
				if i == 1 && first {
					first = false
					bothHold.Done()
					bothHold.Wait()
				}
				if _, err := db.Exec(t.Context(), tx, renameBranchSQL, db.Args{"id": id, "name": "Renamed"}); err != nil {
					return 0, err
				}
			}
			return 0, db.Queue(tx, openBranchSQL, db.Args{"name": "Done"})
		})
		return err
	}
	other := make(chan error)
	go func() { other <- rename(right, left) }()
	if err := errors.Join(rename(left, right), <-other); err != nil {
		t.Errorf("two transactions in each other's way: %v", err)
	}
	// Usually once, but the second run may deadlock, too.
	if got := runs.Load(); got < 3 {
		t.Errorf("%d runs, want 3 at least: one of them was aborted", got)
	}
	b.wantNames(t, "Renamed", "Renamed", "Done", "Done")
}

// "Retry 40001 and 40P01", also statements that only read: a migration has locked what they read second, and then wants
// what they read first.
func TestADeadlockIsReadAgain(t *testing.T) {
	t.Parallel()
	o := newOutage(t, db.Options{})
	// PostgreSQL cancels who finds the deadlock: the reader, who began to wait first, unless a slow machine lets it look
	// before the migration waits, too. Citus may choose the migration every time.
	for range 10 {
		if !o.readBesideAMigration(t) {
			return
		}
	}
	if !dbtest.IsCitus(t) {
		t.Error("PostgreSQL cancelled the migration every time, want the reader")
	}
}

// readBesideAMigration reports whether the migration, not the reader, was cancelled.
func (o outage) readBesideAMigration(t *testing.T) (cancelled bool) {
	t.Helper()
	migration, err := pgx.Connect(t.Context(), o.url)
	if err != nil {
		t.Fatal(err)
	}
	defer migration.Close(context.Background())
	if _, err := migration.Exec(t.Context(), "begin; lock table loyalty.plan"); err != nil {
		t.Fatal(err)
	}
	var entries, plans []struct{ N int64 }
	read := make(chan error)
	go func() {
		read <- db.Together(t.Context(), o.db.Platform(),
			db.AllInto(&entries, "select count(*) as n from loyalty.platform_audit_entry", nil),
			db.AllInto(&plans, "select count(*) as n from loyalty.plan", nil))
	}()
	o.untilWaiting(t)
	_, err = migration.Exec(t.Context(), "lock table loyalty.platform_audit_entry; commit")
	var refused *pgconn.PgError
	cancelled = errors.As(err, &refused) && refused.Code == "40P01"
	if err != nil && !cancelled {
		t.Errorf("the migration: %v", err)
	}
	if err := <-read; err != nil || len(entries) != 1 || len(plans) != 1 {
		t.Errorf("the reader: %v, read %v and %v", err, entries, plans)
	}
	return cancelled
}

// Retries end after some attempts.
func TestRunningAgainEnds(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	runs := 0
	_, err := db.In(t.Context(), b.db.Tenant(b.by), func(*db.Tx) (int64, error) {
		runs++
		return 0, &pgconn.PgError{Code: "40001"}
	})
	if !core.IsKind(err, core.KindUnavailable) || runs < 2 || runs > 10 {
		t.Errorf("always a serialization failure = %v after %d runs, want Unavailable after a few", err, runs)
	}
	runs = 0
	_, err = db.In(t.Context(), b.db.Tenant(b.by), func(*db.Tx) (int64, error) {
		runs++
		return 0, &pgconn.PgError{Code: "23505"}
	})
	if err == nil || core.IsKind(err, core.KindUnavailable) || runs != 1 {
		t.Errorf("a unique violation = %v after %d runs, want itself after 1", err, runs)
	}
}

// A statement that exceeds its timeout makes the call unavailable, and the connection stays usable.
func TestAStatementThatHangsIsCut(t *testing.T) {
	t.Parallel()
	o := newOutage(t, db.Options{MaxConns: 1, StatementTimeout: 200 * time.Millisecond})
	before := o.backend(t)
	_, err := db.In(t.Context(), o.db.Tenant(o.by), func(tx *db.Tx) (string, error) {
		if _, err := db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "Lost"}); err != nil {
			return "", err
		}
		return db.One[string](t.Context(), tx, sleepSQL, nil)
	})
	if !core.IsKind(err, core.KindUnavailable) {
		t.Errorf("In = %v, want Unavailable", err)
	}
	if _, err := db.All[slept](t.Context(), o.db.Tenant(o.by), sleepSQL, nil); !core.IsKind(err, core.KindUnavailable) {
		t.Errorf("All = %v, want Unavailable", err)
	}
	o.wantNames(t)
	if after := o.backend(t); after != before {
		t.Errorf("the connection was dropped: backend %d, then %d", before, after)
	}
}

// A wait for a lock ends after half of that time, in a distributed database after the whole.
func TestAWaitForALockIsCut(t *testing.T) {
	t.Parallel()
	o := newOutage(t, db.Options{StatementTimeout: 400 * time.Millisecond})
	id := o.open(t, "Main street")
	release := o.hold(t, id)
	_, err := db.In(t.Context(), o.db.Tenant(o.by), func(tx *db.Tx) (int64, error) {
		return db.Exec(t.Context(), tx, renameBranchSQL, db.Args{"id": id, "name": "Late"})
	})
	timeout := "55P03" // of the lock
	if dbtest.IsCitus(t) {
		timeout = "57014" // of the statement: the lock is on a node, which doesn't know the coordinator's settings
	}
	var refusal *core.Error
	var cause *pgconn.PgError
	if !errors.As(err, &refusal) || refusal.Kind != core.KindUnavailable || !errors.As(err, &cause) || cause.Code != timeout {
		t.Errorf("behind a lock = %v, want Unavailable and %s", err, timeout)
	}
	// The log says what waited, and for which table.
	said := cause.Error()
	if refusal != nil {
		said = fmt.Sprint(errors.Unwrap(refusal))
	}
	if !strings.Contains(said, "in the statement: update loyalty.transaction_type") || !dbtest.IsCitus(t) && !strings.Contains(said, `in relation "transaction_type"`) {
		t.Errorf("the cause is %q, want it to name the statement and the table", said)
	}
	release()
	o.wantNames(t, "Main street")
}

// "A client that goes away cancels its statement": nothing is written, and the connection is kept.
func TestAClientThatGoesAwayCancelsItsStatement(t *testing.T) {
	t.Parallel()
	o := newOutage(t, db.Options{MaxConns: 1})
	before := o.backend(t)

	for _, wait := range []string{"asleep", "waiting for a lock"} {
		id := o.open(t, "Kept")
		release := o.hold(t, id)
		ctx, leave := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			_, err := db.In(ctx, o.db.Tenant(o.by), func(tx *db.Tx) (string, error) {
				if _, err := db.One[int64](ctx, tx, openBranchSQL, db.Args{"name": "Lost"}); err != nil {
					return "", err
				}
				if wait == "asleep" {
					return db.One[string](ctx, tx, sleepSQL, nil)
				}
				_, err := db.Exec(ctx, tx, renameBranchSQL, db.Args{"id": id, "name": "Late"})
				return "", err
			})
			result <- err
		}()
		if wait == "asleep" {
			o.untilAsleep(t)
		} else {
			o.untilWaiting(t)
		}
		leave()
		if err := <-result; err == nil || core.IsKind(err, core.KindUnavailable) {
			t.Errorf("%s: %v, want an error that is not the service's", wait, err)
		}
		release()
		if after := o.backend(t); after != before {
			t.Errorf("%s: the connection was dropped: backend %d, then %d", wait, before, after)
		}
	}
	o.wantNames(t, "Kept", "Kept")

	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := db.In(gone, o.db.Tenant(o.by), func(tx *db.Tx) (int64, error) {
		return 0, db.Queue(tx, openBranchSQL, db.Args{"name": "Lost"})
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("gone before it began = %v, want context.Canceled", err)
	}
	o.wantNames(t, "Kept", "Kept")
}

// An unreachable database and a pool without a free connection are "503: The service is temporarily
// unavailable".
func TestADatabaseOutOfReachIsUnavailable(t *testing.T) {
	t.Parallel()
	o := newOutage(t, db.Options{MaxConns: 1})
	busy := make(chan struct{})
	finish := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		_, err := db.In(t.Context(), o.db.Tenant(o.by), func(tx *db.Tx) (int32, error) {
			pid, err := db.One[int32](t.Context(), tx, backendSQL, nil)
			close(busy)
			<-finish
			return pid, err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-busy
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := db.All[branch](ctx, o.db.Tenant(o.by), branchesSQL, nil); !core.IsKind(err, core.KindUnavailable) {
		t.Errorf("no free connection = %v, want Unavailable", err)
	}
	close(finish)
	other.Wait()

	name := o.admin.Config().Database
	o.terminate(t)
	outside, err := pgx.Connect(t.Context(), elsewhere(t, o.url))
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close(context.Background())
	if _, err := outside.Exec(t.Context(), "alter database "+name+" allow_connections false"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.All[branch](t.Context(), o.db.Tenant(o.by), branchesSQL, nil); !core.IsKind(err, core.KindUnavailable) {
		t.Errorf("no connections are let in = %v, want Unavailable", err)
	}
	if err := o.db.Ready(t.Context()); err == nil {
		t.Error("Ready with a database that refuses logins")
	}
}

func elsewhere(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/postgres"
	return u.String()
}

// After another version of PostgreSQL was installed, new sessions can't load its libraries until a restart.
// That makes the database unavailable, not the request wrong.
func TestAnUpgradedServerIsOutOfReach(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	_, err := dbtest.Owner(d).Exec(t.Context(), `
		create function loyalty.fail(what text, code text) returns int language plpgsql as $$
		begin
			raise exception using message = what, errcode = code;
		end $$`)
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []struct {
		message, code string
		unavailable   bool
	}{
		{`could not load library "/usr/lib/postgresql/15/lib/plpgsql.so": undefined symbol: errsave_start`, "58P01", true},
		{`could not load library "/usr/lib/postgresql/15/lib/plpgsql.so": file too short`, "XX000", true},
		{`incompatible library "/usr/lib/postgresql/15/lib/plpgsql.so": version mismatch`, "XX000", true},
		{`could not access file "$libdir/plpgsql": No such file or directory`, "58P01", true},
		{`could not find function "plpgsql_call_handler" in file "/usr/lib/postgresql/15/lib/plpgsql.so"`, "42883", true},
		{`cache lookup failed for type 17`, "XX000", false},
	} {
		_, err := db.One[struct{ Fail int }](t.Context(), d.Platform(), "select loyalty.fail(@what, @code)", db.Args{"what": said.message, "code": said.code})
		if core.IsKind(err, core.KindUnavailable) != said.unavailable || err == nil {
			t.Errorf("%s = %v, unavailable: %t", said.message, err, said.unavailable)
		}
	}
}
