package admin_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/web/webtest"
)

// checkedFile uploads a file and checks it as its page suggests, with other choices, and returns its page.
func (b *browser) checkedFile(content string, chosen ...string) (path string, a webtest.Page) {
	b.T.Helper()
	path = b.uploaded(content)
	form := columnForm(b.Get(path))
	for i := 0; i < len(chosen); i += 2 {
		form.Set(chosen[i], chosen[i+1])
	}
	b.Submit(path+"/check", form)
	b.shop.work(path)
	return path, b.Get(path)
}

// importedFile imports a file as its page suggests.
func (b *browser) importedFile(content string) (path string) {
	b.T.Helper()
	path, _ = b.checkedFile(content)
	b.Submit(path+"/run", nil)
	b.shop.work(path)
	return path
}

// names are the customers' names, as listed.
func (b *browser) names() []string {
	b.T.Helper()
	return b.Get("/admin/customers?sort=name").Texts("#customers tbody a")
}

// Numbers that a spreadsheet rounded are errors by row, and no customer is taken for another's duplicate: "4.67E+10" and
// its kind in other columns.
func TestImportOfDamagedCells(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	path, checked := b.checkedFile("name;phone;e-mail;created;points\n" +
		"Anna Ek;4.67E+10;;;\n" + // 2
		"Bo Ek;4,67012E+11;;;\n" + // 3
		"Cia Ek;4.67E+10;;;\n" + // 4: the same rounding as row 2
		"Dan Ek;0701740606;#N/A;;\n" + // 5
		"Eva Ek;0701740607;;45000;\n" + // 6
		"Fia Ek;0701740608;;;1,2E+05\n" + // 7
		"Gun Ek;#BEZUG!;;;\n" + // 8
		"Hans Ek;46701740609.0;;;12.0\n" + // 9 and what follows are clear
		"Ida Ek;'0701740610;;;1.234,00\n" +
		"Jan Ek;=\"0701740611\";;;１２\n")
	hasImportFigures(t, checked, "New 3 ", "Existing 0 ", "Duplicates 0 ", "Errors 7 ")
	const rounded = "The spreadsheet rounded this number. Format the column as text and export again"
	const failed = "The spreadsheet has an error here. Correct it there and export again"
	want := []string{
		"2 Phone 4.67E+10 " + rounded, "3 Phone 4,67012E+11 " + rounded, "4 Phone 4.67E+10 " + rounded,
		"5 E-mail #N/A " + failed,
		"6 Customer since 45000 The spreadsheet exported this date as a number. Format the column as a date and export again",
		"7 Points 1,2E+05 " + rounded, "8 Phone #BEZUG! " + failed,
	}
	got := checked.Texts("#import-problems tbody tr")
	for i := range min(len(got), len(want)) {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("problem %d: %q, want %q", i+1, got[i], want[i])
		}
	}
	b.Submit(path+"/run", nil)
	s.work(path)
	wants(t, "customers", b.names(), []string{"Hans Ek", "Ida Ek", "Jan Ek"})
	balances := b.Get("/admin/customers?sort=name").Text("#customers tbody")
	for _, points := range []string{"12", "1,234"} {
		if !strings.Contains(balances, points) {
			t.Errorf("no balance of %s: %q", points, balances)
		}
	}
}

// A file in UTF-8 that was cut inside a letter, or has one broken byte, stays in UTF-8: only that row is an error.
func TestImportOfABrokenLetter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content string
		want    []string
	}{
		"cut inside a letter":          {"phone,name\n0701740605,Åsa Björk\n0701740606,Bj\xC3", []string{"Åsa Björk"}},
		"cut inside the only letter":   {"phone,name\n0701740605,Asa Berg\n0701740606,Bj\xC3", []string{"Asa Berg"}},
		"a broken byte":                {"phone,name\n0701740605,Åsa Björk\n0701740606,B\xF6 Ek\n0701740607,Önn Ek\n", []string{"Åsa Björk", "Önn Ek"}},
		"with a mark, all else broken": {"\uFEFFphone,name\n0701740605,Asa Berg\n0701740606,B\xF6 Ek\n0701740607,\xD6nn Ek\n", []string{"Asa Berg"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newShop(t).signedIn(core.Manager)
			path, checked := b.checkedFile(c.content)
			if got := checked.Text("#import-reading"); !strings.Contains(got, "UTF-8") {
				t.Errorf("the encoding isn't named: %q", got)
			}
			if got := checked.Text("#import-problems tbody"); !strings.Contains(got, "broken letters") {
				t.Errorf("problems: %q", got)
			}
			b.Submit(path+"/run", nil)
			b.shop.work(path)
			wants(t, "customers", b.names(), c.want)
		})
	}
}

// The page names the encoding and shows rows with letters that depend on it. Another one can be chosen: the rows are
// drawn again, and imported as they are shown.
func TestImportInAChosenEncoding(t *testing.T) {
	t.Parallel()
	b := newShop(t).signedIn(core.Manager)
	polish, err := charmap.Windows1250.NewEncoder().String("Zażółć Gęślą")
	if err != nil {
		t.Fatal(err)
	}
	var plain strings.Builder
	for n := range 30 {
		fmt.Fprintf(&plain, "Anna Ek;07017406%02d\n", n)
	}
	path := b.uploaded("name;phone\n" + plain.String() + polish + ";0701740699\n")
	columns := b.Get(path)
	wants(t, "the encoding", columns.Texts("[name=encoding] option[selected]"), []string{"Windows-1252 (Western European)"})
	if got := columns.Text(".import-letters"); !strings.Contains(got, "32 Za¿ó³æ") {
		t.Errorf("rows to check the letters: %q", got)
	}
	redrawn := b.Ask("GET", path+"?"+url.Values{"step": {"columns"}, "encoding": {"windows-1250"}, "heading": {"1"}}.Encode(), "Hx-Request", "true")
	if got := redrawn.Text(".import-letters"); !strings.Contains(got, "32 Zażółć Gęślą") || redrawn.Find("main").Length() != 0 {
		t.Errorf("redrawn: %q", got)
	}
	wants(t, "the columns stay", selected(redrawn), []string{"full_name", "phone"})
	// Without scripts, a button does the same.
	if columns.Find("noscript").Length() == 0 || !strings.Contains(columns.Find("noscript").Text(), "formmethod=\"get\"") {
		t.Error("without scripts, the rows can't be drawn again")
	}
	if refused := b.Ask("GET", path+"?step=columns&encoding=utf-16le"); refused.Code != 422 || !strings.Contains(refused.Text(".invalid-feedback"), "isn't in UTF-16") {
		t.Errorf("as UTF-16: %d %q", refused.Code, refused.Text(".invalid-feedback"))
	}
	form := columnForm(redrawn)
	b.Submit(path+"/check", form)
	b.shop.work(path)
	checked := b.Get(path)
	if got := checked.Text("#import-reading"); !strings.Contains(got, "Windows-1250") || !strings.Contains(got, "Zażółć Gęślą") || checked.Find("#import-reading tbody tr").Length() != 3 {
		t.Errorf("how the file was read: %q", got)
	}
	b.Submit(path+"/run", nil)
	b.shop.work(path)
	wants(t, "customers", b.Get("/admin/customers?search=0701740699").Texts("#customers tbody a"), []string{"Zażółć Gęślą"})
}

// A title above the headers is skipped, as recognised or as chosen.
func TestImportBelowATitle(t *testing.T) {
	t.Parallel()
	b := newShop(t).signedIn(core.Manager)
	path := b.uploaded("Customers of Café Nord\nExported 3 May 2026\n\nNamn;Mobil\nAnna Ek;0701740605\n")
	columns := b.Get(path)
	wants(t, "the header row", columns.Texts("[name=heading] option[selected]"), []string{"Row 4"})
	wants(t, "the columns", selected(columns), []string{"full_name", "phone"})
	_, checked := b.checkedFile("A list;of;people\nx;y;z\nPerson;Number;Colour\nAnna Ek;0701740606;red\n", "heading", "3",
		"column_0", "full_name", "column_1", "phone", "column_2", "")
	hasImportFigures(t, checked, "New 1 ", "Existing 0 ", "Duplicates 0 ", "Errors 0 ")
	if got := checked.Text("#import-reading"); !strings.Contains(got, "Headers Row 3") {
		t.Errorf("how the file was read: %q", got)
	}
}

// Each row that repeats another or an existing customer is named with it, on the page and in the file of problems.
func TestImportNamesDuplicates(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	elsa := s.add("Elsa", "Berg", "0701740605")
	content := "name,phone,e-mail\n" +
		"Anna Ek,0701740606,family@example.com\n" + // 2
		"Bo Ek,0701740607,family@example.com\n" + // 3
		"Cia Ek,+46 70 174 06 06,\n" + // 4
		"Dan Berg,0701740605,\n" // 5
	for n := range 6 {
		content += fmt.Sprintf("Guest %d,000 000 000,\n", n) // 6 to 11
	}
	path, checked := b.checkedFile(content)
	hasImportFigures(t, checked, "New 2 ", "Existing 1 ", "Duplicates 7 ", "Errors 0 ")
	rows := checked.Texts("#import-duplicates tbody tr")
	want := []string{
		"3 Bo Ek Row 2 E-mail: family@example.com E-mail family@example.com",
		"4 Cia Ek Row 2 Phone: +46 70 174 06 06 Phone +46 70 174 06 06",
		"5 Dan Berg Elsa Berg Phone: 0701740605 Phone 0701740605",
		"7 Guest 1 Row 6 Phone: 000 000 000 Phone 000 000 000",
	}
	if len(rows) != 8 {
		t.Fatalf("%d rows: %q", len(rows), rows)
	}
	wants(t, "duplicates", rows[:4], want)
	wants(t, "links", checked.Links("#import-duplicates tbody a"), []string{"/admin/customers/" + elsa.ID.String()})
	wants(t, "shared values", checked.Texts("#import-duplicates li"), []string{"6 rows share the phone number 000 000 000. Only row 6 is imported."})
	file := b.Get(path + "/problems.csv").Body.String()
	for _, line := range []string{
		"3,E-mail,family@example.com,Repeats row 2: same e-mail address\r\n",
		"5,Phone,0701740605,Repeats Elsa Berg: same phone number\r\n",
		"11,Phone,000 000 000,Repeats row 6: same phone number\r\n",
	} {
		if !strings.Contains(file, line) {
			t.Errorf("the file of problems has no %q: %q", line, file)
		}
	}
	// After the import, those who were repeated are customers.
	b.Submit(path+"/run", nil)
	s.work(path)
	rows = b.Get(path).Texts("#import-duplicates tbody tr")
	if len(rows) != 8 || !strings.HasPrefix(rows[0], "3 Bo Ek Anna Ek ") {
		t.Errorf("after the import: %q", rows)
	}
}

// Whether 3/4/2024 is in March or in April is settled by the column, else by the country, and can be changed.
func TestImportOfDates(t *testing.T) {
	t.Parallel()
	const row = "Anna Ek,0701740605,03/04/2024\n"
	for name, c := range map[string]struct {
		country, more, chosen string
		want, why             string
	}{
		"usual in Sweden":            {"SE", "", "", "3 Apr 2024", "The order of your country, Sweden: 1 date can be read both ways"},
		"usual in the United States": {"US", "", "", "4 Mar 2024", "The order of your country, United States: 1 date can be read both ways"},
		"a 25 in front":              {"US", "Bo Ek,0701740606,25.12.2023\n", "", "3 Apr 2024", "Row 3 can only be read this way"},
		"a 25 in the middle":         {"SE", "Bo Ek,0701740606,12/25/2023 2:30 PM\n", "", "4 Mar 2024", "Row 3 can only be read this way"},
		"chosen":                     {"SE", "", "mdy", "4 Mar 2024", "As you chose"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.Exec("update loyalty.tenant set country = $2 where id = $1", s.By.Tenant.ID, c.country)
			b := s.signedIn(core.Manager)
			phone := strings.NewReplacer("0701740605", "+46701740605", "0701740606", "+46701740606")
			path, checked := b.checkedFile(phone.Replace("name,phone,created\n"+row+c.more), "dates", c.chosen)
			reading := checked.Text("#import-reading")
			if !strings.Contains(reading, c.want) || !strings.Contains(reading, c.why) {
				t.Errorf("how the file was read: %q, want %q and %q", reading, c.want, c.why)
			}
			if checked.Find("#import-reading a[href$='step=columns']").Length() != 1 {
				t.Error("the order of dates can't be changed")
			}
			b.Submit(path+"/run", nil)
			s.work(path)
			if got := b.Get("/admin/customers").Text("#customers tbody"); !strings.Contains(got, c.want) {
				t.Errorf("customers: %q", got)
			}
		})
	}
	// Where a column has both, what doesn't fit is an error.
	b := newShop(t).signedIn(core.Manager)
	_, checked := b.checkedFile("name,phone,created\n" + row + "Bo Ek,0701740606,25/12/2023\nCia Ek,0701740607,12/25/2023\n")
	if got := checked.Text("#import-reading"); !strings.Contains(got, "Row 4 can only be read the other way") {
		t.Errorf("how the file was read: %q", got)
	}
	hasImportFigures(t, checked, "New 2 ", "Existing 0 ", "Duplicates 0 ", "Errors 1 ")
}

// An import is one event, its customers aren't new ones in figures, and their opening balances say so.
func TestImportIsNoActivityOfItsCustomers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Owner)
	anna := s.add("Anna", "Lindqvist", "0701740605")
	s.Sale(anna.ID, s.Points(100), 2450)
	s.Adjust(anna.ID, ledger.Points, 7) // stays among the latest events, however many balances an import opens
	content := "name,phone,points,stamps\n"
	for n := range 60 {
		content += fmt.Sprintf("Bo Ek %d,07017407%02d,%d,1\n", n, n, 100+n)
	}
	path := b.importedFile(content)
	dashboard := b.Get("/admin")
	rows := dashboard.Texts("#activity li")
	imports, adjusted := 0, 0
	for _, r := range rows {
		switch {
		case strings.HasPrefix(r, "Anna Lindqvist Adjusted"):
			adjusted++
		case strings.HasPrefix(r, "60 customers imported, 7,770 points, 60 stamps customers.csv by Bo Ek"):
			imports++
		case strings.Contains(r, "Adjusted"), strings.Contains(r, "Joined") && !strings.Contains(r, "Lindqvist"):
			t.Errorf("the activity has %q", r)
		}
	}
	if imports != 1 || adjusted != 1 || dashboard.Find("#activity a[href='"+path+"']").Length() != 1 {
		t.Errorf("%d lines of the import, %d of the adjustment: %q", imports, adjusted, rows)
	}
	if got := b.Get("/admin/reports").Text("main"); !strings.Contains(got, "New customers 1 ") {
		t.Errorf("new customers: %q", got)
	}
	who := b.Get("/admin/customers?search=0701740711").Links("#customers tbody a")
	history := b.Get(who[0]).Text("#history")
	if !strings.Contains(history, "Opening balance") || !strings.Contains(history, "Import of customers.csv") || strings.Contains(history, "adjusted") {
		t.Errorf("timeline: %q", history)
	}
	if got := b.Get(who[0] + "?events=adjustments").Text("#history"); !strings.Contains(got, "Opening balance") {
		t.Errorf("adjustments: %q", got)
	}
}

// The check says how many new customers fit the plan, and offers no import that would be refused.
func TestImportAboveThePlan(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.allow("3, null, null")
	s.add("Anna", "Lindqvist", "0701740605")
	owner := s.signedIn(core.Owner)
	path, checked := owner.checkedFile("name,phone\nBo Ek,0701740606\nCia Ek,0701740607\nDan Ek,0701740608\n")
	if got := checked.Text("[data-plan-notice]"); got != "2 of 3 fit your plan. Upgrade, or shorten the file. View plan" {
		t.Errorf("the page says %q", got)
	}
	if checked.Find("a[href$='/run']").Length() != 0 {
		t.Error("the page offers an import that would be refused")
	}
	if refused := owner.Post(path+"/run", nil); refused.Code != 422 || refused.Text(".alert") != "2 of 3 fit your plan. Upgrade, or shorten the file." {
		t.Errorf("imported all the same: %d %q", refused.Code, refused.Text(".alert"))
	}
	s.Exec("update loyalty.plan p set customers_limit = 30 from loyalty.tenant t where t.plan_id = p.id and t.id = $1", s.By.Tenant.ID)
	if fits := owner.Get(path); fits.Find("[data-plan-notice]").Length() != 0 || fits.Find("a[href$='/run']").Length() == 0 {
		t.Error("it still doesn't fit a larger plan")
	}
}
