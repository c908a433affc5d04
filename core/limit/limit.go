// Package limit limits what callers may do: how many requests within a period (Window), in one process or in
// several that share a Redis server, how much heavy work at once (Gate), and how long a computation may hold a
// core (Turn).
//
// A Window counts exactly: it opens with the caller's first request, allows a number of requests, and
// closes at the end of its period. Token buckets were rejected: they allow more than the limit within a
// period.
package limit

import (
	"hash/maphash"
	"sync"
	"time"
)

// Window counts requests by caller: in memory, or with Shared in Redis.
type Window struct {
	name   string // in Redis
	redis  *Redis // nil: in memory
	limit  int
	length time.Duration
	now    func() time.Time
	seed   maphash.Seed
	shards [64]shard
}

type shard struct {
	sync.Mutex
	open  map[string]count
	swept time.Time
}

type count struct {
	used int
	ends time.Time
}

// Verdict says whether a request is allowed.
type Verdict struct {
	Allowed   bool
	Limit     int           // requests in a window; 0: unlimited
	Length    time.Duration // of a window
	Remaining int           // in this window
	Reset     time.Time     // when the window closes
	Wait      time.Duration // until then
}

// NewWindow returns a window that allows limit requests within length; 0: unlimited.
func NewWindow(limit int, length time.Duration, now func() time.Time) *Window {
	w := &Window{limit: limit, length: length, now: now, seed: maphash.MakeSeed()}
	for i := range w.shards {
		w.shards[i].open = map[string]count{}
	}
	return w
}

// Shared lets the window count in Redis, together with the windows of the same name in other processes. A nil
// r leaves it as it is. It returns w, and must be called before its first use.
func (w *Window) Shared(r *Redis, name string) *Window {
	w.redis, w.name = r, name
	return w
}

// lock locks and returns the shard of a caller.
func (w *Window) lock(caller string) *shard {
	s := &w.shards[maphash.String(w.seed, caller)%uint64(len(w.shards))]
	s.Lock()
	return s
}

// Take counts a request of the caller. Refused ones don't count.
func (w *Window) Take(caller string) Verdict { return w.verdict(caller, 1) }

// Peek returns whether a request would be allowed, without counting it.
func (w *Window) Peek(caller string) Verdict { return w.verdict(caller, 0) }

// verdict counts 1 or 0 requests.
func (w *Window) verdict(caller string, by int) Verdict {
	if w.limit == 0 {
		return Verdict{Allowed: true}
	}
	if w.redis != nil {
		if v, ok := w.redis.count(w, caller, by); ok {
			return v
		}
	}
	s := w.lock(caller)
	defer s.Unlock()
	now := w.now()
	s.sweep(now, w.length)
	c, opened := s.open[caller]
	if !opened || !now.Before(c.ends) {
		c = count{ends: now.Add(w.length)}
	}
	v := Verdict{Allowed: c.used < w.limit, Limit: w.limit, Length: w.length, Reset: c.ends, Wait: c.ends.Sub(now)}
	if v.Allowed && by > 0 {
		c.used += by
		s.open[caller] = c
	}
	v.Remaining = w.limit - c.used
	return v
}

// Refund takes back a counted request, such as a successful look-up where only failures count.
func (w *Window) Refund(caller string) {
	if w.limit == 0 {
		return
	}
	if w.redis != nil {
		if _, ok := w.redis.count(w, caller, -1); ok {
			return
		}
	}
	s := w.lock(caller)
	defer s.Unlock()
	if c := s.open[caller]; c.used > 0 {
		c.used--
		s.open[caller] = c
	}
}

// sweep deletes closed windows once per window's length, so that memory is bounded by the callers of the
// last two.
func (s *shard) sweep(now time.Time, length time.Duration) {
	if now.Sub(s.swept) < length {
		return
	}
	s.swept = now
	for caller, c := range s.open {
		if !now.Before(c.ends) {
			delete(s.open, caller)
		}
	}
}
