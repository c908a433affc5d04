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

// Tx is a transaction that sees one tenant (or, on the platform, none). Statements
// are made with One, All, Value, Exec and Queue.
type Tx struct {
	// Now is the one clock of the transaction: the database's, to the millisecond.
	Now    time.Time
	Tenant core.TenantID

	home  core.TenantID // where it began; 0 is the platform
	db    *DB
	conn  *pgxpool.Conn  // nil until the first statement is sent
	queue []call         // travels with the next statement, or with the commit
	notes []notification // told after the commit

	counted map[Metric]int64 // after the commit

	whole  *Tx   // that this one is a part of; nil: of none
	failed error // why a part of this one failed
}

type call struct {
	sql  string
	args []any
}

const (
	beginSQL = "begin"
	// A plain select, so that it can be prepared and take the tenant as an argument: 0 for the
	// platform.
	enterSQL    = "select loyalty.enter($1)"
	commitSQL   = "commit"
	rollbackSQL = "rollback"
)

func enter(tenant core.TenantID) call { return call{enterSQL, []any{int64(tenant)}} }

var errOtherTenant = errors.New("db: the transaction of a tenant enters no other")

// Enter makes a transaction of the platform see one tenant from here on, as that
// tenant's own would, or with 0 none again: what makes a tenant also makes the people
// in it. What was queued before stays the platform's. No round trip: it travels with
// what follows.
func (tx *Tx) Enter(tenant core.TenantID) error {
	if tx.home != 0 {
		return errOtherTenant
	}
	tx.queue = append(tx.queue, enter(tenant))
	tx.Tenant = tenant
	return nil
}

// Queue adds a statement whose answer nobody waits for. It is sent with the next
// statement or with the commit, in the same round trip; its error is theirs.
func Queue(tx *Tx, sql string, args Args) error {
	c, err := bind(sql, args, tx.Tenant)
	if err != nil {
		return err
	}
	tx.queue = append(tx.queue, c)
	return nil
}

const takeTimeSQL = `
	select set_config('statement_timeout', '10min', true), set_config('lock_timeout', '10min', true)`

// TakeTime lets the rest of the transaction take ten minutes for each statement and
// each lock, where otherwise it takes no longer than a till may wait: for work on all
// records of a large business.
func TakeTime(tx *Tx) error { return Queue(tx, takeTimeSQL, nil) }

// send sends what is queued and then the given calls, in one round trip, and hands
// the answers of the last ones to read, in order.
func (tx *Tx) send(ctx context.Context, calls []call, read ...func(pgx.Rows) error) error {
	batch := slices.Concat(tx.queue, calls)
	tx.queue = nil
	if tx.conn != nil {
		return roundTrip(ctx, tx.conn, batch, read)
	}
	// The transaction begins here.
	batch = append([]call{{sql: beginSQL}, enter(tx.home)}, batch...)
	// A commit on board may have happened before the connection died: never send it twice.
	once := len(calls) == 1 && calls[0].sql == commitSQL
	return tx.db.onLiveConn(ctx, func(conn *pgxpool.Conn) (done bool, err error) {
		err = roundTrip(ctx, conn, batch, read)
		if died(conn, err) && !once {
			return false, err
		}
		tx.conn = conn
		return true, err
	})
}

// onLiveConn gives fn a connection. One that died while it lay idle is noticed only
// when it is used: unless fn is done with it, it is dropped and fn gets another.
func (d *DB) onLiveConn(ctx context.Context, fn func(*pgxpool.Conn) (done bool, err error)) error {
	for attempt := int32(0); ; attempt++ {
		conn, err := d.pool.Acquire(ctx)
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

// died reports whether err came from a connection that is gone.
func died(conn *pgxpool.Conn, err error) bool { return err != nil && conn.Conn().IsClosed() }

// roundTrip sends calls as one message and hands the answers of the last ones to read.
func roundTrip(ctx context.Context, conn *pgxpool.Conn, calls []call, read []func(pgx.Rows) error) (err error) {
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
	for range len(calls) - len(read) {
		if _, err := answers.Exec(); err != nil {
			return err
		}
	}
	for _, fn := range read {
		rows, err := answers.Query()
		if err == nil {
			err = fn(rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errRolledBack = errors.New("the database rolled back instead of committing")

// join makes the transaction a part of another one, whose connection it uses.
func (tx *Tx) join(whole *Tx) {
	tx.whole, tx.conn = whole, whole.conn
	tx.queue = slices.Concat(whole.queue, []call{enter(tx.home)})
}

// commit commits, and then counts and tells what was to be counted and told. A part leaves all
// of that to the transaction that it is a part of.
func (tx *Tx) commit(ctx context.Context) error {
	if tx.whole != nil {
		tx.whole.queue = tx.queue
		tx.whole.notes = append(tx.whole.notes, tx.notes...)
		for what, n := range tx.counted {
			Count(tx.whole, what, n)
		}
		return nil
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
		return nil // nothing was asked of the database
	}
	return tx.send(ctx, []call{{sql: commitSQL}}, func(rows pgx.Rows) error {
		rows.Close()
		if rows.Err() == nil && rows.CommandTag().String() != "COMMIT" {
			return errRolledBack
		}
		return rows.Err()
	})
}

// release gives the connection back, rolled back unless it was committed. That of a part stays
// with the whole, which can't be committed once a part has failed.
func (tx *Tx) release(ctx context.Context, err error) {
	if tx.whole != nil {
		tx.whole.failed = cmp.Or(tx.whole.failed, err)
		return
	}
	if tx.conn == nil {
		return
	}
	if tx.conn.Conn().PgConn().TxStatus() != 'I' && !tx.conn.Conn().IsClosed() {
		// The caller may be gone; the connection is worth a moment all the same. Should
		// this fail, the pool sees an open transaction and drops the connection.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = tx.conn.Exec(ctx, rollbackSQL)
	}
	tx.conn.Release()
	tx.conn = nil
}

// Raw lets a library write in this transaction through pgx's own interface (the job
// queue does). The library cannot end the transaction.
func (tx *Tx) Raw(ctx context.Context) (pgx.Tx, error) {
	if err := tx.send(ctx, nil); err != nil {
		return nil, err
	}
	return rawTx{tx.conn.Conn()}, nil
}

type pgxConn = pgx.Conn

type rawTx struct{ *pgxConn }

var errNotYours = errors.New("db: only its use case ends a transaction")

func (r rawTx) Begin(context.Context) (pgx.Tx, error) { return nil, errNotYours }
func (r rawTx) Commit(context.Context) error          { return errNotYours }
func (r rawTx) Rollback(context.Context) error        { return errNotYours }
func (r rawTx) LargeObjects() pgx.LargeObjects        { return pgx.LargeObjects{} }
func (r rawTx) Conn() *pgx.Conn                       { return r.pgxConn }
