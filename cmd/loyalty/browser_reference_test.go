package main

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// "shown at `/docs` (vendored reference page, works offline, try-it allowed)": an integrator
// enters a token, sends a request from the page and sees the response. A request to another host
// fails the test, since the page's policy blocks it.
func testReference(t *testing.T, c cafe) {
	t.Helper()
	p := c.page(t)
	p.Open(c.in.base + "/docs")
	// Scalar's page has no names or ids, so elements are found by its texts.
	p.Do(chromedp.Click(`//label[normalize-space()="Bearer Token"]/following::input[1]`), chromedp.KeyEvent(c.token))
	p.ClickText("#reference a", "List customers")
	p.ClickText("button", "(get /api/v1/customers)")
	p.ClickText("[role=dialog] button", "Send")
	p.WaitForText("[role=dialog]", "200 OK")
	p.WaitForText("[role=dialog]", `"points_balance":`)
}
