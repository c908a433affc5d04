package limit

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"
)

// Long computations take turns in the order in which they asked. After 10 ms a computation lets
// others go first, and continues if none wait.
func TestWorkTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withPlaces(t, 1)
		var order []string
		work := func(name string, parts int) {
			go func() {
				var turn Turn
				defer turn.End()
				for range parts {
					if err := turn.Take(t.Context()); err != nil {
						t.Error(err)
					}
					order = append(order, name)
					time.Sleep(turnLength / 2) // computes
				}
			}()
			synctest.Wait()
		}
		work("an export", 6)
		work("a hash", 2)
		work("a check", 2)
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{
			"an export", "an export", "a hash", "a hash", "a check", "a check",
			"an export", "an export", "an export", "an export",
		}
		if !slices.Equal(order, want) {
			t.Errorf("the order is %q, want %q", order, want)
		}
	})
}

// A caller that gives up waiting takes no turn.
func TestCancelledWaitTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withPlaces(t, 1)
		var first, second Turn
		if err := first.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if err := second.Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second turn at once: %v", err)
		}
		second.End() // was never held
		first.End()
		if err := second.Take(t.Context()); err != nil {
			t.Error(err)
		}
		second.End()
	})
}

// withPlaces sets the number of computations at once for this test.
func withPlaces(t *testing.T, n int64) {
	t.Helper()
	before := computing
	computing = semaphore.NewWeighted(n)
	t.Cleanup(func() { computing = before })
}
