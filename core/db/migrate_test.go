package db_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/migrations"
)

// emptyURL returns a database without migrations.
func emptyURL(t *testing.T) string {
	t.Helper()
	address := dbtest.OwnURL(t)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	name := "empty_" + strings.ToLower(rand.Text())
	if _, err := conn.Exec(t.Context(), "create database "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Exec(context.Background(), "drop database "+name+" with (force)") })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// "Several processes may call it at once: one works, the others wait for it."
func TestMigrateByTwoAtOnce(t *testing.T) {
	t.Parallel()
	address := emptyURL(t)
	var steps [2][]db.Step
	var errs [2]error
	var wg sync.WaitGroup
	for i := range steps {
		wg.Go(func() { steps[i], errs[i] = db.Migrate(t.Context(), address) })
	}
	wg.Wait()
	taken := map[int64]int{}
	for i := range steps {
		if errs[i] != nil {
			t.Errorf("Migrate = %v", errs[i])
		}
		for _, s := range steps[i] {
			taken[s.Version]++
		}
	}
	again, err := db.Migrate(t.Context(), address)
	if err != nil || len(again) != 0 {
		t.Errorf("Migrate again = %v, %v, want nothing to do", again, err)
	}
	status, err := db.MigrationStatus(t.Context(), address)
	if err != nil || len(status) != len(taken) || taken[migrations.Newest()] == 0 {
		t.Errorf("MigrationStatus = %v, %v; taken were %v", status, err, taken)
	}
	for _, s := range status {
		if taken[s.Version] != 1 {
			t.Errorf("step %d was taken %d times, want once", s.Version, taken[s.Version])
		}
		if s.Applied.IsZero() || s.Name == "" {
			t.Errorf("step %+v is not applied or has no name", s)
		}
	}
}

// A request and a migration that wait for each other: the migration gives way before PostgreSQL chooses one of them,
// however often, and is done once it can have its tables.
func TestAMigrationGivesWay(t *testing.T) {
	t.Parallel()
	address := emptyURL(t)
	if _, err := db.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	request, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { request.Close(context.Background()) })
	do := func(sql string, args ...any) {
		t.Helper()
		if _, err := request.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	const replacesFunctions = 138
	do("delete from goose_db_version where version_id >= $1", replacesFunctions)
	type result struct {
		steps []db.Step
		err   error
	}
	migrated := make(chan result)
	const busy = 40 // requests, one after the other
	for i := range busy {
		do("begin")
		do("lock table goose_db_version in exclusive mode")
		if i == 0 {
			go func() {
				steps, err := db.Migrate(t.Context(), address)
				migrated <- result{steps, err}
			}()
		}
		for waiting := false; !waiting; {
			err := request.QueryRow(t.Context(), "select exists (select from pg_locks where relation = 'goose_db_version'::regclass and not granted)").Scan(&waiting)
			if err != nil {
				t.Fatal(err)
			}
		}
		do("alter function loyalty.forget_pins(timestamptz, bigint) cost 100") // waits for the migration, which waits for us
		if i < busy-1 {
			do("rollback")
		}
	}
	do("commit")
	got := <-migrated
	// A step after it, which was taken before, can't be taken again.
	if len(got.steps) == 0 || got.steps[0].Version != replacesFunctions {
		t.Errorf("Migrate = %v, %v", got.steps, got.err)
	}
	var deadlocks int
	if err := request.QueryRow(t.Context(), "select deadlocks from pg_stat_database where datname = current_database()").Scan(&deadlocks); err != nil || deadlocks > 0 {
		t.Errorf("PostgreSQL ended %d deadlocks (%v), want none", deadlocks, err)
	}
}

// "/readyz (database reachable, migrations current)", and what to do otherwise.
func TestReady(t *testing.T) {
	t.Parallel()
	address := emptyURL(t)
	d, err := db.Open(t.Context(), address, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	if err := d.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "the database is empty: run `loyalty migrate up`") {
		t.Errorf("empty: %v", err)
	}
	if _, err := db.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	if err := d.Ready(t.Context()); err != nil {
		t.Errorf("current: %v", err)
	}
	if _, err := dbtest.Owner(d).Exec(t.Context(), "delete from goose_db_version where version_id = $1", migrations.Newest()); err != nil {
		t.Fatal(err)
	}
	if err := d.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "run `loyalty migrate up`") {
		t.Errorf("old: %v", err)
	}
	// An older build can serve after a newer one has migrated.
	if _, err := dbtest.Owner(d).Exec(t.Context(), "insert into goose_db_version (version_id, is_applied) values ($1, true), ($1 + 1, true)", migrations.Newest()); err != nil {
		t.Fatal(err)
	}
	notice, err := d.CheckReady(t.Context())
	if want := fmt.Sprintf("the database has migrations of a newer build: %d", migrations.Newest()+1); err != nil || notice != want {
		t.Errorf("newer: %v, %q, want %q", err, notice, want)
	}
	// A missing step in the middle is noticed.
	if _, err := dbtest.Owner(d).Exec(t.Context(), "delete from goose_db_version where version_id = 110"); err != nil {
		t.Fatal(err)
	}
	if err := d.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "lacks migrations that this build needs: 110; run `loyalty migrate up`") {
		t.Errorf("one in the middle is missing: %v", err)
	}
	d.Close()
	if err := d.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("out of reach: %v", err)
	}
}
