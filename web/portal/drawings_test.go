package portal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/loyalty/core"
)

// Many who ask for the same at the same time have it drawn once, even if the first of them leaves; and again
// only when it was dropped for others.
// Not parallel: the turns to compute are those of the process, and belong to one bubble at a time.
func TestADrawingIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drawingsOf(3*(100+entryBytes), time.Hour)
		var drawn atomic.Int64
		draw := func() (drawing, error) {
			drawn.Add(1)
			time.Sleep(time.Second)
			return drawing{bytes: make([]byte, 100)}, nil
		}
		first, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _, _ = d.get(first, 1, "card", draw) })
		synctest.Wait()
		for range 200 {
			all.Go(func() {
				if got, err := d.get(t.Context(), 1, "card", draw); err != nil || len(got.bytes) != 100 {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
		synctest.Wait()
		leave()
		all.Wait()
		if n := drawn.Load(); n != 1 {
			t.Errorf("drawn %d times, want once", n)
		}
		for _, other := range []string{"two", "three", "card", "four"} { // "two" was asked for the longest ago
			if _, err := d.get(t.Context(), 1, other, draw); err != nil {
				t.Fatal(err)
			}
		}
		if n := drawn.Load(); n != 4 || d.used != d.room || d.kept.Len() != 3 {
			t.Errorf("drawn %d times, and %d bytes are kept in %d entries; want 4, %d and 3", n, d.used, d.kept.Len(), d.room)
		}
		if _, err := d.get(t.Context(), 1, "card", draw); err != nil || drawn.Load() != 4 {
			t.Errorf("the card was dropped: %v", err)
		}
		if _, err := d.get(t.Context(), 1, "two", draw); err != nil || drawn.Load() != 5 {
			t.Errorf("the one asked for the longest ago was kept: %v", err)
		}
		if _, err := d.get(t.Context(), 2, "card", draw); err != nil || drawn.Load() != 6 {
			t.Errorf("another business has the card: %v", err)
		}
		// What is larger than all that may be kept isn't, and drops nothing for good.
		if _, err := d.get(t.Context(), 1, "huge", func() (drawing, error) { return drawing{bytes: make([]byte, 5000)}, nil }); err != nil || d.used > d.room || d.used < 0 {
			t.Errorf("%d bytes are kept: %v", d.used, err)
		}
	})
}

// A flood of different drawings of one business waits for itself and is then refused, with the time to wait;
// another business's is drawn at once, and what is kept is answered without a place.
// Not parallel: the turns to compute are those of the process, and belong to one bubble at a time.
func TestAFloodOfDrawingsWaitsForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drawingsOf(keptBytes, 5*time.Second)
		quick := func() (drawing, error) { return drawing{}, nil }
		if _, err := d.get(t.Context(), 1, "kept", quick); err != nil {
			t.Fatal(err)
		}
		var atOnce, most, refused atomic.Int64
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				_, err := d.get(t.Context(), 1, string(rune('a'+i)), func() (drawing, error) {
					most.Store(max(most.Load(), atOnce.Add(1)))
					defer atOnce.Add(-1)
					time.Sleep(time.Second)
					return drawing{}, nil
				})
				var refusal *core.Error
				if errors.As(err, &refusal) && refusal.Kind == core.KindUnavailable && refusal.Wait == 5*time.Second {
					refused.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		if _, err := d.get(t.Context(), 1, "kept", quick); err != nil || time.Since(began) != 0 {
			t.Errorf("what is kept took %s: %v", time.Since(began), err)
		}
		all.Wait()
		if most.Load() != 1 || refused.Load() < 90 {
			t.Errorf("%d were drawn at once and %d refused, want 1 and most of 100", most.Load(), refused.Load())
		}
	})
}
