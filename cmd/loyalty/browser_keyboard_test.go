package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/web/browsertest"
)

// "Keyboard access": the focus is never lost, and what was asked is left where it was
// asked.
func testKeyboard(t *testing.T, c cafe) {
	p := c.page(t)
	c.signIn(t, p, core.Manager)
	focus := func(selector string) {
		t.Helper()
		if !browsertest.Run(p, chromedp.Evaluate[bool](fmt.Sprintf("document.activeElement.matches(%q)", selector))) {
			t.Errorf("the focus is not on %s but on %s", selector, browsertest.Run(p, chromedp.Evaluate[string]("document.activeElement.outerHTML")))
		}
	}
	p.Fill("field-search", "anna lindqv")
	p.ClickText("#customers tbody a", "Anna Lindqvist")

	// A menu, a question out of it, and back.
	p.Click("main .menu-end summary")
	p.Click(linkTo("/deactivate"))
	p.WaitFor("#dialog")
	p.Press(kb.Escape)
	p.Press(kb.Enter) // what opens the menu has the focus again
	p.Press(kb.Tab)
	focus(linkTo("/deactivate"))
	for range 3 {
		p.Press(kb.Tab) // out of the menu, which closes
	}
	p.Click("#customer-edit")
	p.WaitFor(submitOf("/edit"))
	p.Click("#customer-edit") // cancels
	p.WaitFor(".profile-amounts")
	focus("#customer-edit")

	// The form in the place of the card, refused, and left.
	p.Click("#customer-edit")
	p.Fill("phone", "x")
	p.Click(submitOf("/edit"))
	p.WaitFor("#customer " + refused)
	focus(refused)
	p.Click("#customer-edit")
	p.WaitFor(".profile-amounts")
	focus("#customer-edit")

	// The dialog, refused: why comes first, before the field.
	p.Click(linkTo("/adjust"))
	p.Fill("amount", "12,50")
	p.Fill("reason", "A test")
	p.Click(submitOf("/adjust"))
	p.WaitFor("#dialog " + refused)
	focus(refused)
	p.Press(kb.Escape)
	focus(linkTo("/adjust"))

	// "`/` or Ctrl-K opens instant results of customers with Sell, Redeem and Open, arrows and Enter."
	p.Open("/admin/transactions")
	p.Press("/")
	p.WaitFor("#search-text")
	p.Fill("search-text", "anna")
	p.WaitFor("#search .search-row.selected mark")
	focus("#search-text")
	p.Press(kb.ArrowDown)
	p.Press(kb.ArrowUp)
	p.Press(kb.Enter)
	p.WaitFor("#field-spend_amount_cents")
	if !strings.HasPrefix(p.Path(), "/admin/transactions/new?customer_ulid=") {
		t.Errorf("Enter leads to %s", p.Path())
	}
	// Someone who types fast presses Enter before the results are there.
	p.Open("/admin/transactions")
	p.Press("/")
	p.WaitFor("#search-text")
	p.Fill("search-text", "anna")
	p.Press(kb.Enter)
	p.WaitFor("#field-spend_amount_cents")
	p.Open("/admin/transactions")
	p.Click(".topbar-search")
	p.WaitFor("#search .search-row.selected")
	p.Press(kb.Escape)
	focus(".topbar-search")

	p.Open("/admin/customers")
	first := p.Text("#customers tbody tr:first-child")
	p.Click("#page-next")
	p.WaitFor("#page-first")
	focus("#page-next")
	if p.Text("#customers tbody tr:first-child") == first {
		t.Error("the next page is the same")
	}
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
		p.Open("/admin" + path)
		testOverflow(t, p, 360, 1440)
	}
}

// testOverflow finds nothing wider than the window, in windows of these widths.
func testOverflow(t *testing.T, p *browsertest.Page, widths ...int64) {
	t.Helper()
	for _, width := range widths {
		p.Resize(width, 900)
		for _, wide := range p.Overflow() {
			t.Errorf("%s at %d px scrolls sideways: %s", p.Path(), width, wide)
		}
	}
}

// "So that no record can break a report": the charts of sums that say no more than 2^63−1 are
// drawn, and their numbers have room on a phone.
func testHugeRecords(t *testing.T, c cafe) {
	p := c.invited(t, "bazaar", "Bazaar")
	d := connect(t, c.in.url())
	ask[int](d, `
		with shop as (
			select id from loyalty.tenant where slug = 'bazaar'
		), kind as (
			insert into loyalty.transaction_type (tenant_id, name, rule_type, created_at) select id, 'Purchase', 'points', now() from shop returning id
		), buyer as (
			insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
			select id, loyalty.new_ulid(now()), 'Bo', 'Ek', n::text, n::text, now(), now() from shop, generate_series(1111, 1113) n returning tenant_id, id
		), account as (
			insert into loyalty.account (tenant_id, customer_id, points) select tenant_id, id, 9000000000000000000 from buyer
		), sale as (
			insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents, points_awarded, source,
				actor_kind, actor_id, actor_name, created_at)
			select b.tenant_id, loyalty.new_ulid(now()), b.id, kind.id, 'points', 1000000000000, 9000000000000000000, 'api', 'system', '', 'test', now()
			from buyer b, kind returning id
		)
		select count(*)::int from sale`)
	for _, path := range []string{"", "/reports", "/reports/customers?by=points", "/customers"} {
		look(t, p, "huge"+strings.NewReplacer("/", "-", "?by=points", "").Replace(path), func() {
			p.Open("/admin" + path)
			if path == "" || path == "/reports" {
				p.WaitFor("figure[data-drawn] figcaption")
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
	// One of them has a first name of a hundred letters.
	word := ask[core.ID](d, "select x.id from loyalty.customer x join loyalty.tenant t on t.id = x.tenant_id where t.slug = 'bazaar' and first_name like 'WWW%'").String()
	for _, path := range []string{
		"/till/customers/" + word, "/till/customers/" + word + "/card", "/admin/customers/" + word, "/admin/customers/" + word + "/edit", "/admin/customers/" + word + "/adjust",
		"/admin/customers/" + word + "/merge", "/admin/redemptions/new?customer_ulid=" + word, "/admin/transactions/new?customer_ulid=" + word, "/admin/search?search=WWW", "/till/customers/" + buyer + "/card",
		"/admin", "/admin/reports", "/admin/reports/customers?by=points", "/admin/customers", "/admin/customers/" + buyer, "/admin/customers/" + buyer + "?view=transactions",
		"/admin/customers/" + buyer + "/adjust", "/admin/transactions", "/admin/transactions/" + sale, "/admin/transactions/new?customer_ulid=" + buyer,
		"/admin/types", "/admin/settings", "/admin/settings/staff", "/admin/audit", "/till", "/till/customers/" + buyer, "/till/receipts/" + sale,
	} {
		p.Open(path)
		testOverflow(t, p, 390, 1440)
	}
}
