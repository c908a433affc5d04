package admin_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
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
)

// sendFile sends a file of customers as the form does.
func (b *browser) sendFile(key, name, content string) answer {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField(page.FormKey, key); err != nil {
		b.t.Fatal(err)
	}
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := part.Write([]byte(content)); err != nil {
		b.t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		b.t.Fatal(err)
	}
	return b.ask(http.MethodPost, "/admin/customers/import", &body, "Content-Type", form.FormDataContentType(), "Sec-Fetch-Site", "same-origin")
}

// uploaded uploads a file and returns the path of its import.
func (b *browser) uploaded(content string) string {
	b.t.Helper()
	a := b.sendFile(core.NewID(b.shop.db.Now()).String(), "customers.csv", content)
	if a.Code != http.StatusSeeOther {
		b.t.Fatalf("upload = %d %s", a.Code, a.words(".alert, .invalid-feedback"))
	}
	return a.Header().Get("Location")
}

// work runs an import's jobs.
func (s *shop) work(t *testing.T, path string) {
	t.Helper()
	id, err := core.ParseID(path[strings.LastIndex(path, "/")+1:])
	if err != nil {
		t.Fatal(err)
	}
	for {
		i, err := s.Imports.Find(t.Context(), s.by, id)
		if err != nil {
			t.Fatal(err)
		}
		if i.Status != importing.Checking && i.Status != importing.Running {
			return
		}
		if _, err := s.Imports.Work(t.Context(), s.by, id, i.Attempt); err != nil {
			t.Fatal(err)
		}
	}
}

// columns returns the column form's values as the page shows them.
func (a answer) columns() url.Values {
	f := form()
	a.Find("form select").Each(func(_ int, s *goquery.Selection) {
		f.Set(s.AttrOr("name", ""), s.Find("option[selected]").AttrOr("value", ""))
	})
	if a.Find("input[name=heading][checked]").Length() > 0 {
		f.Set("heading", "1")
	}
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
	b := s.signedIn(t, core.Manager)
	if got := b.get("/admin/customers").Find("a[href='/admin/customers/import']").Length(); got != 1 {
		t.Error("the customer list doesn't link to the import")
	}
	start := b.get("/admin/customers/import")
	if key := start.Find("input[name=form_key]").AttrOr("value", ""); len(key) != 26 {
		t.Errorf("form key %q", key)
	}
	if start.Find("input[name=form_key] ~ * input[type=file], input[type=file]").Length() != 1 || start.Find("form[enctype='multipart/form-data']").Length() != 1 {
		t.Error("no file can be chosen")
	}

	path := b.uploaded(someCustomers)
	columns := b.get(path)
	if got := columns.words(".step-item.active"); got != "Columns" {
		t.Errorf("the step is %q", got)
	}
	if got := columns.words(".page-wrapper > main > .page-body p"); !strings.Contains(got, "4 rows, 1 kB") || !strings.Contains(got, "Bo Ek") {
		t.Errorf("facts: %q", got)
	}
	wants(t, "guessed columns", columns.selected(), []string{"full_name", "phone", "email", "points", ""})
	if got := columns.words("tbody tr:nth-child(2)"); got != "2 Elsa <b>Berg</b> 08-465 004 12 elsa@example.com 12 38" {
		t.Errorf("second row: %q", got)
	}
	if got := columns.words(".import-heading"); !strings.HasPrefix(got, "1 Namn Mobil") {
		t.Errorf("heading: %q", got)
	}

	// A refused form keeps the selected columns.
	wrong := form("column_0", "full_name", "column_1", "", "column_2", "email", "column_3", "points", "column_4", "stamps")
	refused := b.post(path+"/check", wrong)
	if refused.Code != http.StatusUnprocessableEntity || refused.words(".alert") != says("Columns", core.Violation{Rule: "phone_column"}) {
		t.Errorf("%d %q", refused.Code, refused.words(".alert"))
	}
	wants(t, "refused columns", refused.selected(), []string{"full_name", "", "email", "points", "stamps"})
	if refused.Find("[name=heading][checked]").Length() != 0 {
		t.Error("the header row's checkbox is ticked again")
	}

	progress := b.posted(path+"/check", columns.columns())
	if got := progress.words(".step-item.active, progress + p"); got != "Check 0 of 4 rows" {
		t.Errorf("progress: %q", got)
	}
	if bar := progress.Find("progress"); bar.AttrOr("max", "") != "4" || bar.AttrOr("value", "") != "0" {
		t.Error("the progress bar has the wrong value")
	}
	if !strings.Contains(progress.Find("noscript").Text(), path+"\">Refresh</a>") {
		t.Error("without scripts, nothing refreshes the page")
	}
	s.work(t, path)

	checked := b.get(path)
	if got := checked.words("main h2"); !strings.HasPrefix(got, "2 customers ") || !strings.Contains(got, "1 row ") {
		t.Errorf("result: %q", got)
	}
	hasImportFigures(t, checked, "New 2 ", "Existing 0 ", "Duplicates 1 ", "Errors 1 ")
	if got := checked.words("tbody"); !strings.Contains(got, "dan@<i>") || !strings.Contains(got, says("E-mail", core.MustBeEmail)) || checked.Find("tbody tr").Length() != 4 {
		t.Errorf("problems: %q", got)
	}
	ask := b.get(path + "/run")
	if got := ask.words(".form-card p"); !strings.Contains(got, "2 customers ") || strings.Count(got, "1 row ") != 2 {
		t.Errorf("asks %q", got)
	}
	running := b.posted(path+"/run", nil)
	if got := running.words(".step-item.active, progress + p"); !strings.HasPrefix(got, "Import 0 of 4 rows") || !strings.Contains(got, "0 customers") {
		t.Errorf("running: %q", got)
	}
	s.work(t, path)
	report := b.get(path)
	if got := report.words("main h2"); !strings.HasPrefix(got, "2 customers added") || !strings.Contains(got, "1 row ") {
		t.Errorf("report: %q", got)
	}
	hasImportFigures(t, report, "Added 2 ", "Existing 1 ", "Errors 1 ")
	if again := b.post(path+"/run", nil); again.Code != http.StatusSeeOther {
		t.Errorf("run twice: %d", again.Code)
	}
	if got := b.get("/admin/customers?search=elsa").words("tbody"); !strings.Contains(got, "Elsa <b>Berg</b>") || !strings.Contains(got, "12") {
		t.Errorf("list: %q", got)
	}
	list := b.get("/admin/customers/import")
	if got := list.words("tbody"); list.links("tbody a")[0] != path || !strings.Contains(got, "customers.csv") || !strings.Contains(got, "2 customers added") {
		t.Errorf("earlier imports: %q", got)
	}
}

// selected are the values selected in the column form.
func (a answer) selected() (values []string) {
	a.Find("thead option[selected]").Each(func(_ int, option *goquery.Selection) { values = append(values, option.AttrOr("value", "")) })
	return values
}

// hasImportFigures compares the beginnings of the figures: label and number.
func hasImportFigures(t *testing.T, a answer, want ...string) {
	t.Helper()
	got := a.each(".card-sm")
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("figures: %q, want %q", got, want)
	}
}

// "A progress bar, polled fragment every second that stops by itself when done."
func TestImportProgressIsPolled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(t, core.Manager)
	path := b.uploaded(someCustomers)
	b.posted(path+"/check", b.get(path).columns())
	part := b.get(path, "Hx-Request", "true")
	bar := part.Find("#import-progress")
	if part.Find("main").Length() != 0 || bar.AttrOr("hx-get", "") != path || bar.AttrOr("hx-trigger", "") != "every 1s, wake" {
		t.Errorf("fragment: %s", part.Body)
	}
	s.work(t, path)
	if a := b.ask(http.MethodGet, path, nil, "Hx-Request", "true"); a.Code != http.StatusNoContent || a.Header().Get("Hx-Redirect") != path {
		t.Errorf("done: %d to %q", a.Code, a.Header().Get("Hx-Redirect"))
	}
}

// "Every bad row named (row, what is wrong; first 100 shown, all as CSV)."
func TestEveryBadRowIsReported(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(t, core.Manager)
	path := b.uploaded("name,phone\n" + strings.Repeat("Anna Ek,+1\n", 150) + "Bo Ek,\"2\"3\n")
	b.posted(path+"/check", b.get(path).columns())
	s.work(t, path)
	result := b.get(path)
	if n := result.Find("tbody tr").Length(); n != 100 {
		t.Errorf("%d rows shown, want 100", n)
	}
	if got := result.words(".card-subtitle"); !strings.Contains(got, " 100 ") {
		t.Errorf("the page doesn't say that it shows 100 errors: %q", got)
	}
	if result.Find("a[href$='/run']").Length() != 0 {
		t.Error("there is nothing to import, but the page offers it")
	}
	all := b.get(path + "/problems.csv")
	text := all.Body.String()
	if kind := all.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/csv") || strings.Count(text, "\r\n") != 152 {
		t.Errorf("%s with %d lines", kind, strings.Count(text, "\r\n"))
	}
	if !strings.HasPrefix(text, "\uFEFFRow,Column,Value,Error\r\n2,Phone,'+1,"+says("Phone", core.MustBePhone)+"\r\n") {
		t.Errorf("begins %q", text[:120])
	}
	if !strings.HasSuffix(text, "152,Whole row,,"+says("Row", core.Violation{Rule: "stray_quote"})+"\r\n") {
		t.Errorf("ends %q", text[len(text)-150:])
	}
}

// "Multipart upload limited and checked": a file that isn't a list of customers is refused next to the
// field, after it was read completely, and the same form can be sent again.
func TestRefusedUploads(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(t, core.Manager)
	for name, c := range map[string]struct{ file, content, want string }{
		"nothing":    {"", "", "Choose a file"},
		"empty":      {"x.csv", "", says("File", core.Violation{Rule: "empty_file"})},
		"a workbook": {"x.xlsx", "PK\x03\x04\x00\x00", says("File", core.Violation{Rule: "workbook"})},
		"a picture":  {"x.csv", "\x89PNG\x00", says("File", core.Violation{Rule: "not_csv"})},
		"too large":  {"x.csv", strings.Repeat(strings.Repeat("x", 1023)+"\n", 25<<10), says("File", core.Violation{Rule: "max_megabytes", Limit: 20})},
	} {
		a := b.sendFile("key-"+name, c.file, c.content)
		if a.Code != http.StatusUnprocessableEntity || a.words(".invalid-feedback") != c.want || a.words(".alert a") != c.want {
			t.Errorf("%s: %d %q", name, a.Code, a.words(".invalid-feedback"))
		}
		if key := a.Find("input[name=form_key]").AttrOr("value", ""); key != "key-"+name {
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
	a := b.ask(http.MethodPost, "/admin/customers/import", strings.NewReader(cut), "Content-Type", "multipart/form-data; boundary=b", "Sec-Fetch-Site", "same-origin")
	if a.Code != http.StatusBadRequest {
		t.Errorf("cut short: %d", a.Code)
	}
	if list := b.get("/admin/customers/import").words("tbody"); strings.Count(list, "x.csv") != 1 {
		t.Errorf("imports afterwards: %q", list)
	}
}

// "A double click is one": sent twice, a file is one import.
func TestUploadTwiceImportsOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(t, core.Manager)
	first, second := b.sendFile("once", "x.csv", someCustomers), b.sendFile("once", "x.csv", someCustomers)
	if to := first.Header().Get("Location"); to == "" || second.Header().Get("Location") != to {
		t.Errorf("led to %q and %q", to, second.Header().Get("Location"))
	}
}

// A file can be discarded and an import stopped, both after a confirmation.
func TestCancelImport(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(t, core.Manager)
	path := b.uploaded(someCustomers)
	if asked := b.get(path+"/cancel", "Hx-Request", "true"); asked.Find("form[action='"+path+"/cancel'] .btn-danger").Length() != 1 {
		t.Errorf("the confirmation is %q", asked.words("body"))
	}
	if after := b.posted(path+"/cancel", nil); !after.flashed(ui.Done, "customers.csv") {
		t.Errorf("flash %q", after.words("#flashes"))
	}
	if discarded := b.get(path); discarded.Find("a[href='"+path+"/run'], a[href='"+path+"/cancel'], form select").Length() != 0 {
		t.Errorf("its page still offers %q", discarded.words("main a"))
	}
	for _, step := range []string{"/check", "/run"} {
		a := b.post(path+step, form("column_0", "full_name", "column_1", "phone", "column_2", "", "column_3", "", "column_4", ""))
		if a.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s afterwards = %d", step, a.Code)
		}
	}

	path = b.uploaded(someCustomers)
	b.posted(path+"/check", b.get(path).columns())
	s.work(t, path)
	b.posted(path+"/run", nil)
	other := b.uploaded(someCustomers)
	b.posted(other+"/check", b.get(other).columns())
	s.work(t, other)
	if a := b.post(other+"/run", nil); a.Code != http.StatusUnprocessableEntity || a.words(".alert") != importing.ErrRunning.Message {
		t.Errorf("two at once: %d %q", a.Code, a.words(".alert"))
	}
	if asked := b.get(path + "/cancel"); asked.Find("form .btn-danger").Length() != 1 {
		t.Errorf("the confirmation is %q", asked.words("main"))
	}
	b.posted(path+"/cancel", nil)
	s.work(t, path)
	if list := b.get("/admin/customers"); list.Find("#customers .empty").Length() != 1 {
		t.Errorf("afterwards: %q", list.words("#customers"))
	}
}

// Columns can be changed after a check.
func TestChangeColumnsAfterCheck(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(t, core.Manager)
	path := b.uploaded(someCustomers)
	b.posted(path+"/check", form("column_0", "full_name", "column_1", "phone", "column_2", "", "column_3", "", "column_4", "points", "heading", "1"))
	s.work(t, path)
	change := b.get(path).Find("a[href*='step=columns']").AttrOr("href", "")
	wants(t, "the columns selected before", b.get(change).selected(), []string{"full_name", "phone", "", "", "points"})
}

// The sample file can be imported unchanged.
func TestImportSampleFile(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(t, core.Manager)
	path := b.uploaded(b.get("/admin/customers/import/sample.csv").Body.String())
	columns := b.get(path)
	wants(t, "guessed columns", columns.selected(), []string{"first_name", "last_name", "phone", "email", "created_at", "points", "stamps"})
	b.posted(path+"/check", columns.columns())
	s.work(t, path)
	if got := b.get(path).words("main h2"); !strings.HasPrefix(got, "2 customers ") {
		t.Errorf("checked: %q", got)
	}
}

// "Manager and up": cashiers may not import. Another business's import is 404.
func TestImportPermissions(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	path := s.signedIn(t, core.Manager).uploaded(someCustomers)
	cashier := s.signedIn(t, core.Cashier)
	if cashier.get("/admin/customers").Find("a[href*=import], a[href*=export]").Length() != 0 {
		t.Error("a cashier is offered imports or exports")
	}
	stranger := other.signedIn(t, core.Owner)
	for _, p := range []string{path, path + "/run", path + "/cancel", path + "/problems.csv"} {
		if a := stranger.ask(http.MethodGet, p, nil); a.Code != http.StatusNotFound {
			t.Errorf("%s at another business = %d", p, a.Code)
		}
		if a := cashier.ask(http.MethodGet, p, nil); a.Code != http.StatusForbidden {
			t.Errorf("%s as a cashier = %d", p, a.Code)
		}
	}
	for _, p := range []string{"/check", "/run", "/cancel"} {
		if a := stranger.post(path+p, nil); a.Code != http.StatusNotFound {
			t.Errorf("POST %s at another business = %d", p, a.Code)
		}
	}
}

// Columns are named as in a spreadsheet, also beyond Z.
func TestImportColumnLetters(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := s.signedIn(t, core.Manager)
	var heading []string
	for n := range 30 {
		heading = append(heading, fmt.Sprint("c", n))
	}
	page := b.get(b.uploaded(strings.Join(heading, ",") + "\n1\n"))
	for n, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 29: "AD"} {
		if got := page.Find(fmt.Sprintf("#field-column_%d", n)).AttrOr("aria-label", ""); !strings.HasSuffix(got, " "+want) {
			t.Errorf("column %d is called %q", n, got)
		}
	}
}
