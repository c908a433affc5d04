package db

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// clock is the database's: measured now and then, and carried on by this machine's
// monotonic time in between, so that reading it costs no round trip and several
// machines agree.
type clock struct{ measured atomic.Pointer[reading] }

type reading struct {
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
	var r reading
	if err := conn.QueryRow(ctx, "select clock_timestamp()").Scan(&r.database); err != nil {
		return err
	}
	// The server read its clock about half way through the trip.
	r.local = before.Add(time.Since(before) / 2)
	c.measured.Store(&r)
	return nil
}

func (c *clock) now() time.Time {
	r := c.measured.Load()
	return r.database.Add(time.Since(r.local)).UTC()
}

func localTime() time.Time {
	return time.Now() //nolint:forbidigo // the one place that compares this machine's clock with the database's
}
