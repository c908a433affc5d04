// Command bench measures the product as its users find it: a process of its own, loaded
// through TLS and the whole stack by vegeta. Beside it pgbench sends the same statements to the
// same cluster, so the ratio of the two is what the product costs on top of the database,
// whatever the machine. docs/performance.md explains the tables that it prints.
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

// bench is one run: its options, the product, its cluster, and the businesses in it.
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
	admin         *pgxpool.Pool // a superuser's
	product       *product
	business      *business // that API requests are about
	largeBusiness *business // nil until makeLargeBusiness
	runs          int       // of pgbench
}

// part is something that can be measured by itself.
type part struct {
	name    string
	measure func(*bench, context.Context) error
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

func main() {
	b := &bench{}
	flag.StringVar(&b.binary, "binary", "bin/loyalty", "the product, built")
	flag.IntVar(&b.customers, "customers", 100_000, "customers of the business that API requests are about")
	flag.IntVar(&b.large, "large", 1_000_000, "customers of the large business: panel, month and send")
	flag.IntVar(&b.sales, "sales", 5_000_000, "sales of the large business, over two years")
	flag.IntVar(&b.connections, "connections", 32, "connections, of the product and of pgbench")
	flag.IntVar(&b.seconds, "seconds", 10, "how long each measurement lasts")
	flag.IntVar(&b.steady, "steady", 500, "recorded sales a second in the steady run")
	flag.StringVar(&b.only, "only", "", "one part (api, walkin, neighbours, panel, month, send) or one row of the API's table (steady, record, …)")
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
	// PostgreSQL may run as another user, who has to reach its directory.
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return err
	}
	// A durable cluster, with fsync: the figures are of sales that survive a power cut.
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
	fmt.Printf("memory: the product's resident set, at most %d MB in the whole run\n", b.product.most)
	verified, err := b.product.command(ctx, "verify")
	fmt.Println("loyalty verify:", verified[strings.LastIndex(verified, "\n")+1:])
	return err
}

// wants reports whether a part is to be measured. What names no part is a row of the API's table.
func (b *bench) wants(name string) bool {
	isPart := slices.ContainsFunc(parts, func(p part) bool { return p.name == b.only })
	return b.only == "" || b.only == name || name == "api" && !isPart
}

// progress tells on standard error what is being done.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+" … ", args...) }
