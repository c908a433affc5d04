// Command bench measures the product as its users find it: a process of its own, loaded
// through TLS and the whole stack by vegeta. Beside it pgbench sends the same statements to the
// same cluster, so the ratio of the two is what the product costs on top of the database,
// whatever the machine. docs/performance.md explains the tables that it prints.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/loyalty/core/localpg"
)

// options of a run.
type options struct {
	binary      string
	customers   int
	large       int
	sales       int
	connections int
	seconds     int
	steady      int
	only        string
	profile     string
}

// bench is one run: the product, its cluster, and the businesses in it.
type bench struct {
	options
	dir      string
	cluster  *localpg.Cluster
	admin    *pgxpool.Pool // a superuser's
	product  *product
	measured *business
	busiest  *business // the large one; nil until largeBusiness
	runs     int       // of pgbench
}

// part is something that can be run by itself.
type part struct {
	name string
	run  func(*bench, context.Context) error
}

// parts are what a run consists of, in this order: what leaves the most behind comes last.
var parts = []part{
	{"api", (*bench).measureAPI},
	{"walkin", (*bench).measureWalkIn},
	{"neighbours", (*bench).measureNeighbours},
	{"panel", (*bench).measurePanel},
	{"month", (*bench).measureMonth},
	{"send", (*bench).measureSend},
}

func main() { os.Exit(start()) }

func start() (code int) {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/loyalty", "the product, built")
	flag.IntVar(&o.customers, "customers", 100_000, "customers of the business that API requests are about")
	flag.IntVar(&o.large, "large", 1_000_000, "customers of the large business: panel, month and send")
	flag.IntVar(&o.sales, "sales", 5_000_000, "sales of the large business, over two years")
	flag.IntVar(&o.connections, "connections", 32, "connections, of the product and of pgbench")
	flag.IntVar(&o.seconds, "seconds", 10, "how long each measurement lasts")
	flag.IntVar(&o.steady, "steady", 500, "recorded sales a second in the steady run")
	flag.StringVar(&o.only, "only", "", "one part (api, walkin, neighbours, panel, month, send) or one row of the API's table (steady, record, …)")
	flag.StringVar(&o.profile, "profile", "", "a file for a CPU profile of the product during record, or during the row that -only names")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp(os.TempDir(), "loyalty-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// PostgreSQL may run as another user, who has to reach its directory.
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	// A durable cluster, with fsync: the figures are of sales that survive a power cut.
	cluster, err := localpg.Start(ctx, localpg.Config{Dir: filepath.Join(dir, "data"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() {
		if stopping := cluster.Stop(context.WithoutCancel(ctx)); err == nil {
			err = stopping
		}
	}()
	b := &bench{options: o, dir: dir, cluster: cluster}
	if b.product, err = newProduct(ctx, o.binary, dir, cluster.URL()); err != nil {
		return err
	}
	defer b.product.stop()
	if b.admin, err = pgxpool.New(ctx, cluster.AdminURL("loyalty")); err != nil {
		return err
	}
	defer b.admin.Close()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	if err := b.product.start(ctx); err != nil {
		return err
	}
	for _, part := range parts {
		if !b.wants(part.name) {
			continue
		}
		if err := part.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	fmt.Printf("memory: the product's resident set, at most %d MB in the whole run\n", b.product.most>>20)
	return b.product.verify(ctx)
}

// wants reports whether a part is to be run. A name that is none is a row of the API's table.
func (b *bench) wants(name string) bool {
	isPart := slices.ContainsFunc(parts, func(p part) bool { return p.name == b.only })
	return b.only == "" || b.only == name || name == "api" && !isPart
}

//go:embed data.sql
var dataSQL string

// prepare makes the business that API requests are about, and a copy of the database for
// pgbench: the records that it inserts are not as loyalty verify expects.
func (b *bench) prepare(ctx context.Context) (err error) {
	if _, err := b.product.command(ctx, "migrate", "up"); err != nil {
		return err
	}
	if _, err := b.admin.Exec(ctx, dataSQL); err != nil {
		return fmt.Errorf("data.sql: %w", err)
	}
	if b.measured, err = b.newBusiness(ctx, b.customers, 2*b.customers); err != nil || !b.wants("api") {
		return err
	}
	return b.copyDatabase(ctx)
}

// copyDatabase copies the database within the cluster, which is possible while nothing is
// connected to it.
func (b *bench) copyDatabase(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, b.cluster.AdminURL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	b.admin.Reset()
	_, err = conn.Exec(ctx, "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'loyalty'")
	if err == nil {
		_, err = conn.Exec(ctx, "create database pgbench template loyalty owner loyalty")
	}
	return err
}

// settle leaves the next measurement a database that has nothing to catch up with.
func (b *bench) settle(ctx context.Context) error {
	for _, sql := range []string{"vacuum analyze", "checkpoint"} {
		if _, err := b.admin.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// progress tells on standard error what is being done.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+" … ", args...) }

// short is a duration in a unit that suits it.
func short(d time.Duration) string {
	if d >= 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
