package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"

	"example.com/loyalty/core/sample"
)

// scenario is a load to measure: a line of a table.
type scenario struct {
	name    string
	request func() *fasthttp.Request                                      // returns each request; or
	steps   func(context.Context) (*fasthttp.Request, error)              // makes dependent requests and returns the last one: measured together; or
	do      func(ctx context.Context, on *server) (status int, err error) // makes each request by itself; or
	script  string                                                        // of pgbench, without a server

	prepare func(context.Context) // is called before each measurement; may be nil

	on      *server       // nil: the product
	rate    int           // requests a second; 0: each worker sends the next after a response
	workers int           // without a rate; 0: one for each connection
	times   int           // number of requests; 0: as many as the time allows
	atLeast int           // this many even if they take longer; all of them count
	lasts   time.Duration // 0: the duration of each measurement
	status  []int         // accepted statuses; nil: any below 400

	rests func(took time.Duration) time.Duration // of a worker after each request; nil: none
	// Of a flood: requests that fail or have another status don't end the run. They count as status 0.
	tolerant bool

	business *business // for the script; nil: that for API requests
	goals    []goal
}

// with returns the scenario of the same load by pgbench with a script.
func (s scenario) with(script string) scenario {
	s.name, s.script, s.on, s.goals = s.name+" with "+script+".sql", script, nil, nil
	return s
}

// goal is what a figure should be. A missed one is printed.
type goal struct {
	figure      figure
	least, most float64 // one of them
}

// check returns a goal in words and whether a result meets it.
func (g goal) check(r result) (text string, met bool) {
	c, value := columns[g.figure], r.figures[g.figure]
	if g.most > 0 {
		return c.title + " at most " + fmt.Sprintf(c.format, g.most), value <= g.most
	}
	return c.title + " at least " + fmt.Sprintf(c.format, g.least), value >= g.least
}

// figure is a column of a table. Times are in milliseconds.
type figure int

const (
	rate figure = iota
	mean
	p50
	p95
	p99
	slowest
	ratio        // of the rate of the row's first scenario to this one's
	serverTime   // of the processor, a request
	databaseTime // of the processor, a request
	clientTime   // of the processor, a request
	received     // bytes
	memory       // peak of the server in MB
	figures
)

var columns = [figures]struct{ title, format string }{
	rate: {"requests/s", "%.4g"}, ratio: {"ratio", "%.2f"}, received: {"bytes", "%.0f"}, memory: {"memory", "%.0f MB"},
	mean: {"mean", "%.1f ms"}, p50: {"p50", "%.1f ms"}, p95: {"p95", "%.1f ms"}, p99: {"p99", "%.1f ms"}, slowest: {"slowest", "%.1f ms"},
	serverTime: {"server", "%.3f ms"}, databaseTime: {"database", "%.3f ms"}, clientTime: {"client", "%.3f ms"},
}

// result is the result of a scenario. What was not measured is 0.
type result struct {
	scenario
	figures  [figures]float64
	statuses map[int]int
}

// measure measures rows one after the other, and prints them.
func (b *bench) measure(ctx context.Context, title string, rows ...[]scenario) {
	var results []result
	for _, row := range rows {
		if b.row == "" || b.row == row[0].name {
			results = append(results, b.byTurns(ctx, 1, row)...)
		}
	}
	printTable(title, results)
}

// byTurns measures the scenarios of a row in alternating order and returns the medians of their figures. Ratios are
// those of the same turn. Servers that don't run are started for the row.
func (b *bench) byTurns(ctx context.Context, turns int, row []scenario) (medians []result) {
	for _, s := range row {
		if s.on != nil {
			s.on.start(ctx)
			defer s.on.stop()
		}
	}
	if len(row) > 1 {
		b.settle(ctx)
	}
	measured := make([][]result, len(row))
	for turn := range turns {
		for i := range row {
			if turn%2 == 1 {
				i = len(row) - 1 - i
			}
			measured[i] = append(measured[i], b.once(ctx, row[i]))
		}
	}
	for i, results := range measured {
		for turn := range results {
			if i > 0 && row[i].rate == 0 {
				results[turn].figures[ratio] = measured[0][turn].figures[rate] / results[turn].figures[rate]
			}
		}
		medians = append(medians, median(results))
	}
	return medians
}

func (b *bench) once(ctx context.Context, s scenario) result {
	if s.prepare != nil {
		s.prepare(ctx)
	}
	if s.script != "" {
		return b.pgbench(ctx, s)
	}
	return sample.Must(b.load(ctx, s))
}

func median(results []result) result {
	m := results[0]
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

// together measures scenarios at the same time.
func (b *bench) together(ctx context.Context, list ...scenario) []result {
	results := make([]result, len(list))
	var loads errgroup.Group
	for i, s := range list {
		loads.Go(func() (err error) {
			results[i], err = b.load(ctx, s)
			for _, shared := range []figure{serverTime, databaseTime, clientTime} {
				results[i].figures[shared] = 0
			}
			return err
		})
	}
	sample.Must(0, loads.Wait())
	return results
}

// printTable prints results and whether they meet their goals.
func printTable(title string, results []result) {
	fmt.Fprintln(os.Stderr, "done")
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\n%s\t", title)
	for _, c := range columns {
		fmt.Fprint(table, c.title, "\t")
	}
	fmt.Fprintln(table, "status\t")
	for _, r := range results {
		fmt.Fprint(table, r.name, "\t")
		for f, c := range columns {
			if r.figures[f] > 0 {
				fmt.Fprintf(table, c.format, r.figures[f])
			}
			fmt.Fprint(table, "\t")
		}
		if r.statuses != nil {
			fmt.Fprint(table, r.statuses)
		}
		fmt.Fprint(table, "\t")
		for _, g := range r.goals {
			text, met := g.check(r)
			fmt.Fprintf(table, "  %s: %s", text, map[bool]string{true: "met", false: "not met"}[met])
		}
		fmt.Fprintln(table)
	}
	sample.Must(0, table.Flush())
}
