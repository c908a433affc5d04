package limit_test

import (
	"runtime"
	"syscall"
	"testing"

	"example.com/loyalty/core/limit"
)

// Work that computes for long gives way to what people wait for: its thread has a lower
// priority, and takes it along when it ends.
func TestGentlyGivesWay(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	priority := func() int {
		// The system call's answer is 20 less the niceness.
		n, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	before, during := priority(), 0
	limit.Gently(func() { during = priority() })
	if during >= before {
		t.Errorf("the work's priority is %d, the caller's %d", during, before)
	}
	if after := priority(); after != before {
		t.Errorf("the caller's priority was %d and is %d", before, after)
	}
}

// A panic of the work is the caller's, who can say which request it was.
func TestGentlyPassesAPanicOn(t *testing.T) {
	t.Parallel()
	defer func() {
		if got := recover(); got != "broken" {
			t.Errorf("recovered %v", got)
		}
	}()
	limit.Gently(func() { panic("broken") })
	t.Error("the panic is lost")
}
