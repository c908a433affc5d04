package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core"
)

// "Sign in, create a customer, record, void, create a token and use it against the API."
func testDay(t *testing.T, c cafe) {
	p := c.page(t)
	c.signIn(t, p, core.Owner)
	p.Within("main").Click("Add customer")
	p.Fill("First name", "Torsten")
	p.Fill("Last name", "Granath")
	p.Fill("Phone", "+46 74 555 66 77")
	p.Within("main").Click("Add customer")
	p.WaitFor("Torsten Granath is a customer now.")

	p.Within("main").Click("Record a sale")
	p.Fill("Amount", "24.50")
	p.WaitFor("Earns 24 points")
	p.Click("Record the sale")
	p.WaitFor("€\u00a024.50 recorded: 24 points earned.")
	p.WaitFor("Earned by a sale of €\u00a024.50")

	// Asked in a dialog, and left by Escape before it is done.
	p.Click("Sales")
	p.Within("#history tbody").Click("Void")
	p.WaitFor("This cannot be undone.")
	p.Press("Escape")
	p.Within("#history tbody").Click("Void")
	p.Click("Void the sale")
	p.WaitFor("The sale is voided, and the 24 points it earned are taken back.")
	p.Click("Torsten Granath")
	if got := p.Text(".customer-balances"); !strings.HasPrefix(got, "POINTS 0") {
		t.Errorf("the balances are %q", got)
	}
	p.WaitFor("Taken back: a sale of €\u00a024.50 was voided")

	p.Open("/admin/settings/tokens")
	p.Click("New token")
	p.Fill("Name", "Web shop")
	p.Click("See customers")
	p.Click("Make the token")
	secret := p.Text("#secret")
	found := c.expect(t, http.StatusOK, "GET", "/api/v1/customers?phone=%2B46745556677", secret, "")
	type named struct {
		LastName string `json:"last_name"`
	}
	if got := decode[many[named]](t, found.body).Data; !slices.Equal(got, []named{{"Granath"}}) {
		t.Errorf("customers with the new one's phone are %v", got)
	}
	c.expect(t, http.StatusForbidden, "GET", "/api/v1/rewards", secret, "")
	p.Click("I have copied it")
	p.Within("tr:has([aria-label='Revoke Web shop'])").Click("Revoke Web shop")
	p.Click("Revoke the token")
	p.WaitFor("“Web shop” is revoked. It is refused from now on.")
	c.expect(t, http.StatusUnauthorized, "GET", "/api/v1/customers", secret, "")
}

// An owner who was invited makes a programme out of nothing: "A new tenant sees the three
// first steps instead of empty charts."
func testNewBusiness(t *testing.T, c cafe) {
	platform := c.in.sandbox(t).Platform
	c.expect(t, http.StatusCreated, "POST", "/api/v1/platform/tenants", platform.Token, fmt.Sprintf(
		`{"name":"Bokhandel Ask","slug":"ask","email":"ask@example.com","plan_id":%d,"billing_cycle":%q,"payment_method":%q}`,
		platform.TenantCreate.PlanID, platform.TenantCreate.BillingCycle, platform.TenantCreate.PaymentMethod))
	d := connect(t, c.in.url())
	await(t, "the invitation is delivered", func() bool {
		return ask[int](d, "select count(*) from loyalty.mail where status = 'kept' and recipient = 'ask@example.com'") == 1
	})
	p := c.browser.NewPage(t, c.address("ask"))
	c.mail(t, p.Open)
	p.Click("Choose a password for Bokhandel Ask")
	p.Open(p.Text(".plain a[href*=invitation]"))
	look(t, p, "invitation", "", stays)
	p.Fill("Your name", "Ask Hall")
	p.Fill("New password", "a shelf of old maps")
	p.Click("Create account")

	p.WaitFor("Where is your business?")
	p.Click("Finish later")
	p.WaitFor("Finish setting up: step 1 of 5")
	look(t, p, "dashboard-setup", "", stays)
	p.Click("Dismiss")
	p.WaitFor("Welcome to Bokhandel Ask")
	look(t, p, "first-steps", "", stays)
	for page, empty := range map[string]string{
		"customers": "No customers yet", "transactions": "No sales yet", "rewards": "", "redemptions": "", "coupons": "", "types": "Nothing earns yet",
		"locations": "", "reports": "", "audit": "", "settings/tokens": "No tokens yet",
	} {
		look(t, p, "empty-"+strings.ReplaceAll(page, "/", "-"), "", func() {
			p.Open("/admin/" + page)
			p.WaitFor(empty)
		})
	}

	p.Open("/admin")
	p.Click("Add a transaction type")
	p.Fill("Name", "Books")
	p.Click("Make the type")
	p.Open("/admin")
	p.Click("Add a customer")
	p.Fill("First name", "Ask")
	p.Fill("Last name", "Hall")
	p.Fill("Phone", "+46 74 222 33 44")
	p.Within("main").Click("Add customer")
	p.Open("/admin")
	p.Within("main").Click("Record a sale")
	p.WaitFor("Newest customers")
	p.Within("#found").Click("Ask Hall")
	p.Fill("Amount", "180")
	p.WaitFor("Earns 180 points")
	p.Click("Record the sale")
	p.Open("/admin")
	p.WaitFor("POINTS ISSUED")
	look(t, p, "dashboard-first-sale", "", stays)
}
