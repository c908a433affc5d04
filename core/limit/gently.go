package limit

import (
	"runtime"
	"sync"
)

// Gently does work that computes for long, such as hashing a password, on a thread of its own
// that the system runs when others wait: what people wait for at a till comes first. It returns
// when the work is done; a panic of the work is the caller's.
func Gently(work func()) {
	var panicked any
	var done sync.WaitGroup
	done.Go(func() {
		// Never unlocked: the thread, which can't be made important again, ends with the work.
		runtime.LockOSThread()
		defer func() { panicked = recover() }()
		yieldThread()
		work()
	})
	done.Wait()
	if panicked != nil {
		panic(panicked)
	}
}
