package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"example.com/loyalty/core"
)

// "Sign in, create a customer, record, void, create a token and use it against the API."
func testDay(t *testing.T, c cafe) {
	p := c.page(t)
	c.signIn(t, p, core.Owner)
	p.Click("main " + linkTo("/admin/customers/new"))
	p.Fill("first_name", "Torsten")
	p.Fill("last_name", "Granath")
	p.Fill("phone", "+46 74 555 66 77")
	p.Click(submitOf("/admin/customers/new"))
	p.WaitForText(done, "Torsten Granath")

	p.Click("main a[href^='/admin/transactions/new']")
	typeAmount("24.50", amountRead)(p)
	p.WaitForText(earned, "24 ")
	p.Click(submitOf("/admin/transactions/new"))
	p.WaitForText(done, "24.50")
	p.WaitForText(".timeline-day + .timeline-entry", "24.50")
	p.WaitForText(".timeline-day + .timeline-entry .timeline-amount", "24")

	// Asked in a dialog, and left by Escape before it is done.
	p.Click("#history " + linkTo("view=transactions"))
	p.Click("#history tbody .row-menu-button")
	p.Click("#history tbody " + linkTo("/void"))
	p.WaitFor("#dialog form")
	p.Press(kb.Escape)
	p.Click("#history tbody .row-menu-button")
	p.Click("#history tbody " + linkTo("/void"))
	p.Fill("reason", "Wrong amount")
	p.Click(submitOf("/void"))
	p.WaitForText(done, "24 ")
	p.Click("#view-timeline") // the void leads back to the customer's sales
	if got := p.Text(".profile-amounts strong"); got != "0" {
		t.Errorf("the balance is %q", got)
	}
	p.WaitForText(".timeline-day + .is-voided .timeline-amount", "0 points")

	p.Open("/admin/settings/tokens")
	p.Click(linkTo("/tokens/new"))
	p.Fill("name", "Web shop")
	p.Click(choice("scopes", "customers:read"))
	p.Click(submitOf("/tokens/new"))
	secret := p.Text("#secret")
	found := c.expect(t, http.StatusOK, "GET", "/api/v1/customers?phone=%2B46745556677", secret, "")
	type named struct {
		LastName string `json:"last_name"`
	}
	if got := decode[many[named]](t, found.body).Data; !slices.Equal(got, []named{{"Granath"}}) {
		t.Errorf("customers with the new one's phone are %v", got)
	}
	c.expect(t, http.StatusForbidden, "GET", "/api/v1/rewards", secret, "")
	p.Open("/admin/settings/tokens")
	id, _, _ := strings.Cut(secret, "|")
	p.Click(linkTo("/" + id + "/revoke"))
	p.Click(submitOf("/revoke"))
	p.WaitForText(done, "Web shop")
	c.expect(t, http.StatusUnauthorized, "GET", "/api/v1/customers", secret, "")
}

// An owner who was invited makes a programme out of nothing: "A new tenant sees the three
// first steps instead of empty charts."
func testNewBusiness(t *testing.T, c cafe) {
	p := c.invitation(t, "ask", "Bokhandel Ask")
	look(t, p, "invitation", nil)
	accept(p)
	p.Click("header " + linkTo("/admin"))
	p.WaitFor(".setup-banner " + linkTo("/admin/setup/business"))
	look(t, p, "dashboard-setup", nil)
	p.Click(submitOf("/admin/setup/dismiss"))
	p.WaitFor(".first-steps " + linkTo("/types/new"))
	look(t, p, "first-steps", nil)
	for _, page := range []string{"customers", "transactions", "rewards", "redemptions", "coupons", "types", "locations", "reports", "audit", "settings/tokens"} {
		look(t, p, "empty-"+strings.ReplaceAll(page, "/", "-"), func() { p.Open("/admin/" + page) })
		if slices.Contains([]string{"customers", "transactions", "types", "settings/tokens"}, page) {
			p.WaitFor(".empty")
		}
	}

	look(t, p, "country-needed", func() { p.Open("/admin/customers/new") })
	p.Click("main .empty a")
	p.Fill("country", "SE")
	p.Click(submitOf("/settings/business"))
	p.WaitFor(done)

	p.Open("/admin")
	p.Click(".first-steps " + linkTo("/types/new"))
	p.Fill("name", "Books")
	p.Click(submitOf("/types/new"))
	p.Open("/admin")
	p.Click(".first-steps " + linkTo("/customers/new"))
	p.Fill("first_name", "Ask")
	p.Fill("last_name", "Hall")
	p.Fill("phone", "+46 74 222 33 44")
	p.Click(submitOf("/customers/new"))
	p.Open("/admin")
	p.Click(".first-steps " + linkTo("/transactions/new"))
	p.ClickText("#found a", "Ask Hall")
	typeAmount("180", amountRead)(p)
	p.WaitForText(earned, "180 ")
	p.Click(submitOf("/admin/transactions/new"))
	p.Open("/admin")
	p.WaitFor(".dashboard")
	look(t, p, "dashboard-first-sale", nil)
}
