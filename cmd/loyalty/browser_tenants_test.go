package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/loyalty/web/browsertest"
)

// chosen is the currency and the time zone that a form of a tenant has.
const chosen = "document.querySelector('#field-currency').value + ' ' + document.querySelector('#field-timezone').value"

// A super-admin adds a tenant, suspends it and reactivates it; every page on the way is fit to
// be read by everyone.
func testTenants(t *testing.T, c cafe) {
	p := c.browser.NewPage(t, c.address(""))
	c.signInAdmin(t, p, "Tove Root", "tove@loyalty.example")
	open := func(path string) func() { return func() { p.Open(path) } }
	// The pages of the list and of the form are among the views.
	p.Open("/platform/tenants")
	p.Click(linkTo("/tenants/new"))
	// The name proposes the address while it is typed, until another is entered.
	p.Fill("name", "Kahvila Meri & Pojat")
	p.WaitFor("#field-slug[value=kahvila-meri-and-pojat]")
	p.Fill("slug", "kahvila-meri")
	p.Fill("name", "Kahvila Meri")
	// The country sets currency and time zone.
	p.Fill("country", "SE")
	if got := browsertest.Run(p, chromedp.Evaluate[string](chosen)); got != "SEK Europe/Stockholm" {
		t.Errorf("Sweden chooses %s", got)
	}
	// "The errors beside the fields."
	p.Click(submitOf("/tenants/new"))
	p.WaitFor("#field-email-error")
	if slug := browsertest.Run(p, chromedp.Evaluate[string]("document.querySelector('#field-slug').value")); slug != "kahvila-meri" {
		t.Errorf("the entered address became %s", slug)
	}
	look(t, p, "tenant-refused", nil)
	p.Fill("email", "meri@kahvila.example")
	p.Fill("plan_id", ask[string](connect(t, c.in.url()), "select id::text from loyalty.plan where name = 'Free'"))
	p.Fill("country", "FI")
	if got := browsertest.Run(p, chromedp.Evaluate[string](chosen)); got != "EUR Europe/Helsinki" {
		t.Errorf("Finland chooses %s", got)
	}
	p.Click(submitOf("/tenants/new"))
	p.WaitForText(done, "meri@kahvila.example")
	path := p.Path()
	look(t, p, "tenant", nil)
	look(t, p, "tenant-edit", open(path+"/edit"))

	p.Open(path)
	p.Click("[aria-labelledby=invite-title] button")
	p.WaitFor(done)

	p.Click(linkTo("/suspend"))
	p.WaitFor("#dialog form")
	look(t, p, "tenant-suspend-dialog", nil)
	p.Click(submitOf("/suspend"))
	p.WaitFor("#field-reason-error")
	p.Fill("reason", "Asked for by the owner.")
	p.Click(submitOf("/suspend"))
	p.WaitForText(done, "Kahvila Meri")
	p.WaitForText(".tenant-reason", "Asked for by the owner.")
	look(t, p, "tenant-suspended", nil)

	// "Its panel shows a plain notice", on each of its pages.
	theirs := c.browser.NewPage(t, c.address("kahvila-meri"))
	for name, path := range map[string]string{"suspended": "/admin/sign-in", "suspended-till": "/till", "suspended-join": "/join"} {
		look(t, theirs, name, func() {
			theirs.Expect(http.StatusForbidden)
			theirs.Open(path)
		})
	}
	look(t, p, "tenant-reactivate", open(path+"/reactivate"))

	// From the list, found as it is typed.
	p.Open("/platform/tenants")
	p.Fill("field-search", "meri")
	p.WaitForText("#tenants .card-footer", "1–1 ")
	if at := p.Path(); !strings.Contains(at, "search=meri") {
		t.Errorf("the list is at %s", at)
	}
	counts := browsertest.Run(p, chromedp.Evaluate[string]("[...document.querySelectorAll('#tenant-tabs .num')].map((el) => el.textContent).join(' ')"))
	if counts != "1 0 0 0 1" { // all, active, setting up, late, suspended
		t.Errorf("the tabs count %s", counts)
	}
	p.Click(".tenants tbody summary")
	p.Click(".tenants " + linkTo("/reactivate"))
	p.Click(submitOf("/reactivate"))
	p.WaitForText(done, "Kahvila Meri")

	// Without scripts, too.
	plain := p.NewTab(t)
	plain.DisableScripts()
	plain.Open(path)
	plain.Click(linkTo("/suspend"))
	plain.Fill("reason", "Once more.")
	plain.Click(submitOf("/suspend"))
	plain.WaitForText(done, "Kahvila Meri")
}
