package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core/sample"
)

// processorTime has the processor time that a server, the cluster and this process have used, as figures.
type processorTime map[figure]time.Duration

// processorTime returns the times until now; of a server, if there is one.
func (b *bench) processorTime(of *server) processorTime {
	t := processorTime{}
	if of != nil {
		_, t[serverTime] = readProcess(strconv.Itoa(of.cmd.Process.Pid))
	}
	for _, dir := range sample.Must(filepath.Glob("/proc/[0-9]*")) {
		pid := filepath.Base(dir)
		if parent, used := readProcess(pid); slices.Contains(b.postmasters, pid) || slices.Contains(b.postmasters, parent) {
			t[databaseTime] += used
		}
	}
	_, t[clientTime] = readProcess("self")
	return t
}

// postmasterSQL asks for the process that starts all others of a database server.
const postmasterSQL = `select split_part(pg_read_file('postmaster.pid'), E'\n', 1)`

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
