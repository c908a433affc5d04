package admin_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/webtest"
)

const (
	billingPage = "/admin/settings/billing"
	invoices    = billingPage + "/invoices/"
)

// allow puts the business on a plan with limits for customers, people and sends.
func (s *shop) allow(limits string) {
	s.T.Helper()
	s.Exec(fmt.Sprintf(`
		with p as (
			insert into loyalty.plan (name, monthly_cents, yearly_cents, currency, customers_limit, staff_limit, sends_limit)
			values ($1, 4900, 49000, 'EUR', %s)
			returning id
		)
		update loyalty.tenant set plan_id = p.id from p where loyalty.tenant.id = $2`, limits), "Plan of "+s.By.Tenant.Slug, s.By.Tenant.ID)
}

var numbers atomic.Int64

// billed adds an invoice with a status to the business.
func (s *shop) billed(status string, cents int64) int64 {
	s.T.Helper()
	now := time.Now()
	var number *int64
	var issued, paid, voided *time.Time
	if status != "draft" {
		number, issued = new(1000+numbers.Add(1)), &now
	}
	switch status {
	case "paid":
		paid = &now
	case "void":
		voided = &now
	}
	return shoptest.Query[int64](s.Shop, `
		insert into loyalty.invoice (tenant_id, number, status, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end,
			issued_at, due_at, paid_at, voided_at, created_at, issuer, recipient)
		values ($1, $2, $3, 'EUR', jsonb_build_array(jsonb_build_object('description', 'Growth', 'quantity', 1, 'unit_cents', $4::bigint, 'amount_cents', $4::bigint)),
			$4, 0, $4, '2026-11-01', '2026-11-30', $5, $5::timestamptz + interval '30 days', $6, $7, $8, '{"name": "Platform"}', '{"name": "Shop"}')
		returning id`, s.By.Tenant.ID, number, status, cents, issued, paid, voided, now)
}

// "tenants see their own under Settings → Billing": issued invoices, but no drafts.
func TestBilling(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.allow("10, 1, null")
	owner := s.signedIn(core.Owner)
	s.billed("draft", 100)
	paid := s.billed("paid", 4900)
	s.billed("overdue", 5100)
	other := newShop(t)
	foreign := other.billed("issued", 9900)

	a := owner.Get(billingPage)
	if got := a.Text("section[aria-labelledby=plan-title] .h1 ~ p"); got != "€ 49.00 a month" {
		t.Errorf("the price is %q", got)
	}
	wants(t, "usage", a.Texts(".plan-numbers"), []string{"0 of 10", "2 of 1", "0, no limit"})
	if a.Find(".is-reached progress").Length() != 1 || a.Find(".is-near").Length() != 0 {
		t.Error("the limit of people is not shown as reached")
	}
	wants(t, "invoices", a.Texts("#invoices td .badge"), []string{"Overdue", "Paid"})
	wants(t, "totals", a.Texts("#invoices td.text-end"), []string{"€ 51.00", "€ 49.00"})

	pdf := owner.Ask(http.MethodGet, invoices+strconv.FormatInt(paid, 10))
	if pdf.Code != http.StatusOK || !strings.HasPrefix(pdf.Body.String(), "%PDF-") || !strings.HasPrefix(pdf.Header().Get("Content-Disposition"), "attachment; filename=\"invoice-") {
		t.Errorf("the PDF = %d %v", pdf.Code, pdf.Header())
	}
	if a := owner.Ask(http.MethodGet, invoices+strconv.FormatInt(foreign, 10)); a.Code != http.StatusNotFound {
		t.Errorf("another business's invoice = %d", a.Code)
	}
	// "manager (everything except staff, tokens, business settings, billing)"
	manager := s.signedIn(core.Manager)
	for _, path := range []string{billingPage, invoices + strconv.FormatInt(paid, 10)} {
		if a := manager.Ask(http.MethodGet, path); a.Code != http.StatusForbidden {
			t.Errorf("%s as a manager = %d", path, a.Code)
		}
	}
}

func TestBillingDetails(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	fields := owner.Get(billingPage).Fields("form[action='" + billingPage + "']")
	webtest.With(fields, "name", "Café Åro AB", "address", "Kungsgatan 12\n111 35 Stockholm", "tax_number", "SE559900112201")
	a := owner.Submit(billingPage, fields)
	if got := a.Value("input[name=name]"); got != "Café Åro AB" {
		t.Errorf("the name is %q", got)
	}
	if got := a.Find("textarea[name=address]").Text(); got != "Kungsgatan 12\n111 35 Stockholm" {
		t.Errorf("the address is %q", got)
	}
	fields.Set("name", strings.Repeat("x", 400))
	if a := owner.Post(billingPage, fields); a.Code != http.StatusUnprocessableEntity || a.Find("#field-name-error").Length() != 1 {
		t.Errorf("too long a name = %d", a.Code)
	}
}

// "shown to the tenant before they bite": from four fifths of a limit on, to owners and managers, on
// the pages where the limit applies.
func TestPlanNotices(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.allow("5, null, 0")
	for n := range 4 {
		s.AddCustomer(customer.New{FirstName: "Elsa", LastName: "Berg", Phone: fmt.Sprintf("070 174 %04d", n)})
	}
	owner, manager, cashier := s.signedIn(core.Owner), s.signedIn(core.Manager), s.signedIn(core.Cashier)
	notices := func(b *browser, path string) []string { return b.Get(path).Texts("[data-plan-notice]") }
	links := func(b *browser, path string) []string { return b.Get(path).Links("[data-plan-notice] a") }
	for who, b := range map[string]*browser{"an owner": owner, "a manager": manager} {
		got := notices(b, "/admin/customers")
		if len(got) != 1 || !strings.Contains(got[0], "5 active customers") || !strings.Contains(got[0], " 4 ") {
			t.Errorf("%s sees %q", who, got)
		}
	}
	wants(t, "the owner's links", links(owner, "/admin/customers"), []string{billingPage})
	wants(t, "the manager's links", links(manager, "/admin/customers"), nil)
	wants(t, "the cashier's notices", notices(cashier, "/admin/customers"), nil)
	wants(t, "the notices about people", notices(owner, "/admin/settings/staff"), nil)
}
