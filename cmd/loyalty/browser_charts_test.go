package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
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
	p.Click(`tbody a[href^="/admin/reports?"]`)
	p.WaitFor(".figure-strip")
	p.Click("#spend summary")
	if rows := p.Text("#spend tbody"); !strings.Contains(rows, "€") {
		t.Errorf("without scripts the table is %q", rows)
	}
}

// A page is seen once it has arrived whole: nothing moves on a slow connection, whatever part of it comes first.
func testSlowConnection(t *testing.T, c cafe) {
	p := c.page(t)
	c.signIn(t, p, core.Owner)
	card := c.records.Replace("{cardlink}")
	for _, path := range []string{"/admin/reports", "/till", card} { // their scripts and styles are in the cache from here on
		p.Open(path)
	}
	p.Connect(network.OverrideNetworkStateParams{DownloadThroughput: 6_000, UploadThroughput: -1}) // bytes per second
	for _, width := range []int64{1440, 390} {
		p.Emulate(width, 900, false)
		for _, path := range []string{
			"/admin", "/admin/reports", "/admin/reports/customers", "/admin/reports/points", "/admin/customers", "/admin/settings", "/till", card,
		} {
			p.Open(path)
			for _, moved := range p.LayoutShifts() {
				t.Errorf("%s at %d px: %s", path, width, moved)
			}
		}
	}
}

// "A chart that doesn't move while it loads (layout shift 0)": nothing moves on a page with figures, even if its scripts
// and its font arrive after it was seen. Nor does it when sales are added to the activity.
func testLayoutShifts(t *testing.T, c cafe) {
	p := c.page(t)
	c.signIn(t, p, core.Owner)
	p.HoldBack("*/vendor/*.js", "*/js/chart.*", "*/js/panel.*", "*/js/search.*", "*.woff2") // all but what the head waits for
	for _, width := range []int64{1440, 390} {
		p.Emulate(width, 900, false)
		for path, chart := range map[string]string{
			"/admin":                            "#points[data-drawn]",
			"/admin?period=this-year":           "#points[data-drawn]",
			"/admin?period=90-days":             "[aria-labelledby=top-title] tbody a",
			"/admin/reports":                    "#spend[data-drawn]",
			"/admin/reports/customers":          "tbody tr",
			"/admin/reports/points":             "#earned[data-drawn]",
			"/admin/reports/points?unit=stamps": "#balance[data-drawn]",
			"/admin/settings/tokens/{token}":    "#requests[data-drawn]",
		} {
			p.Open(c.records.Replace(path))
			p.WaitFor(chart)
			for _, moved := range p.LayoutShifts() {
				t.Errorf("%s at %d px: %s", path, width, moved)
			}
		}
		p.Open("/admin")
		p.WaitFor("#points[data-drawn]")
		sale := fmt.Sprintf("%d", 70_000+width)
		till := c.demoTill(t)
		c.expect(t, http.StatusCreated, "POST", "/api/v1/transactions", c.token,
			`{"customer_ulid":"`+till.customer+`","transaction_type_id":`+till.typeID+`,"spend_amount_cents":`+sale+`}`)
		browsertest.Run(p, chromedp.Evaluate[chromedp.Void](`htmx.trigger("#activity", "wake")`))
		p.WaitForText("#activity li", sale[:3]+"."+sale[3:])
		for _, moved := range p.LayoutShifts() {
			t.Errorf("the activity at %d px: %s", width, moved)
		}
	}
}
