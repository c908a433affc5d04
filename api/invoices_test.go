package api_test

import (
	"strconv"
	"strings"
	"testing"

	"example.com/loyalty/core/shoptest"
)

const (
	listsInvoices = "| GET | /api/v1/platform/invoices | - | List of invoices. |"
	invoiceFields = "**Invoice**: `id, number, tenant_id, status (draft|issued|paid|overdue|void), currency (the plan's), lines, amount_cents, tax_cents, total_cents, " +
		"period_start, period_end, issued_at, due_at, paid_at`."
)

// bill inserts a draft invoice for the shop.
func (s *shop) bill() string {
	s.T.Helper()
	number := shoptest.Query[int64](s.Shop, `
		insert into loyalty.invoice (tenant_id, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at)
		values ($1, 'EUR', '[{"description": "Plan <Grow>", "quantity": 1, "unit_cents": 4900, "amount_cents": 4900}]', 4900, 1225, 6125,
			'2026-05-01', '2026-05-31', $2)
		returning id`, s.By.Tenant.ID, s.db.Now())
	return strconv.FormatInt(number, 10)
}

func invoiceIs(id, number, tenant, status, issued, due, paid string) string {
	return `{"id":` + id + `,"number":` + number + `,"tenant_id":` + tenant + `,"status":"` + status + `","currency":"EUR",` +
		`"lines":[{"description":"Plan <Grow>","quantity":1,"unit_cents":4900,"amount_cents":4900}],` +
		`"amount_cents":4900,"tax_cents":1225,"total_cents":6125,"period_start":"2026-05-01","period_end":"2026-05-31",` +
		`"issued_at":` + issued + `,"due_at":` + due + `,"paid_at":` + paid + `}`
}

func TestListInvoices(t *testing.T) {
	t.Parallel()
	proves(t, listsInvoices, invoiceFields, "Unknown filter values are 422.", superAdmins,
		"Money amounts are integers in cents (field suffix `_cents`).", "Dates: `YYYY-MM-DD`.")
	s, admin := newPlatform(t)
	const path = "/platform/invoices"
	list := func(query string, items ...string) {
		t.Helper()
		s.call("GET", "/api/v1"+path+query, admin, "").is(t, 200, s.fill(only(path, items...)))
	}
	list("")
	// A draft has the tax of the settings.
	s.Exec("update loyalty.platform_setting set tax_rate = 2500")
	paid, theirs := s.bill(), s.stranger().bill()
	s.change("invoice", "status = 'paid', number = 7, issued_at = '2026-06-01', due_at = '2026-07-01', paid_at = '2026-06-02T10:00:00.5Z'")
	draft := s.bill()
	paidIs := invoiceIs(paid, "7", "{tenant}", "paid", `"2026-06-01T00:00:00.000Z"`, `"2026-07-01T00:00:00.000Z"`, `"2026-06-02T10:00:00.500Z"`)
	draftIs := invoiceIs(draft, "null", "{tenant}", "draft", "null", "null", "null")
	theirsIs := invoiceIs(theirs, "null", s.stranger().fill("{tenant}"), "draft", "null", "null", "null")
	list("", draftIs, theirsIs, paidIs)
	list("?tenant_id={tenant}", draftIs, paidIs)
	list("?status=paid", paidIs)
	list("?status=draft&tenant_id={tenant}", draftIs)
	list("?tenant_id=9223372036854775807")
	for query, field := range map[string]string{
		"?tenant_id=&status=":            `"status":["The status field must have a value."],"tenant_id":["The tenant id field must have a value."]`,
		"?status=open":                   `"status":["The selected status is invalid."]`,
		"?tenant_id=x":                   `"tenant_id":["The tenant id field must be an integer."]`,
		"?tenant_id=%2B1":                `"tenant_id":["The tenant id field must be an integer."]`,
		"?tenant_id=9223372036854775808": `"tenant_id":["The tenant id field must be an integer."]`,
		"?tenant_id=1.0&status=PAID":     `"status":["The selected status is invalid."],"tenant_id":["The tenant id field must be an integer."]`,
	} {
		s.call("GET", "/api/v1"+path+query, admin, "").is(t, 422, invalid(field))
	}
	s.call("GET", "/api/v1"+path, s.token, "").is(t, 403, forbidden)
	if links := s.call("GET", "/api/v1"+path+"?status=draft&per_page=1", admin, "").page(t).Links; links.Next == nil || !strings.Contains(*links.Next, "status=draft") {
		t.Errorf("links are %+v", links)
	}
}
