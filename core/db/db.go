// Package db talks to PostgreSQL: it has the pool, transactions that see one tenant, lists and
// their pages, migrations, and idempotent requests.
//
// Round trips are what a use case costs, so a transaction makes few of them: its begin is sent
// with its first statement, and a queued statement (Queue) with the next one or the commit.
package db

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Role is the database role that serves: it owns nothing and is subject to every policy. A
// connection that logs in as another role switches to it.
const Role = "loyalty_app"

// Options configure a pool. The zero value suits a server.
type Options struct {
	OwnerURL         string        // the login that owns the tables, for verify; "": the pool's URL
	MaxConns         int32         // 0: 20
	StatementTimeout time.Duration // 0: 10 seconds
	CountTimeout     time.Duration // of counting a list for a page; 0: 100 milliseconds
	Pooler           bool          // the URL is a transaction pooler's: no statements are prepared
	Listens          bool          // the pool is for jobs and live updates, which wait for notifications
	Tracer           pgx.QueryTracer
}

// DB is a pool of connections with the database's clock.
type DB struct {
	pool  *pgxpool.Pool
	owner string // URL of the owner's login
	size  int32  // maximum number of connections
	count string // timeout of counting a list, in milliseconds
	clock *clock
	share *shares
	pulse *pulse
	begin []call        // what a transaction begins with behind a pooler
	shift time.Duration // of the clock (At)
	whole *Tx           // the transaction that all others are parts of (Parts); nil: none

	distributed bool

	outbox *outbox
	counts *counts
}

// Open connects and reads the database's clock. ctx limits the opening; the pool lives until Close.
func Open(ctx context.Context, url string, o Options) (*DB, error) {
	config, err := poolConfig(url, o)
	if err != nil {
		return nil, err
	}
	d := &DB{
		owner: cmp.Or(o.OwnerURL, url), size: config.MaxConns, count: countTimeout(o),
		clock: &clock{}, share: newShares(config.MaxConns), pulse: newPulse(), outbox: newOutbox(), counts: &counts{n: map[Metric]int64{}},
	}
	if o.Pooler {
		d.begin = []call{settle(sessionSettings(o))}
	}
	// A connection to a server that doesn't write any more may outlast the server's return: it is closed.
	others := config.ConnConfig.OnPgError
	config.ConnConfig.OnPgError = func(c *pgconn.PgConn, e *pgconn.PgError) (keep bool) {
		return e.Code != readOnly && others(c, e)
	}
	if d.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	err = d.clock.measure(ctx, d.pool)
	if err == nil {
		err = d.pool.QueryRow(ctx, isCitusSQL).Scan(&d.distributed)
	}
	if err != nil {
		d.pool.Close()
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	return d, nil
}

func countTimeout(o Options) string {
	return strconv.FormatInt(cmp.Or(o.CountTimeout, 100*time.Millisecond).Milliseconds(), 10)
}

func poolConfig(url string, o Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = o.MaxConns
	if config.MaxConns == 0 {
		config.MaxConns = 20
	}
	conn := config.ConnConfig
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = connectTimeout
	}
	settings := map[string]string{"application_name": "loyalty", "timezone": "UTC"}
	if !o.Pooler {
		maps.Copy(settings, sessionSettings(o))
	}
	for name, value := range settings {
		if _, set := conn.RuntimeParams[name]; !set {
			conn.RuntimeParams[name] = value
		}
	}
	conn.Tracer = o.Tracer
	if o.Pooler {
		// Each execution brings its statement along; only the types of its values are remembered.
		conn.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		conn.StatementCacheCapacity = 0
	}
	// When a client goes away, its statement is cancelled. By default pgx drops the connection;
	// asking the server to cancel keeps it. Waiting for a notification is no statement, so there
	// the server would not answer.
	if !o.Listens {
		conn.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
			return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 2 * time.Second}
		}
	}
	// By default pgx pings a connection that was idle for a second, which costs a round trip.
	// onLiveConn notices a dead one when it is used; the job queue doesn't.
	if o.Listens {
		config.PingTimeout = answerTime
	} else {
		config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	}
	config.MaxConnLifetime, config.MaxConnLifetimeJitter = lifetime, lifetime/10
	conn.DialFunc = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}}).DialContext
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		// Timestamps are UTC, whatever the machine's time zone.
		c.TypeMap().RegisterType(&pgtype.Type{
			Name: "timestamptz", OID: pgtype.TimestamptzOID,
			Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
		})
		c.PgConn().CustomData()[openedAt] = localTime()
		if o.Pooler {
			c.PgConn().CustomData()[isForeign] = true
			return nil // the server's connection is shared: enter switches in each transaction
		}
		results, err := c.PgConn().Exec(ctx, fmt.Sprintf(becomeSQL, Role)).ReadAll()
		if err == nil && string(results[0].Rows[0][0]) != strconv.Itoa(int(c.PgConn().PID())) {
			c.PgConn().CustomData()[isForeign] = true
		}
		return err
	}
	return config, nil
}

// sessionSettings are the settings under which statements run: of the session or, behind a pooler, which accepts none from
// its clients, of each transaction.
func sessionSettings(o Options) map[string]string {
	timeout := cmp.Or(o.StatementTimeout, 10*time.Second)
	return map[string]string{
		"app.marks_days":                      "yes", // this build marks days that it changes (migration 0168)
		"jit":                                 "off", // compiling costs a report more than it saves
		"max_parallel_workers_per_gather":     "0",   // a report of one tenant would take the cores that others' sales need
		"statement_timeout":                   strconv.FormatInt(timeout.Milliseconds(), 10),
		"lock_timeout":                        strconv.FormatInt((timeout / 2).Milliseconds(), 10),
		"idle_in_transaction_session_timeout": strconv.FormatInt((2 * timeout).Milliseconds(), 10),
	}
}

const settleSQL = `
	select set_config(setting.name, setting.value, true)
	from unnest($1::text[], $2::text[]) setting (name, value)`

// settle returns the statement that makes the settings those of a transaction.
func settle(settings map[string]string) call {
	names := slices.Sorted(maps.Keys(settings))
	return call{settleSQL, []any{names, Column(names, func(name string) string { return settings[name] })}}
}

// lifetime is the age at which a connection is replaced, give or take a tenth. That ends faults of a connection which no one
// has noticed, and frees the memory that its process on the server keeps.
const lifetime = 10 * time.Minute

// Close closes the pool after the running transactions and their notifications.
func (d *DB) Close() {
	d.WaitForNotifications()
	d.pool.Close()
}

// becomeSQL switches a connection to a role. Until a transaction enters a tenant or the platform,
// it sees no row of either. A database without migrations has no such role yet.
const becomeSQL = `
	select pg_backend_pid(),
		set_config('app.tenant_id', '-1', false),
		(
			select set_config('role', rolname, false)
			from pg_catalog.pg_roles
			where rolname = '%s'
				and pg_catalog.pg_has_role(oid, 'member')
		)`

// IsDistributed reports whether the database is distributed by tenant (Distribute).
func (d *DB) IsDistributed() bool { return d.distributed }

// Size returns the maximum number of connections.
func (d *DB) Size() int { return int(d.size) }

// Stat returns the pool's statistics.
func (d *DB) Stat() *pgxpool.Stat { return d.pool.Stat() }

// Reset closes the pool's connections as they are returned: for a server that was restarted or a
// database that was copied.
func (d *DB) Reset() { d.pool.Reset() }

// OwnerURL returns the login that owns the tables: for migrations and tests, never for serving.
func (d *DB) OwnerURL() string { return d.owner }

// At returns the same database with its clock set to an instant and running on from there: for
// tests, the demo and the sandbox, which need records with a past.
func (d *DB) At(instant time.Time) *DB {
	shifted := *d
	shifted.shift = instant.Sub(d.clock.now())
	return &shifted
}

// Now returns the database's time, to the millisecond, in UTC.
func (d *DB) Now() time.Time { return d.clock.now().Add(d.shift).Truncate(time.Millisecond) }

// KeepTime measures the database's clock every minute until ctx ends.
func (d *DB) KeepTime(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// When it fails, the last measurement is extrapolated further.
			_ = d.clock.measure(ctx, d.pool)
		}
	}
}
