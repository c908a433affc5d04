package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/fixture"
	"example.com/loyalty/core/sandbox"
)

// turns is how often each contender of a row is measured, in alternating order. Medians are compared.
const turns = 3

// workload is a row of the table: what its connections do.
type workload struct {
	kind        string // record, read or both
	connections int
	variant     string // "": as fast as possible, for one business
}

// Variants of a workload.
const (
	steady  = " at 500/s"
	small   = " for 1000 businesses"
	delayed = " with 5 ms to the database"
)

func (w workload) name() string { return fmt.Sprintf("%s %d%s", w.kind, w.connections, w.variant) }

// The rows that are measured, and those that are measured only if they are asked for by name.
var (
	workloads = []workload{
		{"record", 32, steady},
		{"record", 1, ""},
		{"record", 32, ""},
		{"record", 128, ""},
		{"read", 1, ""},
		{"read", 32, ""},
		{"read", 128, ""},
		{"both", 32, ""},
		{"record", 32, delayed},
		{"read", 32, delayed},
		{"record", 32, small},
		{"read", 32, small},
	}
	moreWorkloads = []workload{
		{"record", 8, ""},
		{"record", 256, ""},
		{"read", 8, ""},
		{"read", 256, ""},
		{"both", 1, ""},
		{"both", 8, ""},
		{"both", 128, ""},
		{"both", 256, ""},
		{"both", 32, small},
		{"record", 128, delayed},
		{"read", 128, delayed},
		{"both", 32, delayed},
	}
)

// What is in the names of results: the earlier build, pgbench with a script; bareCommand is the bare handler.
const (
	before     = " before"
	leanSingle = "lean-single"
	leanBatch  = "lean-batch"
	wholeRun   = "the run"
)

// goals are printed with what was measured. A missed one doesn't fail the run.
var goals = []struct {
	result      string
	figure      figure
	least, most float64 // one of them
}{
	{"record 32" + before, ratio, 2.5, 0},
	{"record 128" + before, ratio, 4, 0},
	{"record 32 " + leanSingle, ratio, 1, 0},
	{"record 128 " + leanSingle, ratio, 1.5, 0},
	{"read 32 " + bareCommand, ratio, 0.6, 0},
	{"read 128 " + bareCommand, ratio, 1, 0},
	{"record 1" + before, ratio, 0.97, 0},
	{"read 1" + before, ratio, 0.97, 0},
	{"record 32" + small + before, ratio, 1, 0},
	{"read 32" + small + before, ratio, 1, 0},
	{"record 32" + steady, p99, 0, 10},
	{wholeRun, memory, 0, 120},
}

// measureThroughput measures recording and reading at several numbers of connections, by turns with an
// earlier build, pgbench and the bare handler.
func (b *bench) measureThroughput(ctx context.Context) {
	rows := workloads
	if b.row != "" {
		rows = slices.DeleteFunc(slices.Concat(workloads, moreWorkloads), func(w workload) bool { return w.kind != b.row && w.name() != b.row })
	}
	connections, lean := b.connections, b.createLean(ctx)
	b.product.stop()
	var results []result
	var businesses []*business
	// Small businesses come last: with them, PostgreSQL expects few rows of every business.
	for _, variants := range [][]string{{"", steady}, {delayed}, {small}} {
		chosen := slices.DeleteFunc(slices.Clone(rows), func(w workload) bool { return !slices.Contains(variants, w.variant) })
		if len(chosen) == 0 {
			continue
		}
		url := b.cluster.URL()
		switch variants[0] {
		case delayed:
			url = b.delayedURL(ctx)
		case small:
			businesses = b.createSmallBusinesses(ctx, 1000)
		}
		// New ones each time: more would have more connections than the cluster permits.
		builds := b.startBuilds(ctx, url)
		for _, w := range chosen {
			b.connections = w.connections
			contenders := b.contenders(ctx, w, builds, lean, businesses)
			results = append(results, b.byTurns(ctx, contenders)...)
			if last := contenders[len(contenders)-1].on; last != nil && !slices.Contains(builds, last) {
				last.stop()
			}
		}
		b.product.most = max(b.product.most, builds[0].most)
		for _, s := range builds {
			s.stop()
		}
	}
	b.connections = connections
	b.product.start(ctx)
	printTable("throughput", results)
	run := result{scenario: scenario{name: wholeRun}}
	run.figures[memory] = float64(b.product.most)
	printGoals(append(results, run))
}

// startBuilds starts the build to measure and, if there is one, the earlier build. Both serve the same
// database, because an earlier build can serve the new schema.
func (b *bench) startBuilds(ctx context.Context, databaseURL string) (builds []*server) {
	for _, program := range []string{builtProduct, b.against} {
		if program != "" {
			s := b.newServer(ctx, databaseURL, program, "serve")
			s.start(ctx)
			builds = append(builds, s)
		}
	}
	return builds
}

// contenders returns the scenarios of a row, first that of the build to measure.
func (b *bench) contenders(ctx context.Context, w workload, builds []*server, lean string, businesses []*business) (list []scenario) {
	request := func() *fasthttp.Request {
		d := b.business
		if w.variant == small {
			d = businesses[rand.IntN(len(businesses))]
		}
		if w.kind == "read" || w.kind == "both" && rand.IntN(2) == 0 {
			return b.read(d)
		}
		return b.record(d)
	}
	s := scenario{name: w.name(), share: turns, request: request}
	if w.variant == steady {
		s.rate = 500
	}
	for i, suffix := range []string{"", before}[:len(builds)] {
		s.name, s.on = w.name()+suffix, builds[i]
		list = append(list, s)
	}
	switch {
	case w.variant != "":
	case w.kind == "record":
		for _, script := range []string{leanSingle, leanBatch, "record"} {
			list = append(list, scenario{name: w.name() + " " + script, script: script, share: turns})
		}
	case w.kind == "read":
		s.name, s.on = w.name()+" "+bareCommand, b.newServer(ctx, lean, fixture.Must(os.Executable()), bareCommand)
		s.on.start(ctx)
		list = append(list, s)
	}
	return list
}

// byTurns measures contenders in turn and returns the medians of their figures. Ratios are those of the
// first contender to the others in the same round.
func (b *bench) byTurns(ctx context.Context, contenders []scenario) (medians []result) {
	b.settle(ctx)
	// Jobs that visit all businesses run when a build starts.
	fixture.Must(0, b.await(ctx, "select not exists (select from river.river_job where state in ('available', 'running'))"))
	measured := make([][]result, len(contenders))
	for turn := range turns {
		for i := range contenders {
			if turn%2 == 1 {
				i = len(contenders) - 1 - i
			}
			c := contenders[i]
			var r result
			if c.script != "" {
				r = b.pgbench(ctx, c, c.script)
			} else {
				r = fixture.Must(b.load(ctx, c))
			}
			r.scenario = c
			measured[i] = append(measured[i], r)
		}
	}
	for i, results := range measured {
		for turn := range results {
			if i > 0 {
				results[turn] = results[turn].comparedTo(measured[0][turn])
			}
		}
		medians = append(medians, median(results))
	}
	return medians
}

func median(results []result) result {
	m := result{scenario: results[0].scenario}
	for f := range m.figures {
		var values []float64
		for _, r := range results {
			values = append(values, r.figures[f])
		}
		slices.Sort(values)
		m.figures[f] = values[len(values)/2]
	}
	return m
}

func printGoals(results []result) {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\ngoal\t\tmeasured\t")
	for _, g := range goals {
		i := slices.IndexFunc(results, func(r result) bool { return r.name == g.result })
		if i < 0 {
			continue // not in this run
		}
		format, value := columns[g.figure].format, results[i].figures[g.figure]
		limit, met := "at least "+format, value >= g.least
		if g.most > 0 {
			limit, met = "at most "+format, value <= g.most
		}
		fmt.Fprintf(table, "%s: %s\t"+limit+"\t"+format+"\t%s\n", g.result, columns[g.figure].title, max(g.least, g.most), value,
			map[bool]string{true: "met", false: "not met"}[met])
	}
	fixture.Must(0, table.Flush())
}

// createSmallBusinesses creates businesses of 20 customers.
func (b *bench) createSmallBusinesses(ctx context.Context, count int) (list []*business) {
	const customers = 20
	token, secret, _ := strings.Cut(b.business.Tokens["all"], "|")
	rows := fixture.Must(b.admin.Query(ctx, "select * from bench.fill_small($1, $2, $3::text::bigint)", count, customers, token))
	defer rows.Close()
	for rows.Next() {
		var tenant, typeID, tokenID int64
		fixture.Must(0, rows.Scan(&tenant, &typeID, &tokenID))
		list = append(list, &business{
			Tenant: sandbox.Tenant{
				ID: core.TenantID(tenant), TransactionTypeID: typeID, Tokens: map[string]string{"all": fmt.Sprintf("%d|%s", tokenID, secret)},
			},
			customers: customers, buyers: customers, step: 1,
		})
	}
	fixture.Must(0, rows.Err())
	return list
}

// createLean creates the lean tables in pgbench's database, whose URL it returns.
func (b *bench) createLean(ctx context.Context) string {
	url := b.cluster.AdminURL("pgbench")
	pool := fixture.Must(pgxpool.New(ctx, url))
	defer pool.Close()
	sql := string(fixture.Must(scripts.ReadFile("pgbench/lean.sql")))
	for statement := range strings.SplitSeq(strings.ReplaceAll(sql, ":tenant", fmt.Sprint(b.business.ID)), ";\n") {
		fixture.Must(pool.Exec(ctx, statement))
	}
	return url
}
