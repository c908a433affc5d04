package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"
)

// load runs a scenario until it is done, a response is refused or the context is cancelled.
func (b *bench) load(ctx context.Context, s scenario) (result, error) {
	progress("%s", s.name)
	on, workers, lasts := cmp.Or(s.on, b.product), cmp.Or(s.workers, b.connections), cmp.Or(s.lasts, b.lasts)
	if s.times > 0 {
		lasts = 0
	}
	if s.rate > 0 {
		workers = 256 // more than are busy, unless the server can't keep up
	}
	on.resetPeak()
	used, start := b.processorTime(on), time.Now()
	// At first, connections are opened, statements prepared and plans chosen.
	warm := start.Add(lasts / 10)
	if s.atLeast > 0 {
		warm = start
	}
	var sent, done atomic.Int64
	r := result{scenario: s, statuses: map[int]int{}}
	var latencies []time.Duration
	var mu sync.Mutex // of these two
	group, inner := errgroup.WithContext(ctx)
	worker := func() error {
		var response fasthttp.Response
		for inner.Err() == nil {
			due, n := time.Now(), sent.Add(1)-1
			if s.rate > 0 {
				due = start.Add(time.Duration(n) * time.Second / time.Duration(s.rate))
			}
			if s.times > 0 && n >= int64(s.times) || s.times == 0 && n >= int64(s.atLeast) && due.Sub(start) >= lasts {
				return nil
			}
			// A request that no worker could send in time is measured from when it was due.
			if wait := time.Until(due); wait > 0 {
				time.Sleep(wait)
				due = time.Now()
			}
			err := s.send(inner, on, &response)
			if err != nil && !s.tolerant {
				return err
			}
			status := response.StatusCode()
			if err != nil {
				status = 0
			}
			done.Add(1)
			took := time.Since(due)
			if !due.Before(warm) {
				mu.Lock()
				latencies = append(latencies, took)
				r.figures[received] += float64(len(response.Body()))
				r.statuses[status]++
				mu.Unlock()
			}
			if s.rests != nil {
				time.Sleep(s.rests(took))
			}
		}
		return nil
	}
	for range workers {
		group.Go(worker)
	}
	err := group.Wait()
	r.summarise(latencies, time.Since(warm))
	r.setProcessorTime(used, b.processorTime(on), float64(done.Load()))
	r.figures[memory] = on.peakMemory()
	return r, cmp.Or(err, ctx.Err())
}

// send makes one request.
func (s scenario) send(ctx context.Context, on *server, response *fasthttp.Response) (err error) {
	if s.do != nil {
		status, err := s.do(ctx, on)
		if err == nil && !s.accepts(status) {
			err = fmt.Errorf("status %d", status)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		response.SetStatusCode(status)
		return nil
	}
	var request *fasthttp.Request
	if s.steps == nil {
		request = s.request()
	} else if request, err = s.steps(ctx); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
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
	return s.status == nil && status < 400 || slices.Contains(s.status, status)
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

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
