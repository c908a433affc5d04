package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
	"golang.org/x/sync/errgroup"
)

// scenario is a load to measure: a row of a table.
type scenario struct {
	name    string
	request func() vegeta.Target            // returns each request; or
	steps   func(ctx context.Context) error // makes dependent requests, measured as one

	rate    int           // requests a second; 0: each worker sends the next after a response
	workers int           // without a rate; 0: one for each connection
	times   int           // number of requests; 0: as many as the time allows
	share   int           // 5: a fifth of the time
	status  []int         // accepted statuses; nil: any below 400
	limit   time.Duration // for 95 of 100 requests; of fewer than 20, for all

	script   string    // for pgbench, run after it
	business *business // for the script
}

// result is the result of a scenario.
type result struct {
	scenario
	vegeta.Metrics
	memory int    // peak of the product in MB
	others []bare // the same work without the product, or in another way
}

// bare is the rate of a result's work, done in another way in the same run.
type bare struct {
	name    string
	average float64 // milliseconds
	rate    float64 // a second
}

// bare returns a result for comparison with another.
func (r *result) bare() bare {
	return bare{r.name, float64(r.Latencies.Mean.Microseconds()) / 1000, r.perSecond()}
}

// perSecond returns the responses a second.
func (r *result) perSecond() float64 {
	if r.Requests == 0 {
		return 0
	}
	return float64(r.Requests) / r.End.Sub(r.Earliest).Seconds()
}

// over reports whether a result exceeds its scenario's limit.
func (r *result) over() bool {
	slowest := r.Latencies.P95
	if r.Requests < 20 {
		slowest = r.Latencies.Max
	}
	return r.limit > 0 && slowest > r.limit
}

// warmUp returns the number of requests that don't count: until connections are open, statements
// prepared, and PostgreSQL keeps its plans.
func (s scenario) warmUp(workers int) int {
	switch {
	case s.times > 0:
		return 0
	case s.rate > 0:
		return s.rate // the first second's
	}
	return 10 * workers
}

// forever is the number of times of a scenario that is stopped from outside.
const forever = math.MaxInt

// measureAll measures scenarios one after the other and prints their table.
func (b *bench) measureAll(ctx context.Context, title string, list []scenario) error {
	var results []result
	var failed error
	for _, s := range list {
		r, err := b.measure(ctx, s)
		failed = errors.Join(failed, err)
		if err := ctx.Err(); err != nil {
			return err
		}
		results = append(results, r)
	}
	return errors.Join(failed, printTable(title, results))
}

// measure runs a scenario, then its script with pgbench.
func (b *bench) measure(ctx context.Context, s scenario) (result, error) {
	if s.script == "" {
		return b.load(ctx, s)
	}
	if err := b.settle(ctx); err != nil {
		return result{}, err
	}
	r, err := b.load(ctx, s)
	if err != nil {
		return r, err
	}
	other, err := b.pgbench(ctx, s, s.script)
	r.others = append(r.others, other)
	return r, err
}

// together measures scenarios at the same time. Those in meanwhile stop when the others are done.
func (b *bench) together(ctx context.Context, list, meanwhile []scenario) ([]result, error) {
	loads, ctx := errgroup.WithContext(ctx)
	background, stop := context.WithCancel(ctx)
	defer stop()
	results := make([]result, len(list)+len(meanwhile))
	for i, s := range meanwhile {
		s.times = cmp.Or(s.times, forever)
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

// load runs a scenario with vegeta, until it is done or the context is cancelled.
func (b *bench) load(ctx context.Context, s scenario) (result, error) {
	progress("%s", s.name)
	workers := cmp.Or(s.workers, b.connections)
	skipped := s.warmUp(workers)
	lasts := time.Duration(b.seconds) * time.Second / time.Duration(max(1, s.share))
	pace := pacer{vegeta.Rate{Freq: s.rate, Per: time.Second}, func(elapsed time.Duration, hits int) bool {
		if s.times > 0 {
			return hits >= s.times
		}
		return elapsed > lasts && hits >= skipped+50
	}}
	attacker := vegeta.NewAttacker(vegeta.Client(&http.Client{
		Transport:     s.transport(ctx, b.product.transport),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}))
	if s.rate == 0 {
		vegeta.Workers(uint64(workers))(attacker)
		vegeta.MaxWorkers(uint64(workers))(attacker)
	}
	target := func(t *vegeta.Target) error {
		*t = vegeta.Target{Method: http.MethodGet, URL: b.product.base}
		if s.request != nil {
			*t = s.request()
		}
		return nil
	}
	b.product.resetPeak()
	defer context.AfterFunc(ctx, func() { attacker.Stop() })()
	r := result{scenario: s}
	var failed error
	for hit := range attacker.Attack(target, pace, 0, "") {
		switch {
		case ctx.Err() != nil: // stopped
		case !s.accepts(int(hit.Code)):
			failed = fmt.Errorf("%s: status %d %s %s", s.name, hit.Code, hit.Error, hit.URL)
			attacker.Stop()
		case hit.Seq >= uint64(skipped):
			r.Add(hit)
		}
	}
	r.Close()
	r.memory = b.product.peakMemory()
	return r, failed
}

func (s scenario) accepts(status int) bool {
	if s.status == nil {
		return status > 0 && status < http.StatusBadRequest
	}
	return slices.Contains(s.status, status)
}

// transport sends vegeta's requests, or runs the scenario's steps instead.
func (s scenario) transport(ctx context.Context, via http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if s.steps == nil {
			return via.RoundTrip(request.WithContext(ctx))
		}
		if err := s.steps(ctx); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})
}

// roundTripper is a function that sends requests.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// pacer keeps a rate until enough requests are sent.
type pacer struct {
	vegeta.ConstantPacer
	enough func(elapsed time.Duration, hits int) bool
}

// Pace returns how long to wait before the next request, and whether to stop.
func (p pacer) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	if p.enough(elapsed, int(hits)) {
		return 0, true
	}
	return p.ConstantPacer.Pace(elapsed, hits)
}
