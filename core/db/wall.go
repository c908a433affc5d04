package db

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
)

// How tenants are kept apart: each table of tenants has a policy on its rows (loyalty.wall in migrations/0101_foundation.sql), which
// shows the rows of the tenant that loyalty.enter named last in the transaction. Every transaction begins with loyalty.enter. A connection that
// has entered nothing sees no row, and its role (Role) can neither bypass nor change a policy. So whatever a statement says, it
// reads and writes one tenant, or the platform's tables. docs/architecture/isolation.md tells the rest.

// Scope is what a statement or a transaction sees: one tenant or, on the platform, the global tables and no row of any tenant table.
type Scope struct {
	db     *DB
	tenant core.TenantID // 0: the platform
	gated  bool          // a transaction begins by asking whether the tenant is active
	err    error         // of an actor who may not
}

// Tenant is the scope of the actor's tenant. An actor without one is an error, because that is a mistake in the code. If the actor needs an active
// tenant, a transaction's first message asks, and a suspended one is core.ErrSuspended.
func (d *DB) Tenant(by core.Actor) Scope {
	s := d.Within(by)
	if s.tenant == 0 {
		s.err = fmt.Errorf("db: %s %q has no tenant", by.Kind, by.Name)
	}
	return s
}

// TenantAs is Tenant for an actor with at least the given role.
func (d *DB) TenantAs(by core.Actor, least core.Role) Scope {
	s := d.Tenant(by)
	s.err = cmp.Or(by.Require(least), s.err)
	return s
}

// Platform is for authentication, super-admins and jobs.
func (d *DB) Platform() Scope { return Scope{db: d} }

// Within is Tenant for an actor of a tenant, and Platform for one of the platform.
func (d *DB) Within(by core.Actor) Scope {
	return Scope{db: d, tenant: by.Tenant.ID, gated: by.NeedsActive && by.Tenant.ID != 0}
}

// In runs fn in one transaction of a scope, and returns what fn returns. An error rolls everything back.
//
// fn may run again after a deadlock or a serialization failure, so it must have no effects outside
// the transaction.
func In[T any](ctx context.Context, s Scope, fn func(tx *Tx) (T, error)) (result T, err error) {
	if s.err != nil {
		return result, s.err
	}
	err = s.db.repeat(ctx, func() (err error) {
		result, err = runOnce(ctx, s, fn)
		return err
	})
	return result, translate(ctx, err)
}

// Write runs statements that write for a tenant, all in one transaction and one round trip. prepare returns them when their turn has come.
// They have records of the last MaxAge before now. An error means that nothing was written, unless the connection was lost while committing.
func Write(ctx context.Context, d *DB, tenant core.TenantID, prepare func(now time.Time) ([]Reading, error)) error {
	return translate(ctx, d.repeat(ctx, func() error {
		leave, err := d.share.enter(ctx, tenant)
		if err != nil {
			return err
		}
		defer leave()
		now := d.Now()
		readings, err := prepare(now)
		if err != nil {
			return err
		}
		calls, reads, err := bindAll(readings, tenant)
		if err != nil {
			return err
		}
		if d.whole != nil {
			return d.whole.send(ctx, append([]call{enter(tenant)}, calls...), reads...)
		}
		calls, reads = d.transaction(d.enterAt(tenant, now.Add(-MaxAge)), calls, reads)
		return d.write(ctx, calls, reads)
	}))
}

// MaxAge is how long before its transaction the time of a record may have been taken.
const MaxAge = 500 * time.Millisecond

// Run is In for work without a result.
func Run(ctx context.Context, s Scope, fn func(tx *Tx) error) error {
	_, err := In(ctx, s, func(tx *Tx) (struct{}, error) { return struct{}{}, fn(tx) })
	return err
}

const attempts = 5

// repeat runs a transaction, and again after a deadlock or a serialization failure, and when it began too long after its time. It also does so
// after a connection of an earlier time said that it is read-only: that connection is closed, and the server may write by now.
func (d *DB) repeat(ctx context.Context, transaction func() error) error {
	begun := localTime()
	for attempt := 1; ; attempt++ {
		err := transaction()
		if isLate(err) {
			// The database's clock may have been set.
			_ = d.clock.measure(ctx, d.pool)
		}
		if !canRetry(ctx, err) && !wasReadOnly(err, begun) || attempt == attempts && canRetry(ctx, err) {
			return err
		}
	}
}

func runOnce[T any](ctx context.Context, s Scope, fn func(tx *Tx) (T, error)) (result T, err error) {
	tx := &Tx{Tenant: s.tenant, home: s.tenant, gated: s.gated, db: s.db}
	if s.db.whole != nil {
		tx.join(s.db.whole)
	} else if tx.leave, err = s.db.share.enter(ctx, s.tenant); err != nil {
		return result, err
	}
	tx.Now = s.db.Now() // after the wait, so that it begins soon after its time
	defer func() {
		if err != nil {
			var none T
			result = none
		}
		tx.release(ctx, err)
	}()
	if result, err = fn(tx); err != nil {
		return result, err
	}
	return result, tx.commit(ctx)
}

// Snapshot runs fn in a read-only transaction that sees one instant, on a connection of its own that logs in as the owner of the tables:
// for verify and exports, which read all of it. Never for serving.
func Snapshot(ctx context.Context, d *DB, fn func(tx pgx.Tx) error) error {
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
		// It may take long on a large database, and holds no lock that others need.
		if _, err := tx.Exec(ctx, "set local statement_timeout = 0"); err != nil {
			return err
		}
		return fn(tx)
	}))
}

// RequireOwner refuses a snapshot of a login that doesn't own the tables: the policies would show it no tenant's rows.
func RequireOwner(ctx context.Context, tx pgx.Tx) error {
	return translate(ctx, requireOwner(ctx, tx.Conn()))
}
