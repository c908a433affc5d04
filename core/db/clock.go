package db

import (
	"context"
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

func (c *clock) measure(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	before := localTime()
	var m measurement
	if err := conn.QueryRow(ctx, "select clock_timestamp()").Scan(&m.database); err != nil {
		return err
	}
	// The server read its clock about half way through the round trip.
	m.local = before.Add(time.Since(before) / 2)
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
