package main

import (
	"slices"
	"strings"
	"testing"
)

// A goal whose row is renamed would never be printed.
func TestGoalsAreAboutMeasuredRows(t *testing.T) {
	t.Parallel()
	for name := range ratioGoals {
		if !slices.ContainsFunc(usualRows, func(row string) bool {
			rest, is := strings.CutPrefix(name, row)
			return is && slices.Contains([]string{before, " with " + leanSingle + ".sql", bare, without, plainly}, rest)
		}) {
			t.Errorf("no row %q", name)
		}
	}
}

// One slow round, in which the machine was busy, must not count.
func TestMedianOfEachFigure(t *testing.T) {
	t.Parallel()
	var results []result
	for _, n := range []float64{30, 10, 20} {
		var r result
		r.figures[rate], r.figures[p99] = n, 100-n
		results = append(results, r)
	}
	if m := median(results); m.figures[rate] != 20 || m.figures[p99] != 80 {
		t.Errorf("median rate %v and p99 %v, want 20 and 80", m.figures[rate], m.figures[p99])
	}
}
