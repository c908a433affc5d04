package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// printTable prints results, each with its comparisons and their ratios, and lists those over
// their limits.
func printTable(title string, results []result) error {
	fmt.Fprintln(os.Stderr, "done")
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\n%s\trequests/s\tp50\tp95\tp99\tslowest\tbytes\tmemory\tratio\tstatus\t\n", title)
	limits := false
	var over []string
	for _, r := range results {
		note := ""
		limits = limits || r.limit > 0
		if r.over() {
			note = "  over " + milliseconds(r.limit)
			over = append(over, r.name)
		}
		l := r.Latencies
		fmt.Fprintf(table, "%s\t%.4g\t%s\t%s\t%s\t%s\t%.0f\t%d MB\t\t%s\t%s\n", r.name, r.perSecond(),
			milliseconds(l.P50), milliseconds(l.P95), milliseconds(l.P99), milliseconds(l.Max), r.BytesIn.Mean, r.memory, statuses(r), note)
		for _, other := range r.others {
			ratio := ""
			if r.rate == 0 {
				ratio = fmt.Sprintf("%.2f", r.perSecond()/other.rate)
			}
			fmt.Fprintf(table, "%s\t%.4g\tavg %.1f ms\t\t\t\t\t\t%s\t\t\n", other.name, other.rate, other.average, ratio)
		}
	}
	if limits {
		fmt.Fprintf(table, "over their limit: %s\n", cmp.Or(strings.Join(over, ", "), "none"))
	}
	return table.Flush()
}

// milliseconds formats a latency.
func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// statuses formats a result's responses by status: 200 × 61, 503 × 12.
func statuses(r result) string {
	var list []string
	for _, status := range slices.Sorted(maps.Keys(r.StatusCodes)) {
		list = append(list, fmt.Sprintf("%s × %d", status, r.StatusCodes[status]))
	}
	return strings.Join(list, ", ")
}
