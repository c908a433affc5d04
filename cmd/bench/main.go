// Command bench measures the product in its own process, loaded over TLS by fasthttp. pgbench then
// sends the same statements to the same cluster: the ratio of the two is the cost of the product on
// top of the database, independent of the machine. docs/performance.md explains the tables.
//
// The first error ends the run: sample.Must panics with it, and sample.Do returns it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/loyalty/core/localpg"
	"example.com/loyalty/core/sample"
)

// bench is a run: its options, the product, its cluster and its businesses.
type bench struct {
	customers   int
	large       int
	sales       int
	rows        int // sales of the business for reports
	connections int
	lasts       time.Duration // of each measurement
	against     string        // an earlier build; "": none
	row         string        // the only one to measure in a part's tables
	distributed string        // URL of a coordinator, for nodes

	dir             string
	cluster         *localpg.Cluster
	admin           *pgxpool.Pool // as a superuser
	databaseURL     string        // of the product
	isDistributed   bool
	postmasters     []string // process ids of the database's servers
	product         *server
	business        *business   // for API requests
	largeBusiness   *business   // nil until createLargeBusiness
	smallBusinesses []*business // none until createSmallBusinesses
	runs            int         // of pgbench
}

// part is a part of the run that can be measured alone.
type part struct {
	name    string
	measure func(*bench, context.Context)
	alone   bool // it is measured only by its name

	settings []string // of PostgreSQL, for a part that is measured alone
}

// parts are measured in this order: those that write most come last.
var parts = []part{
	{name: "walkin", measure: (*bench).measureWalkIn},
	{name: "throughput", measure: (*bench).measureThroughput},
	{name: "nodes", measure: (*bench).measureNodes},
	{name: "neighbours", measure: (*bench).measureNeighbours},
	{name: "panel", measure: (*bench).measurePanel},
	{name: "sync", measure: (*bench).measureSync},
	{name: "send", measure: (*bench).measureSend},
	// It needs 13 GB of disk. For millions of sales, docs/operations.md gives PostgreSQL a quarter of the memory: here of 24 GB.
	{name: "reports", measure: (*bench).measureReports, alone: true, settings: []string{"shared_buffers=6GB"}},
}

func main() {
	b := &bench{}
	flag.IntVar(&b.customers, "customers", 100_000, "customers of the business for API requests")
	flag.IntVar(&b.large, "large", 1_000_000, "customers of the large business, for panel, sync and send")
	flag.IntVar(&b.sales, "sales", 5_000_000, "sales of the large business, over two years")
	flag.IntVar(&b.rows, "rows", 10_000_000, "sales of the business for reports, about, over two years")
	flag.IntVar(&b.connections, "connections", 32, "connections of the load and of pgbench")
	seconds := flag.Int("seconds", 10, "duration of each measurement")
	flag.StringVar(&b.against, "against", "", "an earlier build of the product, for throughput")
	flag.StringVar(&b.distributed, "distributed", "", "a superuser's URL of a coordinator of Citus without businesses, on this machine, for nodes")
	only := flag.String("only", "", "a part (walkin, throughput, nodes, neighbours, panel, sync, send, reports) or a row of its table (throughput/record 32)")
	flag.Parse()
	b.lasts = time.Duration(*seconds) * time.Second
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if flag.Arg(0) == bareCommand {
		err = sample.Do(ctx, func(sample.Run) { serveBare(ctx) })
	} else {
		err = b.run(ctx, *only)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, only string) (err error) {
	only, b.row, _ = strings.Cut(only, "/")
	var settings []string
	if i := slices.IndexFunc(parts, func(p part) bool { return p.name == only }); i >= 0 {
		settings = parts[i].settings
	} else if only != "" {
		return fmt.Errorf("unknown part %q", only)
	}
	if b.dir, err = os.MkdirTemp("", "loyalty-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	// PostgreSQL may run as another user, who needs access to its directory.
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return err
	}
	// A durable cluster, with fsync.
	b.cluster, err = localpg.Start(ctx, filepath.Join(b.dir, "data"), slog.New(slog.DiscardHandler), settings...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.cluster.Stop(context.WithoutCancel(ctx))) }()
	b.databaseURL = b.cluster.URL()
	b.product = b.newServer(ctx, b.databaseURL, builtProduct, "serve")
	defer b.product.stop()
	return sample.Do(ctx, func(sample.Run) { b.measureParts(ctx, only) })
}

func (b *bench) measureParts(ctx context.Context, only string) {
	b.product.run(ctx, "migrate", "up")
	b.admin = sample.Must(pgxpool.New(ctx, b.cluster.AdminURL("loyalty")))
	defer b.admin.Close()
	var postmaster string
	sample.Must(0, b.admin.QueryRow(ctx, postmasterSQL).Scan(&postmaster))
	b.postmasters = []string{postmaster}
	b.prepare(ctx)
	b.product.start(ctx)
	for _, p := range parts {
		if only == p.name || only == "" && !p.alone {
			p.measure(b, ctx)
		}
	}
	verified := b.product.run(ctx, "verify")
	fmt.Println("loyalty verify:", verified[strings.LastIndex(verified, "\n")+1:])
}

// progress prints the current step to standard error.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+" … ", args...) }
