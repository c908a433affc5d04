package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/loyalty/core/fixture"
)

// processorTime is the processor time that processes have used.
type processorTime struct{ server, database, client time.Duration }

// processorTime returns what a server, the cluster and this process have used.
func (b *bench) processorTime(of *server) (t processorTime) {
	if of != nil {
		t.server = readProcess(of.cmd.Process.Pid).used
	}
	// The first line is the number of the server's first process, the parent of all others.
	text := string(fixture.Must(os.ReadFile(filepath.Join(b.cluster.Dir(), "data", "postmaster.pid"))))
	first, _, _ := strings.Cut(text, "\n")
	postmaster := fixture.Must(strconv.Atoi(first))
	p := readProcess(postmaster)
	t.database = p.used + p.byEnded
	for _, dir := range fixture.Must(filepath.Glob("/proc/[0-9]*")) {
		if child := readProcess(fixture.Must(strconv.Atoi(filepath.Base(dir)))); child.parent == postmaster {
			t.database += child.used
		}
	}
	var own syscall.Rusage
	fixture.Must(0, syscall.Getrusage(syscall.RUSAGE_SELF, &own))
	t.client = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	return t
}

// process is what the kernel says about a process.
type process struct {
	parent  int
	used    time.Duration
	byEnded time.Duration // used by its children that have ended
}

// readProcess returns the zero process if it has ended.
func readProcess(pid int) (p process) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The program's name, in brackets, may contain spaces.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return p
	}
	const tick = 10 * time.Millisecond // USER_HZ of Linux
	ticks := func(field int) time.Duration {
		n, _ := strconv.Atoi(fields[field])
		return time.Duration(n) * tick
	}
	p.parent, _ = strconv.Atoi(fields[1])
	p.used, p.byEnded = ticks(11)+ticks(12), ticks(13)+ticks(14)
	return p
}
