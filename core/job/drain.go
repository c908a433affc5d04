package job

import (
	"context"
	"time"

	"example.com/loyalty/core/db"
)

// Batch is how many rows a clean-up deletes in one transaction, which takes well under a second.
const Batch = 5_000

// drainTime is how long a clean-up runs before other jobs of its lane get their turn.
const drainTime = 20 * time.Second

// Drain repeats a batch of a clean-up over all tenants, each in its own transaction of the platform,
// until a batch finds nothing to do. After 20 seconds it returns Again, so that the job continues
// after those that wait: the handler must return Drain's error.
func Drain(ctx context.Context, d *db.DB, batch func(ctx context.Context, tx *db.Tx) (done int64, err error)) error {
	return drain(ctx, d, drainTime, batch)
}

func drain(ctx context.Context, d *db.DB, within time.Duration, batch func(ctx context.Context, tx *db.Tx) (int64, error)) error {
	turn, cancel := context.WithTimeout(context.WithoutCancel(ctx), within) // measures time, and cancels nothing
	defer cancel()
	for {
		done, err := db.In(ctx, d.Platform(), func(tx *db.Tx) (int64, error) { return batch(ctx, tx) })
		if err != nil || done == 0 {
			return err
		}
		if turn.Err() != nil {
			return Again(time.Second)
		}
	}
}
