package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"example.com/loyalty/migrations"
)

// Step is a migration and whether the database has it.
type Step struct {
	Version int64
	Name    string
	Applied time.Time // zero: not yet
}

// Migrate brings the database at url up to date and returns the steps it took.
// Several processes may call it at once: one works, the others wait for it.
func Migrate(ctx context.Context, url string) ([]Step, error) {
	var steps []Step
	err := withMigrations(ctx, url, func(p *goose.Provider) error {
		// Without this look, a start with nothing to do would wait its turn for the lock.
		pending, err := p.HasPending(ctx)
		if err != nil || !pending {
			return err
		}
		for attempt := 1; ; attempt++ {
			results, err := p.Up(ctx)
			var stopped *goose.PartialError
			if errors.As(err, &stopped) {
				results = stopped.Applied
			}
			for _, r := range results {
				steps = append(steps, Step{Version: r.Source.Version, Name: migrationName(r.Source)})
			}
			if code(err) != lockNotAvailable || attempt == lockAttempts {
				return err
			}
			if err := pause(ctx, lockTimeout); err != nil {
				return err
			}
		}
	})
	return steps, err
}

// A step waits for a lock no longer than a request that waits behind it can bear. Then it lets
// those through, and tries again.
const (
	lockTimeout  = 2 * time.Second
	lockAttempts = 30
)

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// MigrationStatus returns every step, in order.
func MigrationStatus(ctx context.Context, url string) ([]Step, error) {
	var steps []Step
	err := withMigrations(ctx, url, func(p *goose.Provider) error {
		states, err := p.Status(ctx)
		for _, s := range states {
			steps = append(steps, Step{Version: s.Source.Version, Name: migrationName(s.Source), Applied: s.AppliedAt})
		}
		return err
	})
	return steps, err
}

func migrationName(s *goose.Source) string {
	if s.Path == "" {
		return fmt.Sprintf("%04d (in Go)", s.Version)
	}
	return s.Path
}

// errForerunner refuses the databases of builds from before the first release.
var errForerunner = errors.New("the database was made by a build from before the first release, and can't be upgraded: " +
	"create a new one (a private one is new once its data directory is removed)")

const forerunnerSQL = `
	select exists (
		select
		from ` + migrations.Table + `
		where version_id between 1 and 100
	)`

func withMigrations(ctx context.Context, url string, fn func(*goose.Provider) error) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	config.RuntimeParams["lock_timeout"] = strconv.FormatInt(lockTimeout.Milliseconds(), 10)
	pool := stdlib.OpenDB(*config)
	defer pool.Close()
	var forerunner bool
	if err := pool.QueryRowContext(ctx, forerunnerSQL).Scan(&forerunner); err != nil && code(err) != undefinedTable {
		return err
	}
	if forerunner {
		return errForerunner
	}
	provider, err := provider(pool)
	if err != nil {
		return err
	}
	return fn(provider)
}

func provider(pool *sql.DB) (*goose.Provider, error) {
	// Asked every second, for five minutes: the default asks every five seconds.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, pool, migrations.SQL,
		goose.WithGoMigrations(migrations.Go()...), goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true),
		// Named in full: the owner's login may be called like the schema, which would then be searched first.
		goose.WithTableName(migrations.Table))
}

// Steps tells which migrations a database has, beside those of this build.
type Steps struct {
	Applied []int64
	Missing []int64 // this build needs them
	Unknown []int64 // of a newer build: this one serves all the same
}

const appliedSQL = `
	select version_id as version
	from ` + migrations.Table + `
	where is_applied
		and version_id > 0
	order by version_id`

// ReadSteps is a reading of the steps of the database, for PlatformTogether.
func ReadSteps(to *Steps) Reading {
	return Reading{appliedSQL, nil, func(rows pgx.Rows) error {
		applied, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		*to = compare(applied, migrations.Versions())
		return err
	}}
}

func compare(applied, known []int64) Steps {
	s := Steps{Applied: applied}
	for _, v := range known {
		if !slices.Contains(applied, v) {
			s.Missing = append(s.Missing, v)
		}
	}
	for _, v := range applied {
		if !slices.Contains(known, v) {
			s.Unknown = append(s.Unknown, v)
		}
	}
	return s
}

// Notice says in a sentence what is unusual about the steps of a database that can be used,
// or "".
func (s Steps) Notice() string {
	if len(s.Unknown) == 0 {
		return ""
	}
	return "the database has migrations of a newer build: " + versionList(s.Unknown)
}

func versionList(versions []int64) string {
	words := make([]string, len(versions))
	for i, v := range versions {
		words[i] = strconv.FormatInt(v, 10)
	}
	return strings.Join(words, ", ")
}

// Ready is nil when the database answers and has every migration of this build.
func (d *DB) Ready(ctx context.Context) error {
	_, err := d.CheckReady(ctx)
	return err
}

// CheckReady is Ready, and also returns the steps that the database has. One round trip.
func (d *DB) CheckReady(ctx context.Context) (Steps, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var applied []int64
	err := d.onLiveConn(ctx, func(conn *pgxpool.Conn) (done bool, err error) {
		rows, _ := conn.Query(ctx, appliedSQL) // its error is the rows', too
		applied, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		if died(conn, err) {
			return false, err
		}
		conn.Release()
		return true, err
	})
	if err != nil {
		return Steps{}, unready(err)
	}
	s := compare(applied, migrations.Versions())
	if len(applied) > 0 && applied[0] <= 100 {
		return s, errForerunner
	}
	if len(s.Missing) > 0 {
		return s, fmt.Errorf("the database lacks migrations that this build needs: %s; run `loyalty migrate up`", versionList(s.Missing))
	}
	return s, nil
}

func unready(err error) error {
	if code(err) == undefinedTable {
		return errors.New("the database is empty: run `loyalty migrate up`")
	}
	return fmt.Errorf("the database cannot be reached: %w", err)
}
