package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// workbench runs a combiner whose batches begin and end when the test says so.
type workbench struct {
	combiner *db.Combiner[int, string]

	mu    sync.Mutex
	begun []*batch // in order
}

// batch is a batch under way, or done.
type batch struct {
	tenant core.TenantID
	keys   []int
	finish chan error
	over   bool
}

// outcome is what a caller got.
type outcome struct {
	value string
	err   error
}

// caller is a caller in the model.
type caller struct {
	tenant    core.TenantID
	key       int
	cancel    context.CancelFunc
	cancelled int // number of batches begun when the caller was cancelled; -1: never
	arrived   int // number of batches begun when the caller came
	outcomes  chan outcome
}

func newWorkbench(most int) *workbench {
	w := &workbench{}
	w.combiner = db.NewCombiner(most, func(_ context.Context, tenant core.TenantID, keys []int) (map[int]string, error) {
		b := &batch{tenant: tenant, keys: keys, finish: make(chan error)}
		w.mu.Lock()
		w.begun = append(w.begun, b)
		number := len(w.begun)
		w.mu.Unlock()
		if err := <-b.finish; err != nil {
			return nil, err
		}
		values := map[int]string{}
		for _, key := range keys {
			if key != missing {
				values[key] = fmt.Sprintf("%d of tenant %d from batch %d", key, tenant, number)
			}
		}
		return values, nil
	})
	return w
}

const missing = 9 // a key without a result

func (w *workbench) call(tenant core.TenantID, key int) *caller {
	ctx, cancel := context.WithCancel(context.Background())
	c := &caller{tenant: tenant, key: key, cancel: cancel, cancelled: -1, arrived: len(w.begun), outcomes: make(chan outcome, 2)}
	go func() {
		value, err := w.combiner.Do(ctx, tenant, key)
		c.outcomes <- outcome{value, err}
	}()
	synctest.Wait()
	return c
}

func (w *workbench) running() (running []*batch) {
	for _, b := range w.begun {
		if !b.over {
			running = append(running, b)
		}
	}
	return running
}

func (w *workbench) finish(b *batch, err error) {
	b.over = true
	b.finish <- err
	synctest.Wait()
}

// None is lost, none is answered twice, a cancelled caller leaves before their batch begins and never after,
// and each gets the result of a batch that began after they came: random calls, cancellations and ends of
// batches, compared with a model.
func TestCombinerMatchesAModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 4).Draw(rt, "most")
		type step struct{ action, tenant, key, which int }
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				rapid.SampledFrom([]int{0, 0, 0, 1, 2, 2}).Draw(rt, "action"), rapid.IntRange(0, 2).Draw(rt, "tenant"),
				rapid.IntRange(1, missing).Draw(rt, "key"), rapid.IntRange(0, 100).Draw(rt, "which"),
			}
		}), 1, 60).Draw(rt, "steps")
		var wrong []string
		synctest.Test(t, func(*testing.T) {
			complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
			w := newWorkbench(most)
			var callers []*caller
			for _, s := range steps {
				running := w.running()
				switch {
				case s.action == 0:
					callers = append(callers, w.call(core.TenantID(s.tenant), s.key))
				case s.action == 1 && len(callers) > 0:
					if c := callers[s.which%len(callers)]; c.cancelled < 0 {
						c.cancelled = len(w.begun)
						c.cancel()
						synctest.Wait()
					}
				case s.action == 2 && len(running) > 0:
					w.finish(running[s.which%len(running)], nil)
				}
				w.check(most, complain)
			}
			for running := w.running(); len(running) > 0; running = w.running() {
				w.finish(running[0], nil)
			}
			for i, c := range callers {
				c.cancel()
				w.checkOutcome(c, func(format string, args ...any) {
					complain("caller %d, key %d of tenant %d: %s", i, c.key, c.tenant, fmt.Sprintf(format, args...))
				})
			}
		})
		if len(wrong) > 0 {
			rt.Fatal(wrong)
		}
	})
}

// check compares the batches under way with the rules.
func (w *workbench) check(most int, complain func(string, ...any)) {
	perTenant := map[core.TenantID]int{}
	for _, b := range w.running() {
		perTenant[b.tenant]++
	}
	for tenant, n := range perTenant {
		if n > 1 {
			complain("%d batches of tenant %d at once", n, tenant)
		}
	}
	for _, b := range w.begun {
		if sorted := slices.Sorted(slices.Values(b.keys)); len(b.keys) == 0 || len(b.keys) > most || len(slices.Compact(sorted)) != len(b.keys) {
			complain("a batch of %v", b.keys)
		}
	}
}

func (w *workbench) checkOutcome(c *caller, complain func(string, ...any)) {
	if len(c.outcomes) != 1 {
		complain("%d outcomes", len(c.outcomes))
		return
	}
	got := <-c.outcomes
	if errors.Is(got.err, context.Canceled) {
		if c.cancelled < 0 {
			complain("cancelled, but by whom?")
		}
		// The caller's key was waiting: no batch since they came had it.
		for n := c.arrived; n < c.cancelled; n++ {
			if b := w.begun[n]; b.tenant == c.tenant && slices.Contains(b.keys, c.key) {
				complain("left after batch %d had begun", n+1)
			}
		}
		return
	}
	// The first batch with the key that began after the caller came.
	for n := c.arrived; n < len(w.begun); n++ {
		if b := w.begun[n]; b.tenant == c.tenant && slices.Contains(b.keys, c.key) {
			want, wantErr := fmt.Sprintf("%d of tenant %d from batch %d", c.key, c.tenant, n+1), error(nil)
			if c.key == missing {
				want, wantErr = "", core.ErrNotFound
			}
			if got.value != want || !errors.Is(got.err, wantErr) {
				complain("got %q, %v; want %q, %v", got.value, got.err, want, wantErr)
			}
			return
		}
	}
	complain("got %q, %v from no batch", got.value, got.err)
}

// "No waiting when idle": a call begins its batch at once.
func TestAnIdleCombinerDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkbench(64)
		start := time.Now()
		for key := range 3 {
			c := w.call(1, key)
			w.finish(w.running()[0], nil)
			if got := <-c.outcomes; got.err != nil || !time.Now().Equal(start) {
				t.Errorf("after %s: %v", time.Since(start), got.err)
			}
		}
	})
}

// A flood of one tenant doesn't delay another tenant's request: each has its own batches.
func TestAFloodDelaysNoOtherTenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkbench(64)
		var flood []*caller
		for key := range 1000 {
			flood = append(flood, w.call(1, 100+key))
		}
		other := w.call(2, 1)
		running := w.running()
		if len(running) != 2 || running[1].tenant != 2 {
			t.Fatalf("%d batches under way", len(running))
		}
		w.finish(running[1], nil)
		if got := <-other.outcomes; got.err != nil {
			t.Error(got.err)
		}
		for len(w.running()) > 0 {
			w.finish(w.running()[0], nil)
		}
		for _, c := range flood {
			if got := <-c.outcomes; got.err != nil {
				t.Error(got.err)
			}
		}
		if batches := len(w.begun); batches != 2+(999+63)/64 {
			t.Errorf("%d batches", batches)
		}
	})
}

// "One bad member never spoils the others": the batch is done again key by key. If the database is gone,
// all get that error, once.
func TestABadKeyDoesNotSpoilOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkbench(64)
		first := w.call(1, 1)
		var others []*caller
		for key := 2; key <= 4; key++ {
			others = append(others, w.call(1, key))
		}
		w.finish(w.running()[0], nil)
		<-first.outcomes
		bad := errors.New("key 3 is bad")
		w.finish(w.running()[0], bad)
		for range others {
			b := w.running()[0]
			if len(b.keys) != 1 {
				t.Errorf("keys %v again", b.keys)
			}
			var err error
			if b.keys[0] == 3 {
				err = bad
			}
			w.finish(b, err)
		}
		for _, c := range others {
			if got := <-c.outcomes; (c.key == 3) != errors.Is(got.err, bad) {
				t.Errorf("key %d: %v", c.key, got.err)
			}
		}

		first, second, third := w.call(1, 1), w.call(1, 2), w.call(1, 3)
		w.finish(w.running()[0], nil)
		gone := core.Unavailable(errors.New("the database is gone"))
		w.finish(w.running()[0], gone)
		<-first.outcomes
		for _, c := range []*caller{second, third} {
			if got := <-c.outcomes; !errors.Is(got.err, gone) {
				t.Errorf("key %d: %v", c.key, got.err)
			}
		}
		if len(w.running()) > 0 {
			t.Error("done again without a database")
		}
	})
}

// Of keys that claim the same, a batch has one. The others wait for the next batch, before those who came later, and those
// who claim nothing of theirs don't wait for them.
func TestKeysThatAreKeptApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkbench(64)
		w.combiner.Apart(func(key int) []any { return []any{key % 10} })
		var callers []*caller
		for _, key := range []int{1, 12, 22, 3, 32, 2} {
			callers = append(callers, w.call(1, key))
		}
		for _, want := range [][]int{{1}, {12, 3}, {22}, {32}, {2, 5}} {
			b := w.running()[0]
			if !slices.Equal(b.keys, want) {
				t.Errorf("a batch of %v, want %v", b.keys, want)
			}
			if want[0] == 32 {
				callers = append(callers, w.call(1, 5))
			}
			w.finish(b, nil)
		}
		for _, c := range callers {
			if got := <-c.outcomes; got.err != nil {
				t.Errorf("key %d: %v", c.key, got.err)
			}
		}
		if n := db.Queues(w.combiner); n != 0 {
			t.Errorf("%d queues are left", n)
		}
	})
}

// A batch that panics fails its callers, and later ones are served.
func TestAPanicFailsItsBatchOnly(t *testing.T) {
	t.Parallel()
	broken := true
	c := db.NewCombiner(64, func(_ context.Context, _ core.TenantID, keys []int) (map[int]string, error) {
		if broken {
			panic("broken")
		}
		return map[int]string{keys[0]: "fine"}, nil
	})
	if _, err := c.Do(t.Context(), 1, 1); err == nil {
		t.Error("no error")
	}
	broken = false
	if got, err := c.Do(t.Context(), 1, 1); got != "fine" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// Memory is bounded: too many waiting keys are refused with a time to wait, and an idle combiner holds nothing.
func TestWaitingKeysAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkbench(64)
		var callers []*caller
		for key := range 10_001 { // the first one's batch is under way
			callers = append(callers, w.call(1, 100+key))
		}
		late := w.call(1, 1)
		var refusal *core.Error
		if got := <-late.outcomes; !errors.As(got.err, &refusal) || refusal.Kind != core.KindUnavailable || refusal.Wait == 0 {
			t.Errorf("one more: %v", got.err)
		}
		for len(w.running()) > 0 {
			w.finish(w.running()[0], nil)
		}
		for _, c := range callers {
			if got := <-c.outcomes; got.err != nil {
				t.Error(got.err)
			}
		}
		if n := db.Queues(w.combiner); n != 0 {
			t.Errorf("an idle combiner holds %d queues", n)
		}
	})
}
