package db

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/loyalty/core"
)

// Args are the named arguments of a statement (@name in its text). @tenant_id is
// filled in by the transaction. A missing or a superfluous name is an error.
type Args map[string]any

// text is a statement with its names replaced by ordinals, the way the server takes it.
type text struct {
	sql   string
	names []string // of $1, $2, …
}

// The statements are constants, or put together from few constants: each is read once.
var texts sync.Map // by the statement as written

func parse(sql string, args Args) (text, error) {
	if known, ok := texts.Load(sql); ok {
		return known.(text), nil
	}
	// Asked with every name as its own value, pgx tells the order of the names.
	names := pgx.NamedArgs{"tenant_id": "tenant_id"}
	for name := range args {
		names[name] = name
	}
	ordinal, values, err := names.RewriteQuery(context.Background(), nil, sql, nil) //nolint:forbidigo // this rewriter asks nobody anything
	if err != nil {
		return text{}, err
	}
	t := text{sql: ordinal}
	for _, value := range values {
		name, ok := value.(string)
		if !ok {
			return text{}, fmt.Errorf("db: an argument is missing; given %v for %s", args, sql)
		}
		t.names = append(t.names, name)
	}
	texts.Store(sql, t)
	return t, nil
}

// bind makes a call of a statement for a tenant.
func bind(sql string, args Args, tenant core.TenantID) (call, error) {
	t, err := parse(sql, args)
	if err != nil {
		return call{}, err
	}
	values := make([]any, len(t.names))
	used := 0
	for i, name := range t.names {
		value, given := args[name]
		switch {
		case given:
			used++
		case name == "tenant_id" && tenant != 0:
			value = int64(tenant)
		default:
			return call{}, fmt.Errorf("db: argument %s is missing: %s", name, sql)
		}
		values[i] = value
	}
	if used != len(args) {
		return call{}, fmt.Errorf("db: %d arguments given, %d used: %s", len(args), used, sql)
	}
	return call{t.sql, values}, nil
}

// One returns the only row of a statement, or core.ErrNotFound. One round trip.
func One[T any](ctx context.Context, tx *Tx, sql string, args Args) (T, error) {
	return ask(ctx, tx, sql, args, exactlyOne[T])
}

// All returns the rows of a statement. One round trip.
func All[T any](ctx context.Context, tx *Tx, sql string, args Args) ([]T, error) {
	return ask(ctx, tx, sql, args, all[T])
}

// Value returns the only column of the only row, or core.ErrNotFound. One round trip.
func Value[T any](ctx context.Context, tx *Tx, sql string, args Args) (T, error) {
	return ask(ctx, tx, sql, args, value[T])
}

// Exec returns how many rows a statement touched. One round trip.
func Exec(ctx context.Context, tx *Tx, sql string, args Args) (int64, error) {
	return ask(ctx, tx, sql, args, rowsAffected)
}

// ReadOne is One outside any transaction: the tenant's settings and the statement
// travel together as one implicit transaction. One round trip in all.
func ReadOne[T any](ctx context.Context, d *DB, by core.Actor, sql string, args Args) (T, error) {
	return read(ctx, d, by, sql, args, exactlyOne[T])
}

// ReadAll is All outside any transaction, in one round trip like ReadOne.
func ReadAll[T any](ctx context.Context, d *DB, by core.Actor, sql string, args Args) ([]T, error) {
	return read(ctx, d, by, sql, args, all[T])
}

// ReadMaps is ReadAll for rows as maps from the names of their columns: for data that is passed on
// as it is.
func ReadMaps(ctx context.Context, d *DB, by core.Actor, sql string, args Args) ([]map[string]any, error) {
	return read(ctx, d, by, sql, args, func(rows pgx.Rows) ([]map[string]any, error) { return pgx.CollectRows(rows, pgx.RowToMap) })
}

// Reading is a statement and where its rows go, for ReadTogether.
type Reading struct {
	sql     string
	args    Args
	collect func(pgx.Rows) error
}

// OneInto reads the only row of a statement into to, or fails with core.ErrNotFound.
func OneInto[T any](to *T, sql string, args Args) Reading {
	return Reading{sql, args, func(rows pgx.Rows) (err error) {
		*to, err = exactlyOne[T](rows)
		return err
	}}
}

// AllInto reads the rows of a statement into to.
func AllInto[T any](to *[]T, sql string, args Args) Reading {
	return Reading{sql, args, func(rows pgx.Rows) (err error) {
		*to, err = all[T](rows)
		return err
	}}
}

// Together runs several statements in a transaction. One round trip. The first that fails ends it.
func Together(ctx context.Context, tx *Tx, readings ...Reading) error {
	calls, reads, err := bindAll(readings, tx.Tenant)
	if err != nil {
		return err
	}
	return tx.send(ctx, calls, reads...)
}

func bindAll(readings []Reading, tenant core.TenantID) ([]call, []func(pgx.Rows) error, error) {
	calls, reads := make([]call, len(readings)), make([]func(pgx.Rows) error, len(readings))
	for i, r := range readings {
		c, err := bind(r.sql, r.args, tenant)
		if err != nil {
			return nil, nil, err
		}
		calls[i], reads[i] = c, r.collect
	}
	return calls, reads, nil
}

// ReadTogether reads several statements outside any transaction, in one round trip like
// ReadOne. They may see different moments. The first that fails ends it.
func ReadTogether(ctx context.Context, d *DB, by core.Actor, readings ...Reading) error {
	if by.Tenant.ID == 0 {
		return fmt.Errorf("db: %s %q acts for no tenant", by.Kind, by.Name)
	}
	calls, reads, err := bindAll(readings, by.Tenant.ID)
	if err != nil {
		return err
	}
	return translate(ctx, d.readCalls(ctx, append([]call{enter(by.Tenant.ID)}, calls...), reads))
}

// PlatformTogether is ReadTogether with no tenant set.
func PlatformTogether(ctx context.Context, d *DB, readings ...Reading) error {
	calls, reads, err := bindAll(readings, 0)
	if err != nil {
		return err
	}
	return translate(ctx, d.readCalls(ctx, append([]call{enter(0)}, calls...), reads))
}

// PlatformOne is ReadOne with no tenant set.
func PlatformOne[T any](ctx context.Context, d *DB, sql string, args Args) (T, error) {
	return readAs(ctx, d, 0, sql, args, exactlyOne[T])
}

// PlatformAll is ReadAll with no tenant set.
func PlatformAll[T any](ctx context.Context, d *DB, sql string, args Args) ([]T, error) {
	return readAs(ctx, d, 0, sql, args, all[T])
}

// ReadOneWithin is ReadOne for an actor of a tenant, and PlatformOne for one of the platform.
func ReadOneWithin[T any](ctx context.Context, d *DB, by core.Actor, sql string, args Args) (T, error) {
	return readAs(ctx, d, by.Tenant.ID, sql, args, exactlyOne[T])
}

// ReadAllWithin is ReadAll for an actor of a tenant, and PlatformAll for one of the platform.
func ReadAllWithin[T any](ctx context.Context, d *DB, by core.Actor, sql string, args Args) ([]T, error) {
	return readAs(ctx, d, by.Tenant.ID, sql, args, all[T])
}

func exactlyOne[T any](rows pgx.Rows) (T, error) {
	return orNotFound(pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T]))
}

func all[T any](rows pgx.Rows) ([]T, error) {
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

func value[T any](rows pgx.Rows) (T, error) {
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

func ask[T any](ctx context.Context, tx *Tx, sql string, args Args, collect func(pgx.Rows) (T, error)) (result T, err error) {
	c, err := bind(sql, args, tx.Tenant)
	if err != nil {
		return result, err
	}
	err = tx.send(ctx, []call{c}, func(rows pgx.Rows) (err error) {
		result, err = collect(rows)
		return err
	})
	return result, err
}

func read[T any](ctx context.Context, d *DB, by core.Actor, sql string, args Args, collect func(pgx.Rows) (T, error)) (result T, err error) {
	if by.Tenant.ID == 0 {
		return result, fmt.Errorf("db: %s %q acts for no tenant", by.Kind, by.Name)
	}
	return readAs(ctx, d, by.Tenant.ID, sql, args, collect)
}

func readAs[T any](ctx context.Context, d *DB, tenant core.TenantID, sql string, args Args, collect func(pgx.Rows) (T, error)) (result T, err error) {
	c, err := bind(sql, args, tenant)
	if err != nil {
		return result, err
	}
	err = d.readCalls(ctx, []call{enter(tenant), c}, []func(pgx.Rows) error{func(rows pgx.Rows) (err error) {
		result, err = collect(rows)
		return err
	}})
	return result, translate(ctx, err)
}

// readCalls sends calls that only read as one implicit transaction.
func (d *DB) readCalls(ctx context.Context, calls []call, read []func(pgx.Rows) error) error {
	if d.whole != nil {
		return d.whole.send(ctx, calls, read...)
	}
	return d.onLiveConn(ctx, func(conn *pgxpool.Conn) (done bool, err error) {
		err = roundTrip(ctx, conn, calls, read)
		if died(conn, err) || strayCancel(ctx, err) {
			return false, err
		}
		conn.Release()
		return true, err
	})
}
