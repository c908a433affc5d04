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

// printTable prints results, each with the same by other means below it and the ratio of the
// two, and names those that are over their limits.
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
		printRow(table, r, fmt.Sprintf("%d MB\t\t%s\t%s", r.memory, statuses(r), note))
		for _, other := range r.others {
			ratio := ""
			if r.rate == 0 {
				ratio = fmt.Sprintf("%.2f", r.perSecond()/other.perSecond())
			}
			printRow(table, other, "\t"+ratio+"\t\t")
		}
	}
	if limits {
		fmt.Fprintf(table, "over their limit: %s\n", cmp.Or(strings.Join(over, ", "), "none"))
	}
	return table.Flush()
}

func printRow(table *tabwriter.Writer, r result, rest string) {
	l := r.Latencies
	fmt.Fprintf(table, "%s\t%.4g\t%s\t%s\t%s\t%s\t%.0f\t%s\n",
		r.name, r.perSecond(), milliseconds(l.P50), milliseconds(l.P95), milliseconds(l.P99), milliseconds(l.Max), r.BytesIn.Mean, rest)
}

// milliseconds is a latency as tables have it.
func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// statuses are a result's answers by their status: 200 × 61, 503 × 12.
func statuses(r result) string {
	var list []string
	for _, status := range slices.Sorted(maps.Keys(r.StatusCodes)) {
		list = append(list, fmt.Sprintf("%s × %d", status, r.StatusCodes[status]))
	}
	return strings.Join(list, ", ")
}
