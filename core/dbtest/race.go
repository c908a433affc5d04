package dbtest

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Race makes concurrent calls in a database that only this test uses, and returns how many succeeded. The others must be
// refused by one of the rules. A row that all calls need is locked by a statement (with its tenant and ID as arguments) until
// every connection that a tenant may use waits for it; otherwise the first call would end before the others start.
func Race(t *testing.T, d *db.DB, tenant core.TenantID, lockSQL string, id core.ID, calls int, call func(i int) error, rules ...error) (succeeded int) {
	t.Helper()
	ctx, most := t.Context(), d.Share()
	connect(t, d)
	tx, err := Owner(d).Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if locked, err := tx.Exec(ctx, lockSQL, tenant, id); err != nil || locked.RowsAffected() != 1 {
		t.Fatalf("%s: %d rows, %v", lockSQL, locked.RowsAffected(), err)
	}
	var successes, ended atomic.Int64
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			err := call(i)
			ended.Add(1)
			switch {
			case err == nil:
				successes.Add(1)
			case !slices.ContainsFunc(rules, func(rule error) bool { return errors.Is(err, rule) }):
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	for waiting := 0; waiting < min(calls, most) && ended.Load() == 0; {
		err := tx.QueryRow(ctx, `
			select count(*) from `+Activity(t)+`
			where wait_event_type = 'Lock' and datname = current_database()`).Scan(&waiting)
		if err != nil {
			t.Error(err)
			break
		}
	}
	if ended.Load() > 0 {
		t.Errorf("a call ended without waiting for the lock of: %s", lockSQL)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Error(err)
	}
	all.Wait()
	return int(successes.Load())
}

// connect opens the connections that a tenant may use at once. On a busy machine this can take seconds, longer than a call waits for a lock.
func connect(t *testing.T, d *db.DB) {
	t.Helper()
	var all, begun sync.WaitGroup
	begun.Add(d.Share())
	for range d.Share() {
		all.Go(func() {
			_, err := db.In(t.Context(), d.Platform(), func(tx *db.Tx) (int, error) {
				one, err := db.One[int](t.Context(), tx, "select 1", nil)
				begun.Done()
				begun.Wait()
				return one, err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
