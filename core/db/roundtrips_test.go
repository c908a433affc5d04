package db_test

import (
	"errors"
	"testing"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

// "A use case that looks up, writes and commits makes three round trips, whatever it
// queues", and "a hot read of one statement [is] one implicit transaction, one round
// trip".
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	b := businessOf(t, d)
	id := b.open(t, "Main street")
	ctx := t.Context()
	refused := errors.New("refused")

	in := func(fn func(tx *db.Tx) error) func() error {
		return func() error {
			_, err := db.In(ctx, d.Tenant(b.by), func(tx *db.Tx) (int, error) { return 0, fn(tx) })
			return err
		}
	}
	find := func(tx *db.Tx) error {
		_, err := db.One[branch](ctx, tx, branchSQL, db.Args{"id": id})
		return err
	}
	write := func(tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, renameBranchSQL, db.Args{"id": id, "name": "Renamed"})
		return err
	}
	queue := func(tx *db.Tx) error { return db.Queue(tx, renameBranchSQL, db.Args{"id": id, "name": "Queued"}) }

	for _, c := range []struct {
		name string
		want int
		do   func() error
	}{
		{"a read", 1, func() error {
			_, err := db.One[branch](ctx, d.Tenant(b.by), branchSQL, db.Args{"id": id})
			return err
		}},
		{"a read that finds nothing", 1, func() error {
			_, err := db.All[branch](ctx, d.Tenant(b.by), branchSQL, db.Args{"id": 0})
			return err
		}},
		{"a platform read", 1, func() error {
			_, err := db.All[branch](ctx, d.Platform(), everyBranchSQL, nil)
			return err
		}},
		{"look up, write, commit", 3, in(func(tx *db.Tx) error { return errors.Join(find(tx), write(tx)) })},
		{"look up, queue, write, queue, commit", 3, in(func(tx *db.Tx) error {
			return errors.Join(find(tx), queue(tx), queue(tx), write(tx), queue(tx), queue(tx))
		})},
		{"look up, queue, commit", 2, in(func(tx *db.Tx) error { return errors.Join(find(tx), queue(tx), queue(tx)) })},
		{"queue, commit", 1, in(func(tx *db.Tx) error { return errors.Join(queue(tx), queue(tx)) })},
		{"nothing", 0, in(func(*db.Tx) error { return nil })},
		{"look up, refuse", 2, in(func(tx *db.Tx) error { return errors.Join(find(tx), refused) })},
		{"refuse", 0, in(func(tx *db.Tx) error { return errors.Join(queue(tx), refused) })},
	} {
		var trips int
		for range 2 { // the first run prepares the statements
			before := count()
			if err := c.do(); err != nil && !errors.Is(err, refused) {
				t.Fatal(err)
			}
			trips = count() - before
		}
		if trips != c.want {
			t.Errorf("%s: %d round trips, want %d", c.name, trips, c.want)
		}
	}
}

// "It is checked after body syntax": an idempotency key costs one more round trip, whatever the outcome.
func TestAKeyCostsOneRoundTrip(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	b := businessOf(t, d)
	b.answer(t, "warm-up", "body")

	before := count()
	b.answer(t, "key", "body")
	if got := count() - before; got != 3 { // take the key and look; write; store the answer and commit
		t.Errorf("first time: %d round trips, want 3", got)
	}
	before = count()
	if got := b.answer(t, "key", "body"); !got.Replayed {
		t.Error("not replayed")
	}
	if got := count() - before; got != 2 { // look; roll back
		t.Errorf("replayed: %d round trips, want 2", got)
	}
}
