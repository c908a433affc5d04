package main

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/web/browsertest"
)

const levelsPath = "/admin/settings/programme/levels"

// An owner sets levels up, adds two and launches them. When earlier sales are counted, the customer's page, their card and the till
// show the level.
func testLevels(t *testing.T, c cafe) {
	w := c.walkins(t, "Café Nivå", "#165c47")
	anna := w.customer(t, "Anna", "+46 8 465 004 61")
	w.complete(t, nil, anna.ID, 32_050)
	c.hiredAt(t, w.by.Tenant.ID, core.Owner, "Nils Nivå", "nils@levels.example")
	p := w.browser.NewPage(t, w.home())
	c.fillSignIn(t, p, "nils@levels.example")
	look(t, p, "levels-none", func() { p.Open(levelsPath) })
	p.Open(levelsPath + "/rules")
	look(t, p, "levels-rules", nil)
	confirmLevels(p)
	addLevel(p, "Silver", "150", "120", "A free refill")
	p.Open(levelsPath + "/new")
	p.Click(submitOf(levelsPath + "/preview"))
	p.WaitFor("#field-name-error")
	p.Faults() // the browser's own, of a form that was refused
	look(t, p, "levels-refused", nil)
	addLevel(p, "Gold", "400", "150", "A coffee on your birthday\nSkip the queue on Saturdays")
	look(t, p, "levels-off", nil)
	p.ClickText("main .btn-primary", "Launch levels")
	p.WaitFor(submitOf(levelsPath))
	look(t, p, "levels-launch", nil)
	p.Click(submitOf(levelsPath))
	p.WaitFor("#counting .card")
	look(t, p, "levels-counting", nil)
	d := connect(t, c.in.url())
	await(t, "earlier sales are counted", func() bool {
		return ask[int64](d, "select count(*) from loyalty.level_programme where tenant_id = $1 and not counting", w.by.Tenant.ID) == 1
	})
	look(t, p, "levels", func() { p.Open(levelsPath) })
	look(t, p, "levels-customer", func() { p.Open("/admin/customers/" + anna.ID.String()) })
	look(t, p, "levels-change", func() { p.Open("/admin/customers/" + anna.ID.String() + "/level") })
	look(t, p, "levels-till", func() { p.Open("/till/customers/" + anna.ID.String()) })
	w.complete(t, nil, anna.ID, 12_000)
	look(t, p, "levels-card", func() { p.Open(w.card(t, anna)) })
}

// addLevel adds a level, after its preview.
func addLevel(p *browsertest.Page, name, threshold, percent, perks string) {
	p.Open(levelsPath + "/new")
	p.Fill("name", name)
	p.Fill("threshold", threshold)
	p.Fill("percent", percent)
	p.Fill("perks", perks)
	confirmLevels(p)
}

// confirmLevels previews the form on the page, and saves it.
func confirmLevels(p *browsertest.Page) {
	p.Click(submitOf(levelsPath + "/preview"))
	p.WaitFor(submitOf(levelsPath))
	p.Click(submitOf(levelsPath))
	p.WaitForText("main", "Rules")
}
