package admin_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/shoptest"
)

// "Exports of transactions, redemptions and vouchers beside customers": linked from the lists with their filters,
// safe from formulas, in local time, and not for cashiers.
func TestExportLists(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	kiosk := m.place("=Kiosk")
	anna := m.at("2026-06-01 09:00").AddCustomer(customer.New{FirstName: "=Anna", LastName: "Ek", Phone: "+46 70 112 23 34"}).ID
	m.sale("2026-06-10 12:00", anna, m.purchase, 1_250)
	m.saleAt(kiosk, "2026-06-11 23:30", anna, 2_000)
	m.Refund(shoptest.Query[core.ID](m.Shop, "select id from loyalty.transaction where tenant_id = $1 and location_id = $2", m.By.Tenant.ID, kiosk), 500)
	m.void("2026-06-12 12:00", m.sale("2026-06-12 11:00", anna, m.coffee, 420))
	m.redemption("2026-06-13 12:00", anna)
	spring := m.coupon("2026-06-01 10:00", "Spring")
	m.RedeemVoucher(m.sent("2026-06-14 12:00", spring)[0])
	manager := m.signedIn(core.Manager)
	linked := func(page string) (csv, xlsx string) {
		t.Helper()
		links := manager.Get(page).Links("#export-files a[download]")
		if len(links) != 2 || strings.Replace(links[0], ".csv", ".xlsx", 1) != links[1] {
			t.Fatalf("%s leads to %v", page, links)
		}
		return links[0], links[1]
	}

	sales, book := linked("/admin/transactions?from=2026-06-11&to=2026-06-12")
	if want := "/admin/transactions/export.csv?from=2026-06-11&to=2026-06-12"; sales != want {
		t.Errorf("exports of a filtered list: %s, want %s", sales, want)
	}
	name, rows := manager.file(sales)
	if name != "attachment; filename=sales-2026-06-15.csv" {
		t.Errorf("file: %s", name)
	}
	wants(t, "sales", columns(rows, "Date", "Customer", "Spend (EUR)", "Points issued", "Stamps issued", "Status", "Voided at", "Location", "Refunded (EUR)", "Points refunded", "Stamps refunded", "Bought at"), []string{
		"2026-06-12 11:00:00 | '=Anna Ek | 4.20 | 0 | 1 | voided | 2026-06-12 12:00:00 |  | 0.00 | 0 | 0 | 2026-06-12 11:00:00", "2026-06-11 23:30:00 | '=Anna Ek | 20.00 | 2000 | 0 | completed |  | '=Kiosk | 5.00 | 500 | 0 | 2026-06-11 23:30:00",
	})
	file, err := excelize.OpenReader(bytes.NewReader(manager.Get(book).Body.Bytes()))
	m.Check(err)
	spend, err := file.GetCellValue("Sales", "F3")
	m.Check(err)
	kind, err := file.GetCellType("Sales", "F3")
	m.Check(err)
	if spend != "20.00" || kind != excelize.CellTypeUnset && kind != excelize.CellTypeNumber {
		t.Errorf("an amount is %q, of type %v", spend, kind)
	}
	m.Check(file.Close())

	redemptions, _ := linked("/admin/redemptions?status=all")
	_, rows = manager.file(redemptions)
	wants(t, "redemptions", columns(rows, "Date", "Reward", "Points spent", "Status"), []string{"2026-06-13 12:00:00 | Espresso | 10 | pending"})
	if _, rows := manager.file("/admin/redemptions/export.csv?status=fulfilled"); len(rows) != 1 {
		t.Errorf("%d fulfilled ones", len(rows)-1)
	}
	vouchers, _ := linked("/admin/coupons/" + spring.ID.String())
	_, rows = manager.file(vouchers)
	wants(t, "vouchers", columns(rows, "Customer", "Status", "Sent"), []string{"'=Anna Ek | redeemed | 2026-06-14 12:00:00"})
	ofSend, _ := linked(manager.Get("/admin/coupons/" + spring.ID.String()).Links("td a[href*='/sends/']")[0])
	if _, rows := manager.file(ofSend); len(rows) != 2 {
		t.Errorf("%d vouchers of the send", len(rows)-1)
	}

	cashier, stranger := m.signedIn(core.Cashier), newMarket(t).signedIn(core.Owner)
	for _, path := range []string{sales, redemptions, vouchers, book} {
		if a := cashier.Ask(http.MethodGet, path); a.Code != http.StatusForbidden {
			t.Errorf("%s as a cashier = %d", path, a.Code)
		}
	}
	if a := stranger.Ask(http.MethodGet, vouchers); a.Code != http.StatusNotFound {
		t.Errorf("a stranger's %s = %d", vouchers, a.Code)
	}
	if n := cashier.Get("/admin/transactions").Find("#export-files").Length(); n != 0 {
		t.Error("a cashier is offered exports")
	}
	for _, path := range []string{"/admin/transactions/export.csv?from=soon", "/admin/transactions/export.xlsx?status=gone", "/admin/redemptions/export.csv?status=gone"} {
		if a := manager.Ask(http.MethodGet, path); a.Code != http.StatusUnprocessableEntity || a.Header().Get("Content-Disposition") != "" {
			t.Errorf("%s = %d", path, a.Code)
		}
	}
	if a := manager.Ask(http.MethodGet, vouchers+"?send=nonsense"); a.Code != http.StatusNotFound {
		t.Errorf("an unknown send = %d", a.Code)
	}
}
