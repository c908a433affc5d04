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

// jobSchemaVersion is the version of the job queue's own schema. A newer version of the library may need a new migration.
const jobSchemaVersion = 8

// jobQueue installs the tables of the job queue.
func jobQueue() *goose.Migration {
	return goose.NewGoMigration(102, &goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		// The queue's migrator uses pgx, goose uses database/sql. The connection is both.
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
	// Each step needs its own transaction, because one adds a value to an enum that a later one uses.
	for version := 0; version < jobSchemaVersion; {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			done, err := migrator.ExistingVersionsTx(ctx, tx)
			if err != nil {
				return err
			}
			if version = len(done); version == jobSchemaVersion {
				return nil
			}
			//nolint:staticcheck // the recommended function needs a pool and has no transaction for each step
			_, err = migrator.MigrateTx(ctx, tx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{MaxSteps: 1})
			return err
		})
		if err != nil {
			return fmt.Errorf("tables of the job queue: %w", err)
		}
	}
	_, err = conn.Exec(ctx, jobWall)
	return err
}

// jobWall gives the queue's connections access to all jobs, and a tenant's transaction access to its own. The queue has
// its own role with a policy that is always true: with another policy, PostgreSQL would not use River's indexes that
// begin with a job's state.
const jobWall = `
	do $$
	begin
		if not exists (select from pg_roles where rolname = 'loyalty_queue') then
			create role loyalty_queue nologin nosuperuser nobypassrls;
		end if;
		if exists (select from pg_roles where rolname = 'loyalty_app' and rolinherit) then
			alter role loyalty_app noinherit;
		end if;
		if not pg_has_role('loyalty_app', 'loyalty_queue', 'member') then
			grant loyalty_queue to loyalty_app;
		end if;
		if not pg_has_role(current_user, 'loyalty_queue', 'member') then
			execute format('grant loyalty_queue to %I', current_user);
		end if;
	end
	$$;
	grant usage on schema loyalty to loyalty_queue; -- to enter the platform
	grant usage on schema river to loyalty_app, loyalty_queue;
	grant select, insert, update, delete on all tables in schema river to loyalty_app, loyalty_queue;
	grant usage on all sequences in schema river to loyalty_app, loyalty_queue;
	grant execute on all functions in schema river to loyalty_app, loyalty_queue;

	do $$
	declare
		part regclass;
	begin
		for part in select oid from pg_class where relnamespace = 'river'::regnamespace and relkind = 'r' loop
			execute format('alter table %s enable row level security', part);
			execute format('create policy queue on %s to loyalty_queue using (true)', part);
			execute format('create policy platform on %s to loyalty_app using (current_setting(''app.tenant_id'', true) in (''0'', ''-1''))', part);
		end loop;
	end
	$$;
	create policy tenant on river.river_job to loyalty_app using (metadata ->> 'tenant' = current_setting('app.tenant_id', true));

	-- What waits, by tenant: the statement that takes jobs steps along it.
	create index river_job_waiting on river.river_job (queue, (coalesce(metadata ->> 'tenant', '')), priority, scheduled_at, id)
		where state = 'available';
	-- What is not done, for the page that lists it: done jobs stay for a day, and may be many.
	create index river_job_unfinished on river.river_job (id)
		where state <> 'completed'`
