package limit

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/loyalty/core"
)

const busyNow = "Too much at once."

// enter waits for a place in the background, and signals on entered when it has one.
func enter(t *testing.T, g *Gate, tenant core.TenantID, entered *int) (leave func()) {
	t.Helper()
	done := make(chan bool)
	go func() {
		left, err := g.Enter(t.Context(), tenant)
		if err != nil {
			return
		}
		*entered++
		<-done
		left()
	}()
	synctest.Wait()
	return func() { close(done); synctest.Wait() }
}

// Work beyond a tenant's share waits for its own work; another tenant enters at once.
func TestATenantWaitsBehindItsOwnWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(4, 2, time.Hour, busyNow)
		var first, second, third int
		leave := make([]func(), 60)
		for i := range leave {
			leave[i] = enter(t, g, 1, &first)
		}
		if first != 2 {
			t.Errorf("%d of the first tenant work at once, want 2", first)
		}
		leaveSecond := []func(){enter(t, g, 2, &second), enter(t, g, 2, &second), enter(t, g, 2, &second)}
		if second != 2 {
			t.Errorf("%d of the second tenant work, want 2 although 58 of the first wait", second)
		}
		leaveThird := enter(t, g, 3, &third)
		if third != 0 {
			t.Error("a fifth is let in, want 4 at once")
		}
		// The next place is the third tenant's: the first has used its share.
		leave[0]()
		leave[1]()
		if third != 1 {
			t.Error("the third tenant waits behind the 58 of the first")
		}
		leaveThird()
		for _, l := range leaveSecond {
			l()
		}
		for _, l := range leave[2:] {
			l()
		}
		if first != 60 || second != 3 || third != 1 {
			t.Errorf("%d, %d and %d were let in, want 60, 3 and 1", first, second, third)
		}
		if n := len(g.lines.open); n != 0 {
			t.Errorf("%d tenants are remembered when all have left", n)
		}
	})
}

// A wait that is too long is refused, says when to try again, and takes no place.
func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1, 1, 5*time.Second, busyNow)
		leave, err := g.Enter(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, tenant := range []core.TenantID{1, 2} { // waiting for the tenant's places, and for all places
			began := time.Now()
			_, err = g.Enter(t.Context(), tenant)
			var refusal *core.Error
			if !errors.As(err, &refusal) || refusal.Kind != core.KindUnavailable || refusal.Message != busyNow || refusal.Wait != 5*time.Second {
				t.Errorf("tenant %d: %v, want the refusal that says to wait 5 s", tenant, err)
			}
			if waited := time.Since(began); waited != 5*time.Second {
				t.Errorf("tenant %d: refused after %s", tenant, waited)
			}
		}
		// A caller who leaves gets no refusal.
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.Enter(gone, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who left: %v", err)
		}
		leave()
		for _, tenant := range []core.TenantID{1, 2} {
			leave, err := g.Enter(t.Context(), tenant)
			if err != nil {
				t.Fatalf("tenant %d, when the place is free: %v", tenant, err)
			}
			leave()
		}
		if n := len(g.lines.open); n != 0 {
			t.Errorf("%d tenants are remembered when all have left", n)
		}
	})
}

// With Resting, a tenant's place rests after a long use for twice as long, at most a second; short
// uses and other tenants don't wait.
func TestATenantsPlaceRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2, 1, 2*time.Second, busyNow).Resting()
		use := func(tenant core.TenantID, takes, want time.Duration) {
			t.Helper()
			asked := time.Now()
			leave, err := g.Enter(t.Context(), tenant)
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(asked); waited != want {
				t.Errorf("tenant %d waited %s, want %s", tenant, waited, want)
			}
			time.Sleep(takes)
			leave()
		}
		use(1, 50*time.Millisecond, 0)
		use(1, 300*time.Millisecond, 0)
		use(2, 0, 0)
		use(1, time.Minute, 600*time.Millisecond)
		use(1, 0, time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(g.lines.open); n != 0 {
			t.Errorf("%d tenants are remembered when all have left", n)
		}
	})
}

// With Paced, a place of a key is free again after the pace at the earliest, which a longer use includes. Others don't
// wait.
func TestAPlaceIsPaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewKeyedGate[string](4, 2, 2*time.Second, busyNow).Paced(100 * time.Millisecond)
		use := func(key string, takes, want time.Duration) {
			t.Helper()
			asked := time.Now()
			leave, err := g.Enter(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(asked); waited != want {
				t.Errorf("%s waited %s, want %s", key, waited, want)
			}
			time.Sleep(takes)
			leave()
		}
		use("a", 0, 0)
		use("a", 30*time.Millisecond, 0)
		use("a", 0, 70*time.Millisecond) // for the first place
		use("b", 0, 0)
		use("a", 0, 0) // the second is free since
		use("a", 150*time.Millisecond, 100*time.Millisecond)
		use("a", 0, 0)
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(g.lines.open); n != 0 {
			t.Errorf("%d keys are remembered when all have left", n)
		}
	})
}
