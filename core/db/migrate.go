package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // goose speaks database/sql
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
	err := withMigrations(url, func(p *goose.Provider) error {
		// Without this look, a start with nothing to do would wait its turn for the lock.
		pending, err := p.HasPending(ctx)
		if err != nil || !pending {
			return err
		}
		results, err := p.Up(ctx)
		for _, r := range results {
			steps = append(steps, Step{Version: r.Source.Version, Name: name(r.Source)})
		}
		return err
	})
	return steps, err
}

// MigrationStatus returns every step, in order.
func MigrationStatus(ctx context.Context, url string) ([]Step, error) {
	var steps []Step
	err := withMigrations(url, func(p *goose.Provider) error {
		states, err := p.Status(ctx)
		for _, s := range states {
			steps = append(steps, Step{Version: s.Source.Version, Name: name(s.Source), Applied: s.AppliedAt})
		}
		return err
	})
	return steps, err
}

func name(s *goose.Source) string {
	if s.Path == "" {
		return fmt.Sprintf("%04d (in Go)", s.Version)
	}
	return s.Path
}

func withMigrations(url string, fn func(*goose.Provider) error) error {
	pool, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer pool.Close()
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

const versionSQL = `
	select coalesce(max(version_id), 0)
	from ` + migrations.Table + `
	where is_applied`

// Ready is nil when the database answers and has every migration of this build.
func (d *DB) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var have int64
	if err := d.pool.QueryRow(ctx, versionSQL).Scan(&have); err != nil {
		if code(err) == undefinedTable {
			return errors.New("the database is empty: run `loyalty migrate up`")
		}
		return fmt.Errorf("the database cannot be reached: %w", err)
	}
	if want := migrations.Newest(); have < want {
		return fmt.Errorf("the database is at migration %d, this build needs %d: run `loyalty migrate up`", have, want)
	}
	return nil
}
