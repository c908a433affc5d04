package main

import (
	"os"
	"strconv"
	"testing"
	"time"
)

func TestProcessorTimeOfAProcess(t *testing.T) {
	t.Parallel()
	pid := strconv.Itoa(os.Getpid())
	parent, earlier := readProcess(pid)
	if parent != strconv.Itoa(os.Getppid()) {
		t.Errorf("parent %s, want %d", parent, os.Getppid())
	}
	for start := time.Now(); time.Since(start) < 2*time.Second; { // at least a tick, on a busy machine too
		if _, used := readProcess(pid); used > earlier {
			return
		}
	}
	t.Error("two seconds of work used no processor time")
}
