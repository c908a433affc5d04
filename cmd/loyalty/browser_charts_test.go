package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/loyalty/core"
	"example.com/loyalty/web/browsertest"
)

// "Today dotted ('so far'), no cliff; weeks and months for long ranges; legends never move an axis": the mark, the
// last label and the table say that the last step is not over, and plots side by side have the same edges.
func testCharts(t *testing.T, c cafe) {
	p := c.page(t)
	c.signIn(t, p, core.Owner)
	edges := func() [][4]float64 {
		return browsertest.Run(p, chromedp.Evaluate[[][4]float64](`[...document.querySelectorAll("figure[data-drawn] .u-over")].map((plot) => {
			const box = plot.getBoundingClientRect(), card = plot.closest(".chart-card").getBoundingClientRect();
			return [box.left - card.left, card.right - box.right, box.top, box.bottom];
		})`))
	}
	for _, c := range []struct{ query, mark, last string }{
		{"", "Today so far", "(Today so far)"},
		{"?from=2026-06-01&compare=last-year", "This week so far", "(This week so far)"},
		{"?from=2024-01-01", "This month so far", "(This month so far)"},
	} {
		p.Open("/admin/reports" + c.query)
		p.WaitFor("#points[data-drawn] .chart-now")
		if got := p.Text("#spend .chart-now"); got != c.mark {
			t.Errorf("%s is marked %q, want %q", c.query, got, c.mark)
		}
		p.Click("#spend summary")
		if got := p.Text("#spend tbody tr:last-child th"); !strings.HasSuffix(got, c.last) {
			t.Errorf("%s: the last row is of %q", c.query, got)
		}
		p.Click("#spend summary")
		if at := edges(); len(at) != 2 || at[0] != at[1] {
			t.Errorf("%s: the plots are at %v of their cards", c.query, at)
		}
	}
	before := edges()
	p.Emulate(1440, 900, true)
	if after := edges(); len(after) != 2 || after[0] != before[0] {
		t.Errorf("in the dark the plots are at %v, before at %v", after, before)
	}
	p.Emulate(1440, 900, false)

	// Yesterday is over, so nothing is dotted.
	p.Open("/admin/reports?to=2026-01-31&from=2026-01-01")
	p.WaitFor("#points[data-drawn]")
	if marks := browsertest.Run(p, chromedp.Evaluate[int](`document.querySelectorAll(".chart-now").length`)); marks != 0 {
		t.Errorf("a past month has %d marks", marks)
	}

	// A location, a comparison and the table work without scripts.
	p.DisableScripts()
	p.Open("/admin/reports/locations")
	p.Click("tbody a")
	p.WaitFor(".figure-strip")
	p.Click("#spend summary")
	if rows := p.Text("#spend tbody"); !strings.Contains(rows, "€") {
		t.Errorf("without scripts the table is %q", rows)
	}
}
