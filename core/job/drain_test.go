package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
)

// "Clean-ups in batches, each committed": a backlog of many batches is deleted, and committed batches remain
// when a later one fails.
func TestABacklogIsWorkedOffInBatches(t *testing.T) {
	t.Parallel()
	f := newFloor(t)
	lanes := func() int { return one[int](t, f, "select count(*) from loyalty.queue_pause") }
	fill := func() {
		t.Helper()
		if _, err := dbtest.Owner(f.db).Exec(t.Context(), "insert into loyalty.queue_pause select 'lane ' || n, 'test', now() from generate_series(1, 10) n on conflict do nothing"); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("broken")
	batches := 0
	clean := func(fail int) func(ctx context.Context, tx *db.Tx) (int64, error) {
		batches = 0
		return func(ctx context.Context, tx *db.Tx) (int64, error) {
			if batches++; batches == fail {
				return 0, broken
			}
			return db.Exec(ctx, tx, "delete from loyalty.queue_pause where lane in (select lane from loyalty.queue_pause limit 3)", nil)
		}
	}
	fill()
	if err := job.Drain(t.Context(), f.db, clean(3)); !errors.Is(err, broken) || lanes() != 4 {
		t.Errorf("broken in the third batch: %v, %d rows are left, want 4", err, lanes())
	}
	if err := job.Drain(t.Context(), f.db, clean(0)); err != nil || lanes() != 0 || batches != 3 {
		t.Errorf("%v, %d rows are left after %d batches, want none after 3", err, lanes(), batches)
	}
	// A clean-up whose time is over is put back behind waiting jobs and continues later.
	fill()
	err := job.DrainWithin(t.Context(), f.db, time.Nanosecond, clean(0))
	var again job.AgainError
	if !errors.As(err, &again) || lanes() != 7 {
		t.Errorf("after its time: %v, %d rows are left, want 7 and another turn", err, lanes())
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := job.Drain(gone, f.db, clean(0)); err == nil || lanes() != 7 {
		t.Errorf("told to stop: %v, %d rows are left", err, lanes())
	}
}
