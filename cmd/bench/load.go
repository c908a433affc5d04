package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// scenario is one kind of request.
type scenario struct {
	name string
	want []int // statuses
	// request writes a connection's next request.
	request func(s *shop, rng *rand.Rand) []byte
	// acts do the same in this process, one for each course it can take equally
	// often, for their statements to be seen.
	acts []func(ctx context.Context, s *shop) error
}

// result is what a load did.
type result struct {
	took      time.Duration
	latencies []time.Duration
	err       error
}

func (r result) rate() float64 { return float64(len(r.latencies)) / r.took.Seconds() }

func (r result) percentile(p int) string {
	if len(r.latencies) == 0 {
		return "-"
	}
	return milliseconds(r.at(p))
}

// at is the percentile of a result that has some.
func (r result) at(p int) time.Duration {
	return r.latencies[min(len(r.latencies)*p/100, len(r.latencies)-1)]
}

// closedLoop has every connection send its next request when the last is answered:
// it finds the most the product can do.
func closedLoop(ctx context.Context, p *product, s *shop, what scenario, o options) result {
	const warmUp = 2 * time.Second
	began := time.Now()
	measured := began.Add(warmUp)
	end := measured.Add(time.Duration(o.seconds) * time.Second)
	return gather(o.connections, end.Sub(measured), func(worker int) ([]time.Duration, error) {
		rng := rand.New(rand.NewPCG(uint64(worker), uint64(began.UnixNano())))
		c, err := p.client(ctx)
		if err != nil {
			return nil, err
		}
		defer c.conn.Close()
		var latencies []time.Duration
		for {
			request := what.request(s, rng)
			sent := time.Now()
			if sent.After(end) || ctx.Err() != nil {
				return latencies, ctx.Err()
			}
			if err := send(c, request, what); err != nil {
				return nil, err
			}
			if sent.After(measured) {
				latencies = append(latencies, time.Since(sent))
			}
		}
	})
}

// openLoop sends requests at a steady rate whatever the answers do, and measures
// each from when it was due: a closed loop would hide the waiting.
func openLoop(ctx context.Context, p *product, s *shop, what scenario, o options) result {
	every := time.Second / time.Duration(o.steady)
	total := o.steady * o.seconds * 2
	began := time.Now().Add(100 * time.Millisecond)
	due := make(chan time.Time, total)
	for i := range total {
		due <- began.Add(time.Duration(i) * every)
	}
	close(due)
	return gather(o.connections, time.Duration(total)*every, func(worker int) ([]time.Duration, error) {
		rng := rand.New(rand.NewPCG(uint64(worker), uint64(began.UnixNano())))
		c, err := p.client(ctx)
		if err != nil {
			return nil, err
		}
		defer c.conn.Close()
		var latencies []time.Duration
		for at := range due {
			request := what.request(s, rng)
			time.Sleep(time.Until(at))
			if err := send(c, request, what); err != nil {
				return nil, err
			}
			latencies = append(latencies, time.Since(at))
		}
		return latencies, nil
	})
}

func send(c *client, request []byte, what scenario) error {
	status, err := c.do(request)
	if err == nil && !slices.Contains(what.want, status) {
		err = fmt.Errorf("status %d, want one of %v", status, what.want)
	}
	return err
}

// gather runs a worker for each connection and puts what they measured together.
func gather(workers int, took time.Duration, work func(worker int) ([]time.Duration, error)) result {
	r := result{took: took}
	var mu sync.Mutex
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			latencies, err := work(worker)
			mu.Lock()
			defer mu.Unlock()
			r.latencies = append(r.latencies, latencies...)
			if err != nil {
				r.err = err
			}
		})
	}
	all.Wait()
	slices.Sort(r.latencies)
	return r
}
