package db

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"example.com/loyalty/core"
)

// Codes of PostgreSQL's errors that mean something to us.
const (
	uniqueViolation      = "23505"
	foreignKeyViolation  = "23503"
	numericOutOfRange    = "22003"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03" // lock_timeout
	queryCanceled        = "57014" // statement_timeout, or the caller went away
	diskFull             = "53100"
	readOnly             = "25006"
	internalError        = "XX000"
	undefinedTable       = "42P01" // a database that was not migrated
	undefinedSchema      = "3F000"
)

func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// Violates reports whether err is the refusal of that unique constraint or index.
func Violates(err error, constraint string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == uniqueViolation && pg.ConstraintName == constraint
}

// Refers reports whether err is the refusal of that foreign key: what it refers to
// does not exist.
func Refers(err error, constraint string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == foreignKeyViolation && pg.ConstraintName == constraint
}

// Overflows reports whether err says that a number left its 64 bits.
func Overflows(err error) bool { return code(err) == numericOutOfRange }

// lostRowLock reports whether PostgreSQL gave up on a row that several transactions lock and
// one updates: rarely, under much of that at once, it finds two updaters where one has ended
// and refuses the second. The transaction was rolled back, and finds one when it runs again.
func lostRowLock(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == internalError && strings.HasPrefix(pg.Message, "new multixact has more than one updating member")
}

// canRetry reports whether the transaction may succeed when it is run once more.
func canRetry(ctx context.Context, err error) bool {
	c := code(err)
	return c == serializationFailure || c == deadlockDetected || lostRowLock(err) || strayCancel(ctx, err)
}

// strayCancel reports whether a statement was cancelled that nobody wanted cancelled. A
// caller who goes away cancels theirs; on a busy machine that reaches the connection
// late, in the hands of the next one.
func strayCancel(ctx context.Context, err error) bool {
	var pg *pgconn.PgError
	return ctx.Err() == nil && errors.As(err, &pg) && pg.Code == queryCanceled && strings.Contains(pg.Message, "user request")
}

// upgraded reports whether a new session failed to load a library of the server, since another
// version of PostgreSQL was installed over the running one. A private server is restarted
// within seconds (core/localpg), others by whoever upgraded them.
func upgraded(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (strings.HasPrefix(pg.Message, "could not load library") ||
		strings.HasPrefix(pg.Message, "incompatible library") || strings.HasPrefix(pg.Message, "could not find function") && strings.Contains(pg.Message, "in file") ||
		strings.HasPrefix(pg.Message, "could not access file") && strings.Contains(pg.Message, "$libdir"))
}

// translate turns the database being out of reach, or too busy to answer in time,
// into core.Unavailable. Everything else passes.
func translate(ctx context.Context, err error) error {
	var refusal *core.Error
	if err == nil || errors.As(err, &refusal) || errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	if outOfReach(err) {
		return core.Unavailable(err)
	}
	return err
}

func outOfReach(err error) bool {
	// Whatever the server says to somebody it does not let in.
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return true
	}
	if c := code(err); c != "" {
		switch c {
		case lockNotAvailable, queryCanceled, serializationFailure, deadlockDetected, undefinedTable, undefinedSchema, readOnly:
			return true
		}
		// 08: connection; 53: out of memory, disk or connections; 57P: shutting down, starting up; 25P03: idle too long.
		if upgraded(err) {
			return true
		}
		return strings.HasPrefix(c, "08") || strings.HasPrefix(c, "53") || strings.HasPrefix(c, "57P") || c == "25P03"
	}
	var network net.Error
	return errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "conn closed")
}
