package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/loyalty/web/browsertest"
)

// "draft → issued → paid or overdue, void; mark paid by hand": a super-admin sets who issues
// invoices, issues a draft, and marks it as paid; another draft is voided for a reason.
func testPlatformInvoices(t *testing.T, c cafe) {
	d := connect(t, c.in.url())
	draft := func() (path string) {
		err := d.QueryRow(t.Context(), `
			with business as (
				insert into loyalty.tenant (name, slug, email, plan_id, billing_cycle, payment_method, status, timezone, currency, created_at)
				select 'Bageri Nord', 'nord-' || nextval('loyalty.invoice_id_seq'), 'nord@example.com', min(id), 'monthly', 'manual', 'suspended', 'Europe/Stockholm', 'EUR', now()
				from loyalty.plan
				returning id
			)
			insert into loyalty.invoice (tenant_id, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at)
			select id, 'EUR', '[{"description": "Growth plan, 1–31 May 2026", "quantity": 1, "unit_cents": 4900, "amount_cents": 4900}]', 4900, 0, 4900, '2026-05-01', '2026-05-31', now()
			from business
			returning '/platform/invoices/' || id`).Scan(&path)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	p := c.browser.NewPage(t, c.address(""))
	c.signInAdmin(t, p, "Ola Rehn", "ola@loyalty.example")
	status := func(want string) {
		t.Helper()
		id := p.Path()[strings.LastIndexByte(p.Path(), '/')+1:]
		if got := ask[string](d, "select status from loyalty.invoice where id::text = $1", id); got != want {
			t.Errorf("the status is %q, want %q", got, want)
		}
	}

	path := draft()
	look(t, p, "platform-invoice-draft", func() { p.Open(path) })
	p.Click(linkTo("/issue"))
	p.WaitForText("#dialog", "nord@example.com")
	p.Click(submitOf("/issue"))
	p.WaitFor(done)
	status("issued")
	p.Click(linkTo("/pay"))
	p.Click(submitOf("/pay"))
	p.WaitFor(done)
	status("paid")

	other := draft()
	p.Open(other)
	p.Click("main .menu-end summary")
	p.Click(linkTo("/void"))
	p.Click(submitOf("/void"))
	p.WaitFor("#field-reason-error")
	p.Fill("reason", "Agreed to start in June")
	p.Click(submitOf("/void"))
	p.WaitFor(done)
	status("void")
	look(t, p, "platform-invoice-void", nil)

	// As it is typed, the list is searched, and keeps the status that was chosen.
	p.Open("/platform/invoices?status=paid")
	p.Fill("field-search", "bageri")
	await(t, "one invoice is listed", func() bool {
		return browsertest.Run(p, chromedp.Evaluate[int]("document.querySelectorAll('#invoices tbody tr').length")) == 1
	})
	if at := p.Path(); !strings.Contains(at, "status=paid") || !strings.Contains(at, "search=bageri") {
		t.Errorf("the list is at %s", at)
	}

	// Without scripts as well.
	plain := p.NewTab(t)
	plain.DisableScripts()
	third := draft()
	plain.Open(third + "/issue")
	plain.Click(submitOf("/issue"))
	plain.WaitFor(done)
}
