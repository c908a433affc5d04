package browsertest

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// HoldBack keeps requests from being sent until the page that makes them has been seen without their answers, as on a
// slow connection. Patterns are addresses with stars: "*.js". Nothing comes from the cache any more.
func (p *Page) HoldBack(patterns ...string) {
	p.t.Helper()
	p.holdBack(paintedScript, patterns)
}

// HoldBackUntil keeps requests from being sent until the page has an element that matches a CSS selector.
func (p *Page) HoldBackUntil(selector string, patterns ...string) {
	p.t.Helper()
	p.holdBack(fmt.Sprintf("document.querySelector(%q) !== null", selector), patterns)
}

func (p *Page) holdBack(until string, patterns []string) {
	p.t.Helper()
	var held []*fetch.RequestPattern
	for _, pattern := range patterns {
		held = append(held, &fetch.RequestPattern{URLPattern: pattern})
	}
	err := chromedp.Listen(p.ctx, func(event any) {
		if paused, is := event.(*fetch.EventRequestPaused); is {
			go p.release(paused.RequestID, until)
		}
	})
	if err != nil {
		p.t.Fatalf("hold requests back: %v", err)
	}
	Run(p, call(network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}))
	Run(p, call(fetch.Enable, fetch.EnableParams{Patterns: held}))
}

// release sends a request that was held back once a script says so. A page that is left meanwhile has no
// request any more, so errors don't matter.
func (p *Page) release(id fetch.RequestID, until string) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		if now, err := chromedp.Run(ctx, chromedp.Evaluate[bool](until, chromedp.EvalAwaitPromise)); err == nil && now {
			break
		}
	}
	_, _ = chromedp.Call(ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: id})
}

// Connect sets the connection of the page: what it is told of it, and what its requests get.
func (p *Page) Connect(conditions network.OverrideNetworkStateParams) {
	p.t.Helper()
	p.Do(call(setNetwork, conditions))
}

// setNetwork is the older command, which does both at once.
var setNetwork = cdp.Command[network.OverrideNetworkStateParams, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

// paintedScript waits for two frames, of which the page has shown the first when the second begins.
const paintedScript = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
	done(performance.getEntriesByType("paint").length > 0))))`

// LayoutShifts returns what has moved on the page since it was opened, without anyone having typed or clicked: how
// much, and which elements.
func (p *Page) LayoutShifts() []string {
	p.t.Helper()
	p.frame()
	p.rest()
	return Run(p, chromedp.Evaluate[[]string](layoutShiftScript))
}

const layoutShiftScript = `(() => {
	const observer = new PerformanceObserver(() => {});
	observer.observe({ type: "layout-shift", buffered: true });
	const name = (node) => node ? (node.localName ?? node.nodeName) + (node.id ? "#" + node.id : "") + (node.className ? "." + node.className : "") : "gone";
	const moved = observer.takeRecords().filter((shift) => !shift.hadRecentInput).map((shift) => shift.value.toFixed(4) + ": " + shift.sources.map((s) =>
		name(s.node) + " from " + [s.previousRect.x, s.previousRect.y, s.previousRect.width, s.previousRect.height].map(Math.round) +
		" to " + [s.currentRect.x, s.currentRect.y, s.currentRect.width, s.currentRect.height].map(Math.round)).join("; "));
	observer.disconnect();
	return moved;
})()`
