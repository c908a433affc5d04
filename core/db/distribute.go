package db

import (
	"context"
	"database/sql"
	_ "embed" // the statements of a distributed database
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Distribution by tenant: in a database with the Citus extension, the rows of a tenant table are
// on the node of their tenant, those of all tables together, so that a sale needs one node. Tenants,
// their programmes and plans are copied to every node. All other tables stay on the coordinator, the
// node that processes connect to.

// isCitusSQL asks for the extension and not for nodes: a coordinator alone can be distributed, too.
const isCitusSQL = `
	select exists (select from pg_extension where extname = 'citus') as citus`

// The tables that are not distributed yet, in an order in which they can be. Tenant tables are told by
// their policy (migrations/0101). Three of them belong to people, who are on the coordinator, and two to
// the tenant's pages, which are looked up before the tenant is known.
const undistributedSQL = `
	select 'loyalty.' || c.relname as name
	from pg_class c
	where c.relnamespace = 'loyalty'::regnamespace
		and c.relkind = 'r'
		and (c.relname in ('plan', 'tenant', 'programme', 'level_programme', 'days_counted', 'idempotency')
			or exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant'))
		and c.relname not in ('invitation', 'password_reset', 'weekly_preference', 'tenant_look', 'logo_drawing')
		and not exists (select from pg_dist_partition d where d.logicalrelid = c.oid)
	order by array_position(array['plan', 'tenant', 'programme', 'level_programme', 'days_counted', 'customer'], c.relname::text), c.relname`

// The foreign keys of these tables and to them, and whether they can be kept: the coordinator's own
// tables can't be referred to from a node, nor refer to one.
const foreignKeysSQL = `
	select 'loyalty.' || c.relname as on_table, k.conname as name, pg_get_constraintdef(k.oid) as definition,
		(k.conrelid = any (@tables::regclass[]) or exists (select from pg_dist_partition d where d.logicalrelid = k.conrelid))
		and (k.confrelid = any (@tables::regclass[]) or exists (select from pg_dist_partition d where d.logicalrelid = k.confrelid)) as kept
	from pg_constraint k
	join pg_class c on c.oid = k.conrelid
	where k.contype = 'f'
		and (k.conrelid = any (@tables::regclass[]) or k.confrelid = any (@tables::regclass[]))
	order by c.relname, k.conname`

type foreignKey struct {
	OnTable    string
	Name       string
	Definition string
	Kept       bool
}

//go:embed distributed.sql
var distributedSQL string

// policySQL rewrites a policy. Compared as numbers, the tenant of the setting and the tenant of a
// statement would make a condition that Citus refuses together with an outer join. And on a node, the
// setting is empty between transactions.
const policySQL = `
	do $$
	declare
		walled regclass := '%s';
		named text;
		others text;
	begin
		select polname, case polname when 'tenant_or_platform' then 'current_setting(''app.tenant_id'', true) = ''0'' or ' else '' end
		into named, others
		from pg_policy
		where polrelid = walled;
		execute format('drop policy %%I on %%s', named, walled);
		execute format('create policy %%I on %%s using (%%s %s::text = current_setting(''app.tenant_id'', true))', named, walled, others);
	end
	$$`

// tablesSQL changes what a distributed table can't have: a primary key without its tenant, and triggers. The triggers are
// for builds from before distribution.
var tablesSQL = []string{
	`drop trigger count_sale on loyalty.transaction`,
	`drop trigger discount_sale on loyalty.transaction`,
	`drop trigger if exists take_lots on loyalty.ledger_entry`,
	`drop trigger if exists mark_visits on loyalty.transaction`,
	`drop trigger if exists mark_refund on loyalty.transaction`,
	`drop trigger if exists mark_day on loyalty.redemption`,
	`drop trigger if exists mark_day on loyalty.voucher`,
	`drop trigger if exists mark_sale on loyalty.voucher`,
	`drop trigger if exists mark_day on loyalty.customer`,
	`drop trigger if exists drop_months on loyalty.days_counted`,
	`drop trigger give_platform on loyalty.idempotency`,
	`alter table loyalty.idempotency drop constraint idempotency_pkey`,
	`alter table loyalty.idempotency add primary key (tenant_id, caller, key)`,
}

// prepareCitus prepares a database with the Citus extension for the migrations: the extensions of migration 0101 reach
// the nodes here, since in a transaction only a superuser could send them.
func prepareCitus(ctx context.Context, pool *sql.DB) error {
	var isCitus bool
	if err := pool.QueryRowContext(ctx, isCitusSQL).Scan(&isCitus); err != nil || !isCitus {
		return err
	}
	for _, extension := range []string{"pg_trgm", "btree_gin"} {
		if _, err := pool.ExecContext(ctx, "create extension if not exists "+extension); err != nil {
			return err
		}
	}
	return nil
}

// Distribute distributes the tenant tables of a database with the Citus extension by tenant, in one
// transaction, and returns the tables that were not distributed before. In any other database it
// does nothing. Rows move with their tables, and writes wait until they have.
func Distribute(ctx context.Context, url string) (tables []string, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	var isCitus bool
	if err := conn.QueryRow(ctx, isCitusSQL).Scan(&isCitus); err != nil || !isCitus {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		tables, err = distribute(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("distribute the tables by tenant: %w", err)
	}
	return tables, nil
}

func distribute(ctx context.Context, tx pgx.Tx) (names []string, err error) {
	const oneAtATime = 4712
	if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", oneAtATime); err != nil {
		return nil, err
	}
	rows, _ := tx.Query(ctx, undistributedSQL) // collecting returns its error
	names, err = pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	rows, _ = tx.Query(ctx, foreignKeysSQL, pgx.NamedArgs{"tables": names})
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByName[foreignKey])
	if err != nil {
		return nil, err
	}
	// A table can be distributed only without foreign keys to tables that are not distributed yet. Those to a
	// reference table need one connection to each node.
	steps := []string{"set local citus.multi_shard_modify_mode = 'sequential'", distributedSQL}
	for _, k := range keys {
		steps = append(steps, fmt.Sprintf("alter table %s drop constraint %s", k.OnTable, pgx.Identifier{k.Name}.Sanitize()))
	}
	if slices.Contains(names, "loyalty.idempotency") {
		steps = append(steps, tablesSQL...)
	}
	for _, table := range names {
		switch table {
		case "loyalty.plan":
		case "loyalty.tenant":
			steps = append(steps, fmt.Sprintf(policySQL, table, "id"))
		default:
			steps = append(steps, fmt.Sprintf(policySQL, table, "tenant_id"))
		}
		steps = append(steps, createDistributed(table), fmt.Sprintf("select truncate_local_data_after_distributing_table('%s')", table))
	}
	for _, k := range keys {
		if k.Kept {
			steps = append(steps, fmt.Sprintf("alter table %s add constraint %s %s", k.OnTable, pgx.Identifier{k.Name}.Sanitize(), k.Definition))
		}
	}
	for _, sql := range steps {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return nil, fmt.Errorf("%s: %w", sql, err)
		}
	}
	return names, nil
}

func createDistributed(table string) string {
	switch table {
	case "loyalty.plan", "loyalty.tenant", "loyalty.programme", "loyalty.level_programme", "loyalty.days_counted":
		return fmt.Sprintf("select create_reference_table('%s')", table)
	case "loyalty.customer":
		return fmt.Sprintf("select create_distributed_table('%s', 'tenant_id')", table)
	}
	return fmt.Sprintf("select create_distributed_table('%s', 'tenant_id', colocate_with := 'loyalty.customer')", table)
}
