package main

import "testing"

// "shown at `/docs` (vendored reference page, works offline, try-it allowed)": an integrator
// gives a token, sends a request from the page, and sees the answer. The page may speak to no
// other host; what its policy stops fails the test.
func testReference(t *testing.T, c cafe) {
	t.Helper()
	p := c.page(t)
	p.Open(c.in.base + "/docs")
	p.Fill("Bearer Token", c.token)
	p.Within("#reference").Click("List customers")
	p.Click("(get /api/v1/customers)") // what the button says beside “Test Request”
	client := p.Within("[role=dialog]")
	client.Click("Send")
	client.WaitFor("Status: 200 OK")
	client.WaitFor(`"points_balance":`)
}
