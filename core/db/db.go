// Package db is the way to PostgreSQL: a pool, transactions that see one tenant,
// and the few calls that statements are made with.
//
// A round trip is the unit of cost here, so a transaction sends as little as it can:
// its beginning travels with its first statement, statements whose answer nobody
// waits for (Queue) travel with the next one or with the commit. A use case that
// looks up, writes and commits makes three round trips, whatever it queues.
package db

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/loyalty/core"
)

// Role is what every statement of the service runs as: it owns nothing and no policy lets
// it pass. Connections become it when they are made, if they are not logged in as it.
const Role = "loyalty_app"

// queueRole is the same for the job queue's own connections, which see the jobs of all
// tenants and no other table.
const queueRole = "loyalty_queue"

// Options of a pool. The zero value serves.
type Options struct {
	OwnerURL         string        // the login that owns the tables, for verify; "": the URL itself
	MaxConns         int32         // 0: 20
	StatementTimeout time.Duration // 0: 10 seconds; a statement that hangs is cut
	Pooler           bool          // the URL leads to a transaction pooler: no statements are prepared
	Listens          bool          // the pool waits for notifications (the job queue's does)
	Tracer           pgx.QueryTracer
}

// DB is a pool of connections with the database's clock.
type DB struct {
	pool  *pgxpool.Pool
	owner string // URL of the owner's login
	size  int32  // most connections
	clock *clock
	shift time.Duration
	whole *Tx // that this database's transactions are parts of; nil: of none

	outbox *outbox
	counts *counts
}

// Open connects and reads the database's clock. The pool lives until Close; ctx bounds the opening.
func Open(ctx context.Context, url string, o Options) (*DB, error) {
	config, err := poolConfig(url, o)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	c := &clock{}
	if err := c.measure(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	return &DB{pool: pool, owner: cmp.Or(o.OwnerURL, url), size: config.MaxConns, clock: c, outbox: newOutbox(), counts: &counts{n: map[Metric]int64{}}}, nil
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
	timeout := o.StatementTimeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	conn := config.ConnConfig
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = 5 * time.Second
	}
	for name, value := range map[string]string{
		"application_name":                    "loyalty",
		"timezone":                            "UTC",
		"jit":                                 "off", // compiling costs a report more than it saves
		"statement_timeout":                   strconv.FormatInt(timeout.Milliseconds(), 10),
		"lock_timeout":                        strconv.FormatInt((timeout / 2).Milliseconds(), 10),
		"idle_in_transaction_session_timeout": strconv.FormatInt((2 * timeout).Milliseconds(), 10),
	} {
		if _, set := conn.RuntimeParams[name]; !set {
			conn.RuntimeParams[name] = value
		}
	}
	conn.Tracer = o.Tracer
	if o.Pooler {
		conn.DefaultQueryExecMode = pgx.QueryExecModeExec
		conn.StatementCacheCapacity = 0
	}
	// A client that goes away cancels its statement. By default pgx drops the
	// connection then; asking the server to cancel keeps it. Who only waits for a
	// notification has no statement to cancel, and would wait for an answer in vain.
	if !o.Listens {
		conn.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
			return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 2 * time.Second}
		}
	}
	// By default a connection that lay idle for a second is greeted before it is used,
	// which costs a round trip; one that died is noticed when it is used (onLiveConn).
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	role := Role
	if o.Listens {
		role = queueRole
	}
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		// Instants leave as UTC wherever the machine stands.
		c.TypeMap().RegisterType(&pgtype.Type{
			Name: "timestamptz", OID: pgtype.TimestamptzOID,
			Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
		})
		if o.Pooler {
			return nil // the connection behind the pooler is others' next: enter does it in each transaction
		}
		_, err := c.PgConn().Exec(ctx, fmt.Sprintf(becomeSQL, role)).ReadAll()
		return err
	}
	return config, nil
}

// Close ends the pool after the running transactions and what they have to tell.
func (d *DB) Close() {
	d.WaitForNotifications()
	d.pool.Close()
}

// becomeSQL has a connection serve: it is the role from then on, and outside of a transaction
// that has entered a tenant or the platform it sees no row of either. In a database without
// migrations there is no such role yet.
const becomeSQL = `
	select set_config('app.tenant_id', '-1', false),
		(
			select set_config('role', rolname, false)
			from pg_catalog.pg_roles
			where rolname = '%s'
				and pg_catalog.pg_has_role(oid, 'member')
		)`

// River is the driver with which the job queue reaches its tables.
func (d *DB) River() *riverpgxv5.Driver { return riverpgxv5.New(d.pool) }

// Stat is how busy the pool is.
func (d *DB) Stat() *pgxpool.Stat { return d.pool.Stat() }

// Reset closes the pool's connections as they are given back: for a server that was restarted
// or a database that was copied.
func (d *DB) Reset() { d.pool.Reset() }

// OwnerURL is the login that owns the tables: for migrations and tests, never for serving.
func (d *DB) OwnerURL() string { return d.owner }

// At returns the same database with its clock set to that instant, and running on
// from it: for tests, the demo and the sandbox, which need records with a past.
func (d *DB) At(instant time.Time) *DB {
	shifted := *d
	shifted.shift = instant.Sub(d.clock.now())
	return &shifted
}

// Now is the database's time, to the millisecond, in UTC.
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
			// A failed measurement keeps the last one: the machine's clock runs on from it.
			_ = d.clock.measure(ctx, d.pool)
		}
	}
}

// InTenant runs fn in one transaction that sees the actor's tenant and no other,
// and returns what fn returns. An error rolls everything back. Where the actor asks
// to be answered once, the answer is stored in the same transaction.
//
// fn may run again when the database asks for it (a deadlock, a serialization
// failure): it has no effects but those in the transaction.
func InTenant[T any](ctx context.Context, d *DB, by core.Actor, fn func(tx *Tx) (T, error)) (T, error) {
	if by.Tenant.ID == 0 {
		var none T
		return none, fmt.Errorf("db: %s %q acts for no tenant", by.Kind, by.Name)
	}
	return transact(ctx, d, by, fn)
}

// Platform runs fn in one transaction with no tenant set: it sees the global tables
// and no row of any tenant table. For authentication, super-admins and jobs.
func Platform[T any](ctx context.Context, d *DB, by core.Actor, fn func(tx *Tx) (T, error)) (T, error) {
	by.Tenant = core.Tenant{}
	return transact(ctx, d, by, fn)
}

// Within is InTenant for an actor of a tenant, and Platform for one of the platform.
func Within[T any](ctx context.Context, d *DB, by core.Actor, fn func(tx *Tx) (T, error)) (T, error) {
	return transact(ctx, d, by, fn)
}

// AsOwner runs fn in a read-only snapshot as the owner, past every policy, on a connection of
// its own: for verify, which must see all tenants at one instant. Never for serving.
func AsOwner(ctx context.Context, d *DB, fn func(tx pgx.Tx) error) error {
	config, err := poolConfig(d.owner, Options{MaxConns: 1})
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return translate(ctx, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return translate(ctx, pgx.BeginTxFunc(ctx, conn, options, func(tx pgx.Tx) error {
		// It may take long on a large database, and nobody waits behind it.
		if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil {
			return err
		}
		return fn(tx)
	}))
}

// Atomic runs fn with a database whose transactions are parts of a single one: all that fn does
// through it is committed together, or none of it. For the demo, which must never be half there.
// Only one goroutine may use that database at a time; a part that fails undoes the whole. Like
// that of InTenant, fn may run again.
func Atomic(ctx context.Context, d *DB, fn func(parts *DB) error) error {
	_, err := Platform(ctx, d, core.Actor{}, func(tx *Tx) (struct{}, error) {
		if err := tx.send(ctx, nil); err != nil {
			return struct{}{}, err
		}
		parts := *d
		parts.whole = tx
		if err := fn(&parts); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, tx.failed
	})
	return err
}

const attempts = 5

func transact[T any](ctx context.Context, d *DB, by core.Actor, fn func(tx *Tx) (T, error)) (T, error) {
	for attempt := 1; ; attempt++ {
		result, err := runOnce(ctx, d, by, fn)
		if err == nil || attempt == attempts || !canRetry(ctx, err) {
			return result, translate(ctx, err)
		}
	}
}

func runOnce[T any](ctx context.Context, d *DB, by core.Actor, fn func(tx *Tx) (T, error)) (result T, err error) {
	tx := &Tx{Now: d.Now(), Tenant: by.Tenant.ID, home: by.Tenant.ID, db: d}
	if d.whole != nil {
		tx.join(d.whole)
	}
	defer func() {
		if err != nil {
			var none T
			result = none
		}
		tx.release(ctx, err)
	}()
	if by.Idempotency != nil {
		if err := tx.replay(ctx, by); err != nil {
			return result, err
		}
	}
	if result, err = fn(tx); err != nil {
		return result, err
	}
	if by.Idempotency != nil {
		if err := tx.storeResponse(by, result); err != nil {
			return result, err
		}
	}
	return result, tx.commit(ctx)
}
