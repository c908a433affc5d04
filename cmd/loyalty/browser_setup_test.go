package main

import (
	"fmt"
	"net/http"
	"testing"

	"example.com/loyalty/web/browsertest"
)

// invited is a tab in which the owner of a new business has accepted their invitation.
func (c cafe) invited(t *testing.T, slug, name string) *browsertest.Page {
	t.Helper()
	platform := c.in.sandbox(t).Platform
	c.expect(t, http.StatusCreated, "POST", "/api/v1/platform/tenants", platform.Token, fmt.Sprintf(
		`{"name":%q,"slug":%q,"email":"%s@example.com","plan_id":%d,"billing_cycle":%q,"payment_method":%q}`,
		name, slug, slug, platform.TenantCreate.PlanID, platform.TenantCreate.BillingCycle, platform.TenantCreate.PaymentMethod))
	d := connect(t, c.in.url())
	await(t, "the invitation is delivered", func() bool {
		return ask[int](d, "select count(*) from loyalty.mail where status = 'kept' and recipient = '"+slug+"@example.com'") == 1
	})
	p := c.browser.NewPage(t, c.address(slug))
	c.mail(t, p.Open)
	p.Click("Choose a password for " + name)
	p.Open(p.Text(".plain a[href*=invitation]"))
	p.Fill("Your name", "Ida Lund")
	p.Fill("New password", "a shelf of old maps")
	p.Click("Create account")
	return p
}

// "Setting one up guides its owner through country, currency and time zone (locked at the
// first sale), the earning rule, a first reward, a first customer, a first sale".
func testSetup(t *testing.T, c cafe) {
	p := c.invited(t, "lund", "Blommor Lund")
	p.WaitFor("Where is your business?")
	look(t, p, "setup-business", "", stays)
	p.Click("Save and continue")

	p.WaitFor("How do customers earn?")
	p.Fill("A customer gets", "2")
	p.WaitFor("+28 points") // the example follows what is typed
	look(t, p, "setup-rule", "", stays)
	p.Click("Save rule")

	p.WaitFor("What can customers get?")
	p.Fill("Reward", "Tulips")
	p.Fill("Costs", "75")
	p.Fill("Usual sale", "9")
	p.WaitFor("About 5 sales")
	look(t, p, "setup-reward", "", stays)
	p.Click("Save reward")

	p.WaitFor("Who is your first customer?")
	p.Fill("Phone", "+46 74 333 44 55")
	look(t, p, "setup-customer", "", stays)
	p.Click("Add customer")

	p.WaitFor("Record a first sale")
	p.Fill("Amount", "12.50")
	p.WaitFor("+24 points")
	look(t, p, "setup-sale", "", stays)
	p.Click("Record sale")

	p.WaitFor("Your first sale is recorded")
	look(t, p, "setup-recorded", "", stays)
	p.Click("Continue")
	p.WaitFor("Your programme is ready")
	look(t, p, "setup-done", "", stays)
	p.Click("Go to dashboard")
	p.WaitFor("POINTS ISSUED")

	look(t, p, "billing", "", func() { p.Open("/admin/settings/billing") })
}

// The guide is plain forms: it works without scripts, and leaving keeps what was saved.
func testSetupWithoutJavaScript(t *testing.T, c cafe) {
	p := c.invited(t, "ekbo", "Snickeri Ekbo")
	p.WaitFor("Where is your business?")
	p.WithoutJavaScript()
	p.Open("/admin/setup/rule")
	p.Fill("A customer gets", "3")
	p.Click("Update example")
	p.WaitFor("+42 points")
	p.Click("Save rule")
	p.WaitFor("What can customers get?")
	p.Click("Skip step")
	p.WaitFor("Who is your first customer?")
	p.Open("/admin")
	p.WaitFor("Finish setting up: step 1 of 5")
}
