package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"example.com/loyalty/migrations"
)

// Step is a migration and when it was applied.
type Step struct {
	Version int64
	Name    string
	Applied time.Time // zero: pending
}

// Migrate applies the pending migrations to the database at url and returns them. Several processes
// may call it at once: one works, the others wait.
func Migrate(ctx context.Context, url string) ([]Step, error) {
	var steps []Step
	err := withMigrations(ctx, url, func(p *goose.Provider, pool *sql.DB) error {
		// Without this check, a start with nothing to do would wait for the lock.
		pending, err := p.HasPending(ctx)
		if err != nil || !pending {
			return err
		}
		defer giveWay(ctx, pool)()
		patience := time.NewTimer(lockPatience)
		defer patience.Stop()
		for {
			results, err := p.Up(ctx)
			var stopped *goose.PartialError
			if errors.As(err, &stopped) {
				results = stopped.Applied
			}
			for _, r := range results {
				steps = append(steps, Step{Version: r.Source.Version, Name: migrationName(r.Source)})
			}
			pause := afterGivingWay
			if errorCode(err) == lockNotAvailable {
				pause = lockTimeout
			} else if !canRetry(ctx, err) {
				return err
			}
			if len(results) > 0 {
				patience.Reset(lockPatience)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-patience.C:
				return fmt.Errorf("requests kept a migration from its tables for %v; what was migrated stays, so run it again at a quiet hour: %w", lockPatience, err)
			case <-time.After(pause):
			}
		}
	})
	return steps, err
}

// Requests queue behind a migration that waits for a lock, so it gives up after two seconds, lets them through for as
// long, and tries again. Where a request and the migration wait for each other, it gives way at once and is soon tried
// again: on a busy database, most attempts may end so.
const (
	lockTimeout    = 2 * time.Second
	afterGivingWay = 200 * time.Millisecond
	lockPatience   = 2 * time.Minute // of each migration

	migrator     = "loyalty migrate" // its name in pg_stat_activity
	giveWayEvery = 50 * time.Millisecond
)

// giveWaySQL cancels a migration that waits, through any number of others, for itself. After a second of this, PostgreSQL
// would cancel one of them, often the request, which earlier builds don't all repeat.
const giveWaySQL = `
	with recursive waiting (migration, for_pid) as (
		select a.pid, blocker
		from pg_stat_activity a
		cross join unnest(pg_blocking_pids(a.pid)) blocker
		where a.datname = current_database()
			and a.application_name = $1
			and a.wait_event_type = 'Lock'
		union
		select w.migration, blocker
		from waiting w
		cross join unnest(pg_blocking_pids(w.for_pid)) blocker
		where w.for_pid <> w.migration
	)
	select pg_cancel_backend(migration)
	from waiting
	where for_pid = migration`

// giveWay lets requests win deadlocks with a migration, until the returned function is called.
func giveWay(ctx context.Context, pool *sql.DB) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for sleep(ctx, giveWayEvery) == nil {
			_, _ = pool.ExecContext(ctx, giveWaySQL, migrator) // if it fails, PostgreSQL ends deadlocks
		}
	})
	return func() {
		cancel()
		watch.Wait()
	}
}

// sleep waits until d has passed or ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// MigrationStatus returns every migration, in order.
func MigrationStatus(ctx context.Context, url string) ([]Step, error) {
	var steps []Step
	err := withMigrations(ctx, url, func(p *goose.Provider, _ *sql.DB) error {
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

func withMigrations(ctx context.Context, url string, fn func(*goose.Provider, *sql.DB) error) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	if err := tryLogin(ctx, config, requireOwner); err != nil {
		return err
	}
	config.RuntimeParams["application_name"] = migrator
	config.RuntimeParams["lock_timeout"] = strconv.FormatInt(lockTimeout.Milliseconds(), 10)
	pool := stdlib.OpenDB(*config)
	defer pool.Close()
	if err := prepareCitus(ctx, pool); err != nil {
		return err
	}
	provider, err := newProvider(pool)
	if err != nil {
		return err
	}
	err = fn(provider, pool)
	if errorCode(err) == noPrivilege {
		return fmt.Errorf("the login %s may not migrate the database: use the login that owns it, in LOYALTY_DATABASE_OWNER_URL: %w", config.User, err)
	}
	return err
}

func newProvider(pool *sql.DB) (*goose.Provider, error) {
	// Tries every second, for five minutes; the default tries every five seconds.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, pool, migrations.SQL,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true),
		// With its schema: the owner's login may have the name of a schema, which is searched first.
		goose.WithTableName(migrations.Table))
}

// Steps compares the migrations of a database with those of this build.
type Steps struct {
	Applied []int64
	Missing []int64 // needed by this build
	Unknown []int64 // from a newer build, with which this one can still serve
}

const appliedSQL = `
	select version_id as version
	from ` + migrations.Table + `
	where is_applied
		and version_id > 0
	order by version_id`

// ReadSteps returns a reading of the database's migrations, for Together.
func ReadSteps(to *Steps) Reading { return into(to, appliedSQL, nil, collectSteps) }

func collectSteps(rows pgx.Rows) (Steps, error) {
	applied, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	known := migrations.Versions()
	return Steps{Applied: applied, Missing: without(known, applied), Unknown: without(applied, known)}, err
}

// without returns the versions that are not among others.
func without(versions, others []int64) (rest []int64) {
	for _, v := range versions {
		if !slices.Contains(others, v) {
			rest = append(rest, v)
		}
	}
	return rest
}

// Notice returns a sentence about a database that can be used but is unusual, or "".
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
