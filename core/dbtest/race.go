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

// Race makes so many calls at once against a database of the test's own and returns how
// many went well; the others must be refused by one of the rules. A row that all of them
// want is held (the statement takes its id) until every connection waits for it: left to
// themselves, the first would be done before the others are connected.
func Race(t *testing.T, d *db.DB, hold string, id core.ID, calls int, call func(i int) error, rules ...error) (won int) {
	t.Helper()
	ctx, most := t.Context(), int(d.Stat().MaxConns())
	connect(t, d)
	tx, err := Owner(d).Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if held, err := tx.Exec(ctx, hold, id); err != nil || held.RowsAffected() != 1 {
		t.Fatalf("%s: %d rows, %v", hold, held.RowsAffected(), err)
	}
	var good, over atomic.Int64
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			err := call(i)
			over.Add(1)
			switch {
			case err == nil:
				good.Add(1)
			case !slices.ContainsFunc(rules, func(rule error) bool { return errors.Is(err, rule) }):
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	for waiting := 0; waiting < min(calls, most) && over.Load() == 0; {
		err := tx.QueryRow(ctx, `
			select count(*) from pg_stat_activity
			where wait_event_type = 'Lock' and datname = current_database()`).Scan(&waiting)
		if err != nil {
			t.Error(err)
			break
		}
	}
	if over.Load() > 0 {
		t.Errorf("a call was over while others held: %s", hold)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Error(err)
	}
	all.Wait()
	return int(good.Load())
}

// connect has a pool open all its connections: whoever waits for a lock waits for some
// seconds only, which this might take on a busy machine.
func connect(t *testing.T, d *db.DB) {
	t.Helper()
	var all, begun sync.WaitGroup
	begun.Add(int(d.Stat().MaxConns()))
	for range d.Stat().MaxConns() {
		all.Go(func() {
			_, err := db.Platform(t.Context(), d, core.System(core.Tenant{}, "test"), func(tx *db.Tx) (int, error) {
				one, err := db.Value[int](t.Context(), tx, "select 1", nil)
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
