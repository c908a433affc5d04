package main

import (
	"context"
	"net/url"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/loyalty/core/sample"
)

// measureNodes measures recording and reading on a distributed database (-distributed), by turns with the private one on
// the same machine.
func (b *bench) measureNodes(ctx context.Context) {
	if b.distributed == "" {
		return
	}
	there := b.distribute(ctx)
	defer there.admin.Close()
	b.product.stop()
	var results []result
	for _, name := range []string{"record 1", "record 32", "record 128", "read 1", "read 32", "record 32 " + small, "read 32 " + small} {
		if b.row != "" && b.row != name {
			continue
		}
		row := b.throughput(ctx, name, "")[:1]
		on := there.throughput(ctx, name, "")[0]
		on.name, on.goals = name+" distributed", nil
		results = append(results, b.byTurns(ctx, turns, append(row, on))...)
	}
	b.product.start(ctx)
	printTable("nodes", results)
	there.product.run(ctx, "verify")
}

const postmastersSQL = `
	select result
	from run_command_on_all_nodes($$ ` + postmasterSQL + ` $$)`

// distribute creates the same businesses on the distributed database.
func (b *bench) distribute(ctx context.Context) *bench {
	there := *b
	there.isDistributed = true
	there.dir = sample.Must(os.MkdirTemp(b.dir, "distributed"))
	there.admin = sample.Must(pgxpool.New(ctx, b.distributed))
	login := sample.Must(url.Parse(b.distributed))
	there.exec(ctx, "do $$ begin create role loyalty login createdb createrole; exception when duplicate_object then end $$")
	there.exec(ctx, "alter database "+pgx.Identifier{login.Path[1:]}.Sanitize()+" owner to loyalty")
	login.User = url.User("loyalty")
	there.databaseURL = login.String()
	there.product = b.newServer(ctx, there.databaseURL, builtProduct, "serve")
	there.product.run(ctx, "migrate", "up")
	rows := sample.Must(there.admin.Query(ctx, postmastersSQL))
	b.postmasters = slices.Concat(b.postmasters, sample.Must(pgx.CollectRows(rows, pgx.RowTo[string])))
	there.exec(ctx, dataSQL)
	there.business, there.smallBusinesses = there.createBusiness(ctx, b.customers, 2*b.customers), nil
	return &there
}
