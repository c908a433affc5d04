package main

import (
	"testing"

	"example.com/loyalty/core"
)

const pointsRule = "/admin/settings/programme/points"

// An owner sees what another rule would do, and keeps the one that there is: the café's points go on as they were.
func testProgramme(t *testing.T, c cafe) {
	p := c.browser.NewPage(t, c.address("demo"))
	c.signIn(t, p, core.Owner)
	p.Open(pointsRule)
	p.Click("label:has([name=expiry][value=after])")
	p.Fill("months", "121")
	p.Fill("round_to", "quarter")
	look(t, p, "programme-form", nil)
	p.Click(submitOf(pointsRule + "/preview"))
	p.WaitFor("#field-months-error")
	p.Faults() // the browser's own, of a form that was refused
	look(t, p, "programme-refused", nil)
	p.Fill("months", "18")
	p.Click(submitOf(pointsRule + "/preview"))
	p.WaitFor(submitOf(pointsRule))
	look(t, p, "programme-preview", nil)
	p.ClickText("main .btn", "Keep current rule")
	p.WaitFor(submitOf(pointsRule + "/preview"))
}

// A rule is set without scripts, and read back.
func testProgrammeWithoutJavaScript(t *testing.T, c cafe) {
	p := c.invited(t, "regel", "Regel Café")
	p.DisableScripts()
	p.Open(pointsRule)
	p.Click("label:has([name=expiry][value=inactive])")
	p.Fill("months", "6")
	p.Click(submitOf(pointsRule + "/preview"))
	p.WaitForText(".rule-facts", "No customer has any.")
	p.Click(submitOf(pointsRule))
	p.WaitForText("#points", "after the customer’s last purchase or redemption")
}
