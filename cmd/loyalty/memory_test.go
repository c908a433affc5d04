package main

import (
	"errors"
	"log/slog"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// "Memory has a limit (GOMEMLIMIT set from the cgroup)": nine tenths of it, or 300 MiB without one;
// the environment takes precedence. Not parallel, because the limit is global.
func TestMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	var journal strings.Builder
	log := slog.New(slog.NewTextHandler(&journal, nil))
	for _, c := range []struct {
		name      string
		container memlimit.Provider
		want      int64
	}{
		{"a container of 1 GiB", memlimit.Limit(1 << 30), 9 * (1 << 30) / 10},
		{"a container without a limit", func() (uint64, error) { return 0, memlimit.ErrNoLimit }, 300 << 20},
		{"no container", func() (uint64, error) { return 0, memlimit.ErrNoCgroup }, 300 << 20},
	} {
		debug.SetMemoryLimit(math.MaxInt64)
		limitMemory(t.Context(), log, c.container)
		if got := debug.SetMemoryLimit(-1); got < c.want-10 || got > c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
	if journal.Len() > 0 {
		t.Errorf("logged %s", &journal)
	}
	t.Setenv("GOMEMLIMIT", "500MiB")
	debug.SetMemoryLimit(500 << 20) // as the runtime does at the start
	limitMemory(t.Context(), log, memlimit.Limit(1<<30))
	if got := debug.SetMemoryLimit(-1); got != 500<<20 {
		t.Errorf("GOMEMLIMIT=500MiB: %d bytes", got)
	}
	limitMemory(t.Context(), log, func() (uint64, error) { return 0, errors.New("unreadable") })
	if journal.Len() > 0 {
		t.Errorf("logged %s", &journal)
	}
}
