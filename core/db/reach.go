package db

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/loyalty/migrations"
)

// waitEvery is how often a database that isn't up yet is tried, waitSaid how often that is logged.
const (
	waitEvery = 250 * time.Millisecond
	waitSaid  = 10 * time.Second
)

// Await returns when the database at a URL lets its login in. While nothing answers there, or the server starts, stops or
// has no connection left, it tries again for as long as patience, and logs why. Any other refusal, such as of a wrong
// password, is returned at once. So is a database of before the first release.
func Await(ctx context.Context, url string, patience time.Duration, log *slog.Logger) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	config.ConnectTimeout = connectTimeout
	config.RuntimeParams["application_name"] = "loyalty"
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // there may be a pooler
	begun, said := localTime(), time.Time{}
	for {
		err := tryLogin(ctx, config, nil)
		left := patience - localTime().Sub(begun)
		if err == nil || !mayComeUp(err) && errorCode(err) != noPrivilege || ctx.Err() != nil {
			return err
		}
		if left <= 0 {
			return fmt.Errorf("%s: %w", troubleOf(err), err)
		}
		if localTime().Sub(said) >= waitSaid {
			said = localTime()
			log.WarnContext(ctx, "waiting for the database", slog.String("because", troubleOf(err)), slog.Duration("left", left.Round(time.Second)), slog.Any("error", err))
		}
		if err := sleep(ctx, min(waitEvery, left)); err != nil {
			return err
		}
	}
}

const connectTimeout = 5 * time.Second

// tryLogin opens a connection, and returns errPrerelease for a database of that time, or what another check of it returns.
func tryLogin(ctx context.Context, config *pgx.ConnConfig, check func(context.Context, *pgx.Conn) error) error {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var isPrerelease bool
	err = conn.QueryRow(ctx, prereleaseSQL).Scan(&isPrerelease)
	switch {
	case isPrerelease:
		return errPrerelease
	case errorCode(err) == undefinedTable: // it is empty
		return nil
	case errorCode(err) == noPrivilege:
		return fmt.Errorf("the login %s may not read %s: this product did not migrate the database, or has no such login: %w", config.User, migrations.Table, err)
	case err != nil || check == nil:
		return err
	}
	return check(ctx, conn)
}

// errPrerelease refuses databases of builds from before the first release.
var errPrerelease = errors.New("this database is from before the first release and can't be upgraded: " +
	"create a new one (for a private database, run `loyalty reset`)")

const prereleaseSQL = `
	select exists (
		select
		from ` + migrations.Table + `
		where version_id between 1 and 100
	)`

// mayComeUp reports whether a database that refused a connection may accept one in a moment.
func mayComeUp(err error) bool {
	switch c := errorCode(err); {
	case c == wrongPassword, c == refusedLogin, c == noDatabase, c == noPrivilege:
		return false
	case c != "":
		return strings.HasPrefix(c, "08") || strings.HasPrefix(c, "53") || strings.HasPrefix(c, "57P")
	}
	return isUnreachable(err) && !isRefusedTLS(err)
}

// isRefusedTLS reports whether the two sides can't agree on encryption, which time doesn't change.
func isRefusedTLS(err error) bool {
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	return errors.As(err, &record) || errors.As(err, &certificate) || errors.As(err, &alert) ||
		strings.Contains(err.Error(), "server refused TLS connection") // the library has no typed error for this
}

// troubleOf says why the database can't be used, in a sentence without names of hosts and logins.
func troubleOf(err error) string {
	pg := serverError(err)
	var lookup *net.DNSError
	switch {
	case pg.Code == startingUp, strings.HasPrefix(pg.Code, "57P"):
		return "the database is starting up or shutting down"
	case pg.Code == tooManyConnections:
		return "the database has no connection left: close others, or raise its max_connections or the limit of the login"
	case pg.Code == wrongPassword, pg.Code == refusedLogin:
		return "the database refuses the login in DATABASE_URL"
	case pg.Code == noDatabase:
		return "the database in DATABASE_URL does not exist"
	case pg.Code == undefinedTable, pg.Code == undefinedSchema:
		return "the database is empty: run `loyalty migrate up`"
	case pg.Code == noPrivilege:
		return "the login in DATABASE_URL lacks a privilege: use loyalty_app, or the owner's login"
	case pg.Code != "":
		return "the database cannot be used"
	case isRefusedTLS(err):
		return "the connection to the database can't be encrypted, or its certificate isn't trusted"
	case errors.As(err, &lookup):
		return "the database's host name cannot be resolved"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrNotExist):
		return "the database cannot be reached: nothing accepts connections at its address"
	case pgconn.Timeout(err), errors.Is(err, context.DeadlineExceeded):
		return "the database cannot be reached: it does not answer"
	}
	return "the database cannot be reached"
}

// ownerSQL says who owns the product's tables, and whether this login may act as the owner. An empty database has none.
const ownerSQL = `
	select pg_get_userbyid(relowner), pg_has_role(relowner, 'usage'), current_user::text
	from pg_class
	where oid = to_regclass('loyalty.tenant')`

// requireOwner refuses a login that doesn't own the tables: it would see no tenant's rows, or may not change the schema.
func requireOwner(ctx context.Context, conn *pgx.Conn) error {
	var owner, login string
	var may bool
	err := conn.QueryRow(ctx, ownerSQL).Scan(&owner, &may, &login)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && may {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("this needs the login that owns the database, %s, and got %s: set LOYALTY_DATABASE_OWNER_URL to the same database with the login %s", owner, login, owner)
}
