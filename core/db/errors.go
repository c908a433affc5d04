package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"example.com/loyalty/core"
)

// Codes of PostgreSQL's errors.
const (
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
	undefinedFunction    = "42883" // likewise, or one that is being migrated
	undefinedColumn      = "42703"
	noPrivilege          = "42501"
	noDatabase           = "3D000"
	wrongPassword        = "28P01"
	refusedLogin         = "28000"
	tooManyConnections   = "53300"
	startingUp           = "57P03"
	tenantSuspended      = "LY001" // loyalty.require_active
	tooLate              = "LY002" // loyalty.enter
)

// serverError returns the server's part of an error, or an empty one.
func serverError(err error) *pgconn.PgError {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg
	}
	return &pgconn.PgError{}
}

func errorCode(err error) string { return serverError(err).Code }

// constraintName finds the name of a constraint in a message.
var constraintName = regexp.MustCompile(`constraint "([^"]+)"`)

// Violates reports whether err is the refusal of that constraint or unique index. In a distributed
// table, its name ends with the number of a shard, and if another node refused, only the message has it.
func Violates(err error, constraint string) bool {
	refused := serverError(err)
	name := refused.ConstraintName
	if found := constraintName.FindStringSubmatch(refused.Message); name == "" && strings.HasPrefix(refused.Code, "23") && found != nil {
		name = found[1]
	}
	shard, found := strings.CutPrefix(name, constraint)
	return found && (shard == "" || shard[0] == '_' && strings.Trim(shard[1:], "0123456789") == "")
}

// named adds to the error of a statement that waited too long which one it was and, if PostgreSQL says so, at which table.
func named(err error, sql string) error {
	pg := serverError(err)
	switch pg.Code {
	case lockNotAvailable, queryCanceled, deadlockDetected:
	default:
		return err
	}
	const longest = 200
	text := strings.Join(strings.Fields(sql), " ")
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	where, _, _ := strings.Cut(pg.Where, "\n")
	return fmt.Errorf("%w, %s in the statement: %s", err, cmp.Or(where, "waiting"), text)
}

// RefusesData reports whether err is the refusal of a value or of a constraint, so that nothing was written.
func RefusesData(err error) bool {
	class := serverError(err).Code
	return strings.HasPrefix(class, "22") || strings.HasPrefix(class, "23")
}

// TookTooLong reports whether err says that a statement took longer than its session allows (statement_timeout).
func TookTooLong(err error) bool {
	pg := serverError(err)
	return pg.Code == queryCanceled && strings.Contains(pg.Message, "statement timeout")
}

// Overflows reports whether err says that a number exceeds 64 bits.
func Overflows(err error) bool { return errorCode(err) == numericOutOfRange }

// isLostRowLock reports whether PostgreSQL gave up on a row that several transactions lock and
// one updates. Rarely, under heavy contention, it counts an updater that has ended as a second
// one and refuses the transaction, which succeeds when it runs again.
func isLostRowLock(err error) bool {
	pg := serverError(err)
	return pg.Code == internalError && strings.HasPrefix(pg.Message, "new multixact has more than one updating member")
}

// isLate reports whether the server refused a transaction that began too long after its time.
func isLate(err error) bool { return errorCode(err) == tooLate }

// canRetry reports whether the transaction may succeed when it runs again.
func canRetry(ctx context.Context, err error) bool {
	c := errorCode(err)
	return c == serializationFailure || c == deadlockDetected || isLate(err) || isLostRowLock(err) || isStrayCancel(ctx, err)
}

// readOnlyError is that of a server that is read-only, at the latest when the connection was opened.
type readOnlyError struct {
	error

	opened time.Time
}

func (e *readOnlyError) Unwrap() error { return e.error }

// wasReadOnly reports whether err says that the server is read-only, by a connection of before an instant.
func wasReadOnly(err error, before time.Time) bool {
	var refused *readOnlyError
	return errors.As(err, &refused) && refused.opened.Before(before)
}

// isStrayCancel reports whether a statement was cancelled though its own caller is still there.
// A caller who goes away cancels their statement; on a busy machine the request arrives late,
// when the connection belongs to the next caller.
func isStrayCancel(ctx context.Context, err error) bool {
	pg := serverError(err)
	return ctx.Err() == nil && pg.Code == queryCanceled && strings.Contains(pg.Message, "user request")
}

// isUpgraded reports whether a new session failed to load a library because another version of
// PostgreSQL was installed under the running server, until its packages or its operators restart
// it.
func isUpgraded(err error) bool {
	message := serverError(err).Message
	return strings.HasPrefix(message, "could not load library") || strings.HasPrefix(message, "incompatible library") ||
		strings.HasPrefix(message, "could not find function") && strings.Contains(message, "in file") ||
		strings.HasPrefix(message, "could not access file") && strings.Contains(message, "$libdir")
}

// translate turns a database that is unreachable or too busy into core.Unavailable, the refusal of a
// suspended tenant into core.ErrSuspended, and returns every other error as it is.
func translate(ctx context.Context, err error) error {
	var refusal *core.Error
	if err == nil || errors.As(err, &refusal) || errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	if errorCode(err) == tenantSuspended {
		return core.ErrSuspended
	}
	if isUnreachable(err) {
		return core.Unavailable(err)
	}
	return err
}

func isUnreachable(err error) bool {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) { // also if the server answered with a refusal
		return true
	}
	switch c := errorCode(err); c {
	case "":
	case lockNotAvailable, queryCanceled, serializationFailure, deadlockDetected, tooLate, readOnly,
		undefinedTable, undefinedSchema, undefinedFunction, undefinedColumn:
		return true
	default:
		// 08: connection; 53: out of memory, disk or connections; 57P: shutting down, starting up; 25P03: idle too long.
		return isUpgraded(err) || strings.HasPrefix(c, "08") || strings.HasPrefix(c, "53") || strings.HasPrefix(c, "57P") || c == "25P03"
	}
	var network net.Error
	return errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "conn closed")
}
