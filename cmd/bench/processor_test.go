package main

import (
	"os"
	"testing"
	"time"
)

func TestProcessorTimeOfAProcess(t *testing.T) {
	t.Parallel()
	before := readProcess(os.Getpid())
	if before.parent != os.Getppid() {
		t.Errorf("parent %d, want %d", before.parent, os.Getppid())
	}
	for start := time.Now(); time.Since(start) < 2*time.Second; { // at least a tick, on a busy machine too
		if readProcess(os.Getpid()).used > before.used {
			return
		}
	}
	t.Error("two seconds of work used no processor time")
}
