// Command bench measures the product in its own process, loaded over TLS by vegeta. pgbench then
// sends the same statements to the same cluster: the ratio of the two is the cost of the product on
// top of the database, independent of the machine. docs/performance.md explains the tables.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/loyalty/core/localpg"
)

// bench is a run: its options, the product, its cluster and its businesses.
type bench struct {
	binary      string
	customers   int
	large       int
	sales       int
	connections int
	seconds     int
	steady      int
	only        string

	dir           string
	cluster       *localpg.Cluster
	admin         *pgxpool.Pool // as a superuser
	product       *product
	business      *business // for API requests
	largeBusiness *business // nil until createLargeBusiness
	runs          int       // of pgbench
}

// part is a part of the run that can be measured alone.
type part struct {
	name    string
	measure func(*bench, context.Context) error
}

// parts are measured in this order: those that write most come last.
var parts = []part{
	{"api", (*bench).measureAPI},
	{"walkin", (*bench).measureWalkIn},
	{"neighbours", (*bench).measureNeighbours},
	{"panel", (*bench).measurePanel},
	{"month", (*bench).measureMonth},
	{"send", (*bench).measureSend},
}

func main() {
	b := &bench{}
	flag.StringVar(&b.binary, "binary", "bin/loyalty", "the built product")
	flag.IntVar(&b.customers, "customers", 100_000, "customers of the business for API requests")
	flag.IntVar(&b.large, "large", 1_000_000, "customers of the large business, for panel, month and send")
	flag.IntVar(&b.sales, "sales", 5_000_000, "sales of the large business, over two years")
	flag.IntVar(&b.connections, "connections", 32, "connections of the load and of pgbench")
	flag.IntVar(&b.seconds, "seconds", 10, "duration of each measurement")
	flag.IntVar(&b.steady, "steady", 500, "sales a second in the steady row")
	flag.StringVar(&b.only, "only", "", "a part (api, walkin, neighbours, panel, month, send) or a row of the API's table (steady, record, …)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := b.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp(os.TempDir(), "loyalty-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	// PostgreSQL may run as another user, who needs access to its directory.
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return err
	}
	// A durable cluster, with fsync.
	b.cluster, err = localpg.Start(ctx, localpg.Config{Dir: filepath.Join(b.dir, "data"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() {
		if stopping := b.cluster.Stop(context.WithoutCancel(ctx)); err == nil {
			err = stopping
		}
	}()
	if b.product, err = newProduct(ctx, b.binary, b.dir, b.cluster.URL()); err != nil {
		return err
	}
	defer b.product.stop()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	defer b.admin.Close()
	if err := b.product.start(ctx); err != nil {
		return err
	}
	for _, p := range parts {
		if !b.wants(p.name) {
			continue
		}
		if err := p.measure(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	fmt.Printf("peak memory of the product: %d MB\n", b.product.most)
	verified, err := b.product.command(ctx, "verify")
	fmt.Println("loyalty verify:", verified[strings.LastIndex(verified, "\n")+1:])
	return err
}

// wants reports whether to measure a part. Other names are rows of the API's table.
func (b *bench) wants(name string) bool {
	isPart := slices.ContainsFunc(parts, func(p part) bool { return p.name == b.only })
	return b.only == "" || b.only == name || name == "api" && !isPart
}

// progress prints the current step to standard error.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+" … ", args...) }
