package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"

	"example.com/loyalty/core/fixture"
)

// scenario is a load to measure: a row of a table.
type scenario struct {
	name    string
	request func() *fasthttp.Request                         // returns each request; or
	steps   func(context.Context) (*fasthttp.Request, error) // makes dependent requests and returns the last one: measured together

	on      *server       // nil: the product
	rate    int           // requests a second; 0: each worker sends the next after a response
	workers int           // without a rate; 0: one for each connection
	times   int           // number of requests; 0: as many as the time allows
	share   int           // 5: a fifth of the time
	status  []int         // accepted statuses; nil: any below 400
	limit   time.Duration // for 95 of 100 requests

	script   string    // for pgbench, run after it
	business *business // for the script; nil: that for API requests
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
	ratio        // if it is the same work as another result's, in another way: that one's rate, divided by this
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

// result is the result of a scenario: a row of a table. What was not measured is 0.
type result struct {
	scenario
	figures  [figures]float64
	statuses map[int]int
}

// over reports whether a result exceeds its scenario's limit.
func (r result) over() bool { return r.limit > 0 && r.figures[p95] > milliseconds(r.limit) }

// comparedTo returns a result with the ratio of another one's rate to its own.
func (r result) comparedTo(other result) result {
	if other.rate == 0 {
		r.figures[ratio] = other.figures[rate] / r.figures[rate]
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
			for _, shared := range []figure{serverTime, databaseTime, clientTime} {
				results[i].figures[shared] = 0
			}
			return err
		})
	}
	fixture.Must(0, loads.Wait())
	return results
}

// load runs a scenario until it is done, a response is refused or the context is cancelled.
func (b *bench) load(ctx context.Context, s scenario) (result, error) {
	progress("%s", s.name)
	on := cmp.Or(s.on, b.product)
	lasts := time.Duration(b.seconds) * time.Second / time.Duration(max(1, s.share))
	if s.times > 0 {
		lasts = 0
	}
	workers := cmp.Or(s.workers, b.connections)
	if s.rate > 0 {
		workers = 256 // more than are busy, unless the server can't keep up
	}
	on.resetPeak()
	used, start := b.processorTime(on), time.Now()
	// At first, connections are opened, statements prepared and plans chosen.
	warm := start.Add(lasts / 10)
	var sent atomic.Int64
	// next returns when the next request is due, after waiting for it. A request that no worker
	// could send in time is measured from when it was due.
	next := func(ctx context.Context) (due time.Time, ok bool) {
		n := sent.Add(1) - 1
		due = time.Now()
		if s.rate > 0 {
			due = start.Add(time.Duration(n) * time.Second / time.Duration(s.rate))
		}
		if s.times > 0 && n >= int64(s.times) || s.times == 0 && due.Sub(start) >= lasts {
			sent.Add(-1)
			return due, false
		}
		if wait := time.Until(due); wait > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(wait):
				due = time.Now()
			}
		}
		return due, ctx.Err() == nil
	}
	r := result{scenario: s, statuses: map[int]int{}}
	var latencies []time.Duration
	var mu sync.Mutex // of these two
	group, inner := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			var response fasthttp.Response
			for {
				due, ok := next(inner)
				if !ok {
					return nil
				}
				if err := s.send(inner, on, &response); err != nil {
					return err
				}
				if took := time.Since(due); !due.Before(warm) {
					mu.Lock()
					latencies = append(latencies, took)
					r.figures[received] += float64(len(response.Body()))
					r.statuses[response.StatusCode()]++
					mu.Unlock()
				}
			}
		})
	}
	err := group.Wait()
	r.summarise(latencies, time.Since(warm))
	now, requests := b.processorTime(on), float64(max(1, sent.Load()))
	r.figures[serverTime] = milliseconds(now.server-used.server) / requests
	r.figures[databaseTime] = milliseconds(now.database-used.database) / requests
	r.figures[clientTime] = milliseconds(now.client-used.client) / requests
	r.figures[memory] = float64(on.peakMemory())
	return r, cmp.Or(err, ctx.Err())
}

// send makes one request.
func (s scenario) send(ctx context.Context, on *server, response *fasthttp.Response) (err error) {
	var request *fasthttp.Request
	if s.steps != nil {
		if request, err = s.steps(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	} else {
		request = s.request()
	}
	defer fasthttp.ReleaseRequest(request)
	err = on.client.Do(request, response)
	if status := response.StatusCode(); err == nil && !s.accepts(status) {
		err = fmt.Errorf("status %d", status)
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", s.name, request.URI(), err)
	}
	return nil
}

func (s scenario) accepts(status int) bool {
	if s.status == nil {
		return status < 400
	}
	return slices.Contains(s.status, status)
}

// summarise sets the figures of latencies.
func (r *result) summarise(latencies []time.Duration, took time.Duration) {
	if len(latencies) == 0 {
		return
	}
	for _, l := range latencies {
		r.figures[mean] += milliseconds(l)
	}
	slices.Sort(latencies)
	count := float64(len(latencies))
	r.figures[rate] = count / took.Seconds()
	r.figures[received] /= count
	r.figures[mean] /= count
	for f, part := range map[figure]float64{p50: 0.50, p95: 0.95, p99: 0.99, slowest: 1} {
		r.figures[f] = milliseconds(latencies[int(part*(count-1))])
	}
}

// printTable prints results, with a note beside those over their limits.
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
		if r.over() {
			fmt.Fprintf(table, "  over %s", r.limit)
		}
		fmt.Fprintln(table)
	}
	fixture.Must(0, table.Flush())
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
