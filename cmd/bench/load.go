package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"text/tabwriter"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
	"golang.org/x/sync/errgroup"

	"example.com/loyalty/core/fixture"
)

// scenario is a load to measure: a row of a table.
type scenario struct {
	name    string
	request func() vegeta.Target                         // returns each request; or
	steps   func(context.Context) (vegeta.Target, error) // makes dependent requests and returns the last one: measured together

	rate    int           // requests a second; 0: each worker sends the next after a response
	workers int           // without a rate; 0: one for each connection
	times   int           // number of requests; 0: as many as the time allows
	share   int           // 5: a fifth of the time
	status  []int         // accepted statuses; nil: any below 400
	limit   time.Duration // for 95 of 100 requests

	script   string    // for pgbench, run after it
	business *business // for the script; nil: that for API requests
}

// result is the result of a scenario: a row of a table.
type result struct {
	scenario
	vegeta.Metrics
	perSecond float64
	memory    int     // peak of the product in MB
	ratio     float64 // if it is the same work as another result's, in another way: that one's rate, divided by this
}

// over reports whether a result exceeds its scenario's limit.
func (r result) over() bool { return r.limit > 0 && r.Latencies.P95 > r.limit }

// comparedTo returns a result with the ratio of another one's rate to its own.
func (r result) comparedTo(other result) result {
	if other.rate == 0 {
		r.ratio = other.perSecond / r.perSecond
	}
	return r
}

// measure measures scenarios one after the other, each with its script, and prints their table.
func (b *bench) measure(ctx context.Context, title string, list []scenario) {
	var results []result
	for _, s := range list {
		if b.row != "" && b.row != s.name {
			continue
		}
		if s.script != "" {
			b.settle(ctx)
		}
		r := fixture.Must(b.load(ctx, s))
		results = append(results, r)
		if s.script != "" {
			results = append(results, b.pgbench(ctx, s, s.script).comparedTo(r))
		}
	}
	printTable(title, results)
}

// together measures scenarios at the same time.
func (b *bench) together(ctx context.Context, list ...scenario) []result {
	results := make([]result, len(list))
	var loads errgroup.Group
	for i, s := range list {
		loads.Go(func() (err error) {
			results[i], err = b.load(ctx, s)
			return err
		})
	}
	fixture.Must(0, loads.Wait())
	return results
}

// load runs a scenario with vegeta, until it is done or the context is cancelled.
func (b *bench) load(ctx context.Context, s scenario) (result, error) {
	progress("%s", s.name)
	attacker := vegeta.NewAttacker(vegeta.Client(b.product.client))
	if s.rate == 0 {
		workers := uint64(cmp.Or(s.workers, b.connections))
		vegeta.Workers(workers)(attacker)
		vegeta.MaxWorkers(workers)(attacker)
	}
	lasts := time.Duration(b.seconds) * time.Second / time.Duration(max(1, s.share))
	if s.times > 0 {
		lasts = 0
	}
	var sent atomic.Int64
	next := func(t *vegeta.Target) (err error) {
		switch {
		case s.times > 0 && sent.Add(1) > int64(s.times):
			err = vegeta.ErrNoTargets
		case s.steps != nil:
			*t, err = s.steps(ctx)
		default:
			*t = s.request()
		}
		return err
	}
	b.product.resetPeak()
	defer context.AfterFunc(ctx, func() { attacker.Stop() })()
	// At first, connections are opened, statements prepared and plans chosen.
	warm := time.Now().Add(lasts / 10)
	r := result{scenario: s}
	var failed error
	for hit := range attacker.Attack(next, vegeta.Rate{Freq: s.rate, Per: time.Second}, lasts, "") {
		switch {
		case ctx.Err() != nil, hit.Error == vegeta.ErrNoTargets.Error(): // stopped, or done
		case !s.accepts(int(hit.Code)):
			failed = fmt.Errorf("%s: status %d %s %s", s.name, hit.Code, hit.Error, hit.URL)
			attacker.Stop()
		case hit.Timestamp.After(warm):
			r.Add(hit)
		}
	}
	r.Close()
	r.perSecond = float64(r.Requests) / r.End.Sub(r.Earliest).Seconds()
	r.memory = b.product.peakMemory()
	return r, cmp.Or(failed, ctx.Err())
}

func (s scenario) accepts(status int) bool {
	if s.status == nil {
		return status > 0 && status < 400
	}
	return slices.Contains(s.status, status)
}

// printTable prints results, with a note beside those over their limits.
func printTable(title string, results []result) {
	fmt.Fprintln(os.Stderr, "done")
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\n%s\trequests/s\tmean\tp50\tp95\tp99\tslowest\tratio\tbytes\tmemory\tstatus\t\n", title)
	for _, r := range results {
		ratio, received, note := "", "\t\t", ""
		if r.ratio > 0 {
			ratio = fmt.Sprintf("%.2f", r.ratio)
		}
		if r.Requests > 0 {
			received = fmt.Sprintf("%.0f\t%d MB\t%v", r.BytesIn.Mean, r.memory, r.StatusCodes)
		}
		if r.over() {
			note = "  over " + milliseconds(r.limit)
		}
		l := r.Latencies
		fmt.Fprintf(table, "%s\t%.4g\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.name, r.perSecond, milliseconds(l.Mean),
			milliseconds(l.P50), milliseconds(l.P95), milliseconds(l.P99), milliseconds(l.Max), ratio, received, note)
	}
	fixture.Must(0, table.Flush())
}

// milliseconds formats a latency. pgbench knows only the mean.
func milliseconds(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
