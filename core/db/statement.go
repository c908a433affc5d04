package db

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

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

// Place is where statements run: in an open transaction (*Tx), or in one of their own (Scope) that only reads.
type Place interface {
	together(ctx context.Context, readings []Reading) error
}

// One returns the only row of a statement, or core.ErrNotFound. T is a struct with the columns' names, a map or, for one column, a value.
func One[T any](ctx context.Context, at Place, sql string, args Args) (result T, err error) {
	err = Together(ctx, at, OneInto(&result, sql, args))
	return result, err
}

// All returns the rows of a statement, each as in One.
func All[T any](ctx context.Context, at Place, sql string, args Args) (result []T, err error) {
	err = Together(ctx, at, AllInto(&result, sql, args))
	return result, err
}

// Exec returns the number of rows that a statement affected.
func Exec(ctx context.Context, tx *Tx, sql string, args Args) (affected int64, err error) {
	err = Together(ctx, tx, into(&affected, sql, args, rowsAffected))
	return affected, err
}

// Together runs several statements in one round trip. The first that fails ends it. Outside of a transaction, each has its own snapshot; those of
// Write see what the ones before wrote.
func Together(ctx context.Context, at Place, readings ...Reading) error {
	return at.together(ctx, readings)
}

// Reading is a statement and a function that reads its rows.
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

func (tx *Tx) together(ctx context.Context, readings []Reading) error {
	calls, reads, err := bindAll(readings, tx.Tenant)
	if err != nil {
		return err
	}
	return tx.send(ctx, calls, reads...)
}

func (s Scope) together(ctx context.Context, readings []Reading) error {
	if s.err != nil {
		return s.err
	}
	calls, reads, err := bindAll(readings, s.tenant)
	if err != nil {
		return err
	}
	if whole := s.db.whole; whole != nil {
		return translate(ctx, whole.send(ctx, append([]call{enter(s.tenant)}, calls...), reads...))
	}
	calls, reads = s.db.transaction(enter(s.tenant), calls, reads)
	return translate(ctx, s.db.repeat(ctx, func() error {
		leave, err := s.db.share.enter(ctx, s.tenant)
		if err != nil {
			return err
		}
		defer leave()
		return s.db.read(ctx, calls, reads)
	}))
}

// read sends statements that only read, which may be sent again. Together they are one transaction, which can still deadlock: with a
// migration that has locked the table of the second and wants that of the first.
func (d *DB) read(ctx context.Context, calls []call, reads []func(pgx.Rows) error) error {
	return d.onLiveConn(ctx, func(conn *pgxpool.Conn) (done bool, err error) {
		err = d.roundTrip(ctx, conn, calls, reads)
		if isDead(conn, err) {
			return false, err
		}
		release(ctx, conn)
		return true, err
	})
}

// write sends statements that write. If the connection is lost, they are not sent again, because they may have been committed. So a
// connection that was idle is tried first, by a message of its own.
func (d *DB) write(ctx context.Context, calls []call, reads []func(pgx.Rows) error) error {
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

// transaction makes calls a transaction that begins with entering a tenant or the platform. Sent together, calls are an implicit one. If the
// database is distributed it has to be explicit, because the nodes learn the tenant only in a transaction block.
func (d *DB) transaction(first call, calls []call, reads []func(pgx.Rows) error) ([]call, []func(pgx.Rows) error) {
	calls = slices.Concat(d.begin, []call{first}, calls)
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
	row, err := pgx.CollectExactlyOneRow(rows, rowTo[T]())
	if errors.Is(err, pgx.ErrNoRows) {
		err = core.ErrNotFound
	}
	return row, err
}

func allRows[T any](rows pgx.Rows) ([]T, error) { return pgx.CollectRows(rows, rowTo[T]()) }

// rowTo returns how a row is read into a T.
func rowTo[T any]() pgx.RowToFunc[T] {
	t := reflect.TypeFor[T]()
	switch {
	case t == reflect.TypeFor[map[string]any]():
		return func(row pgx.CollectableRow) (T, error) {
			m, err := pgx.RowToMap(row)
			return any(m).(T), err
		}
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]():
		return pgx.RowToStructByName[T]
	}
	return pgx.RowTo[T]
}

func rowsAffected(rows pgx.Rows) (int64, error) {
	rows.Close()
	return rows.CommandTag().RowsAffected(), rows.Err()
}
