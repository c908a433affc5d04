package limit

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hand is a clock that tests move.
type hand struct {
	sync.Mutex
	at time.Time
}

func (h *hand) now() time.Time {
	h.Lock()
	defer h.Unlock()
	return h.at
}

func (h *hand) move(d time.Duration) {
	h.Lock()
	defer h.Unlock()
	h.at = h.at.Add(d)
}

func newHand() *hand { return &hand{at: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

// The window opens with the caller's first request; the 61st within a minute is refused, with the
// time to wait.
func TestAWindowOpensWithTheFirstRequest(t *testing.T) {
	t.Parallel()
	clock := newHand()
	w := NewWindow(60, time.Minute, clock.now)
	reset := clock.now().Add(time.Minute)
	for i := range 60 {
		v := w.Take("a")
		if want := (Verdict{Allowed: true, Limit: 60, Length: time.Minute, Remaining: 59 - i, Reset: reset, Wait: reset.Sub(clock.now())}); v != want {
			t.Fatalf("request %d = %+v, want %+v", i+1, v, want)
		}
		clock.move(time.Second / 2)
	}
	if v := w.Take("a"); v.Allowed || v.Remaining != 0 || v.Wait != 30*time.Second || !v.Reset.Equal(reset) {
		t.Errorf("the 61st = %+v, want it refused for 30 s", v)
	}
	if v := w.Take("b"); !v.Allowed || v.Remaining != 59 {
		t.Errorf("another caller = %+v, want their own window", v)
	}
}

// A request after the time to wait succeeds; refused requests don't count.
func TestWaitingAlwaysSucceeds(t *testing.T) {
	t.Parallel()
	clock := newHand()
	w := NewWindow(10, time.Minute, clock.now)
	for minute := range 20 {
		clock.move(time.Duration(minute) * 777 * time.Millisecond)
		for range 10 {
			if !w.Take("a").Allowed {
				t.Fatal("refused within the limit")
			}
			clock.move(time.Second)
		}
		var wait time.Duration
		for range 30 { // repeated requests don't delay it
			v := w.Take("a")
			if v.Allowed {
				t.Fatal("the 11th passed")
			}
			wait = v.Wait
			clock.move(time.Second / 2)
			wait -= time.Second / 2
		}
		clock.move(wait - time.Nanosecond)
		if w.Take("a").Allowed {
			t.Fatal("passed before the wait was over")
		}
		clock.move(time.Nanosecond)
		if v := w.Take("a"); !v.Allowed || v.Remaining != 9 {
			t.Fatalf("after the wait = %+v", v)
		}
		clock.move(time.Minute)
	}
}

// Exactly 60 of 2,000 concurrent requests are allowed.
func TestExactlyTheLimitIsAllowed(t *testing.T) {
	t.Parallel()
	clock := newHand()
	w := NewWindow(60, time.Minute, clock.now)
	for range 3 {
		var passed, last atomic.Int32
		var wg sync.WaitGroup
		for range 2000 {
			wg.Go(func() {
				if v := w.Take("a"); v.Allowed {
					passed.Add(1)
					if v.Remaining == 0 {
						last.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if passed.Load() != 60 || last.Load() != 1 {
			t.Errorf("%d passed, %d of them as the last, want 60 and 1", passed.Load(), last.Load())
		}
		clock.move(time.Minute)
	}
}

// 0 turns the limit off.
func TestNoLimit(t *testing.T) {
	t.Parallel()
	w := NewWindow(0, time.Minute, newHand().now)
	for range 1000 {
		if v := w.Take("a"); !v.Allowed || v.Limit != 0 {
			t.Fatalf("%+v, want no limit", v)
		}
	}
}

// Memory is bounded by the callers of the last two windows.
func TestClosedWindowsUseNoMemory(t *testing.T) {
	t.Parallel()
	clock := newHand()
	w := NewWindow(60, time.Minute, clock.now)
	const crowd = 5000
	for round := range 5 {
		for i := range crowd {
			w.Take(fmt.Sprint(round, " ", i))
		}
		kept := 0
		for i := range w.shards {
			kept += len(w.shards[i].open)
		}
		if kept > 2*crowd {
			t.Errorf("round %d: %d windows are kept of %d callers", round, kept, crowd)
		}
		clock.move(time.Minute)
	}
	// An open window is kept.
	w.Take("a")
	clock.move(59 * time.Second)
	for i := range crowd {
		w.Take(fmt.Sprint("more ", i))
	}
	if v := w.Take("a"); v.Remaining != 58 {
		t.Errorf("%+v, want the open window still there", v)
	}
}

// Peek returns what Take would, without counting.
func TestPeekCountsNothing(t *testing.T) {
	t.Parallel()
	clock := newHand()
	w := NewWindow(2, time.Minute, clock.now)
	for range 5 {
		if v := w.Peek("a"); !v.Allowed || v.Remaining != 2 {
			t.Fatalf("before: %+v", v)
		}
	}
	w.Take("a")
	w.Take("a")
	clock.move(20 * time.Second)
	if v := w.Peek("a"); v.Allowed || v.Remaining != 0 || v.Wait != 40*time.Second {
		t.Errorf("used up: %+v", v)
	}
	if v := w.Peek("b"); !v.Allowed {
		t.Errorf("another: %+v", v)
	}
	clock.move(40 * time.Second)
	if v := w.Peek("a"); !v.Allowed {
		t.Errorf("later: %+v", v)
	}
	if v := NewWindow(0, time.Minute, clock.now).Peek("a"); !v.Allowed {
		t.Errorf("without a limit: %+v", v)
	}
}
