package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core/fixture"
)

// processorTime has the processor time that a server, the cluster and this process have used, as figures.
type processorTime map[figure]time.Duration

// processorTime returns the times until now; of a server, if there is one.
func (b *bench) processorTime(of *server) processorTime {
	t := processorTime{}
	if of != nil {
		_, t[serverTime] = readProcess(strconv.Itoa(of.cmd.Process.Pid))
	}
	// The first line is the process that starts all others of the cluster.
	text := fixture.Must(os.ReadFile(filepath.Join(b.cluster.Dir(), "data", "postmaster.pid")))
	postmaster, _, _ := strings.Cut(string(text), "\n")
	_, t[databaseTime] = readProcess(postmaster)
	for _, dir := range fixture.Must(filepath.Glob("/proc/[0-9]*")) {
		if parent, used := readProcess(filepath.Base(dir)); parent == postmaster {
			t[databaseTime] += used
		}
	}
	_, t[clientTime] = readProcess("self")
	return t
}

// setProcessorTime sets the figures of the time used since an earlier one, by a number of requests.
func (r *result) setProcessorTime(earlier, now processorTime, requests float64) {
	for f := range now {
		r.figures[f] = milliseconds(now[f]-earlier[f]) / max(1, requests)
	}
}

// readProcess returns the parent of a process, and the processor time that it and its ended children have
// used; nothing if it has ended.
func readProcess(pid string) (parent string, used time.Duration) {
	text, _ := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, rest, _ := strings.Cut(string(text), ") ") // after the program's name, which may contain spaces
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return "", 0
	}
	for _, ticks := range fields[11:15] {
		n, _ := strconv.Atoi(ticks)
		used += time.Duration(n) * 10 * time.Millisecond // USER_HZ of Linux
	}
	return fields[1], used
}
