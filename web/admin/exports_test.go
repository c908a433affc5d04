package admin_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/webtest"
)

// "CSV and XLSX export of what the filter shows", linked from the list with its filter.
func TestExportCustomers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	ctx := t.Context()
	var made []customer.Customer
	for n, name := range []string{"Anna", "=cmd|' /C calc'!A0", "<b>Bo</b>"} {
		made = append(made, s.AddCustomer(customer.New{
			FirstName: name, LastName: "Ek", Phone: fmt.Sprintf("+46 8 465 004 1%d", n), Email: fmt.Sprintf("a%d@example.com", n),
		}))
	}
	if _, err := s.Customers.Edit(ctx, s.By, made[0].ID, customer.Edit{Status: core.Set("inactive")}); err != nil {
		t.Fatal(err)
	}
	list := b.Get("/admin/customers?status=active&search=ek&created_from=2020-01-01")
	csv := list.Attr("a[href*='export.csv']", "href")
	if csv != "/admin/customers/export.csv?created_from=2020-01-01&search=ek&status=active" || list.Attr("a[href*='export.xlsx']", "href") != strings.Replace(csv, "csv", "xlsx", 1) {
		t.Fatalf("the list leads to %q", csv)
	}
	since := func(c customer.Customer) string {
		return c.CreatedAt.In(s.By.Tenant.TimeZone).Format("2006-01-02 15:04:05")
	}
	file := b.Get(csv)
	want := "\uFEFFULID,First name,Last name,Phone,E-mail,Status,Points,Stamps,Customer since,Last visit,Tags,External ID,Birthday\r\n" +
		made[2].ID.String() + ",<b>Bo</b>,Ek,'+46 8 465 004 12,a2@example.com,active,0,0," + since(made[2]) + ",,,,\r\n" +
		made[1].ID.String() + ",'=cmd|' /C calc'!A0,Ek,'+46 8 465 004 11,a1@example.com,active,0,0," + since(made[1]) + ",,,,\r\n"
	if diff := cmp.Diff(want, file.Body.String()); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	if name := file.Header().Get("Content-Disposition"); !strings.HasPrefix(name, "attachment; filename=customers-20") || !strings.HasSuffix(name, ".csv") {
		t.Errorf("called %q", name)
	}

	book, err := excelize.OpenReader(bytes.NewReader(b.Get("/admin/customers/export.xlsx").Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := book.GetRows("Customers")
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 || rows[0][1] != "First name" || rows[2][1] != "=cmd|' /C calc'!A0" || rows[2][3] != "+46 8 465 004 11" || rows[3][5] != "inactive" ||
		rows[3][8] != since(made[0])[:16] {
		t.Errorf("workbook: %q", rows)
	}
	if err := book.Close(); err != nil {
		t.Error(err)
	}

	// An exported file can be imported: every customer is found, although cells that look like
	// formulas are escaped.
	for n, name := range []string{"+Plus", "-Minus", "@At", "'Quoted", "=1+1, \"two\"\n;", "Rock;=1+1,-2", "'=1"} {
		s.AddCustomer(customer.New{FirstName: name, LastName: name, Phone: fmt.Sprintf("+46 8 465 004 2%d", n)})
	}
	path := b.uploaded(b.Get("/admin/customers/export.csv").Body.String())
	b.Submit(path+"/check", columnForm(b.Get(path)))
	s.work(path)
	hasImportFigures(t, b.Get(path), "New 0 ", "Existing 10 ", "Duplicates 0 ", "Errors 0 ")
}

// An invalid filter is refused, and cashiers may not export.
func TestRefusedExports(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, kind := range []string{"csv", "xlsx"} {
		path := "/admin/customers/export." + kind
		a := s.signedIn(core.Manager).Ask(http.MethodGet, path+"?status=erased")
		if a.Code != http.StatusUnprocessableEntity || a.Header().Get("Content-Disposition") != "" || a.Text(".empty-subtitle") != webtest.MessageApart("status", core.InvalidChoice) {
			t.Errorf("%s: %d %s", kind, a.Code, a.Text(".empty-subtitle"))
		}
		if a := s.signedIn(core.Manager).Ask(http.MethodGet, path+"?created_from=soon"); a.Code != http.StatusUnprocessableEntity || a.Header().Get("Content-Disposition") != "" {
			t.Errorf("%s with an invalid date: %d", kind, a.Code)
		}
		if a := s.signedIn(core.Cashier).Ask(http.MethodGet, path); a.Code != http.StatusForbidden {
			t.Errorf("%s as a cashier = %d", kind, a.Code)
		}
	}
}

// Numbers, amounts, shares and dates of a workbook are no texts, so that spreadsheets can add them up and sort by them.
func TestEveryFigureOfAWorkbookIsANumber(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-03-02 09:00", "Anna", "Lindqvist")
	m.sale("2026-03-02 12:00", anna, m.purchase, 2_550)
	for n := range 60 { // enough for a rate of voids
		m.sale(fmt.Sprintf("2026-06-10 12:%02d", n), anna, m.purchase, 4_050)
	}
	m.void("2026-06-10 15:00", m.sale("2026-06-10 14:00", anna, m.purchase, 999))
	m.redemption("2026-06-11 12:00", anna)
	lunch := m.coupon("2026-06-01 09:00", "Lunch")
	m.checkout("2026-06-12 12:00", anna, 2_000, m.heldBy(anna, m.sent("2026-06-02 09:00", lunch)))
	owner := m.signedIn(core.Owner)

	figure := regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?%?$|^\d{4}-\d\d-\d\d( \d\d:\d\d)?$`)
	kinds := map[string]int{}
	for _, r := range admin.Routes() {
		if !strings.HasSuffix(r.Path, ".xlsx") {
			continue
		}
		path := strings.Replace(r.Path, ":ulid", lunch.ID.String(), 1)
		book, err := excelize.OpenReader(bytes.NewReader(owner.Get(path).Body.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		sheet := book.GetSheetList()[0]
		rows, err := book.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for y, row := range rows[1:] {
			for x, value := range row {
				if !figure.MatchString(value) {
					continue
				}
				cell, err := excelize.CoordinatesToCellName(x+1, y+2)
				if err != nil {
					t.Fatal(err)
				}
				if kind, err := book.GetCellType(sheet, cell); err != nil || kind != excelize.CellTypeUnset && kind != excelize.CellTypeNumber {
					t.Errorf("%s: %s of %q is a text, %v", path, value, rows[0][x], err)
				}
				switch {
				case strings.HasSuffix(value, "%"):
					kinds["share"]++
				case strings.Contains(value, "-") && len(value) >= len("2026-06-10"):
					kinds["date"]++
				case strings.Contains(value, "."):
					kinds["amount"]++
				}
			}
		}
	}
	if kinds["share"] < 5 || kinds["date"] < 50 || kinds["amount"] < 50 {
		t.Errorf("saw only %v", kinds)
	}
}
