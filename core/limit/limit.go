// Package limit bounds what callers may do: how often within a minute (Window), and how much
// heavy work at once (Gate).
//
// A Window counts exactly: it opens with the caller's first request, holds so many, and
// closes a minute later. Token buckets were rejected: they let more than the limit pass
// within a minute.
package limit

import (
	"hash/maphash"
	"sync"
	"time"
)

// Window counts requests by caller, in memory.
type Window struct {
	limit  int
	length time.Duration
	now    func() time.Time
	seed   maphash.Seed
	shards [64]shard
}

type shard struct {
	sync.Mutex
	open  map[string]*count
	swept time.Time
}

type count struct {
	used int
	ends time.Time
}

// Verdict says whether a request may pass.
type Verdict struct {
	Allowed   bool
	Limit     int           // requests in a window; 0: none is set
	Remaining int           // left in this window
	Reset     time.Time     // when the window closes
	Wait      time.Duration // until then; a request after it passes
}

// NewWindow allows so many requests in each window. A limit of 0 allows all.
func NewWindow(limit int, length time.Duration, now func() time.Time) *Window {
	w := &Window{limit: limit, length: length, now: now, seed: maphash.MakeSeed()}
	for i := range w.shards {
		w.shards[i].open = map[string]*count{}
	}
	return w
}

// Take counts a request of the caller, unless it is refused: refused ones do not count.
func (w *Window) Take(caller string) Verdict {
	if w.limit == 0 {
		return Verdict{Allowed: true}
	}
	s := &w.shards[maphash.String(w.seed, caller)%uint64(len(w.shards))]
	s.Lock()
	defer s.Unlock()
	now := w.now()
	s.sweep(now, w.length)
	c := s.open[caller]
	if c == nil || !now.Before(c.ends) {
		c = &count{ends: now.Add(w.length)}
		s.open[caller] = c
	}
	v := Verdict{Limit: w.limit, Reset: c.ends, Wait: c.ends.Sub(now)}
	if c.used < w.limit {
		c.used++
		v.Allowed = true
	}
	v.Remaining = w.limit - c.used
	return v
}

// Peek says what Take would, and counts nothing.
func (w *Window) Peek(caller string) Verdict {
	if w.limit == 0 {
		return Verdict{Allowed: true}
	}
	s := &w.shards[maphash.String(w.seed, caller)%uint64(len(w.shards))]
	s.Lock()
	defer s.Unlock()
	now := w.now()
	c := s.open[caller]
	if c == nil || !now.Before(c.ends) {
		return Verdict{Allowed: true, Limit: w.limit, Remaining: w.limit, Reset: now.Add(w.length), Wait: w.length}
	}
	return Verdict{Allowed: c.used < w.limit, Limit: w.limit, Remaining: w.limit - c.used, Reset: c.ends, Wait: c.ends.Sub(now)}
}

// Refund takes back a request that was counted: what succeeded is no guess.
func (w *Window) Refund(caller string) {
	if w.limit == 0 {
		return
	}
	s := &w.shards[maphash.String(w.seed, caller)%uint64(len(w.shards))]
	s.Lock()
	defer s.Unlock()
	if c := s.open[caller]; c != nil && c.used > 0 {
		c.used--
	}
}

// sweep forgets closed windows, once a window's length: what is kept is bounded by
// the callers of the last two.
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
