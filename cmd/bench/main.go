// Command bench loads the product the way many tills would, through TLS and the
// whole stack, and beside it has pgbench send the same statements to the same
// cluster: the ratio of the two is what the product costs on top of the database,
// whatever the machine. Then it asks for the pages of the panel, one at a time.
// docs/performance.md explains the tables that it prints.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/localpg"
)

// options of a run.
type options struct {
	binary      string
	customers   int
	crowd       int // customers of the business whose panel is measured
	connections int
	seconds     int
	steady      int // recorded sales a second, in the run that measures latency
	only        string
	profile     string
}

func main() { os.Exit(start()) }

func start() (code int) {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/loyalty", "the product, built")
	flag.IntVar(&o.customers, "customers", 100_000, "how many customers the business has; page 5,000 wants 75,000")
	flag.IntVar(&o.crowd, "crowd", 1_000_000, "how many customers the business of the panel's pages has")
	flag.IntVar(&o.connections, "connections", 32, "connections, of the product and of pgbench")
	flag.IntVar(&o.seconds, "seconds", 10, "how long each measurement lasts")
	flag.IntVar(&o.steady, "steady", 500, "recorded sales a second in the steady run")
	flag.StringVar(&o.only, "only", "", "one of steady, record, read, upsert, redeem, voucher, page 1, page 5000, month, walkin, send, panel; all of them if empty")
	flag.StringVar(&o.profile, "profile", "", "a file for a CPU profile of the product while it records, or sells to walk-in customers with -only walkin")
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
	// PostgreSQL's user must be able to pass through.
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
	if _, err := db.Migrate(ctx, cluster.URL()); err != nil {
		return err
	}
	shop, err := openShop(ctx, cluster.URL(), o.customers)
	if err != nil {
		return err
	}
	var copied string
	if o.only != "panel" {
		if err := shop.fill(ctx, cluster.URL()); err != nil {
			return err
		}
		if copied, err = copyDatabase(ctx, cluster); err != nil {
			return err
		}
		shop.db.Reset() // the copy has ended its connections
	}
	product, err := startProduct(ctx, o.binary, dir, cluster.URL())
	if err != nil {
		return err
	}
	defer product.stop()

	if o.only == "" || o.only == "walkin" {
		if err := measureWalkIn(ctx, product, shop, o); err != nil {
			return err
		}
	}
	if o.only != "panel" && o.only != "send" && o.only != "walkin" {
		if err := measureAPI(ctx, product, shop, cluster, copied, dir, o); err != nil {
			return err
		}
	}
	if o.only == "" || o.only == "send" {
		if err := measureSend(ctx, product, shop, cluster.URL(), cluster.AdminURL("loyalty"), dir, o); err != nil {
			return err
		}
	}
	if o.only == "" || o.only == "panel" {
		if err := measurePanel(ctx, product, shop, cluster.AdminURL("loyalty"), o); err != nil {
			return err
		}
	}
	fmt.Printf("memory: the product's resident set, at most %d MB in the whole run\n", product.peakMemory()>>20)
	return product.verify(ctx)
}

// measureAPI prints what requests of the API take, beside what pgbench does with the
// same statements.
func measureAPI(ctx context.Context, product *product, shop *shop, cluster *localpg.Cluster, copied, dir string, o options) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "measurement\trequests/s\tp50\tp95\tp99\tpgbench/s\tratio\tmemory\t")
	// First: the others leave the database with vacuuming and a checkpoint to do.
	if o.only == "" || o.only == "steady" {
		fmt.Fprintf(os.Stderr, "steady: %d sales a second … ", o.steady)
		load := openLoop(ctx, product, shop, scenarios[0], o)
		if load.err != nil {
			return fmt.Errorf("steady: %w", load.err)
		}
		memory := product.memory()
		fmt.Fprint(os.Stderr, "pgbench … ")
		bare, err := pgbench(ctx, copied, dir, shop, scenarios[0], o, o.steady)
		fmt.Fprintln(os.Stderr, "done")
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "record, steady %d/s\t%.0f\t%s\t%s\t%s\t%.0f\t\t%d MB\t\n", o.steady,
			load.rate(), load.percentile(50), load.percentile(95), load.percentile(99), bare.rate(), memory>>20)
		fmt.Fprintf(table, "the same by pgbench\t\t%s\t%s\t%s\t\t\t\t\n", bare.percentile(50), bare.percentile(95), bare.percentile(99))
	}
	for _, s := range scenarios {
		if o.only != "" && o.only != s.name {
			continue
		}
		if err := measure(ctx, table, product, copied, dir, shop, s, o); err != nil {
			return err
		}
	}
	if o.only == "" || o.only == month.name {
		fmt.Fprintf(os.Stderr, "month: making %d sales … ", pastSales)
		if err := shop.grow(ctx, cluster.AdminURL("loyalty")); err != nil {
			return err
		}
		// It is the time of one that counts; and pgbench, too, only reads.
		o.connections = 1
		if err := measure(ctx, table, product, cluster.URL(), dir, shop, month, o); err != nil {
			return err
		}
	}
	return table.Flush()
}

// measure loads the product with a scenario, has pgbench do the same on a database,
// and writes their line.
func measure(ctx context.Context, table *tabwriter.Writer, p *product, databaseURL, dir string, shop *shop, s scenario, o options) error {
	fmt.Fprintf(os.Stderr, "%s: the product … ", s.name)
	if o.profile != "" && s.name == "record" {
		go p.saveProfile(ctx, o.profile, o.seconds)
	}
	load := closedLoop(ctx, p, shop, s, o)
	memory := p.memory()
	fmt.Fprint(os.Stderr, "pgbench … ")
	bare, err := pgbench(ctx, databaseURL, dir, shop, s, o, 0)
	fmt.Fprintln(os.Stderr, "done")
	if err != nil {
		return err
	}
	if load.err != nil {
		return fmt.Errorf("%s: %w", s.name, load.err)
	}
	fmt.Fprintf(table, "%s, %d at once\t%.0f\t%s\t%s\t%s\t%.0f\t%.2f\t%d MB\t\n", s.name, o.connections,
		load.rate(), load.percentile(50), load.percentile(95), load.percentile(99), bare.rate(), load.rate()/bare.rate(), memory>>20)
	return nil
}

// copyDatabase gives pgbench a database of its own in the same cluster, with the
// same data: what it writes is nothing that loyalty verify would let pass.
func copyDatabase(ctx context.Context, cluster *localpg.Cluster) (url string, err error) {
	conn, err := pgx.Connect(ctx, cluster.AdminURL("postgres"))
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	for _, sql := range []string{
		"select pg_terminate_backend(pid) from pg_stat_activity where datname = 'loyalty'",
		"create database pgbench template loyalty owner loyalty",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return "", err
		}
	}
	return strings.Replace(cluster.URL(), "/loyalty?", "/pgbench?", 1), nil
}

// milliseconds prints a latency.
func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
