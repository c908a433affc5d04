package migrations

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// JobSchema is where the job queue keeps its tables.
const JobSchema = "river"

// The version of the job queue's own schema. A newer version of the library may
// need a newer one: that is a migration of its own.
const jobSchemaVersion = 8

// jobs installs the tables of the job queue.
func jobs() *goose.Migration {
	return goose.NewGoMigration(2, &goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		// The queue's migrator speaks pgx, the runner database/sql: the connection is both.
		return conn.Raw(func(driver any) error { return installJobs(ctx, driver.(*stdlib.Conn).Conn()) })
	}}, nil)
}

func installJobs(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "create schema if not exists "+JobSchema); err != nil {
		return err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(nil), &rivermigrate.Config{Schema: JobSchema})
	if err != nil {
		return err
	}
	// A transaction for each step: one adds a value to an enum, a later one uses it.
	for version := 0; version < jobSchemaVersion; {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			done, err := migrator.ExistingVersionsTx(ctx, tx)
			if err != nil {
				return err
			}
			if version = len(done); version == jobSchemaVersion {
				return nil
			}
			//nolint:staticcheck // what is advised instead wants a pool; a transaction for each step is what it is about
			_, err = migrator.MigrateTx(ctx, tx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{MaxSteps: 1})
			return err
		})
		if err != nil {
			return fmt.Errorf("tables of the job queue: %w", err)
		}
	}
	// Jobs are queued in the transaction of their cause, as the role that serves.
	_, err = conn.Exec(ctx, fmt.Sprintf(`
		grant usage on schema %[1]s to loyalty_app;
		grant select, insert, update on all tables in schema %[1]s to loyalty_app;
		grant usage on all sequences in schema %[1]s to loyalty_app;
		grant execute on all functions in schema %[1]s to loyalty_app`, JobSchema))
	return err
}
