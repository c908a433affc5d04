package db

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// answerTime is how long a message may wait for its answer before Watch asks the server about it, and how long
	// an answer shows that the database can be reached.
	answerTime = 2 * time.Second
	watchEvery = time.Second
	resetEvery = time.Second
)

// pulse knows which connections of a pool wait for an answer of the server, and when it last answered.
type pulse struct {
	mu       sync.Mutex
	waiting  map[*pgconn.PgConn]time.Time // since when
	answered time.Time
	reset    time.Time // when the pool's connections were last dropped
}

func newPulse() *pulse { return &pulse{waiting: map[*pgconn.PgConn]time.Time{}} }

// wait notes that a connection waits for an answer, until the returned function is called.
func (p *pulse) wait(c *pgconn.PgConn) (end func(err error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[c] = localTime()
	return func(err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waiting, c)
		if err == nil || serverError(err).Code != "" {
			p.answered = localTime()
			c.CustomData()[usedAt] = p.answered
		}
	}
}

// isAlive reports whether the server has answered a moment ago.
func (p *pulse) isAlive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return localTime().Sub(p.answered) < answerTime
}

// longest returns how long a connection has been waiting at most.
func (p *pulse) longest() (longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, since := range p.waiting {
		longest = max(longest, localTime().Sub(since))
	}
	return longest
}

// overdue returns the connections that wait too long, and since when.
func (p *pulse) overdue() map[*pgconn.PgConn]time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := map[*pgconn.PgConn]time.Time{}
	for c, since := range p.waiting {
		if localTime().Sub(since) >= answerTime && c.CustomData()[isForeign] == nil {
			found[c] = since
		}
	}
	return found
}

// stillWaits reports whether a connection waits for the same answer as before.
func (p *pulse) stillWaits(c *pgconn.PgConn, since time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting[c].Equal(since)
}

// mayReset allows a reset a second: connecting costs the server a process.
func (p *pulse) mayReset() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if localTime().Sub(p.reset) < resetEvery {
		return false
	}
	p.reset = localTime()
	return true
}

// What a connection remembers (pgconn's CustomData).
const (
	openedAt  = "opened at"
	usedAt    = "used at"    // when it was last answered
	isForeign = "is foreign" // the server doesn't know its number: something in between made it up
)

// wasIdle reports whether a connection was idle for so long that it is tried before it is used.
func wasIdle(c *pgxpool.Conn) bool {
	used, known := c.Conn().PgConn().CustomData()[usedAt].(time.Time)
	return known && localTime().Sub(used) > time.Second
}

// distrust drops the pool's other connections as they become idle: a network that swallowed the messages of one will
// swallow theirs.
func (d *DB) distrust() {
	if d.pulse.mayReset() {
		d.pool.Reset()
	}
}

// Watch ends connections whose answers will never come, until ctx does, so that their callers don't wait for the end of
// their time: messages of a network that swallows them are neither answered nor refused. It asks the server by another
// connection; a statement that is still at work is left alone.
func (d *DB) Watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var suspected map[*pgconn.PgConn]time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		lost := d.lostAnswers(ctx)
		for c, since := range lost {
			// Twice in a row, because an answer may be on its way.
			if suspected[c].Equal(since) && d.pulse.stillWaits(c, since) {
				d.distrust()
				_ = c.Conn().Close()
			}
		}
		suspected = lost
	}
}

// idleSQL returns the connections that don't work on a statement, nor have done so a moment ago. A state that this login
// may not see is null.
const idleSQL = `
	select backend.pid
	from unnest($1::int[]) backend (pid)
	left join pg_stat_activity activity using (pid)
	where activity.pid is null
		or activity.state like 'idle%'
		and activity.state_change < clock_timestamp() - interval '1 second'`

// lostAnswers returns the connections that wait for an answer although the server has nothing to do for them. If it can't
// be asked, there are none.
func (d *DB) lostAnswers(ctx context.Context) map[*pgconn.PgConn]time.Time {
	waiting := d.pulse.overdue()
	if len(waiting) == 0 {
		return nil
	}
	pids := make([]int32, 0, len(waiting))
	for c := range waiting {
		pids = append(pids, numberOf(c))
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	config := d.pool.Config().ConnConfig
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil
	}
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, idleSQL, pids) // collecting returns its error
	idle, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		return nil
	}
	for c := range waiting {
		if !slices.Contains(idle, numberOf(c)) {
			delete(waiting, c)
		}
	}
	return waiting
}

// numberOf returns the number of the server's process.
func numberOf(c *pgconn.PgConn) int32 { return int32(c.PID()) } //nolint:gosec // an operating system's

// isSilent reports whether err is that a connection was given up without an answer.
func isSilent(err error) bool {
	return pgconn.Timeout(err) || errors.Is(err, net.ErrClosed)
}
