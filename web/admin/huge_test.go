package admin_test

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/webtest"
)

// grow makes every award, cost, entry and balance as large as they could be before awards had a
// limit: the sum of two overflows 64 bits.
func (s *shop) grow() {
	s.T.Helper()
	for _, statement := range []string{
		`update loyalty.transaction set points_awarded = 9000000000000000000, base_award = null where tenant_id = $1 and points_awarded is not null`,
		`update loyalty.transaction set stamps_awarded = 9000000000000000000 where tenant_id = $1 and stamps_awarded is not null`,
		`update loyalty.redemption set points_spent = 9000000000000000000 where tenant_id = $1`,
		`update loyalty.account set points = 9000000000000000000, stamps = -9000000000000000000 where tenant_id = $1`,
		`update loyalty.ledger_entry set amount = sign(amount) * 9000000000000000000, balance_after = sign(amount) * 9000000000000000000 where tenant_id = $1`,
		`update loyalty.coupon_send set matched = 9000000000000000000, sent = 9000000000000000000, no_email = 9000000000000000000 where tenant_id = $1`,
		`update loyalty.coupon set benefit_value = 9000000000000000000 where tenant_id = $1 and benefit_type = 'points'`,
	} {
		s.change(statement)
	}
}

// "So that no record can break a report": with two sales of 9·10^18 points, completed and voided, every
// page and file works, and shows the largest number that 64 bits hold.
func TestNoRecordBreaksAPage(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	owner := s.signedIn(core.Owner)
	records := s.records(owner)
	bo := s.AddCustomer(customer.New{FirstName: "Bo", LastName: "Ek", Phone: "08-465 004 13"})
	elsa := s.elsa
	s.elsa = bo
	s.sold(s.manager, "7")
	for range 2 {
		s.manager.Submit(s.sold(s.manager, "5")+"/void", because)
	}
	s.elsa = elsa
	coupon := s.made(webtest.Form("name", "Five points", "benefit_type", "points", "points", "5", "max_per_customer", "9"))
	s.send(coupon, "first")
	s.send(coupon, "second")
	s.grow()

	buyer := "/admin/customers/" + elsa.ID.String()
	s.walk(owner, records, buyer, coupon)

	most, huge := format.Number(math.MaxInt64), format.Number(9e18)
	dashboard := owner.Get("/admin").Text("main")
	if n := strings.Count(dashboard, most); n < 3 {
		t.Errorf("the dashboard shows %s %d times, want it issued, in the chart and outstanding", most, n)
	}
	if reports := owner.Get("/admin/reports").Text("main"); strings.Count(reports, most) < 2 {
		t.Errorf("the summary says %q, want %s issued and reversed", reports, most)
	}
	if got := owner.Get("/admin/reports/customers?by=points").Texts("tbody tr"); len(got) != 2 || !strings.Contains(got[0], most) && !strings.Contains(got[1], most) {
		t.Errorf("top customers are %q", got)
	}
	if _, rows := owner.file("/admin/reports/summary.csv"); !strings.HasPrefix(columns(rows, "Points issued", "Points reversed")[29], "9223372036854775807 | 9223372036854775807") {
		t.Errorf("the file says %q", columns(rows, "Points issued", "Points reversed"))
	}
	if got := owner.Get(buyer).Text("main"); !strings.Contains(got, huge) {
		t.Errorf("the customer's page says %q", got)
	}
}

// pages are the paths of every page and file of the panel, for these records.
func (s *counter) pages(owner *browser, records map[string]string, buyer, coupon string) []string {
	s.T.Helper()
	paths := []string{
		buyer + "?view=transactions", buyer + "?view=redemptions", buyer + "?view=vouchers", buyer + "/adjust?unit=stamps&amount=-5", coupon,
		"/admin/redemptions?status=all", "/admin/redemptions/new?customer_ulid=" + s.elsa.ID.String(), "/admin/transactions?status=voided",
		"/admin/transactions/new?customer_ulid=" + s.elsa.ID.String(), "/admin/reports/customers?by=points", "/admin/reports/customers.csv?by=points",
		"/admin?period=7-days", "/admin?period=this-year",
	}
	paths = append(paths, owner.Get(coupon).Links("td a[href*='/sends/']")...)
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
	return paths
}

// walk opens every page and file of the panel, for these records.
func (s *counter) walk(owner *browser, records map[string]string, buyer, coupon string) {
	s.T.Helper()
	for _, path := range s.pages(owner, records, buyer, coupon) {
		a := owner.Ask(http.MethodGet, path)
		if a.Code >= http.StatusBadRequest {
			s.T.Errorf("%s = %d", path, a.Code)
		}
		if strings.HasSuffix(path, "/send/mail") {
			continue // this shop's e-mails aren't the real ones
		}
		if said := dbtest.Nonsense(a.Body.String()); said != "" {
			s.T.Errorf("%s says %s", path, said)
		}
		if said := dbtest.Turned(a.Body.String()); said != "" && !strings.HasSuffix(path, "/data") { // a person's data is exact
			s.T.Errorf("%s turns %s", path, said)
		}
	}
}

// "Extreme (but valid) records break no page, report, export or chart": every page and file works with
// the largest amounts, the longest texts and the oldest dates.
func TestNoExtremeBreaksAPage(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	owner := s.signedIn(core.Owner)
	records := s.records(owner)
	coupon := s.made(webtest.Form("name", "Five points", "benefit_type", "points", "points", "5", "max_per_customer", "9"))
	s.send(coupon, "first")
	dbtest.Extreme(t, s.DB, s.By)
	s.walk(owner, records, "/admin/customers/"+s.elsa.ID.String(), coupon)
	if got, want := owner.Get("/admin/customers/"+s.elsa.ID.String()).Text("main"), format.Number(math.MaxInt64); !strings.Contains(got, want) {
		t.Errorf("the customer's page does not say %s: %q", want, got)
	}
}
