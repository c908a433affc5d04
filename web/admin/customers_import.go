package admin

import (
	"net/http"
	"strconv"

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

// maxImportUpload is as much as is read of a file that is too large, to say so.
const maxImportUpload = 5 * importing.MaxSize

// newImport asks for a file. Two round trips: the session, and the earlier imports.
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

func (a *Admin) importForm(c echo.Context, status int, form *page.Form) error {
	by := page.Actor(c)
	list, err := a.Imports.List(c.Request().Context(), by)
	if err != nil {
		return err
	}
	v := views.ImportStart{
		Frame:   a.frame(c, "Import customers", customersPath, ui.Crumb{Label: "Customers", Path: customersPath}),
		FormKey: form.Value(page.FormKey), File: form.Field("file", "File"), Hints: importHints,
	}
	v.Problem = form.Problem()
	v.File.Type, v.File.Value = "file", ""
	v.File.Help = "CSV, separated by commas, semicolons or tabs; up to 20 MB and 100,000 rows."
	v.File.Attributes = map[string]any{"accept": ".csv,.txt,.tsv,text/csv,text/plain,text/tab-separated-values"}
	for _, i := range list {
		v.Rows = append(v.Rows, views.ImportRow{
			Path: importPath(i.ID), Name: i.FileName, Status: importBadges[i.Status], Outcome: importOutcome(i),
			When: page.Ago(i.CreatedAt, a.Now(), by.Tenant.TimeZone) + ", by " + i.ActorName,
		})
	}
	return a.Render(c, status, views.ImportStartPage(v), nil)
}

var importBadges = map[importing.Status]ui.Badge{
	importing.Uploaded:  {Label: "Uploaded", Tone: ui.Neutral},
	importing.Checking:  {Label: "Being checked", Tone: ui.Info},
	importing.Checked:   {Label: "Checked", Tone: ui.Notice},
	importing.Running:   {Label: "Running", Tone: ui.Info},
	importing.Done:      {Label: "Done", Tone: ui.Good},
	importing.Cancelled: {Label: "Stopped", Tone: ui.Neutral},
}

// importOutcome is an import in a few words.
func importOutcome(i importing.Import) string {
	switch i.Status {
	case importing.Checked:
		return page.Count(i.Created, "customer", "customers") + " to add"
	case importing.Done, importing.Cancelled, importing.Running:
		return page.Count(i.Created, "customer", "customers") + " added"
	case importing.Uploaded, importing.Checking:
	}
	return page.Count(i.Rows, "row", "rows")
}

// importLabels are the fields of an import in words.
var importLabels = map[importing.Field]string{
	importing.FirstNameField: "First name", importing.LastNameField: "Last name", importing.FullNameField: "Full name",
	importing.PhoneField: "Phone", importing.EmailField: "E-mail", importing.CreatedAtField: "Customer since",
	importing.PointsField: "Points", importing.StampsField: "Stamps",
}

var importHints = []views.ImportHint{
	{Name: "First name and last name", Required: true, Words: "Two columns, or one full name, which is split: “Anna Lindqvist” or “Lindqvist, Anna”."},
	{Name: "Phone", Required: true, Words: "How customers are found. With the country’s code, or as it is dialled where you are."},
	{Name: "E-mail", Words: "May be empty. Customers are found by it as well."},
	{Name: "Customer since", Words: "The first visit: 2026-11-21, 21.11.2026 or 21/11/2026, day before month, with or without a time. Today, where it is empty."},
	{Name: "Points and stamps", Words: "What they have collected so far, as whole numbers. Only new customers get them."},
}

// sampleCSV is a file that is read as it is.
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

// showImport shows an import at its step. Three round trips: the session, the import, and
// how its file begins or what is wrong with it; two for its progress.
func (a *Admin) showImport(c echo.Context) error {
	id, err := id(c)
	if err != nil {
		return err
	}
	return a.importPage(c, http.StatusOK, id, nil)
}

// importPage shows an import. typed is a choice of columns that was refused; nil: none was.
func (a *Admin) importPage(c echo.Context, status int, id core.ID, typed *page.Form) error {
	ctx, by := c.Request().Context(), page.Actor(c)
	i, err := a.Imports.Find(ctx, by, id)
	if err != nil {
		return err
	}
	v := views.ImportPage{
		Frame: a.frame(c, i.FileName, customersPath,
			ui.Crumb{Label: "Customers", Path: customersPath}, ui.Crumb{Label: "Import", Path: importsPath}),
		Facts: page.Count(i.Rows, "row", "rows") + ", " + fileSize(i.Size) + ", uploaded " + page.Time(i.CreatedAt, by.Tenant.TimeZone) + " by " + i.ActorName,
	}
	switch {
	case i.Status == importing.Uploaded, i.Status == importing.Checked && (typed != nil || c.QueryParam("step") == "columns"):
		v.Steps = importSteps("Columns")
		v.Columns, err = a.importColumns(c, id, typed)
	case i.Status == importing.Checking, i.Status == importing.Running:
		v.Progress = importProgress(i)
		v.Steps = importSteps(map[bool]string{true: "Import", false: "Check"}[i.Status == importing.Running])
		return a.Render(c, status, views.ImportDetailPage(v), views.ImportProgressBar(*v.Progress))
	case page.IsFragment(c):
		// Progress was asked for, and now there is a result.
		return a.Redirect(c, importPath(id))
	default:
		v.Steps = importSteps(map[bool]string{true: "Check", false: "Import"}[i.Status == importing.Checked])
		v.Result, err = a.importResult(c, i)
	}
	if err != nil {
		return err
	}
	return a.Render(c, status, views.ImportDetailPage(v), nil)
}

func importSteps(current string) []views.ImportStep {
	var steps []views.ImportStep
	for _, label := range []string{"File", "Columns", "Check", "Import"} {
		steps = append(steps, views.ImportStep{Label: label, Current: label == current})
	}
	return steps
}

// fileSize writes a number of bytes: 340 kB, 1.2 MB.
func fileSize(n int64) string {
	if n < 1<<20 {
		return page.Number(max(n>>10, 1)) + " kB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MB"
}

func (a *Admin) importColumns(c echo.Context, id core.ID, typed *page.Form) (*views.ImportColumns, error) {
	p, err := a.Imports.Preview(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return nil, err
	}
	form := typed
	if form == nil {
		form = &page.Form{Values: map[string][]string{}}
		for n, f := range p.Columns {
			form.Values.Set(columnName(n), string(f))
		}
		if p.HasHeader {
			form.Values.Set("heading", "1")
		}
	}
	v := &views.ImportColumns{
		Action: importPath(id) + "/check", Discard: importPath(id) + "/cancel",
		Heading: form.Field("heading", "The first row names the columns, and is no customer"),
	}
	for n := range p.Columns {
		f := form.Field(columnName(n), "Column "+columnLetters(n)+" holds")
		options := []ui.Option{{Label: "Leave out"}}
		for _, field := range importing.Fields {
			options = append(options, ui.Option{Value: string(field), Label: importLabels[field]})
		}
		f.Options = form.Options(columnName(n), options...)
		v.Columns = append(v.Columns, f)
	}
	v.Problem = form.Problem()
	for n, row := range p.Beginning {
		preview := views.ImportPreview{Number: page.Number(row.FileRow), Cells: row.Cells, Heading: n == 0 && form.Checked("heading")}
		if row.Broken != nil {
			preview.Broken = page.Message("", "row", *row.Broken, page.Number)
		}
		v.Rows = append(v.Rows, preview)
	}
	shown := int64(len(p.Beginning))
	if all := p.Rows; all > shown {
		v.More = "These are the first " + page.Number(shown) + " rows of the file."
	}
	return v, nil
}

func columnName(n int) string { return "column_" + strconv.Itoa(n) }

// columnLetters name a column as spreadsheets do: A, B … Z, AA.
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
	id, err := id(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	m := importing.Mapping{HasHeader: form.Checked("heading")}
	for n := 0; n < maxImportColumns && form.Checked(columnName(n)); n++ {
		m.Columns = append(m.Columns, importing.Field(form.Value(columnName(n))))
	}
	_, err = a.Imports.Check(c.Request().Context(), page.Actor(c), id, m)
	if form.Refused(err) {
		return a.importPage(c, http.StatusUnprocessableEntity, id, form)
	}
	if err != nil {
		return err
	}
	return a.Redirect(c, importPath(id))
}

func importProgress(i importing.Import) *views.ImportProgress {
	p := &views.ImportProgress{
		Path: importPath(i.ID), Stop: importPath(i.ID) + "/cancel", Title: "Checking every row", Label: "Discard",
		Words: page.Number(i.Done) + " of " + page.Count(i.Rows, "row", "rows"),
		Done:  strconv.FormatInt(i.Done, 10), Total: strconv.FormatInt(max(i.Rows, 1), 10),
	}
	if i.Status == importing.Running {
		p.Title, p.Label = "Importing", "Stop the import"
		p.Words += ": " + page.Count(i.Created, "customer", "customers") + " added so far"
	}
	return p
}

// shownProblems is how many problems a page names. The file has them all.
const shownProblems = 100

func (a *Admin) importResult(c echo.Context, i importing.Import) (*views.ImportResult, error) {
	v := importFigures(i)
	if i.Failed == 0 {
		return v, nil
	}
	problems, err := a.Imports.ListProblems(c.Request().Context(), page.Actor(c), i.ID, shownProblems)
	if err != nil {
		return nil, err
	}
	v.ProblemsTitle = page.Count(i.Failed, "row has a mistake", "rows have a mistake")
	v.ProblemsWords = "They are left out. Correct them in your file, upload it again, and the others are found as customers who are here already."
	if i.Problems > shownProblems {
		v.ProblemsWords += " The first " + page.Number(shownProblems) + " mistakes are shown."
	}
	if i.Problems >= importing.MaxProblems {
		v.ProblemsWords += " The file names every row; after " + page.Number(importing.MaxProblems) + " mistakes, the first one of each."
	}
	v.CSV = importPath(i.ID) + "/problems.csv"
	for _, p := range problems {
		v.Problems = append(v.Problems, views.ImportProblem{
			Row: page.Number(p.FileRow), Column: problemColumn(p), Value: p.Value, Words: problemWords(p),
		})
	}
	return v, nil
}

func problemColumn(p importing.Problem) string {
	if label, known := importLabels[importing.Field(p.Field)]; known {
		return label
	}
	return "Whole row"
}

func problemWords(p importing.Problem) string {
	if label, known := importLabels[importing.Field(p.Field)]; known {
		return page.Message(p.Field, label, p.Violation, page.Number)
	}
	return page.Message(p.Field, "Row", p.Violation, page.Number)
}

// importFigures is what a check found or an import did, without its problems.
func importFigures(i importing.Import) *views.ImportResult {
	path, customers := importPath(i.ID), func(n int64) string { return page.Count(n, "customer", "customers") }
	found := ui.Figure{Label: "Here already", Icon: "users", Value: page.Number(i.Found), Against: "stay as they are"}
	failed := ui.Figure{Label: "Mistakes", Icon: "alert-triangle", Value: page.Number(i.Failed), Against: "rows that are left out"}
	switch {
	case i.Status == importing.Checked:
		v := &views.ImportResult{
			Title: "Nobody here is new", Words: []string{"There is nobody in this file to add."},
			Change: path + "?step=columns", Discard: path + "/cancel",
			Figures: []ui.Figure{
				{Label: "New", Icon: "user-plus", Value: page.Number(i.Created), Against: "would be added"},
				found,
				{Label: "Repeated", Icon: "copy", Value: page.Number(i.Repeated), Against: "of an earlier row"},
				failed,
			},
		}
		if i.Created > 0 {
			v.Title, v.Words = customers(i.Created)+" to add", []string{"Every row was read. Nothing is imported yet."}
			v.Run, v.RunLabel = path+"/run", "Import "+customers(i.Created)
		}
		return v
	case i.Status == importing.Cancelled && i.Done == 0:
		return &views.ImportResult{Title: "Discarded", Words: []string{"Nothing of this file was imported."}, Another: importsPath}
	}
	v := &views.ImportResult{
		Title: customers(i.Created) + " added", Another: importsPath, Leave: customersPath,
		Figures: []ui.Figure{{Label: "Added", Icon: "user-plus", Value: page.Number(i.Created), Against: "new customers"}, found, failed},
	}
	v.Figures[1].Against = "or repeated in the file"
	if i.Status == importing.Cancelled {
		v.Title = "Stopped after " + page.Number(i.Done) + " of " + page.Count(i.Rows, "row", "rows")
		v.Words = []string{"What was imported until then stays. To go on, upload the file again: whoever is here already is found."}
	}
	return v
}

// problemsCSV is everything that is wrong with a file, as a file.
func (a *Admin) problemsCSV(c echo.Context) error {
	id, err := id(c)
	if err != nil {
		return err
	}
	return a.CSV(c, "import-problems.csv", []string{"Row", "Column", "What stands there", "What is wrong"}, func(row func(...any) error) error {
		return a.Imports.EachProblem(c.Request().Context(), page.Actor(c), id, func(p importing.Problem) error {
			return row(p.FileRow, problemColumn(p), p.Value, problemWords(p))
		})
	})
}

func (a *Admin) askRunImport(c echo.Context) error {
	return a.confirmRunImport(c, http.StatusOK, &page.Form{})
}

func (a *Admin) confirmRunImport(c echo.Context, status int, form *page.Form) error {
	i, err := a.foundImport(c)
	if err != nil {
		return err
	}
	words := []string{page.Count(i.Created, "customer is", "customers are") + " added, with the points and stamps of the file."}
	if n := i.Found + i.Repeated; n > 0 {
		words = append(words, page.Count(n, "row is", "rows are")+" of customers who are here already, or come twice. They stay as they are.")
	}
	if i.Failed > 0 {
		words = append(words, page.Count(i.Failed, "row with a mistake is", "rows with a mistake are")+" left out.")
	}
	words = append(words, "An import can be stopped, but what it has added is not taken back.")
	return a.confirm(c, status, views.Confirm{
		Frame: a.importFrame(c, "Import "+page.Count(i.Created, "customer", "customers")+"?", i),
		Confirm: ui.Confirm{
			Action: importPath(i.ID) + "/run", Button: "Import", Cancel: importPath(i.ID), Words: words, Problem: form.Problem(),
		},
	})
}

func (a *Admin) importFrame(c echo.Context, title string, i importing.Import) views.Frame {
	return a.frame(c, title, customersPath, ui.Crumb{Label: "Customers", Path: customersPath},
		ui.Crumb{Label: "Import", Path: importsPath}, ui.Crumb{Label: i.FileName, Path: importPath(i.ID)})
}

func (a *Admin) foundImport(c echo.Context) (importing.Import, error) {
	id, err := id(c)
	if err != nil {
		return importing.Import{}, err
	}
	return a.Imports.Find(c.Request().Context(), page.Actor(c), id)
}

func (a *Admin) runImport(c echo.Context) error {
	id, err := id(c)
	if err != nil {
		return err
	}
	_, err = a.Imports.Run(c.Request().Context(), page.Actor(c), id)
	if form := (&page.Form{}); form.Refused(err) {
		return a.confirmRunImport(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	return a.Redirect(c, importPath(id))
}

func (a *Admin) askCancelImport(c echo.Context) error {
	return a.confirmCancelImport(c, http.StatusOK, &page.Form{})
}

func (a *Admin) confirmCancelImport(c echo.Context, status int, form *page.Form) error {
	i, err := a.foundImport(c)
	if err != nil {
		return err
	}
	v := views.Confirm{
		Frame: a.importFrame(c, "Discard this file?", i),
		Confirm: ui.Confirm{
			Action: importPath(i.ID) + "/cancel", Button: "Discard", Danger: true, Cancel: importPath(i.ID), Problem: form.Problem(),
			Words: []string{"The file is deleted here, and nothing of it is imported. You can upload it again."},
		},
	}
	if i.Status == importing.Running {
		v.Title, v.Button = "Stop this import?", "Stop the import"
		v.Words = []string{"The rows that were not reached yet are not imported. Customers who were added already stay."}
	}
	return a.confirm(c, status, v)
}

func (a *Admin) cancelImport(c echo.Context) error {
	id, err := id(c)
	if err != nil {
		return err
	}
	i, err := a.Imports.Cancel(c.Request().Context(), page.Actor(c), id)
	if form := (&page.Form{}); form.Refused(err) {
		return a.confirmCancelImport(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	if i.Done > 0 {
		return a.Redirect(c, importPath(id))
	}
	a.Flash(c, ui.Done, "The file "+i.FileName+" is discarded.")
	return a.Redirect(c, importsPath)
}
