package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/webtest"
)

// sendFile sends a file of customers as the form does.
func (b *browser) sendFile(key, name, content string) webtest.Page {
	b.T.Helper()
	return b.upload("/admin/customers/import", webtest.Form(page.FormKey, key), upload{"file", name, "text/csv", content})
}

// uploaded uploads a file and returns the path of its import.
func (b *browser) uploaded(content string) string {
	b.T.Helper()
	a := b.sendFile(core.NewID(b.shop.DB.Now()).String(), "customers.csv", content)
	if a.Code != http.StatusSeeOther {
		b.T.Fatalf("upload = %d %s", a.Code, a.Text(".alert, .invalid-feedback"))
	}
	return a.Header().Get("Location")
}

// work runs an import's jobs.
func (s *shop) work(path string) {
	s.T.Helper()
	id, err := core.ParseID(path[strings.LastIndex(path, "/")+1:])
	if err != nil {
		s.T.Fatal(err)
	}
	for {
		i, err := s.Imports.Find(s.T.Context(), s.By, id)
		if err != nil {
			s.T.Fatal(err)
		}
		if i.Status != importing.Checking && i.Status != importing.Running {
			return
		}
		if _, err := s.Imports.Work(s.T.Context(), s.By, id, i.Attempt); err != nil {
			s.T.Fatal(err)
		}
	}
}

// columnForm returns the column form's values as the page shows them.
func columnForm(a webtest.Page) url.Values {
	f := webtest.Form()
	a.Find("form select").Each(func(_ int, s *goquery.Selection) {
		f.Set(s.AttrOr("name", ""), s.Find("option[selected]").AttrOr("value", ""))
	})
	return f
}

const someCustomers = "Namn;Mobil;E-post;Poäng;Skostorlek\n" +
	"Elsa <b>Berg</b>;08-465 004 12;elsa@example.com;12;38\n" +
	"Bo Ek;08-465 004 13;;;44\n" +
	"Bo Ek;+46 8 465 004 13;;;44\n" +
	"Dan;1;dan@<i>;many;\n"

// "Choose a file → mapping preview → check → result → import → report", all with plain forms and
// links.
func TestImportCustomers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	if got := b.Get("/admin/customers").Find("a[href='/admin/customers/import']").Length(); got != 1 {
		t.Error("the customer list doesn't link to the import")
	}
	start := b.Get("/admin/customers/import")
	if key := start.Value("input[name=form_key]"); len(key) != 26 {
		t.Errorf("form key %q", key)
	}
	if start.Find("input[name=form_key] ~ * input[type=file], input[type=file]").Length() != 1 || start.Find("form[enctype='multipart/form-data']").Length() != 1 {
		t.Error("no file can be chosen")
	}

	path := b.uploaded(someCustomers)
	columns := b.Get(path)
	if got := columns.Text(".step-item.active"); got != "Columns" {
		t.Errorf("the step is %q", got)
	}
	if got := columns.Text(".page-wrapper > main > .page-body p"); !strings.Contains(got, "4 rows, 1 kB") || !strings.Contains(got, "Bo Ek") {
		t.Errorf("facts: %q", got)
	}
	wants(t, "guessed columns", selected(columns), []string{"full_name", "phone", "email", "points", ""})
	if got := columns.Text("tbody tr:nth-child(2)"); got != "2 Elsa <b>Berg</b> 08-465 004 12 elsa@example.com 12 38" {
		t.Errorf("second row: %q", got)
	}
	if got := columns.Text(".import-heading"); !strings.HasPrefix(got, "1 Namn Mobil") {
		t.Errorf("heading: %q", got)
	}

	// A refused form keeps the selected columns.
	wrong := webtest.Form("heading", "0", "column_0", "full_name", "column_1", "", "column_2", "email", "column_3", "points", "column_4", "stamps")
	refused := b.Post(path+"/check", wrong)
	if refused.Code != http.StatusUnprocessableEntity || refused.Text(".alert") != webtest.Message("Columns", core.Violation{Rule: "phone_column"}) {
		t.Errorf("%d %q", refused.Code, refused.Text(".alert"))
	}
	wants(t, "refused columns", selected(refused), []string{"full_name", "", "email", "points", "stamps"})
	if got := refused.Find("[name=heading] option[selected]").AttrOr("value", ""); got != "0" {
		t.Errorf("the header row is chosen again: %q", got)
	}

	progress := b.Submit(path+"/check", columnForm(columns))
	if got := progress.Text(".step-item.active, progress + p"); got != "Check 0 of 4 rows" {
		t.Errorf("progress: %q", got)
	}
	if bar := progress.Find("progress"); bar.AttrOr("max", "") != "4" || bar.AttrOr("value", "") != "0" {
		t.Error("the progress bar has the wrong value")
	}
	if !strings.Contains(progress.Find("noscript").Text(), path+"\">Refresh</a>") {
		t.Error("without scripts, nothing refreshes the page")
	}
	s.work(path)

	checked := b.Get(path)
	if got := checked.Text("main h2"); !strings.HasPrefix(got, "2 customers ") || !strings.Contains(got, "1 row ") {
		t.Errorf("result: %q", got)
	}
	hasImportFigures(t, checked, "New 2 ", "Existing 0 ", "Duplicates 1 ", "Errors 1 ")
	if got := checked.Text("#import-problems tbody"); !strings.Contains(got, "dan@<i>") || !strings.Contains(got, webtest.Message("E-mail", core.MustBeEmail)) || checked.Find("#import-problems tbody tr").Length() != 4 {
		t.Errorf("problems: %q", got)
	}
	ask := b.Get(path + "/run")
	if got := ask.Text(".form-card p"); !strings.Contains(got, "2 customers ") || strings.Count(got, "1 row ") != 2 {
		t.Errorf("asks %q", got)
	}
	running := b.Submit(path+"/run", nil)
	if got := running.Text(".step-item.active, progress + p"); !strings.HasPrefix(got, "Import 0 of 4 rows") || !strings.Contains(got, "0 customers") {
		t.Errorf("running: %q", got)
	}
	s.work(path)
	report := b.Get(path)
	if got := report.Text("main h2"); !strings.HasPrefix(got, "2 customers added") || !strings.Contains(got, "1 row ") {
		t.Errorf("report: %q", got)
	}
	hasImportFigures(t, report, "Added 2 ", "Existing 1 ", "Errors 1 ")
	if again := b.Post(path+"/run", nil); again.Code != http.StatusSeeOther {
		t.Errorf("run twice: %d", again.Code)
	}
	if got := b.Get("/admin/customers?search=elsa").Text("tbody"); !strings.Contains(got, "Elsa <b>Berg</b>") || !strings.Contains(got, "12") {
		t.Errorf("list: %q", got)
	}
	list := b.Get("/admin/customers/import")
	if got := list.Text("tbody"); list.Links("tbody a")[0] != path || !strings.Contains(got, "customers.csv") || !strings.Contains(got, "2 customers added") {
		t.Errorf("earlier imports: %q", got)
	}
}

// selected are the values selected in the column form.
func selected(a webtest.Page) (values []string) {
	a.Find("thead option[selected]").Each(func(_ int, option *goquery.Selection) { values = append(values, option.AttrOr("value", "")) })
	return values
}

// hasImportFigures compares the beginnings of the figures: label and number.
func hasImportFigures(t *testing.T, a webtest.Page, want ...string) {
	t.Helper()
	got := a.Texts(".card-sm")
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("figures: %q, want %q", got, want)
	}
}

// "A progress bar, polled fragment every second that stops by itself when done."
func TestImportProgressIsPolled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	path := b.uploaded(someCustomers)
	b.Submit(path+"/check", columnForm(b.Get(path)))
	part := b.Get(path, "Hx-Request", "true")
	bar := part.Find("#import-progress")
	if part.Find("main").Length() != 0 || bar.AttrOr("hx-get", "") != path || bar.AttrOr("hx-trigger", "") != "every 1s, wake" {
		t.Errorf("fragment: %s", part.Body)
	}
	s.work(path)
	if a := b.Ask(http.MethodGet, path, "Hx-Request", "true"); a.Code != http.StatusNoContent || a.Header().Get("Hx-Redirect") != path {
		t.Errorf("done: %d to %q", a.Code, a.Header().Get("Hx-Redirect"))
	}
}

// "Every bad row named (row, what is wrong; first 100 shown, all as CSV)."
func TestEveryBadRowIsReported(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	path := b.uploaded("name,phone\n" + strings.Repeat("Anna Ek,+1\n", 150) + "Bo Ek,\"2\"3\n")
	b.Submit(path+"/check", columnForm(b.Get(path)))
	s.work(path)
	result := b.Get(path)
	if n := result.Find("tbody tr").Length(); n != 100 {
		t.Errorf("%d rows shown, want 100", n)
	}
	if got := result.Text(".card-subtitle"); !strings.Contains(got, " 100 ") {
		t.Errorf("the page doesn't say that it shows 100 errors: %q", got)
	}
	if result.Find("a[href$='/run']").Length() != 0 {
		t.Error("there is nothing to import, but the page offers it")
	}
	all := b.Get(path + "/problems.csv")
	text := all.Body.String()
	if kind := all.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/csv") || strings.Count(text, "\r\n") != 152 {
		t.Errorf("%s with %d lines", kind, strings.Count(text, "\r\n"))
	}
	if !strings.HasPrefix(text, "\uFEFFRow,Column,Value,Error\r\n2,Phone,'+1,"+webtest.Message("Phone", core.MustBePhone)+"\r\n") {
		t.Errorf("begins %q", text[:120])
	}
	if !strings.HasSuffix(text, "152,Whole row,,"+webtest.Message("Row", core.Violation{Rule: "stray_quote"})+"\r\n") {
		t.Errorf("ends %q", text[len(text)-150:])
	}
}

// "Multipart upload limited and checked": a file that isn't a list of customers is refused next to the
// field, after it was read completely, and the same form can be sent again.
func TestRefusedUploads(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	for name, c := range map[string]struct{ file, content, want string }{
		"nothing":    {"", "", "Choose a file"},
		"empty":      {"x.csv", "", webtest.Message("File", core.Violation{Rule: "empty_file"})},
		"a workbook": {"x.xlsx", "PK\x03\x04\x00\x00", webtest.Message("File", core.Violation{Rule: "workbook"})},
		"a picture":  {"x.csv", "\x89PNG\x00", webtest.Message("File", core.Violation{Rule: "not_csv"})},
		"too large":  {"x.csv", strings.Repeat(strings.Repeat("x", 1023)+"\n", 25<<10), webtest.Message("File", core.Violation{Rule: "max_megabytes", Limit: 20})},
	} {
		a := b.sendFile("key-"+name, c.file, c.content)
		if a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != c.want || a.Find(".alert a").Length() != 1 {
			t.Errorf("%s: %d %q", name, a.Code, a.Text(".invalid-feedback"))
		}
		if key := a.Value("input[name=form_key]"); key != "key-"+name {
			t.Errorf("%s: the form key is now %q", name, key)
		}
	}
	if a := b.sendFile("key-nothing", "x.csv", someCustomers); a.Code != http.StatusSeeOther {
		t.Errorf("the same form, with a file: %d", a.Code)
	}
	// Far above the limit.
	if a := b.sendFile("key-huge", "x.csv", strings.Repeat("x", 101<<20)); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("101 MB: %d", a.Code)
	}
	// An upload that breaks off.
	cut := "--b\r\nContent-Disposition: form-data; name=\"form_key\"\r\n\r\nkey-cut\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.csv\"\r\n\r\nname,phone\nAnna Ek,070"
	a := b.Do(b.Request(http.MethodPost, "/admin/customers/import", strings.NewReader(cut), "Content-Type", "multipart/form-data; boundary=b", "Sec-Fetch-Site", "same-origin"))
	if a.Code != http.StatusBadRequest {
		t.Errorf("cut short: %d", a.Code)
	}
	if list := b.Get("/admin/customers/import").Text("tbody"); strings.Count(list, "x.csv") != 1 {
		t.Errorf("imports afterwards: %q", list)
	}
}

// "A double click is one": sent twice, a file is one import.
func TestUploadTwiceImportsOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	first, second := b.sendFile("once", "x.csv", someCustomers), b.sendFile("once", "x.csv", someCustomers)
	if to := first.Header().Get("Location"); to == "" || second.Header().Get("Location") != to {
		t.Errorf("led to %q and %q", to, second.Header().Get("Location"))
	}
}

// A file can be discarded and an import stopped, both after a confirmation.
func TestCancelImport(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	path := b.uploaded(someCustomers)
	if asked := b.Get(path+"/cancel", "Hx-Request", "true"); asked.Find("form[action='"+path+"/cancel'] .btn-danger").Length() != 1 {
		t.Errorf("the confirmation is %q", asked.Text("body"))
	}
	if after := b.Submit(path+"/cancel", nil); !after.Flashed(ui.Done, "customers.csv") {
		t.Errorf("flash %q", after.Text("#flashes"))
	}
	if discarded := b.Get(path); discarded.Find("a[href='"+path+"/run'], a[href='"+path+"/cancel'], form select").Length() != 0 {
		t.Errorf("its page still offers %q", discarded.Text("main a"))
	}
	for _, step := range []string{"/check", "/run"} {
		a := b.Post(path+step, webtest.Form("column_0", "full_name", "column_1", "phone", "column_2", "", "column_3", "", "column_4", ""))
		if a.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s afterwards = %d", step, a.Code)
		}
	}

	path = b.uploaded(someCustomers)
	b.Submit(path+"/check", columnForm(b.Get(path)))
	s.work(path)
	b.Submit(path+"/run", nil)
	other := b.uploaded(someCustomers)
	b.Submit(other+"/check", columnForm(b.Get(other)))
	s.work(other)
	if a := b.Post(other+"/run", nil); a.Code != http.StatusUnprocessableEntity || a.Text(".alert") != importing.ErrRunning.Message {
		t.Errorf("two at once: %d %q", a.Code, a.Text(".alert"))
	}
	if asked := b.Get(path + "/cancel"); asked.Find("form .btn-danger").Length() != 1 {
		t.Errorf("the confirmation is %q", asked.Text("main"))
	}
	b.Submit(path+"/cancel", nil)
	s.work(path)
	if list := b.Get("/admin/customers"); list.Find("#customers .empty").Length() != 1 {
		t.Errorf("afterwards: %q", list.Text("#customers"))
	}
}

// Columns can be changed after a check.
func TestChangeColumnsAfterCheck(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	path := b.uploaded(someCustomers)
	b.Submit(path+"/check", webtest.Form("column_0", "full_name", "column_1", "phone", "column_2", "", "column_3", "", "column_4", "points", "heading", "1"))
	s.work(path)
	change := b.Get(path).Attr("a[href*='step=columns']", "href")
	wants(t, "the columns selected before", selected(b.Get(change)), []string{"full_name", "phone", "", "", "points"})
}

// The sample file can be imported unchanged.
func TestImportSampleFile(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	path := b.uploaded(b.Get("/admin/customers/import/sample.csv").Body.String())
	columns := b.Get(path)
	wants(t, "guessed columns", selected(columns), []string{"first_name", "last_name", "phone", "email", "created_at", "points", "stamps", "birthday"})
	b.Submit(path+"/check", columnForm(columns))
	s.work(path)
	if got := b.Get(path).Text("main h2"); !strings.HasPrefix(got, "2 customers ") {
		t.Errorf("checked: %q", got)
	}
}

// "Manager and up": cashiers may not import. Another business's import is 404.
func TestImportPermissions(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	path := s.signedIn(core.Manager).uploaded(someCustomers)
	cashier := s.signedIn(core.Cashier)
	if cashier.Get("/admin/customers").Find("a[href*=import], a[href*=export]").Length() != 0 {
		t.Error("a cashier is offered imports or exports")
	}
	stranger := other.signedIn(core.Owner)
	for _, p := range []string{path, path + "/run", path + "/cancel", path + "/problems.csv"} {
		if a := stranger.Ask(http.MethodGet, p); a.Code != http.StatusNotFound {
			t.Errorf("%s at another business = %d", p, a.Code)
		}
		if a := cashier.Ask(http.MethodGet, p); a.Code != http.StatusForbidden {
			t.Errorf("%s as a cashier = %d", p, a.Code)
		}
	}
	for _, p := range []string{"/check", "/run", "/cancel"} {
		if a := stranger.Post(path+p, nil); a.Code != http.StatusNotFound {
			t.Errorf("POST %s at another business = %d", p, a.Code)
		}
	}
}

// Columns are named as in a spreadsheet, also beyond Z.
func TestImportColumnLetters(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(core.Manager)
	var heading []string
	for n := range 30 {
		heading = append(heading, fmt.Sprint("c", n))
	}
	page := b.Get(b.uploaded(strings.Join(heading, ",") + "\n1\n"))
	for n, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 29: "AD"} {
		if got := page.Find(fmt.Sprintf("#field-column_%d", n)).AttrOr("aria-label", ""); !strings.HasSuffix(got, " "+want) {
			t.Errorf("column %d is called %q", n, got)
		}
	}
}
