package admin_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/webtest"
)

// "Who stopped coming, who comes again": the figures lead to a list of exactly these customers, in pages and as a file, and the list to
// a send of a coupon to exactly them.
func TestCustomersWhoCame(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna, bea := m.customer("2026-03-01 09:00", "Anna", "Lindqvist"), m.customer("2026-04-01 09:00", "Bea", "<b>Holm</b>")
	m.sale("2026-03-02 12:00", anna, m.purchase, 500)
	m.sale("2026-04-02 12:00", bea, m.purchase, 700)
	m.sale("2026-06-10 08:00", bea, m.purchase, 800)
	m.sale("2026-06-10 18:00", bea, m.purchase, 100)
	c := m.Coupon(coupon.New{Name: "We miss you", BenefitType: string(coupon.Points), BenefitValue: new(int64(5))})
	manager := m.signedIn(core.Manager)

	page := manager.Get("/admin/reports/visitors?from=2026-06-01&to=2026-06-15")
	wants(t, "figures", page.Texts(".figure-value"), []string{"1", "0", "1", "100.0%", "1.0"})
	wants(t, "who stopped coming", page.Texts("[aria-labelledby=lapsed-title] tbody td:nth-child(2)"), []string{"1", "1", "1"})
	if got := page.Text("[aria-labelledby=months-title] .card-header"); !strings.HasSuffix(got, "The last figure in each row is for June 2026, up to 15 Jun 2026.") {
		t.Errorf("months say %q", got)
	}
	if got := page.Text("[aria-labelledby=groups-title]"); !strings.Contains(got, "being counted") {
		t.Errorf("groups that weren't counted: %s", got)
	}
	if files := page.Texts("#export-files a"); slices.Contains(files, "Groups, CSV") {
		t.Errorf("files before the groups were counted: %q", files)
	}
	group := manager.Get("/admin/reports/visitors/list?audience=promising")
	if got := group.Text("#audience"); !strings.Contains(got, "being counted") || len(group.Texts(".send-coupons, #export-files")) > 0 {
		t.Errorf("a group that wasn't counted: %s", got)
	}
	m.Check(m.Days.Count(t.Context(), daily.Counting{Tenant: m.By.Tenant.ID}))
	page = manager.Get("/admin/reports/visitors?from=2026-06-01&to=2026-06-15")
	if files := page.Texts("#export-files a"); !slices.Contains(files, "Groups, CSV") {
		t.Errorf("files when the groups were counted: %q", files)
	}
	wants(t, "groups", page.Texts("[aria-labelledby=groups-title] tbody .num.text-end:nth-child(2)"), []string{"0 € 0.00", "0 € 0.00", "1 € 16.00", "0 € 0.00", "0 € 0.00", "1 € 5.00"})
	_, rows := manager.file("/admin/reports/visitors.csv?from=2026-06-10&to=2026-06-10&compare=none")
	wants(t, "the file", columns(rows, "Date", "Customers", "First-time", "Returning"), []string{"2026-06-10 | 1 | 0 | 1"})
	_, rows = manager.file("/admin/reports/visitors/months.csv?from=2026-06-10&to=2026-06-15")
	if got := columns(rows, "First visit in", "Customers", "Month", "Came again", "Share"); got[len(got)-2] != "2026-04 | 1 | 2026-06 | 1 | 100.0%" {
		t.Errorf("months: %q", got)
	}
	_, rows = manager.file("/admin/reports/visitors/groups.csv")
	wants(t, "groups as a file", columns(rows, "Group", "Customers")[2:3], []string{"Promising | 1"})

	list := manager.Get(page.Links("[aria-labelledby=lapsed-title] tbody a")[0])
	wants(t, "the list", list.Texts("tbody a"), []string{"Anna Lindqvist"})
	_, rows = manager.file("/admin/reports/visitors/list.csv?audience=promising")
	wants(t, "the list as a file", columns(rows, "ULID", "Last name", "Last visit", "Visits"), []string{bea.String() + " | <b>Holm</b> | 2026-06-10 | 2"})
	if got := m.Count("audit_entry where action = 'customer.export'"); got != 1 {
		t.Errorf("%d exports in the audit log", got)
	}

	form := manager.Get(list.Links(".send-coupons a")[0])
	if got := form.Find("input[name=segment][checked]").AttrOr("value", ""); got != "lapsed_30" {
		t.Errorf("the form is for %q", got)
	}
	sends := "/admin/coupons/" + c.ID.String() + "/send"
	manager.Post(sends, webtest.Form("segment", "lapsed_30", "audience", "lapsed_30", "subject", "Come back", "message", "", "form_key", "once"))
	if got := shoptest.QueryAll[core.ID](m.Shop, "select unnest(customer_ids) from loyalty.coupon_send where tenant_id = $1 and audience = 'lapsed_30'", m.By.Tenant.ID); len(got) != 1 || got[0] != anna {
		t.Errorf("sent to %v", got)
	}

	other := newMarket(t)
	stranger := other.signedIn(core.Owner)
	if got := stranger.Get("/admin/reports/visitors/list?audience=lapsed_30"); got.Find("tbody, .send-coupons").Length() != 0 {
		t.Errorf("another business's empty list: %s", got.Text("main"))
	}
	cleo := other.customer("2026-03-01 09:00", "Cleo", "Wiberg")
	other.sale("2026-03-02 12:00", cleo, other.purchase, 500)
	if got := stranger.Get("/admin/reports/visitors/list?audience=lapsed_30"); got.Find("tbody tr").Length() != 1 || got.Find(".send-coupons a").Length() != 1 {
		t.Errorf("another business's list: %s", got.Text("main"))
	}
	if a := stranger.Ask(http.MethodGet, sends+"?audience=lapsed_30"); a.Code != http.StatusNotFound {
		t.Errorf("another business's coupon: %d", a.Code)
	}
	if a := manager.Ask(http.MethodGet, "/admin/reports/visitors/list?audience=everyone"); a.Code != http.StatusNotFound {
		t.Errorf("an unknown list: %d", a.Code)
	}
}
