package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
	"golang.org/x/sync/errgroup"
)

// scenario is something to measure: a row of a table. Either request makes each of its requests,
// or steps are several that depend on each other and are measured as one.
type scenario struct {
	name    string
	request func() vegeta.Target
	steps   func(ctx context.Context) error
	via     http.RoundTripper // nil: connections that are kept

	rate    int           // requests a second, whatever the answers do; 0: the next when one is answered
	workers int           // at once, without a rate; 0: one for each connection
	times   int           // how many; 0: for as long as the options say
	part    int           // of that time: the fifth part, say
	status  []int         // the statuses that are right; nil: any below 400
	limit   time.Duration // of 95 in 100; of fewer than 20, of each

	data   *business // what pgbench's scripts are about
	beside []string  // the scripts, each measured by itself
}

// result is what a scenario came to.
type result struct {
	scenario
	vegeta.Metrics
	memory int64    // of the product, at most
	others []result // the same by other means, in the same run
}

// measure runs a scenario, and pgbench's scripts beside it.
func (b *bench) measure(ctx context.Context, s scenario) (result, error) {
	if s.beside != nil {
		if err := b.settle(ctx); err != nil {
			return result{}, err
		}
	}
	progress("%s", s.name)
	if b.profile != "" && s.name == cmp.Or(b.only, "record") {
		go b.product.saveProfile(ctx, b.profile, b.seconds)
	}
	r, err := b.load(ctx, s)
	if err != nil {
		return r, err
	}
	for _, script := range s.beside {
		bare, err := b.pgbench(ctx, s, script)
		if err != nil {
			return r, err
		}
		r.others = append(r.others, bare)
	}
	return r, nil
}

// warmUp is how many requests do not count: until connections are open, statements prepared, and
// PostgreSQL has chosen plans that it keeps.
func (s scenario) warmUp(workers int) uint64 {
	switch {
	case s.times > 0:
		return 0
	case s.rate > 0:
		return uint64(s.rate) // the first second's
	}
	return uint64(10 * workers)
}

// forever is how many times a scenario runs that is ended from outside.
const forever = math.MaxInt

// load has vegeta run a scenario until it ends, or until the context does.
func (b *bench) load(ctx context.Context, s scenario) (result, error) {
	via := cmp.Or[http.RoundTripper](s.via, b.product.connections)
	attacker := vegeta.NewAttacker(vegeta.Client(&http.Client{
		Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
			if s.steps == nil {
				return via.RoundTrip(request.WithContext(ctx))
			}
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, s.steps(ctx)
		}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}))
	workers := cmp.Or(s.workers, b.connections)
	if s.rate == 0 {
		vegeta.Workers(uint64(workers))(attacker)
		vegeta.MaxWorkers(uint64(workers))(attacker)
	}
	lasts := time.Duration(b.seconds) * time.Second / time.Duration(max(1, s.part))
	skipped := s.warmUp(workers)
	pace := pacer{vegeta.Rate{Freq: s.rate, Per: time.Second}, func(elapsed time.Duration, hits uint64) bool {
		if s.times > 0 {
			return hits >= uint64(s.times)
		}
		return elapsed > lasts && hits >= skipped+50
	}}
	target := func(t *vegeta.Target) error {
		*t = vegeta.Target{Method: http.MethodGet, URL: b.product.base}
		if s.steps == nil {
			*t = s.request()
		}
		return nil
	}
	b.product.resetPeak()
	defer context.AfterFunc(ctx, func() { attacker.Stop() })()
	r := result{scenario: s}
	var wrong error
	for hit := range attacker.Attack(target, pace, 0, "") {
		switch {
		case ctx.Err() != nil: // it was cut short
		case hit.Code == 0, hit.Code >= http.StatusBadRequest && s.status == nil, s.status != nil && !slices.Contains(s.status, int(hit.Code)):
			wrong = fmt.Errorf("%s: status %d %s %s", s.name, hit.Code, hit.Error, hit.URL)
			attacker.Stop()
		case hit.Seq >= skipped:
			r.Add(hit)
		}
	}
	r.Close()
	r.memory = b.product.peakMemory()
	return r, wrong
}

// together measures scenarios at the same time. Those that run meanwhile end when the others have.
func (b *bench) together(ctx context.Context, list, meanwhile []scenario) ([]result, error) {
	loads, ctx := errgroup.WithContext(ctx)
	background, stop := context.WithCancel(ctx)
	results := make([]result, len(list)+len(meanwhile))
	for i, s := range meanwhile {
		s.times = forever
		loads.Go(func() (err error) {
			results[len(list)+i], err = b.load(background, s)
			return err
		})
	}
	var measured sync.WaitGroup
	for i, s := range list {
		measured.Add(1)
		loads.Go(func() (err error) {
			defer measured.Done()
			results[i], err = b.load(ctx, s)
			return err
		})
	}
	measured.Wait()
	stop()
	return results, loads.Wait()
}

// pacer keeps a rate until there was enough.
type pacer struct {
	vegeta.ConstantPacer
	enough func(elapsed time.Duration, hits uint64) bool
}

// Pace tells how long to wait before the next request, and whether there is none.
func (p pacer) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	if p.enough(elapsed, hits) {
		return 0, true
	}
	return p.ConstantPacer.Pace(elapsed, hits)
}

// roundTripper is a function that answers requests.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// over reports whether a result is over its scenario's limit.
func (r *result) over() bool {
	slowest := r.Latencies.P95
	if r.Requests < 20 {
		slowest = r.Latencies.Max
	}
	return r.limit > 0 && slowest > r.limit
}

// measureAll measures scenarios one after the other and prints their table.
func (b *bench) measureAll(ctx context.Context, title string, list []scenario) error {
	var results []result
	var wrong error
	for _, s := range list {
		r, err := b.measure(ctx, s)
		wrong = errors.Join(wrong, err)
		if err := ctx.Err(); err != nil {
			return err
		}
		results = append(results, r)
	}
	return errors.Join(wrong, printTable(title, results))
}

// printTable prints what was measured, and names what is over its limit.
func printTable(title string, results []result) error {
	fmt.Fprintln(os.Stderr, "done")
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\n%s\trequests/s\tp50\tp95\tp99\tslowest\tbytes\tmemory\tratio\tstatus\t\n", title)
	var over []string
	for _, r := range results {
		note := ""
		if r.over() {
			note, over = "over "+short(r.limit), append(over, r.name)
		}
		printRow(table, r, fmt.Sprintf("%d MB\t\t%s\t%s", r.memory>>20, statuses(r), note))
		for _, other := range r.others {
			ratio := ""
			if r.rate == 0 {
				ratio = fmt.Sprintf("%.2f", r.Throughput/other.Throughput)
			}
			printRow(table, other, "\t"+ratio+"\t\t")
		}
	}
	if slices.ContainsFunc(results, func(r result) bool { return r.limit > 0 }) {
		fmt.Fprintf(table, "\nover their limit: %s\n", cmp.Or(strings.Join(over, ", "), "none"))
	}
	return table.Flush()
}

func printRow(table *tabwriter.Writer, r result, rest string) {
	l := r.Latencies
	fmt.Fprintf(table, "%s\t%.1f\t%s\t%s\t%s\t%s\t%.0f\t%s\n",
		r.name, r.Throughput, short(l.P50), short(l.P95), short(l.P99), short(l.Max), r.BytesIn.Mean, rest)
}

// statuses are the answers of a result by their status: 200: 61, 503: 12.
func statuses(r result) string {
	var list []string
	for status, n := range r.StatusCodes {
		list = append(list, fmt.Sprintf("%s: %d", status, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
