package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"example.com/loyalty/core/demo"
)

// "shown at `/docs` (vendored reference page, works offline, try-it allowed)": an integrator
// searches, enters a token, sends a request from the page and sees the response. A request to
// another host fails the test, since the page's policy blocks it.
func testReference(t *testing.T, c cafe) {
	p := c.page(t)
	p.Open(c.in.base + "/docs")
	p.Fill("q", "list customers")
	p.ClickText(".found a", "List customers")
	p.WaitForText("h1", "Customers")
	p.ClickText("section:has(#listCustomers) .try summary", "Try it")
	p.Fill("listCustomers-token", c.token)
	p.Fill("listCustomers-search", "anna lindqv") // other tests add customers of that name
	p.Click("section:has(#listCustomers) .try [type=submit]")
	p.WaitForText(".try [role=status]", "200")
	p.WaitForText(".try pre:not([hidden])", `"first_name": "Anna"`)

	p.ClickText("section:has(#upsertCustomer) .try summary", "Try it")
	p.Fill("upsertCustomer-body", `{"first_name":"Anna"}`)
	p.Expect(http.StatusUnprocessableEntity)
	p.Click("section:has(#upsertCustomer) .try [type=submit]") // the token was entered once
	p.WaitForText("section:has(#upsertCustomer) .try pre:not([hidden])", "The last name field is required.")
}

// The base URL leads people to the sign-in of their business.
func testHome(t *testing.T, c cafe) {
	p := c.page(t)
	p.Open(c.in.base)
	p.Expect(http.StatusUnprocessableEntity)
	p.Fill("business", "nosuch")
	p.Press(kb.Enter)
	look(t, p, "home-unknown", func() { p.WaitFor("[role=alert]") })
	p.Fill("business", demo.Slug)
	p.Press(kb.Enter)
	p.WaitFor("[name=password]")
	if at := p.Path(); !strings.HasPrefix(at, "/admin/sign-in") {
		t.Errorf("the start page leads to %s", at)
	}
}

// "/docs without a finding of axe in both themes", wide and on a phone, whatever is open.
func testDocumentation(t *testing.T, c cafe) {
	p := c.page(t)
	for path, open := range map[string]string{
		"/": "", "/problems": "", "/docs": "", "/docs/quickstart": "label[for=php]", "/docs/search?q=phone": "", "/docs/reference/customers": ".try summary",
	} {
		p.Open(c.in.base + path)
		if open != "" {
			p.Click(open)
		}
		for _, width := range []int64{1440, 390} {
			for theme, dark := range themes {
				p.Emulate(width, 900, dark)
				for _, violation := range p.Axe("") {
					t.Errorf("%s at %d px, %s: %s", path, width, theme, violation)
				}
				testOverflow(t, p, width)
			}
		}
	}
}

// Without scripts, every part of the documentation can be read, found and chosen; with them, the
// language of examples is remembered.
func testDocumentationChoices(t *testing.T, c cafe) {
	p := c.page(t)
	p.Open(c.in.base + "/docs/quickstart")
	p.Click("label[for=python]")
	p.Open(c.in.base + "/docs/quickstart")
	p.WaitForText("[data-language=python] pre", "import json")

	plain := c.page(t)
	plain.DisableScripts()
	plain.Open(c.in.base + "/docs/quickstart")
	plain.WaitForText("[data-language=curl] pre", "curl --silent")
	plain.Click("label[for=go]")
	plain.WaitForText("[data-language=go] pre", "package main")
	plain.Fill("q", "void")
	plain.Press(kb.Enter)
	plain.ClickText("#found a", "Void a transaction")
	plain.WaitForText("#voidTransaction", "Void a transaction")
	if plain.WaitUntilGone(".try"); plain.Path() != "/docs/reference/transactions" {
		t.Errorf("the result leads to %s", plain.Path())
	}
}
