package admin_test

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/page"
)

// grow makes every award, cost, entry and balance as large as they could be before awards had a
// limit: the sum of two overflows 64 bits.
func (s *shop) grow(t *testing.T) {
	t.Helper()
	for _, statement := range []string{
		`update loyalty.transaction set points_awarded = 9000000000000000000 where tenant_id = $1 and points_awarded is not null`,
		`update loyalty.transaction set stamps_awarded = 9000000000000000000 where tenant_id = $1 and stamps_awarded is not null`,
		`update loyalty.redemption set points_spent = 9000000000000000000 where tenant_id = $1`,
		`update loyalty.account set points = 9000000000000000000, stamps = -9000000000000000000 where tenant_id = $1`,
		`update loyalty.ledger_entry set amount = sign(amount) * 9000000000000000000, balance_after = sign(amount) * 9000000000000000000 where tenant_id = $1`,
		`update loyalty.coupon_send set matched = 9000000000000000000, sent = 9000000000000000000, no_email = 9000000000000000000 where tenant_id = $1`,
		`update loyalty.coupon set benefit_value = 9000000000000000000 where tenant_id = $1 and benefit_type = 'points'`,
	} {
		if _, err := dbtest.Owner(s.db).Exec(t.Context(), statement, s.by.Tenant.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// "So that no record can break a report": with two sales of 9·10^18 points, completed and voided, every
// page and file works, and shows the largest number that 64 bits hold.
func TestNoRecordBreaksAPage(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	owner := s.signedIn(t, core.Owner)
	records := s.records(t, owner)
	bo, err := s.Customers.Upsert(t.Context(), s.by, customer.New{FirstName: new("Bo"), LastName: new("Ek"), Phone: new("08-465 004 13")})
	if err != nil {
		t.Fatal(err)
	}
	elsa := s.elsa
	s.elsa = bo.Customer
	s.sold(s.manager, "7")
	for range 2 {
		s.manager.posted(s.sold(s.manager, "5")+"/void", nil)
	}
	s.elsa = elsa
	coupon := s.made(t, form("name", "Five points", "benefit_type", "points", "points", "5", "max_per_customer", "9"))
	s.send(t, coupon, "first")
	s.send(t, coupon, "second")
	s.grow(t)

	buyer := "/admin/customers/" + elsa.ID.String()
	s.walk(t, owner, records, buyer, coupon)

	most, huge := page.Number(math.MaxInt64), page.Number(9e18)
	dashboard := owner.get("/admin").words("main")
	if n := strings.Count(dashboard, most); n < 3 {
		t.Errorf("the dashboard shows %s %d times, want it issued, in the chart and outstanding", most, n)
	}
	if reports := owner.get("/admin/reports").words("main"); strings.Count(reports, most) < 2 {
		t.Errorf("the summary says %q, want %s issued and reversed", reports, most)
	}
	if got := owner.get("/admin/reports/customers?by=points").each("tbody tr"); len(got) != 2 || !strings.Contains(got[0], most) && !strings.Contains(got[1], most) {
		t.Errorf("top customers are %q", got)
	}
	if _, rows := owner.file("/admin/reports/summary.csv"); !strings.HasPrefix(columns(rows, "Points issued", "Points reversed")[29], "9223372036854775807 | 9223372036854775807") {
		t.Errorf("the file says %q", columns(rows, "Points issued", "Points reversed"))
	}
	if got := owner.get(buyer).words("main"); !strings.Contains(got, huge) {
		t.Errorf("the customer's page says %q", got)
	}
}

// walk opens every page and file of the panel, for these records.
func (s *counter) walk(t *testing.T, owner *browser, records map[string]string, buyer, coupon string) {
	t.Helper()
	paths := []string{
		buyer + "?view=transactions", buyer + "?view=redemptions", buyer + "?view=vouchers", buyer + "/adjust?unit=stamps&amount=-5", coupon,
		"/admin/redemptions?status=all", "/admin/redemptions/new?customer_ulid=" + s.elsa.ID.String(), "/admin/transactions?status=voided",
		"/admin/transactions/new?customer_ulid=" + s.elsa.ID.String(), "/admin/reports/customers?by=points", "/admin/reports/customers.csv?by=points",
		"/admin?period=7-days", "/admin?period=this-year",
		owner.get(coupon).links("td a[href*='/sends/']")[0],
	}
	for _, r := range admin.Routes() {
		noun, rest, names := strings.Cut(r.Path, ":")
		if r.Method != http.MethodGet || names && records[noun] == "" { // a link from an e-mail, or a logo
			continue
		}
		path := r.Path
		if names {
			_, action, _ := strings.Cut(rest, "/")
			action = strings.Replace(action, ":token", records[tokens+"/"], 1)
			path = strings.TrimSuffix(noun+records[noun]+"/"+action, "/")
		}
		if strings.Contains(path, ":") { // a send: in the list above
			continue
		}
		paths = append(paths, path)
	}
	for _, path := range paths {
		a := owner.ask(http.MethodGet, path, nil)
		if a.Code >= http.StatusBadRequest {
			t.Errorf("%s = %d", path, a.Code)
		}
		if said := dbtest.Nonsense(a.Body.String()); said != "" {
			t.Errorf("%s says %s", path, said)
		}
	}
}

// "Extreme (but valid) records break no page, report, export or chart": every page and file works with
// the largest amounts, the longest texts and the oldest dates.
func TestNoExtremeBreaksAPage(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	owner := s.signedIn(t, core.Owner)
	records := s.records(t, owner)
	coupon := s.made(t, form("name", "Five points", "benefit_type", "points", "points", "5", "max_per_customer", "9"))
	s.send(t, coupon, "first")
	dbtest.Extreme(t, s.db, s.by)
	s.walk(t, owner, records, "/admin/customers/"+s.elsa.ID.String(), coupon)
	if got, want := owner.get("/admin/customers/"+s.elsa.ID.String()).words("main"), page.Number(math.MaxInt64); !strings.Contains(got, want) {
		t.Errorf("the customer's page does not say %s: %q", want, got)
	}
}
