package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/loyalty/core"
)

// Args are the named arguments of a statement (@name in its text). The transaction adds
// @tenant_id. A missing or an unused name is an error.
type Args map[string]any

// parsedStatement is a statement with ordinals instead of names, as the server takes it.
type parsedStatement struct {
	sql   string
	names []string // of $1, $2, …
}

// Statements are constants or built from few constants, so each is parsed once.
var parsed sync.Map // by the statement as written

func parse(sql string, args Args) (parsedStatement, error) {
	if known, ok := parsed.Load(sql); ok {
		return known.(parsedStatement), nil
	}
	// With every name as its own value, pgx returns the order of the names.
	names := pgx.NamedArgs{"tenant_id": "tenant_id"}
	for name := range args {
		names[name] = name
	}
	ordinal, values, err := names.RewriteQuery(context.Background(), nil, sql, nil) //nolint:forbidigo // this rewriter waits for nothing
	if err != nil {
		return parsedStatement{}, err
	}
	p := parsedStatement{sql: ordinal}
	for _, value := range values {
		name, ok := value.(string)
		if !ok {
			return parsedStatement{}, fmt.Errorf("db: an argument is missing; given %v for %s", args, sql)
		}
		p.names = append(p.names, name)
	}
	parsed.Store(sql, p)
	return p, nil
}

// bind returns the call of a statement for a tenant.
func bind(sql string, args Args, tenant core.TenantID) (call, error) {
	p, err := parse(sql, args)
	if err != nil {
		return call{}, err
	}
	values := make([]any, len(p.names))
	used := 0
	for i, name := range p.names {
		argument, given := args[name]
		switch {
		case given:
			used++
		case name == "tenant_id" && tenant != 0:
			argument = int64(tenant)
		default:
			return call{}, fmt.Errorf("db: argument %s is missing: %s", name, sql)
		}
		values[i] = argument
	}
	if used != len(args) {
		return call{}, fmt.Errorf("db: %d arguments given, %d used: %s", len(args), used, sql)
	}
	return call{p.sql, values}, nil
}

// One returns the only row of a statement, or core.ErrNotFound.
func One[T any](ctx context.Context, tx *Tx, sql string, args Args) (T, error) {
	return collectIn(ctx, tx, sql, args, exactlyOne[T])
}

// All returns the rows of a statement.
func All[T any](ctx context.Context, tx *Tx, sql string, args Args) ([]T, error) {
	return collectIn(ctx, tx, sql, args, allRows[T])
}

// Value returns the only column of the only row, or core.ErrNotFound.
func Value[T any](ctx context.Context, tx *Tx, sql string, args Args) (T, error) {
	return collectIn(ctx, tx, sql, args, oneValue[T])
}

// Exec returns the number of rows that a statement affected.
func Exec(ctx context.Context, tx *Tx, sql string, args Args) (int64, error) {
	return collectIn(ctx, tx, sql, args, rowsAffected)
}

// ReadOne is One without a transaction of its own: the tenant's settings and the statement
// travel together, as one implicit transaction.
func ReadOne[T any](ctx context.Context, d *DB, by core.Actor, sql string, args Args) (T, error) {
	return collectAsTenant(ctx, d, by, sql, args, exactlyOne[T])
}

// ReadAll is All without a transaction of its own, like ReadOne.
func ReadAll[T any](ctx context.Context, d *DB, by core.Actor, sql string, args Args) ([]T, error) {
	return collectAsTenant(ctx, d, by, sql, args, allRows[T])
}

// ReadMaps is ReadAll for rows as maps by column name: for data that is exported as it is.
func ReadMaps(ctx context.Context, d *DB, by core.Actor, sql string, args Args) ([]map[string]any, error) {
	return collectAsTenant(ctx, d, by, sql, args, func(rows pgx.Rows) ([]map[string]any, error) { return pgx.CollectRows(rows, pgx.RowToMap) })
}

// PlatformOne is ReadOne with no tenant set.
func PlatformOne[T any](ctx context.Context, d *DB, sql string, args Args) (T, error) {
	return collect(ctx, d, 0, sql, args, exactlyOne[T])
}

// PlatformAll is ReadAll with no tenant set.
func PlatformAll[T any](ctx context.Context, d *DB, sql string, args Args) ([]T, error) {
	return collect(ctx, d, 0, sql, args, allRows[T])
}

// ReadOneWithin is ReadOne for an actor of a tenant, and PlatformOne for one of the platform.
func ReadOneWithin[T any](ctx context.Context, d *DB, by core.Actor, sql string, args Args) (T, error) {
	return collect(ctx, d, by.Tenant.ID, sql, args, exactlyOne[T])
}

// ReadAllWithin is ReadAll for an actor of a tenant, and PlatformAll for one of the platform.
func ReadAllWithin[T any](ctx context.Context, d *DB, by core.Actor, sql string, args Args) ([]T, error) {
	return collect(ctx, d, by.Tenant.ID, sql, args, allRows[T])
}

// Reading is a statement and a function that reads its rows. Several readings are one round trip.
type Reading struct {
	sql  string
	args Args
	read func(pgx.Rows) error
}

func into[T any](to *T, sql string, args Args, read func(pgx.Rows) (T, error)) Reading {
	return Reading{sql, args, func(rows pgx.Rows) (err error) {
		*to, err = read(rows)
		return err
	}}
}

// OneInto reads the only row of a statement into to, or fails with core.ErrNotFound.
func OneInto[T any](to *T, sql string, args Args) Reading {
	return into(to, sql, args, exactlyOne[T])
}

// AllInto reads the rows of a statement into to.
func AllInto[T any](to *[]T, sql string, args Args) Reading {
	return into(to, sql, args, allRows[T])
}

// Together runs several statements in a transaction, in one round trip. The first that fails
// ends it.
func Together(ctx context.Context, tx *Tx, readings ...Reading) error {
	calls, reads, err := bindAll(readings, tx.Tenant)
	if err != nil {
		return err
	}
	return tx.send(ctx, calls, reads...)
}

// ReadTogether reads several statements without a transaction of its own, in one round trip.
// Each has its own snapshot. The first that fails ends it.
func ReadTogether(ctx context.Context, d *DB, by core.Actor, readings ...Reading) error {
	if err := requireTenant(by); err != nil {
		return err
	}
	return d.readTogether(ctx, by.Tenant.ID, readings)
}

// PlatformTogether is ReadTogether with no tenant set.
func PlatformTogether(ctx context.Context, d *DB, readings ...Reading) error {
	return d.readTogether(ctx, 0, readings)
}

// WriteTogether runs statements in one transaction of a tenant, in one round trip. Each sees what the ones
// before wrote. An error means that nothing was written, unless the connection was lost while committing.
func WriteTogether(ctx context.Context, d *DB, tenant core.TenantID, readings ...Reading) error {
	calls, reads, err := bindAll(readings, tenant)
	if err != nil {
		return err
	}
	if d.whole != nil {
		return d.whole.send(ctx, append([]call{enter(tenant)}, calls...), reads...)
	}
	calls, reads = d.transaction(tenant, calls, reads)
	return translate(ctx, repeat(ctx, func() error { return d.sendOnce(ctx, tenant, calls, reads) }))
}

// sendOnce sends the calls of a transaction. If the connection is lost, they are not sent again, because
// they may have been committed. So a connection that was idle is tried first, by a message of its own.
func (d *DB) sendOnce(ctx context.Context, tenant core.TenantID, calls []call, reads []func(pgx.Rows) error) error {
	leave, err := d.share.enter(ctx, tenant)
	if err != nil {
		return err
	}
	defer leave()
	return d.onLiveConn(ctx, func(conn *pgxpool.Conn) (done bool, err error) {
		if wasIdle(conn) {
			if err := d.try(ctx, conn); isDead(conn, err) {
				return false, err
			}
		}
		defer release(ctx, conn)
		return true, d.roundTrip(ctx, conn, calls, reads)
	})
}

// try asks the server for an answer, which takes no time.
func (d *DB) try(ctx context.Context, conn *pgxpool.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return d.roundTrip(ctx, conn, []call{{sql: "select"}}, nil)
}

// transaction makes calls a transaction of a tenant (0: the platform). Sent together, calls are an implicit one. If the
// database is distributed it has to be explicit, because the nodes learn the tenant only in a transaction block.
func (d *DB) transaction(tenant core.TenantID, calls []call, reads []func(pgx.Rows) error) ([]call, []func(pgx.Rows) error) {
	calls = slices.Concat(d.begin, []call{enter(tenant)}, calls)
	if !d.distributed {
		return calls, reads
	}
	return slices.Concat([]call{{sql: beginSQL}}, calls, []call{{sql: commitSQL}}), slices.Concat(reads, []func(pgx.Rows) error{readCommit})
}

// Column returns a column of a table that is an argument of a statement (unnest).
func Column[R, V any](rows []R, of func(R) V) []V {
	values := make([]V, len(rows))
	for i, row := range rows {
		values[i] = of(row)
	}
	return values
}

func bindAll(readings []Reading, tenant core.TenantID) ([]call, []func(pgx.Rows) error, error) {
	calls, reads := make([]call, len(readings)), make([]func(pgx.Rows) error, len(readings))
	for i, r := range readings {
		c, err := bind(r.sql, r.args, tenant)
		if err != nil {
			return nil, nil, err
		}
		calls[i], reads[i] = c, r.read
	}
	return calls, reads, nil
}

func exactlyOne[T any](rows pgx.Rows) (T, error) {
	return orNotFound(pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T]))
}

func allRows[T any](rows pgx.Rows) ([]T, error) {
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

func oneValue[T any](rows pgx.Rows) (T, error) {
	return orNotFound(pgx.CollectExactlyOneRow(rows, pgx.RowTo[T]))
}

func rowsAffected(rows pgx.Rows) (int64, error) {
	rows.Close()
	return rows.CommandTag().RowsAffected(), rows.Err()
}

func orNotFound[T any](v T, err error) (T, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return v, core.ErrNotFound
	}
	return v, err
}

func collectIn[T any](ctx context.Context, tx *Tx, sql string, args Args, read func(pgx.Rows) (T, error)) (result T, err error) {
	err = Together(ctx, tx, into(&result, sql, args, read))
	return result, err
}

func collectAsTenant[T any](ctx context.Context, d *DB, by core.Actor, sql string, args Args, read func(pgx.Rows) (T, error)) (result T, err error) {
	if err := requireTenant(by); err != nil {
		return result, err
	}
	return collect(ctx, d, by.Tenant.ID, sql, args, read)
}

func collect[T any](ctx context.Context, d *DB, tenant core.TenantID, sql string, args Args, read func(pgx.Rows) (T, error)) (result T, err error) {
	err = d.readTogether(ctx, tenant, []Reading{into(&result, sql, args, read)})
	return result, err
}

// readTogether sends statements that only read as one transaction, which can still deadlock: with a migration that has
// locked the table of the second and wants that of the first.
func (d *DB) readTogether(ctx context.Context, tenant core.TenantID, readings []Reading) error {
	calls, reads, err := bindAll(readings, tenant)
	if err != nil {
		return err
	}
	if d.whole != nil {
		return translate(ctx, d.whole.send(ctx, append([]call{enter(tenant)}, calls...), reads...))
	}
	calls, reads = d.transaction(tenant, calls, reads)
	return translate(ctx, repeat(ctx, func() error {
		leave, err := d.share.enter(ctx, tenant)
		if err != nil {
			return err
		}
		defer leave()
		return d.onLiveConn(ctx, func(conn *pgxpool.Conn) (done bool, err error) {
			err = d.roundTrip(ctx, conn, calls, reads)
			if isDead(conn, err) {
				return false, err
			}
			release(ctx, conn)
			return true, err
		})
	}))
}
