package job

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Batch is how many rows a clean-up deletes in one transaction: so many take well under a
// second, where a statement is cut after ten.
const Batch = 5_000

// drainTime is how long a clean-up goes on before other jobs of its lane have their turn.
const drainTime = 20 * time.Second

// Drain repeats a batch of a clean-up over all tenants, each in a transaction of its own on
// the platform, until one finds nothing left to do. What was committed stays done, however
// the job ends, so a backlog of millions is worked off. After 20 seconds the job is put back,
// to go on behind those that wait: return what Drain returns.
func Drain(ctx context.Context, d *db.DB, what string, batch func(ctx context.Context, tx *db.Tx) (done int64, err error)) error {
	return drain(ctx, d, drainTime, what, batch)
}

func drain(ctx context.Context, d *db.DB, within time.Duration, what string, batch func(ctx context.Context, tx *db.Tx) (int64, error)) error {
	turn, cancel := context.WithTimeout(context.WithoutCancel(ctx), within) // tells only when to stop
	defer cancel()
	for {
		done, err := db.Platform(ctx, d, core.System(core.Tenant{}, what), func(tx *db.Tx) (int64, error) { return batch(ctx, tx) })
		if err != nil || done == 0 {
			return err
		}
		if turn.Err() != nil {
			return Again(time.Second)
		}
	}
}
