package live_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/live"
)

func quietHub() *live.Hub { return live.NewHub(slog.New(slog.DiscardHandler)) }

func reads(state live.State) live.Read {
	return func(context.Context) (live.State, error) { return state, nil }
}

// Beyond its bounds, a page is told to poll: 4 streams of a PIN, 50 of an address, 500 of a business, 2,000 of a
// process. A stream that ends makes room.
func TestWatchersAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for bound, c := range map[string]struct {
			topic, address, business string // %d: another each time
			most                     int
		}{
			"a PIN":      {"pin", "address %d", "business", 4},
			"an address": {"pin %d", "address", "business %d", 50},
			"a business": {"pin %d", "address %d", "business", 500},
			"a process":  {"pin %d", "address %d", "business %d", 2000},
		} {
			h := quietHub()
			watch := func(n int) (func(), bool) {
				one := func(text string) string { return strings.Replace(text, "%d", strconv.Itoa(n), 1) }
				_, stop, watching := h.Watch(core.CountAs(t.Context(), one(c.business)), one(c.topic), one(c.address), reads(live.State{}))
				return stop, watching
			}
			var stops []func()
			for n := range c.most {
				stop, watching := watch(n)
				if !watching {
					t.Fatalf("%s: stream %d is refused", bound, n+1)
				}
				stops = append(stops, stop)
			}
			if _, watching := watch(c.most); watching || h.Watchers() != int64(c.most) {
				t.Errorf("%s has %d streams, want %d", bound, h.Watchers(), c.most)
			}
			stops[0]()
			stops[0]() // counted once
			stop, watching := watch(0)
			if !watching {
				t.Errorf("%s: a stream that ended makes no room", bound)
			} else {
				stop()
			}
			for _, stop := range stops[1:] {
				stop()
			}
			if n := h.Watchers(); n != 0 {
				t.Errorf("%s: %d streams are open at the end", bound, n)
			}
		}
	})
}

// One signal reads the state once for all who watch it, and all are told.
func TestASignalIsReadOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := quietHub()
		var read atomic.Int64
		name := "waiting"
		var watched []<-chan live.State
		for n := range 4 {
			states, stop, watching := h.Watch(t.Context(), "pin", fmt.Sprint(n), func(context.Context) (live.State, error) {
				read.Add(1)
				time.Sleep(time.Millisecond) // others are signalled meanwhile
				return live.State{Name: name}, nil
			})
			if !watching {
				t.Fatal("refused")
			}
			defer stop()
			watched = append(watched, states)
		}
		for signals, next := range []string{"taken", "completed"} {
			name = next
			h.Signal("pin")
			for n, states := range watched {
				if s := <-states; s.Name != next {
					t.Errorf("watcher %d was told %q, want %q", n, s.Name, next)
				}
			}
			if n := read.Load(); n != int64(signals+1) {
				t.Errorf("%d signals were read %d times", signals+1, n)
			}
		}
		// A signal during a reading is read again: the reading may have missed the change.
		h.Signal("pin")
		time.Sleep(time.Millisecond / 2)
		h.Signal("pin")
		time.Sleep(10 * time.Millisecond)
		if n := read.Load(); n != 4 {
			t.Errorf("read %d times, want 4", n)
		}
	})
}

// A reading that fails ends only the stream that it was for; the next one reads for the others.
func TestAWatcherThatCantReadIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := quietHub()
		refused, stopRefused, _ := h.Watch(t.Context(), "pin", "a", func(context.Context) (live.State, error) {
			return live.State{}, errors.New("signed out")
		})
		defer stopRefused()
		states, stop, _ := h.Watch(t.Context(), "pin", "b", reads(live.State{Name: "taken"}))
		defer stop()
		for closed := false; !closed; { // either may be the one that reads
			h.Signal("pin")
			if s := <-states; s.Name != "taken" {
				t.Fatalf("told %+v", s)
			}
			select {
			case _, open := <-refused:
				closed = !open
			default:
			}
		}
		h.Close()
		if _, open := <-states; open {
			t.Error("a stream outlives the hub")
		}
	})
}

// Without signals, states are read again, at different times.
func TestReadingsAreSpread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := quietHub()
		began, moments, read := time.Now(), map[time.Duration]bool{}, 0
		var mu sync.Mutex
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for n := range 40 {
			_, stop, _ := h.Watch(ctx, fmt.Sprint(n), "a", func(context.Context) (live.State, error) {
				after := time.Since(began)
				if after < 11*time.Second || after > 19*time.Second {
					t.Errorf("read after %s", after)
				}
				mu.Lock()
				defer mu.Unlock()
				moments[after] = true
				read++
				return live.State{}, nil
			})
			defer stop()
			synctest.Wait()
		}
		time.Sleep(19 * time.Second)
		synctest.Wait()
		if read != 40 || len(moments) < 30 {
			t.Errorf("%d readings at %d moments, want 40 of them spread", read, len(moments))
		}
	})
}
