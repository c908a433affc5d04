package main

import (
	"strings"
	"testing"

	"example.com/loyalty/core"
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
		if got := p.Text(".title-line .badge"); got != want {
			t.Errorf("the status is %q, want %q", got, want)
		}
	}

	path := draft()
	look(t, p, "platform-invoice-draft", "", func() { p.Open(path) })
	p.Click("Issue invoice")
	p.WaitFor("The invoice is e-mailed to nord@example.com.")
	p.Within("dialog").Click("Issue invoice")
	p.WaitFor("was issued")
	status("Due in 30 days")
	p.Click("Mark paid")
	p.WaitFor("Bageri Nord has paid")
	p.Within("dialog").Click("Mark paid")
	p.WaitFor("is marked as paid")
	status("Paid")

	other := draft()
	p.Open(other)
	voidFromMenu(p)
	p.Expect(422)
	p.Within("dialog").Click("Void invoice")
	p.WaitFor(says("Reason", core.Required))
	p.Expect(200)
	p.Fill("Reason", "Agreed to start in June")
	p.Within("dialog").Click("Void invoice")
	p.WaitFor("is void.")
	status("Void")
	look(t, p, "platform-invoice-void", "", stays)

	// As it is typed, the list is searched, and keeps the status that was chosen.
	p.Open("/platform/invoices?status=paid")
	p.Fill("Tenant or number", "bageri")
	p.WaitFor("1 invoice on this page")
	if at := p.Path(); !strings.Contains(at, "status=paid") || !strings.Contains(at, "search=bageri") {
		t.Errorf("the list is at %s", at)
	}

	// Without scripts as well.
	plain := p.NewTab(t)
	plain.WithoutJavaScript()
	third := draft()
	plain.Open(third + "/issue")
	plain.Within("main").Click("Issue invoice")
	plain.WaitFor("was issued")
}

func voidFromMenu(p *browsertest.Page) {
	p.Click("More actions")
	p.Click("Void invoice")
	p.WaitFor("This can't be undone.")
}
