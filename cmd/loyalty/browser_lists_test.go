package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/loyalty/core"
	"example.com/loyalty/web/browsertest"
)

// Lists: "Sortable headings", "48–52 px rows, whole row clickable", "names in any order", "voiding from a list returns
// to the list with its filters; a reason is asked, and kept", and "a flash with Undo".
func testLists(t *testing.T, c cafe) {
	till := c.demoTill(t)
	made := decode[single[customerRecord]](t, c.expect(t, http.StatusCreated, "POST", "/api/v1/customers", c.token,
		`{"first_name":"Tuva","last_name":"Listberg","phone":"+46 74 555 66 99"}`).body).Data
	for _, cents := range []string{"1234", "5678"} {
		c.expect(t, http.StatusCreated, "POST", "/api/v1/transactions", c.token,
			`{"customer_ulid":"`+made.ULID+`","transaction_type_id":`+till.typeID+`,"spend_amount_cents":`+cents+`}`)
	}
	p := c.page(t)
	c.signIn(t, p, core.Manager)
	p.Click("#customers thead a[href*='sort=name']")
	p.WaitFor("#customers th[aria-sort=ascending]")
	p.Fill("field-search", "listberg tuva")
	p.WaitForText("#customers tbody tr:only-child a", "Tuva Listberg")

	p.Open("/admin/transactions?status=completed")
	p.Fill("field-search", "listberg tuva")
	p.WaitForText("#transactions tbody tr:nth-child(2):last-child", "12.34")
	for _, row := range browsertest.Run(p, chromedp.Evaluate[[]float64](`[...document.querySelectorAll("#transactions tbody tr")].map((row) => row.offsetHeight)`)) {
		if row < 48 || row > 52 {
			t.Errorf("a row of %v px", row)
		}
	}
	p.Fill("field-search", "56.78")
	p.WaitForText("#transactions tbody tr:only-child", "Tuva Listberg") // before, both sales were listed
	list := p.Path()
	p.Click("#transactions tbody tr:first-child .row-menu-button")
	p.Click("#transactions tbody tr:first-child " + linkTo("/void"))
	p.Fill("reason", "Goods returned")
	p.Click(submitOf("/void"))
	p.WaitFor(done)
	if at := p.Path(); at != list || !strings.Contains(at, "status=completed") {
		t.Errorf("a void from %s leads to %s", list, at)
	}
	p.Fill("field-search", "listb")
	p.WaitForText("#transactions tbody tr:only-child", "12.34")
	// In the cell of the amount, where the row's link is on top.
	p.Do(chromedp.Evaluate[chromedp.Void](`{
		const cell = document.querySelector("#transactions tbody td:nth-child(3)").getBoundingClientRect();
		document.elementFromPoint(cell.x + cell.width / 2, cell.y + cell.height / 2).click();
	}`))
	p.WaitFor("main " + linkTo("/void"))

	// A refused filter is marked beside its field, which stays, and the summary leads to it.
	p.Open("/admin/transactions")
	p.Click("th[aria-sort=descending] a")
	p.WaitFor("th[aria-sort=ascending]")
	if at := p.Path(); at != "/admin/transactions?sort=oldest" {
		t.Errorf("the heading of the date leads to %s", at)
	}
	p.Fill("from", "2026-02-02")
	p.Fill("to", "2026-02-01")
	p.WaitFor("#field-to.is-invalid[aria-invalid][aria-describedby=field-to-error]")
	p.Faults() // the browser's own, of a request that was refused
	p.Emulate(390, 900, true)
	p.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("details.filters").open = false`))
	p.Click("[data-refusal] a")
	if got := evaluate[string](p, "document.activeElement.id"); got != "field-to" {
		t.Errorf("the summary of a refused filter leads to %q", got)
	}
	look(t, p, "filter-refused", nil)
	p.Emulate(1280, 900, false)
	p.Fill("to", "2026-02-03")
	p.WaitUntilGone("[data-refusal], #field-to-error, #field-to[aria-invalid]")
	if at := p.Path(); !strings.Contains(at, "sort=oldest") || !strings.Contains(at, "to=2026-02-03") {
		t.Errorf("the filters forget the order: %s", at)
	}

	// "More filters" hides what isn't chosen, and only that.
	p.Open("/admin/transactions")
	pickers := func() string {
		return evaluate[string](p, `[...document.querySelectorAll(".rare-filters select")].filter((s) => s.checkVisibility()).map((s) => s.name).join(" ")`)
	}
	if got := pickers(); got != "" {
		t.Errorf("before a choice, %s show", got)
	}
	p.Click(".rare-filters summary")
	p.Fill("source", "api")
	p.Click(".rare-filters summary")
	p.WaitForText("#transactions tbody tr:first-child", "API")
	if got := pickers(); got != "source" || !strings.Contains(p.Path(), "source=api") {
		t.Errorf("after the choice of a source, %q show at %s", got, p.Path())
	}

	p.Open("/admin/customers/" + made.ULID)
	p.Click("main .menu-end summary")
	p.Click(linkTo("/deactivate"))
	p.Click(submitOf("/deactivate"))
	p.WaitFor(done)
	p.Click("#flashes " + submitOf("/activate"))
	p.WaitForText("#customer .badge", "Active")
}
