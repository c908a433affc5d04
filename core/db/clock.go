package db

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// clock is the database's clock: measured now and then, and extrapolated with this machine's
// monotonic time, so that reading it costs no round trip and several machines agree.
type clock struct{ measured atomic.Pointer[measurement] }

type measurement struct {
	database time.Time
	local    time.Time // with its monotonic part
}

// measure reads the database's clock a few times and believes the fastest answer: it says the most exactly when it was given.
func (c *clock) measure(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var m measurement
	fastest := time.Duration(math.MaxInt64)
	for range 5 {
		var database time.Time
		before := localTime()
		if err := conn.QueryRow(ctx, "select clock_timestamp()").Scan(&database); err != nil {
			return err
		}
		// The server read its clock about half way through the round trip.
		if took := time.Since(before); took < fastest {
			fastest, m = took, measurement{database: database, local: before.Add(took / 2)}
		}
	}
	c.measured.Store(&m)
	return nil
}

func (c *clock) now() time.Time {
	m := c.measured.Load()
	return m.database.Add(time.Since(m.local)).UTC()
}

func localTime() time.Time {
	return time.Now() //nolint:forbidigo // the one place that compares this machine's clock with the database's
}
