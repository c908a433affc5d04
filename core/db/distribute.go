package db

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Distribution by tenant: in a database with the Citus extension, the rows of a tenant table are
// on the node of their tenant, all tables' together, so that a sale needs one node. Reference
// tables are on every node. All others stay on the coordinator, the node that processes connect to.

// isCitusSQL asks for the extension and not for nodes: a coordinator alone can be distributed, too.
const isCitusSQL = `
	select exists (select from pg_extension where extname = 'citus') as citus`

// The tables that are not distributed yet, those first that others go by.
//
// Tenant tables are told by their policy (migrations/0101). Three of them belong to people, who are
// on the coordinator, and one to the tenant's pages, which are looked up before the tenant is known.
const undistributedSQL = `
	select c.oid::regclass::text as name, c.relname in ('plan', 'tenant') as is_reference
	from pg_class c
	where c.relnamespace = 'loyalty'::regnamespace
		and c.relkind = 'r'
		and (c.relname in ('plan', 'tenant', 'idempotency')
			or exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant'))
		and c.relname not in ('invitation', 'password_reset', 'weekly_preference', 'tenant_look')
		and not exists (select from pg_dist_partition d where d.logicalrelid = c.oid and (d.partmethod = 'h' or d.repmodel = 't'))
	order by c.relname = 'plan' desc, c.relname = 'tenant' desc, c.relname = 'customer' desc, c.relname`

// The foreign keys of some tables and to them, and whether they can be kept: a node can't look at
// the coordinator's tables.
const foreignKeysSQL = `
	select k.conrelid::regclass::text as on_table, k.conname as name, pg_get_constraintdef(k.oid) as definition,
		not (k.conrelid::regclass::text = any (@tables) and k.confrelid = 'loyalty.staff'::regclass) as kept
	from pg_constraint k
	where k.contype = 'f'
		and (k.conrelid::regclass::text = any (@tables) or k.confrelid::regclass::text = any (@tables))
	order by k.conrelid::regclass::text, k.conname`

type foreignKey struct {
	OnTable    string
	Name       string
	Definition string
	Kept       bool
}

// What a distributed database needs beside its tables. Each can be said again.
var distributedSQL = []string{
	// Only a set statement reaches the nodes, and only with this setting.
	`do $$
	begin
		execute format('alter database %I set citus.propagate_set_commands = ''local''', current_database());
		execute format('alter database %I set app.tenant_id = ''-1''', current_database());
	end
	$$`,
	`create or replace function loyalty.enter(tenant bigint) returns void
		language plpgsql volatile
	as $enter$
	begin
		execute format('set local app.tenant_id = %L', tenant);
		set local role loyalty_app;
	end;
	$enter$`,
	// Triggers can't be used there. They are for builds from before distribution.
	`drop trigger if exists count_sale on loyalty.transaction`,
	`drop trigger if exists discount_sale on loyalty.transaction`,
	`drop trigger if exists give_platform on loyalty.idempotency`,
}

// idempotencySQL begins the key of stored responses with their tenant.
var idempotencySQL = []string{
	`alter table loyalty.idempotency drop constraint idempotency_pkey`,
	`alter table loyalty.idempotency add primary key (tenant_id, caller, key)`,
}

// Distribute distributes the tenant tables of a database with the Citus extension by tenant, in one
// transaction, and returns the tables that were not distributed before. In any other database it
// does nothing. Rows move with their tables, and nobody can write while they do.
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
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByName[struct {
		Name        string
		IsReference bool
	}])
	if err != nil || len(tables) == 0 {
		return nil, err
	}
	var creations []string
	for _, t := range tables {
		names = append(names, t.Name)
		creations = append(creations, createDistributed(t.Name, t.IsReference),
			fmt.Sprintf("select truncate_local_data_after_distributing_table('%s')", t.Name))
	}
	rows, _ = tx.Query(ctx, foreignKeysSQL, pgx.NamedArgs{"tables": names})
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByName[foreignKey])
	if err != nil {
		return nil, err
	}
	// A table can be distributed only without foreign keys to tables that are not distributed yet.
	// One connection to each node, as foreign keys to reference tables require it.
	steps := append([]string{"set local citus.multi_shard_modify_mode = 'sequential'"}, distributedSQL...)
	for _, k := range keys {
		steps = append(steps, fmt.Sprintf("alter table %s drop constraint %s", k.OnTable, pgx.Identifier{k.Name}.Sanitize()))
	}
	if slices.Contains(names, "loyalty.idempotency") {
		steps = append(steps, idempotencySQL...)
	}
	steps = append(steps, creations...)
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

func createDistributed(table string, isReference bool) string {
	switch {
	case isReference:
		return fmt.Sprintf("select create_reference_table('%s')", table)
	case table == "loyalty.customer":
		return fmt.Sprintf("select create_distributed_table('%s', 'tenant_id')", table)
	}
	return fmt.Sprintf("select create_distributed_table('%s', 'tenant_id', colocate_with := 'loyalty.customer')", table)
}
