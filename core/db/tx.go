package db

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/loyalty/core"
)

// Tx is a transaction that sees one tenant or, on the platform, none. One, All, Together, Exec and
// Queue run its statements.
type Tx struct {
	// Now is the transaction's only clock: the database's time, to the millisecond.
	Now    time.Time
	Tenant core.TenantID

	home  core.TenantID // of its begin; 0: the platform
	gated bool          // it begins by asking whether the tenant is active
	db    *DB
	conn  *pgxpool.Conn  // nil until the first statement is sent
	leave func()         // gives back the tenant's place (shares); nil for a part of another transaction
	queue []call         // sent with the next statement or the commit
	notes []notification // sent after the commit

	counted map[Metric]int64 // added to the totals after the commit

	whole  *Tx   // the transaction that this one is a part of (Parts); nil: none
	failed error // the error of a part of this one
}

type call struct {
	sql  string
	args []any
}

const (
	beginSQL = "begin"
	// A plain select, so that it can be prepared and take the tenant (0: the platform) as an argument.
	enterSQL    = "select loyalty.enter($1)"
	enterAtSQL  = "select loyalty.enter($1, $2)"
	gateSQL     = "select loyalty.require_active()"
	commitSQL   = "commit"
	rollbackSQL = "rollback"
)

func enter(tenant core.TenantID) call { return call{enterSQL, []any{int64(tenant)}} }

// enterAt is enter for a transaction that writes records of an instant. It fails (isLate) when that is long ago, because a reader
// of changes may have passed it. A shifted clock (At) is of the past on purpose.
func (d *DB) enterAt(tenant core.TenantID, at time.Time) call {
	if d.shift != 0 {
		return enter(tenant)
	}
	return call{enterAtSQL, []any{int64(tenant), at}}
}

// start returns the calls with which the transaction enters its tenant or the platform.
func (tx *Tx) start() []call {
	begin := enter(tx.home)
	if tx.whole == nil {
		begin = tx.db.enterAt(tx.home, tx.Now)
	}
	calls := slices.Concat(tx.db.begin, []call{begin})
	if tx.gated {
		calls = append(calls, call{sql: gateSQL})
	}
	return calls
}

var errOtherTenant = errors.New("db: a tenant's transaction can't enter another tenant")

// Enter makes a transaction of the platform see one tenant from here on or, with 0, none again:
// creating a tenant also creates its owner. Statements queued before remain the platform's.
func (tx *Tx) Enter(tenant core.TenantID) error {
	if tx.home != 0 {
		return errOtherTenant
	}
	tx.queue = append(tx.queue, enter(tenant))
	tx.Tenant = tenant
	return nil
}

// Queue adds a statement whose result isn't needed. It is sent with the next statement or with
// the commit, in the same round trip, which also returns its error.
func Queue(tx *Tx, sql string, args Args) error {
	c, err := bind(sql, args, tx.Tenant)
	if err != nil {
		return err
	}
	tx.queue = append(tx.queue, c)
	return nil
}

const takeTimeSQL = `
	select set_config('statement_timeout', '10min', true), set_config('lock_timeout', '10min', true),
		set_config('application_name', 'loyalty of ' || @tenant::bigint, true)`

// TakeTime allows each further statement and lock of the transaction ten minutes instead of the
// few seconds that a till may wait: for work on all records of a large business. Others' readers of changes don't wait for it.
func TakeTime(tx *Tx) error { return Queue(tx, takeTimeSQL, Args{"tenant": int64(tx.Tenant)}) }

// send sends the queue and then the given calls, in one round trip. The results of the last ones
// go to read, in order.
func (tx *Tx) send(ctx context.Context, calls []call, read ...func(pgx.Rows) error) error {
	batch := slices.Concat(tx.queue, calls)
	tx.queue = nil
	if tx.conn != nil {
		return tx.db.roundTrip(ctx, tx.conn, batch, read)
	}
	// The transaction begins here.
	batch = slices.Concat([]call{{sql: beginSQL}}, tx.start(), batch)
	// A commit may have happened before the connection died, so it is never sent twice.
	isCommit := len(calls) == 1 && calls[0].sql == commitSQL
	return tx.db.onLiveConn(ctx, func(conn *pgxpool.Conn) (done bool, err error) {
		err = tx.db.roundTrip(ctx, conn, batch, read)
		if isDead(conn, err) && !isCommit {
			return false, err
		}
		tx.conn = conn
		return true, err
	})
}

// onLiveConn calls fn with a connection. One that died while idle is noticed only when it is
// used: unless fn is done, the connection is dropped and fn gets another.
func (d *DB) onLiveConn(ctx context.Context, fn func(*pgxpool.Conn) (done bool, err error)) error {
	for attempt := int32(0); ; attempt++ {
		conn, err := d.acquire(ctx)
		if err != nil {
			return err
		}
		done, err := fn(conn)
		if done {
			return err
		}
		conn.Release()
		if ctx.Err() != nil || attempt == d.size {
			return err
		}
	}
}

// acquire returns a connection of the pool. If the server has none left for it, callers wait for those that are open.
func (d *DB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	for begun := localTime(); ; {
		conn, err := d.pool.Acquire(ctx)
		isShort := errorCode(err) == tooManyConnections && d.pool.Stat().TotalConns() > 0
		if !isShort || localTime().Sub(begun) > connectTimeout || sleep(ctx, acquireEvery) != nil {
			return conn, err
		}
	}
}

const acquireEvery = 20 * time.Millisecond

// isDead reports whether err came from a connection that is gone, rather than from a server that is read-only, after which
// it was closed.
func isDead(conn *pgxpool.Conn, err error) bool {
	return err != nil && conn.Conn().IsClosed() && errorCode(err) != readOnly
}

// roundTrip sends calls as one message. The results of the last ones go to read.
func (d *DB) roundTrip(ctx context.Context, conn *pgxpool.Conn, calls []call, read []func(pgx.Rows) error) (err error) {
	answered := d.pulse.wait(conn.Conn().PgConn())
	defer func() {
		answered(err)
		if errorCode(err) == readOnly {
			opened, _ := conn.Conn().PgConn().CustomData()[openedAt].(time.Time)
			err = &readOnlyError{err, opened}
		}
		if isDead(conn, err) && isSilent(err) {
			d.distrust()
		}
	}()
	var batch pgx.Batch
	for _, c := range calls {
		batch.Queue(c.sql, c.args...)
	}
	answers := conn.SendBatch(ctx, &batch)
	defer func() {
		if closing := answers.Close(); err == nil {
			err = closing
		}
	}()
	unread := len(calls) - len(read)
	for _, c := range calls[:unread] {
		if _, err := answers.Exec(); err != nil {
			return named(err, c.sql)
		}
	}
	for i, fn := range read {
		rows, err := answers.Query()
		if err == nil {
			err = fn(rows)
		}
		if err != nil {
			return named(err, calls[unread+i].sql)
		}
	}
	return nil
}

var errRolledBack = errors.New("the database rolled back instead of committing")

// Parts returns the database as one whose transactions are parts of this one: they are committed together or not at all. For the demo,
// which must never be half made. Only one goroutine may use it at a time. A part that fails undoes the whole.
func (tx *Tx) Parts(ctx context.Context) (*DB, error) {
	if err := tx.send(ctx, nil); err != nil {
		return nil, err
	}
	parts := *tx.db
	parts.whole = tx
	return &parts, nil
}

// join makes the transaction a part of another one and shares its connection.
func (tx *Tx) join(whole *Tx) {
	tx.whole, tx.conn = whole, whole.conn
	tx.queue = slices.Concat(whole.queue, tx.start())
}

// commit commits, then adds the counts and sends the notifications. A part leaves all three to
// its whole.
func (tx *Tx) commit(ctx context.Context) error {
	if tx.whole != nil {
		tx.whole.queue = tx.queue
		tx.whole.notes = append(tx.whole.notes, tx.notes...)
		for metric, n := range tx.counted {
			Count(tx.whole, metric, n)
		}
		return nil
	}
	if tx.failed != nil {
		return tx.failed
	}
	if err := tx.sendCommit(ctx); err != nil {
		return err
	}
	tx.db.counts.add(tx.counted)
	if len(tx.notes) > 0 {
		tx.db.notifyLater(ctx, tx.notes)
	}
	return nil
}

func (tx *Tx) sendCommit(ctx context.Context) error {
	if tx.conn == nil && len(tx.queue) == 0 {
		return nil // no statement was made
	}
	return tx.send(ctx, []call{{sql: commitSQL}}, readCommit)
}

func readCommit(rows pgx.Rows) error {
	rows.Close()
	if rows.Err() == nil && rows.CommandTag().String() != "COMMIT" {
		return errRolledBack
	}
	return rows.Err()
}

// release rolls back what was not committed and returns the connection to the pool. A part
// reports its error to its whole, which then can't be committed.
func (tx *Tx) release(ctx context.Context, err error) {
	if tx.whole != nil {
		tx.whole.failed = cmp.Or(tx.whole.failed, err)
		return
	}
	if tx.conn != nil {
		release(ctx, tx.conn)
		tx.conn = nil
	}
	if tx.leave != nil {
		tx.leave()
		tx.leave = nil
	}
}

// release rolls back a transaction that is open and returns its connection to the pool.
func release(ctx context.Context, conn *pgxpool.Conn) {
	if conn.Conn().PgConn().TxStatus() != 'I' && !conn.Conn().IsClosed() {
		// The caller may be gone, but the connection can be saved. If this fails, the pool
		// sees an open transaction and drops the connection.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = conn.Exec(ctx, rollbackSQL)
	}
	conn.Release()
}

// Raw returns the transaction as a library takes it (the job queue does). The library can't end
// it.
func (tx *Tx) Raw(ctx context.Context) (pgx.Tx, error) {
	if err := tx.send(ctx, nil); err != nil {
		return nil, err
	}
	return rawTx{tx.conn.Conn()}, nil
}

type pgxConn = pgx.Conn

type rawTx struct{ *pgxConn }

var errNotYours = errors.New("db: a library can't end its caller's transaction")

func (r rawTx) Begin(context.Context) (pgx.Tx, error) { return nil, errNotYours }
func (r rawTx) Commit(context.Context) error          { return errNotYours }
func (r rawTx) Rollback(context.Context) error        { return errNotYours }
func (r rawTx) LargeObjects() pgx.LargeObjects        { return pgx.LargeObjects{} }
func (r rawTx) Conn() *pgx.Conn                       { return r.pgxConn }
