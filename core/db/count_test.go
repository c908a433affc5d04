package db_test

import (
	"errors"
	"testing"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

// Counts are added after the commit, never after a rollback, and once if the transaction runs again.
func TestWhatCommitsIsCounted(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	coffee := db.Metric{Thing: "coffee", Kind: "served"}
	spilled := errors.New("spilled")
	for _, end := range []error{nil, spilled, nil} {
		_, err := db.In(t.Context(), d.Platform(), func(tx *db.Tx) (int, error) {
			db.Count(tx, coffee, 2)
			db.Count(tx, coffee, 1)
			return 0, end
		})
		if !errors.Is(err, end) {
			t.Fatal(err)
		}
	}
	d.At(d.Now().AddDate(0, 0, 1)).Count(coffee, 10) // another clock, the same process
	if got := d.Counts()[coffee]; got != 16 {
		t.Errorf("counted %d, want 16", got)
	}
	tries := 0
	_, err := db.In(t.Context(), d.Platform(), func(tx *db.Tx) (int64, error) {
		tries++
		db.Count(tx, coffee, 1)
		if tries == 1 {
			return db.Exec(t.Context(), tx, "do $$ begin raise exception using errcode = '40001'; end $$", nil)
		}
		return 0, nil
	})
	if got := d.Counts()[coffee]; err != nil || tries != 2 || got != 17 {
		t.Errorf("run %d times, counted %d, %v, want 2, 17", tries, got, err)
	}
}
