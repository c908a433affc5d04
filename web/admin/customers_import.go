package admin

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/importing"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const importsPath = customersPath + "/import"

func (a *Admin) importRoutes() []route {
	const one = importsPath + "/:ulid"
	return []route{
		{method: get, path: importsPath, least: core.Manager, handle: a.newImport},
		{method: post, path: importsPath, least: core.Manager, handle: a.uploadImport, slow: true},
		{method: get, path: importsPath + "/sample.csv", least: core.Manager, handle: a.sampleCSV},
		{method: get, path: one, least: core.Manager, handle: a.showImport},
		{method: post, path: one + "/check", least: core.Manager, handle: a.checkImport},
		{method: get, path: one + "/run", least: core.Manager, handle: a.askRunImport},
		{method: post, path: one + "/run", least: core.Manager, handle: a.runImport},
		{method: get, path: one + "/cancel", least: core.Manager, handle: a.askCancelImport},
		{method: post, path: one + "/cancel", least: core.Manager, handle: a.cancelImport},
		{method: get, path: one + "/problems.csv", least: core.Manager, handle: a.problemsCSV, slow: true},
	}
}

func importPath(id core.ID) string { return importsPath + "/" + id.String() }

// maxImportUpload is how many bytes of an upload are read, so that a file that is too large gets a
// message about its size.
const maxImportUpload = 5 * importing.MaxSize

func (a *Admin) newImport(c echo.Context) error {
	return a.importForm(c, http.StatusOK, page.Blank(map[string]string{page.FormKey: a.NewFormKey()}))
}

func (a *Admin) uploadImport(c echo.Context) error {
	form, file, err := page.ReadUpload(c, "file", maxImportUpload)
	if err != nil {
		return err
	}
	in := importing.File{FormKey: form.Value(page.FormKey)}
	if file != nil {
		in.Name, in.Content = file.Name, file
	}
	i, err := a.Imports.Upload(c.Request().Context(), page.Actor(c), in)
	if form.Refused(err) {
		if file != nil {
			file.Drain()
		}
		return a.importForm(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	return a.Redirect(c, importPath(i.ID))
}

// importForm shows the upload form and the earlier imports.
func (a *Admin) importForm(c echo.Context, status int, form *page.Form) error {
	by := page.Actor(c)
	list, err := a.Imports.List(c.Request().Context(), by)
	if err != nil {
		return err
	}
	frame := a.frame(c, "Import customers", customersPath, ui.Crumb{Label: "Customers", Path: customersPath})
	if by.Tenant.Country == "" {
		return a.askCountry(c, status, frame)
	}
	v := views.ImportStart{
		Frame:   frame,
		FormKey: form.Value(page.FormKey), File: form.Field("file", "File"),
	}
	v.Problem = form.Problem()
	v.File.Type, v.File.Value = "file", ""
	v.File.Help = "CSV with commas, semicolons or tabs, up to 20 MB and 100,000 rows"
	v.File.Attributes = map[string]any{"accept": ".csv,.txt,.tsv,text/csv,text/plain,text/tab-separated-values"}
	for _, i := range list {
		v.Rows = append(v.Rows, views.ImportRow{
			Path: importPath(i.ID), Name: i.FileName, Status: importStatuses[i.Status], Outcome: importOutcome(i),
			When: page.Ago(i.CreatedAt, a.Now(), by.Tenant.TimeZone) + ", by " + i.ActorName,
		})
	}
	return a.Render(c, status, views.ImportStartPage(v), nil)
}

var importStatuses = map[importing.Status]ui.Badge{
	importing.Uploaded:  {Label: "Uploaded", Tone: ui.Neutral},
	importing.Checking:  {Label: "Checking", Tone: ui.Info},
	importing.Checked:   {Label: "Checked", Tone: ui.Notice},
	importing.Running:   {Label: "Importing", Tone: ui.Info},
	importing.Done:      {Label: "Imported", Tone: ui.Good},
	importing.Cancelled: {Label: "Cancelled", Tone: ui.Neutral},
}

func customerCount(n int64) string { return page.Count(n, "customer", "customers") }

// importOutcome sums an import up: "40 customers added".
func importOutcome(i importing.Import) string {
	switch i.Status {
	case importing.Checked:
		return customerCount(i.Created) + " to add"
	case importing.Done, importing.Cancelled, importing.Running:
		return customerCount(i.Created) + " added"
	case importing.Uploaded, importing.Checking:
	}
	return page.Count(i.Rows, "row", "rows")
}

var importLabels = map[importing.Field]string{
	importing.FirstNameField: "First name", importing.LastNameField: "Last name", importing.FullNameField: "Full name",
	importing.PhoneField: "Phone", importing.EmailField: "E-mail", importing.CreatedAtField: "Customer since",
	importing.PointsField: "Points", importing.StampsField: "Stamps",
}

// sampleCSV answers with a file that can be imported unchanged.
func (a *Admin) sampleCSV(c echo.Context) error {
	header := make([]string, 0, len(importing.Fields))
	for _, f := range importing.Fields {
		if f != importing.FullNameField {
			header = append(header, importLabels[f])
		}
	}
	return a.CSV(c, "customers-sample.csv", header, func(row func(...any) error) error {
		if err := row("Anna", "Lindqvist", "0701740605", "anna@example.com", "2024-03-15", int64(120), int64(3)); err != nil {
			return err
		}
		return row("Bilal", "Haddad", "0701740606", "", "", int64(0), int64(0))
	})
}

func (a *Admin) showImport(c echo.Context) error { return a.importPage(c, http.StatusOK, nil) }

// importPage shows the current step of an import. refused is the form of the columns if it was
// refused, else nil.
func (a *Admin) importPage(c echo.Context, status int, refused *page.Form) error {
	i, err := a.importOf(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	v := views.ImportPage{
		Frame: a.frame(c, i.FileName, customersPath, importCrumbs...),
		Facts: page.Count(i.Rows, "row", "rows") + ", " + fileSize(i.Size) + ", uploaded " + page.Time(i.CreatedAt, by.Tenant.TimeZone) + " by " + i.ActorName,
	}
	switch {
	case i.Status == importing.Uploaded, i.Status == importing.Checked && (refused != nil || c.QueryParam("step") == "columns"):
		v.Step = "Columns"
		v.Columns, err = a.importColumns(c, i.ID, refused)
	case i.Status == importing.Checking:
		v.Step, v.Progress = "Check", importProgress(i, "Checking rows", "Discard file")
	case i.Status == importing.Running:
		v.Step, v.Progress = "Import", importProgress(i, "Importing customers", "Stop import")
		v.Progress.Words += ", " + customerCount(i.Created) + " added"
	case page.IsFragment(c): // polled for progress, and it has finished
		return a.Redirect(c, importPath(i.ID))
	case i.Status == importing.Checked:
		v.Step = "Check"
		v.Result, err = a.importResult(c, i, checkResult(i))
	default:
		v.Step = "Import"
		v.Result, err = a.importResult(c, i, finalResult(i))
	}
	if err != nil {
		return err
	}
	var fragment templ.Component
	if v.Progress != nil {
		fragment = views.ImportProgressBar(*v.Progress)
	}
	return a.Render(c, status, views.ImportDetailPage(v), fragment)
}

// fileSize writes a number of bytes: 340 kB, 1.2 MB.
func fileSize(n int64) string {
	if n < 1<<20 {
		return page.Number(max(n>>10, 1)) + " kB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MB"
}

func (a *Admin) importColumns(c echo.Context, id core.ID, form *page.Form) (*views.ImportColumns, error) {
	p, err := a.Imports.Preview(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return nil, err
	}
	if form == nil {
		values := map[string]string{}
		for n, f := range p.Columns {
			values[columnName(n)] = string(f)
		}
		if p.HasHeader {
			values["heading"] = "1"
		}
		form = page.Blank(values)
	}
	v := &views.ImportColumns{
		Action: importPath(id) + "/check", Discard: importPath(id) + "/cancel",
		HeaderRow: form.Field("heading", "First row contains headers"),
	}
	for n := range p.Columns {
		f := form.Field(columnName(n), "Column "+columnLetters(n))
		options := []ui.Option{{Label: "Don't import"}}
		for _, field := range importing.Fields {
			options = append(options, ui.Option{Value: string(field), Label: importLabels[field]})
		}
		f.Options = form.Options(columnName(n), options...)
		v.Columns = append(v.Columns, f)
	}
	v.Problem = form.Problem()
	for n, row := range p.Beginning {
		preview := views.ImportPreview{Number: page.Number(row.FileRow), Cells: row.Cells, Header: n == 0 && form.Checked("heading")}
		if row.Broken != nil {
			preview.Error = page.Message("", "row", *row.Broken, page.Number)
		}
		v.Rows = append(v.Rows, preview)
	}
	if shown := int64(len(p.Beginning)); p.Rows > shown {
		v.More = "First " + page.Number(shown) + " rows of the file"
	}
	return v, nil
}

func columnName(n int) string { return "column_" + strconv.Itoa(n) }

// columnLetters names a column as spreadsheets do: A, B … Z, AA.
func columnLetters(n int) string {
	letters := ""
	for n++; n > 0; n /= 26 {
		n--
		letters = string(rune('A'+n%26)) + letters
	}
	return letters
}

// maxImportColumns is more than a file may have.
const maxImportColumns = 1000

func (a *Admin) checkImport(c echo.Context) error {
	check := func(ctx context.Context, by core.Actor, id core.ID, form *page.Form) (importing.Import, error) {
		m := importing.Mapping{HasHeader: form.Checked("heading")}
		for n := 0; n < maxImportColumns && form.Checked(columnName(n)); n++ {
			m.Columns = append(m.Columns, importing.Field(form.Value(columnName(n))))
		}
		return a.Imports.Check(ctx, by, id, m)
	}
	return a.submitImport(c, check, func(status int, form *page.Form) error { return a.importPage(c, status, form) })
}

// submitImport runs a step of the import in the path, and shows the import or, if it was discarded,
// the upload form.
func (a *Admin) submitImport(
	c echo.Context, step func(context.Context, core.Actor, core.ID, *page.Form) (importing.Import, error), refused func(status int, form *page.Form) error,
) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	return page.Submit(a.Kit, c, page.Submission[importing.Import]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (importing.Import, error) {
			return step(ctx, by, id, form)
		},
		Refused: refused,
		To: func(i importing.Import) string {
			if discarded(i) {
				return importsPath
			}
			return importPath(id)
		},
		Done: func(i importing.Import) string {
			if discarded(i) {
				return i.FileName + " was discarded."
			}
			return ""
		},
	})
}

// discarded reports whether an import was cancelled before it added any customer.
func discarded(i importing.Import) bool { return i.Status == importing.Cancelled && i.Done == 0 }

func importProgress(i importing.Import, title, stopLabel string) *views.ImportProgress {
	path := importPath(i.ID)
	return &views.ImportProgress{
		Path: path, Title: title, Stop: views.Action{Label: stopLabel, Path: path + "/cancel", Asks: true},
		Words: page.Number(i.Done) + " of " + page.Count(i.Rows, "row", "rows"),
		Done:  strconv.FormatInt(i.Done, 10), Total: strconv.FormatInt(max(i.Rows, 1), 10),
	}
}

// checkResult describes what an import would do, without its errors.
func checkResult(i importing.Import) *views.ImportResult {
	path := importPath(i.ID)
	v := &views.ImportResult{
		Title: "No new customers", Words: "Nothing in this file can be added.",
		Actions: []views.Action{
			{Label: "Discard file", Path: path + "/cancel", Asks: true},
			{Label: "Change columns", Path: path + "?step=columns"},
		},
		Figures: []ui.Figure{
			{Label: "New", Icon: "user-plus", Value: page.Number(i.Created), Against: "will be added"},
			{Label: "Existing", Icon: "users", Value: page.Number(i.Found), Against: "won't change"},
			{Label: "Duplicates", Icon: "copy", Value: page.Number(i.Repeated), Against: "in this file"},
			{Label: "Errors", Icon: "alert-triangle", Value: page.Number(i.Failed), Against: page.Noun(i.Failed, "row", "rows") + " will be skipped"},
		},
	}
	if i.Created > 0 {
		v.Title, v.Words = customerCount(i.Created)+" to add", "All rows were checked. Nothing is imported yet."
		v.Actions = append(v.Actions, views.Action{Label: "Import " + customerCount(i.Created), Path: path + "/run", Class: "btn-primary", Asks: true})
	}
	return v
}

// finalResult describes what an import did, without its errors.
func finalResult(i importing.Import) *views.ImportResult {
	another := views.Action{Label: "Import another file", Path: importsPath}
	if discarded(i) {
		return &views.ImportResult{Title: "File discarded", Words: "Nothing was imported. Files are also discarded after 24 hours and when a customer is erased.", Actions: []views.Action{another}}
	}
	v := &views.ImportResult{
		Title: customerCount(i.Created) + " added", Actions: []views.Action{another, {Label: "View customers", Path: customersPath, Class: "btn-primary"}},
		Figures: []ui.Figure{
			{Label: "Added", Icon: "user-plus", Value: page.Number(i.Created), Against: page.Noun(i.Created, "new customer", "new customers")},
			{Label: "Existing", Icon: "users", Value: page.Number(i.Found), Against: "unchanged, or duplicates"},
			{Label: "Errors", Icon: "alert-triangle", Value: page.Number(i.Failed), Against: page.Noun(i.Failed, "row", "rows") + " skipped"},
		},
	}
	if i.Status == importing.Cancelled {
		v.Title = "Stopped after " + page.Number(i.Done) + " of " + page.Count(i.Rows, "row", "rows")
		v.Words = "Customers already added stay. To continue, upload the file again: existing customers won't change."
	}
	return v
}

// shownProblems is how many errors the page lists. The CSV file contains all of them.
const shownProblems = 100

// importResult adds the errors in the file's rows to a result.
func (a *Admin) importResult(c echo.Context, i importing.Import, v *views.ImportResult) (*views.ImportResult, error) {
	if i.Failed == 0 {
		return v, nil
	}
	problems, err := a.Imports.ListProblems(c.Request().Context(), page.Actor(c), i.ID, shownProblems)
	if err != nil {
		return nil, err
	}
	v.ProblemsTitle = page.Count(i.Failed, "row with errors", "rows with errors")
	v.ProblemsWords = "These rows are skipped. Correct them in your file and upload it again."
	if i.Problems > shownProblems {
		v.ProblemsWords += " The first " + page.Number(shownProblems) + " errors are shown."
	}
	if i.Problems >= importing.MaxProblems {
		v.ProblemsWords += " The CSV file lists every row, but after " + page.Number(importing.MaxProblems) + " errors only the first one per row."
	}
	v.CSV = importPath(i.ID) + "/problems.csv"
	for _, p := range problems {
		column, message := problemWords(p)
		v.Problems = append(v.Problems, views.ImportProblem{Row: page.Number(p.FileRow), Column: column, Value: p.Value, Words: message})
	}
	return v, nil
}

func problemWords(p importing.Problem) (column, message string) {
	if label, known := importLabels[importing.Field(p.Field)]; known {
		return label, page.Message(p.Field, label, p.Violation, page.Number)
	}
	return "Whole row", page.Message(p.Field, "Row", p.Violation, page.Number)
}

// problemsCSV answers with all errors in a file.
func (a *Admin) problemsCSV(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	return a.CSV(c, "import-problems.csv", []string{"Row", "Column", "Value", "Error"}, func(row func(...any) error) error {
		return a.Imports.EachProblem(c.Request().Context(), page.Actor(c), id, func(p importing.Problem) error {
			column, message := problemWords(p)
			return row(p.FileRow, column, p.Value, message)
		})
	})
}

// importOf returns the import in the path.
func (a *Admin) importOf(c echo.Context) (importing.Import, error) {
	id, err := pathID(c)
	if err != nil {
		return importing.Import{}, err
	}
	return a.Imports.Find(c.Request().Context(), page.Actor(c), id)
}

var importCrumbs = []ui.Crumb{{Label: "Customers", Path: customersPath}, {Label: "Import", Path: importsPath}}

func (a *Admin) importFrame(c echo.Context, title string, i importing.Import) views.Frame {
	return a.frame(c, title, customersPath, append(slices.Clone(importCrumbs), ui.Crumb{Label: i.FileName, Path: importPath(i.ID)})...)
}

func (a *Admin) askRunImport(c echo.Context) error {
	return a.confirmRunImport(c, http.StatusOK, &page.Form{})
}

func (a *Admin) confirmRunImport(c echo.Context, status int, form *page.Form) error {
	i, err := a.importOf(c)
	if err != nil {
		return err
	}
	words := customerCount(i.Created) + " will be added, with the points and stamps in the file."
	if n := i.Found + i.Repeated; n > 0 {
		words += " " + page.Count(n, "row belongs to an existing customer or is a duplicate", "rows belong to existing customers or are duplicates") + ": nothing changes for them."
	}
	if i.Failed > 0 {
		words += " " + page.Count(i.Failed, "row with errors", "rows with errors") + " will be skipped."
	}
	return a.confirm(c, status, views.Confirm{
		Frame: a.importFrame(c, "Import "+customerCount(i.Created)+"?", i),
		Confirm: ui.Confirm{
			Action: importPath(i.ID) + "/run", Button: "Import customers", Cancel: importPath(i.ID), Problem: form.Problem(),
			Words: []string{words, "You can stop the import, but customers already added stay."},
		},
	})
}

func (a *Admin) runImport(c echo.Context) error {
	run := func(ctx context.Context, by core.Actor, id core.ID, _ *page.Form) (importing.Import, error) {
		return a.Imports.Run(ctx, by, id)
	}
	return a.submitImport(c, run, func(status int, form *page.Form) error { return a.confirmRunImport(c, status, form) })
}

func (a *Admin) askCancelImport(c echo.Context) error {
	return a.confirmCancelImport(c, http.StatusOK, &page.Form{})
}

func (a *Admin) confirmCancelImport(c echo.Context, status int, form *page.Form) error {
	i, err := a.importOf(c)
	if err != nil {
		return err
	}
	v := views.Confirm{
		Frame: a.importFrame(c, "Discard this file?", i),
		Confirm: ui.Confirm{
			Action: importPath(i.ID) + "/cancel", Button: "Discard file", Danger: true, Cancel: importPath(i.ID), Problem: form.Problem(),
			Words: []string{"Nothing is imported. You can upload the file again."},
		},
	}
	if i.Status == importing.Running {
		v.Title, v.Button = "Stop this import?", "Stop import"
		v.Words = []string{"Customers already added stay. The remaining rows won't be imported."}
	}
	return a.confirm(c, status, v)
}

func (a *Admin) cancelImport(c echo.Context) error {
	cancel := func(ctx context.Context, by core.Actor, id core.ID, _ *page.Form) (importing.Import, error) {
		return a.Imports.Cancel(ctx, by, id)
	}
	return a.submitImport(c, cancel, func(status int, form *page.Form) error { return a.confirmCancelImport(c, status, form) })
}
