package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/web/browsertest"
)

// "Keyboard access": the focus is never lost, and what was asked is left where it was
// asked.
func testKeyboard(t *testing.T, c cafe) {
	p := c.page(t)
	c.signIn(t, p, core.Manager)
	focus := func(want string) {
		t.Helper()
		if got := p.Text(":focus"); !strings.HasPrefix(got, want) {
			t.Errorf("the focus is on %q, want %q", got, want)
		}
	}
	p.Fill("Search", "lindqv")
	p.WaitFor("Anna Lindqvist")
	p.Open(anna(p))

	// A menu, a question out of it, and back.
	p.Click("More actions")
	p.Within(".page-header").Click("Deactivate")
	p.WaitFor("earns and redeems nothing until")
	p.Press("Escape")
	p.Press("Enter") // what opens the menu has the focus again
	p.Press("Tab")
	focus("Deactivate")
	for range 3 {
		p.Press("Tab") // out of the menu, which closes
	}
	p.Within("#customer").Click("Edit")
	p.Within("#customer").Click("Cancel")
	focus("Edit")

	// The form in the place of the card, refused, and left.
	p.Within("#customer").Click("Edit")
	p.Fill("Phone", "x")
	p.Expect(http.StatusUnprocessableEntity)
	p.Within("#customer").Click("Save")
	p.WaitFor("The phone field must be")
	focus(says("Phone", core.MustBePhone))
	p.Within("#customer").Click("Cancel")
	p.WaitFor("CUSTOMER SINCE")
	focus("Edit")

	// The dialog, refused: why comes first, before the field.
	p.Within(".page-header").Click("Adjust balance")
	p.Fill("Change", "12,50")
	p.Fill("Reason", "A test")
	p.Within("#dialog").Click("Adjust the balance")
	p.WaitFor(says("Change", core.MustBeInteger))
	focus(says("Change", core.MustBeInteger))
	p.Press("Escape")
	focus("Adjust balance")

	p.Open("/admin/customers")
	first := p.Text("#customers tbody tr:first-child")
	p.Within("#customers").Click("Next")
	p.WaitFor("First")
	focus("Next")
	if p.Text("#customers tbody tr:first-child") == first {
		t.Error("the next page is the same")
	}
}

// anna is the address of the one who was found.
func anna(p *browsertest.Page) string {
	for _, link := range p.Links() {
		if strings.Contains(link, "/admin/customers/0") {
			return link
		}
	}
	return ""
}

// Names as wide as the page, in any writing, are broken: no page scrolls sideways for them,
// and none of them is a script.
func testWideNames(t *testing.T, c cafe) {
	customer := c.expect(t, http.StatusCreated, "POST", "/api/v1/customers", c.token,
		`{"first_name":"`+strings.Repeat("W", 100)+`","last_name":"<script>alert(1)</script> שלום 👩‍👩‍👧","phone":"+46 74 999 88 77"}`)
	ulid := decode[struct{ Data struct{ ULID string } }](t, customer.body).Data.ULID
	c.expect(t, http.StatusCreated, "POST", "/api/v1/transactions", c.token,
		`{"customer_ulid":"`+ulid+`","transaction_type_id":`+c.demoTill(t).typeID+`,"spend_amount_cents":999999999999}`)
	p := c.page(t)
	c.signIn(t, p, core.Owner)
	for _, path := range []string{
		"", "/customers", "/customers/" + ulid, "/customers/" + ulid + "/edit", "/customers/" + ulid + "/erase", "/transactions", "/reports", "/reports/customers",
		"/transactions/new?search=+46749998877", "/transactions/new?customer_ulid=" + ulid, "/redemptions/new?customer_ulid=" + ulid, "/audit",
	} {
		for _, width := range []int{360, 1440} {
			p.Emulate(width, 900, false)
			p.Open("/admin" + path)
			for _, wide := range p.Sideways() {
				t.Errorf("/admin%s at %d px scrolls sideways: %s", path, width, wide)
			}
		}
	}
}

// "So that no record can break a report": the charts of sums that say no more than 2^63−1 are
// drawn, and their numbers have room on a phone.
func testHugeRecords(t *testing.T, c cafe) {
	platform := c.in.sandbox(t).Platform
	c.expect(t, http.StatusCreated, "POST", "/api/v1/platform/tenants", platform.Token, fmt.Sprintf(
		`{"name":"Bazaar","slug":"bazaar","email":"bazaar@example.com","plan_id":%d,"billing_cycle":%q,"payment_method":%q}`,
		platform.TenantCreate.PlanID, platform.TenantCreate.BillingCycle, platform.TenantCreate.PaymentMethod))
	d := connect(t, c.in.url())
	await(t, "the invitation is delivered", func() bool {
		return ask[int](d, "select count(*) from loyalty.mail where status = 'kept' and recipient = 'bazaar@example.com'") == 1
	})
	ask[int](d, `
		with shop as (
			select id from loyalty.tenant where slug = 'bazaar'
		), kind as (
			insert into loyalty.transaction_type (tenant_id, name, rule_type, created_at) select id, 'Purchase', 'points', now() from shop returning id
		), buyer as (
			insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
			select id, loyalty.new_ulid(now()), 'Bo', 'Ek', n::text, n::text, now(), now() from shop, generate_series(1111, 1112) n returning tenant_id, id
		), account as (
			insert into loyalty.account (tenant_id, customer_id, points) select tenant_id, id, 9000000000000000000 from buyer
		), sale as (
			insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents, points_awarded, source,
				actor_kind, actor_id, actor_name, created_at)
			select b.tenant_id, loyalty.new_ulid(now()), b.id, kind.id, 'points', 1000000000000, 9000000000000000000, 'api', 'system', '', 'test', now()
			from buyer b, kind returning id
		)
		select count(*)::int from sale`)
	p := c.browser.NewPage(t, c.address("bazaar"))
	c.mail(t, p.Open)
	p.Click("Choose a password for Bazaar")
	p.Open(p.Text(".plain a[href*=invitation]"))
	p.Fill("Your name", "Noor Hall")
	p.Fill("New password", "a shelf of old maps")
	p.Click("Create account")
	for _, path := range []string{"", "/reports", "/reports/customers?by=points", "/customers"} {
		look(t, p, "huge"+strings.NewReplacer("/", "-", "?by=points", "").Replace(path), "", func() {
			p.Open("/admin" + path)
			if path == "" || path == "/reports" {
				p.Text("figure[data-drawn] figcaption")
			}
		})
	}
	if *screenshots != "" {
		return
	}
	// The longest texts, the largest amounts and the oldest dates have room, too.
	dbtest.ExtremeOn(t, d, core.TenantID(ask[int64](d, "select id from loyalty.tenant where slug = 'bazaar'")))
	one := func(table string) string {
		return ask[core.ID](d, "select x.id from loyalty."+table+" x join loyalty.tenant t on t.id = x.tenant_id where t.slug = 'bazaar' limit 1").String()
	}
	buyer, sale := one("customer"), one("transaction")
	for _, path := range []string{
		"/admin", "/admin/reports", "/admin/reports/customers?by=points", "/admin/customers", "/admin/customers/" + buyer, "/admin/customers/" + buyer + "?view=transactions",
		"/admin/customers/" + buyer + "/adjust", "/admin/transactions", "/admin/transactions/" + sale, "/admin/transactions/new?customer_ulid=" + buyer,
		"/admin/types", "/admin/settings", "/admin/settings/staff", "/admin/audit", "/till", "/till/customers/" + buyer, "/till/receipts/" + sale,
	} {
		for _, width := range []int{390, 1440} {
			p.Emulate(width, 900, false)
			p.Open(path)
			for _, wide := range p.Sideways() {
				t.Errorf("%s at %d px scrolls sideways: %s", path, width, wide)
			}
		}
	}
}
