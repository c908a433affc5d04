package customers

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/importing"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) importRoutes() []route.Route {
	const one = links.Imports + "/:ulid"
	return []route.Route{
		route.Get(links.Imports, route.Managers, h.newImport),
		route.Post(links.Imports, route.Managers, h.uploadImport).AsFile(),
		route.Get(links.Imports+"/sample.csv", route.Managers, h.sampleCSV),
		route.Get(one, route.Managers, h.showImport),
		route.Post(one+"/check", route.Managers, h.checkImport),
		route.Get(one+"/run", route.Managers, h.askRunImport),
		route.Post(one+"/run", route.Managers, h.runImport),
		route.Post(one+"/continue", route.Managers, h.continueImport),
		route.Get(one+"/cancel", route.Managers, h.askCancelImport),
		route.Post(one+"/cancel", route.Managers, h.cancelImport),
		route.Get(one+"/problems.csv", route.Managers, h.problemsCSV).AsFile(),
	}
}

// maxImportUpload is how many bytes of an upload are read, so that a file that is too large gets a
// message about its size.
const maxImportUpload = 5 * importing.MaxSize

func (h *Handlers) newImport(c echo.Context) error {
	return h.importForm(c, http.StatusOK, forms.Blank(map[string]string{page.FormKey: h.NewFormKey()}))
}

func (h *Handlers) uploadImport(c echo.Context) error {
	form, file, err := forms.ReadUpload(c, "file", maxImportUpload)
	if err != nil {
		return err
	}
	in := importing.File{FormKey: form.Value(page.FormKey)}
	if file != nil {
		in.Name, in.Content = file.Name, file
	}
	i, err := h.Imports.Upload(c.Request().Context(), page.Actor(c), in)
	if form.Refused(err) {
		if file != nil {
			file.Drain()
		}
		return h.importForm(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	return h.Redirect(c, links.Import(i.ID))
}

// importForm shows the upload form and the earlier imports.
func (h *Handlers) importForm(c echo.Context, status int, form *forms.Form) error {
	by := page.Actor(c)
	list, err := h.Imports.List(c.Request().Context(), by)
	if err != nil {
		return err
	}
	frame := h.Frame(c, "Import customers", links.Customers, ui.Crumb{Label: "Customers", Path: links.Customers})
	if by.Tenant.Country == "" {
		return h.Render(c, status, views.CountryNeededPage(frame), nil)
	}
	v := views.ImportStart{
		Frame:   frame,
		FormKey: form.Value(page.FormKey), File: form.Field("file", ui.Field{Label: "File"}),
	}
	v.Problem = form.Problem()
	v.File.Type, v.File.Value = "file", ""
	v.File.Help = "CSV with commas, semicolons, tabs or bars, up to 20 MB and 100,000 rows"
	v.DateHint = dateFormats(importing.OrderOfCountry(by.Tenant.Country))
	v.File.Attributes = map[string]any{"accept": ".csv,.txt,.tsv,text/csv,text/plain,text/tab-separated-values"}
	for _, i := range list {
		v.Rows = append(v.Rows, views.ImportRow{
			Path: links.Import(i.ID), Name: i.FileName, Status: importStatus(i), Outcome: importOutcome(i),
			When: format.Ago(i.CreatedAt, h.Now(), by.Tenant.TimeZone) + ", by " + i.ActorName,
		})
	}
	return h.Render(c, status, views.ImportStartPage(v), nil)
}

var importStatuses = map[importing.Status]ui.Badge{
	importing.Uploaded:  {Label: "Uploaded", Tone: ui.Neutral},
	importing.Checking:  {Label: "Checking", Tone: ui.Info},
	importing.Checked:   {Label: "Checked", Tone: ui.Notice},
	importing.Running:   {Label: "Importing", Tone: ui.Info},
	importing.Done:      {Label: "Imported", Tone: ui.Good},
	importing.Cancelled: {Label: "Cancelled", Tone: ui.Neutral},
}

func importStatus(i importing.Import) ui.Badge {
	if i.HeldAt != nil {
		return ui.Badge{Label: "On hold", Tone: ui.Notice}
	}
	return importStatuses[i.Status]
}

// importOutcome sums an import up: "40 customers added".
func importOutcome(i importing.Import) string {
	switch i.Status {
	case importing.Checked:
		return panel.CustomerCount(i.Created) + " to add"
	case importing.Done, importing.Cancelled, importing.Running:
		return panel.CustomerCount(i.Created) + " added"
	case importing.Uploaded, importing.Checking:
	}
	return format.Count(i.Rows, "row", "rows")
}

var importLabels = map[importing.Field]string{
	importing.FirstNameField: "First name", importing.LastNameField: "Last name", importing.FullNameField: "Full name",
	importing.PhoneField: "Phone", importing.EmailField: "E-mail", importing.CreatedAtField: "Customer since",
	importing.PointsField: "Points", importing.StampsField: "Stamps",
}

// sampleCSV answers with a file that can be imported unchanged.
func (h *Handlers) sampleCSV(c echo.Context) error {
	header := make([]string, 0, len(importing.Fields))
	for _, f := range importing.Fields {
		if f != importing.FullNameField {
			header = append(header, importLabels[f])
		}
	}
	return h.CSV(c, "customers-sample.csv", header, func(row func(...any) error) error {
		if err := row("Anna", "Lindqvist", "0701740605", "anna@example.com", "2024-03-15", int64(120), int64(3)); err != nil {
			return err
		}
		return row("Bilal", "Haddad", "0701740606", "", "", int64(0), int64(0))
	})
}

func (h *Handlers) showImport(c echo.Context) error { return h.importPage(c, http.StatusOK, nil) }

// importPage shows the current step of an import. refused is the form of the columns if it was
// refused, else nil.
func (h *Handlers) importPage(c echo.Context, status int, refused *forms.Form) error {
	i, err := h.importOf(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	v := views.ImportPage{
		Frame: h.Frame(c, i.FileName, links.Customers, importCrumbs...),
		Facts: format.Count(i.Rows, "row", "rows") + ", " + fileSize(i.Size) + ", uploaded " + format.Time(i.CreatedAt, by.Tenant.TimeZone) + " by " + i.ActorName,
	}
	switch {
	case i.Status == importing.Uploaded, i.Status == importing.Checked && (refused != nil || c.QueryParam("step") == "columns"):
		v.Step = "Columns"
		v.Columns, err = h.importColumns(c, i.ID, refused)
		if v.Columns != nil && !v.Columns.Problem.None() {
			status = http.StatusUnprocessableEntity
		}
	case i.HeldAt != nil && page.IsFragment(c): // polled for progress
		return h.Redirect(c, links.Import(i.ID))
	case i.HeldAt != nil:
		v.Step, v.Result = "Import", heldResult(i)
		if i.Status == importing.Checking {
			v.Step = "Check"
		}
	case i.Status == importing.Checking:
		v.Step, v.Progress = "Check", importProgress(i, "Checking rows", "Discard file")
	case i.Status == importing.Running:
		v.Step, v.Progress = "Import", importProgress(i, "Importing customers", "Stop import")
		v.Progress.Words += ", " + panel.CustomerCount(i.Created) + " added"
	case page.IsFragment(c): // polled for progress, and it has finished
		return h.Redirect(c, links.Import(i.ID))
	case i.Status == importing.Checked:
		v.Step = "Check"
		v.Result, err = h.importResult(c, i, checkResult(i))
	default:
		v.Step = "Import"
		v.Result, err = h.importResult(c, i, finalResult(i))
	}
	if err != nil {
		return err
	}
	var fragment templ.Component
	switch {
	case v.Progress != nil:
		fragment = views.ImportProgressBar(*v.Progress)
	case v.Columns != nil:
		fragment = views.ImportColumnsForm(*v.Columns)
	}
	return h.Render(c, status, views.ImportDetailPage(v), fragment)
}

// fileSize writes a number of bytes: 340 kB, 1.2 MB.
func fileSize(n int64) string {
	if n < 1<<20 {
		return format.Number(max(n>>10, 1)) + " kB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MB"
}

// importColumns is the form that says how a file is read. refused is the form if it was refused; else the choices are
// in the query.
func (h *Handlers) importColumns(c echo.Context, id core.ID, refused *forms.Form) (*views.ImportColumns, error) {
	form := refused
	if form == nil {
		form = forms.Query(c.QueryParams())
	}
	p, err := h.Imports.Preview(c.Request().Context(), page.Actor(c), id, importChoice(form))
	if refused == nil && form.Refused(err) || refused != nil && core.IsKind(err, core.KindInvalid) {
		p, err = h.Imports.Preview(c.Request().Context(), page.Actor(c), id, importing.Choice{})
	}
	if err != nil {
		return nil, err
	}
	for n, f := range p.Columns {
		if refused == nil || !form.Checked(columnName(n)) {
			form.Values.Set(columnName(n), string(f))
		}
	}
	if refused == nil {
		form.Values.Set("encoding", string(p.Encoding))
		form.Values.Set("heading", strconv.FormatInt(p.Header, 10))
		form.Values.Set("dates", string(p.DateOrder))
	}
	path := links.Import(id)
	v := &views.ImportColumns{
		Action: path + "/check", Redraw: path + "?step=columns", Discard: path + "/cancel", Shown: strconv.FormatInt(p.Header, 10),
		Encoding: form.Field("encoding", ui.Field{Label: "File encoding"}), HeaderRow: form.Field("heading", ui.Field{Label: "Headers are in"}),
	}
	for _, e := range importing.Encodings {
		v.Encoding.Options = append(v.Encoding.Options, ui.Option{Value: string(e), Label: encodingLabels[e]})
	}
	v.Encoding.Options = form.Options("encoding", v.Encoding.Options...)
	v.HeaderRow.Options = append(v.HeaderRow.Options, ui.Option{Value: "0", Label: "No row"})
	for _, n := range p.Headers {
		v.HeaderRow.Options = append(v.HeaderRow.Options, ui.Option{
			Value: strconv.FormatInt(n, 10), Label: "Row " + format.Number(p.Beginning[n-1].FileRow),
		})
	}
	v.HeaderRow.Options = form.Options("heading", v.HeaderRow.Options...)
	if p.Dates != nil {
		f := form.Field("dates", ui.Field{Label: "Dates"})
		f.Options = form.Options("dates", ui.Option{Label: "Automatic: " + orderWords[p.Dates.Automatic]},
			ui.Option{Value: string(importing.DayFirst), Label: orderExamples[importing.DayFirst]},
			ui.Option{Value: string(importing.MonthFirst), Label: orderExamples[importing.MonthFirst]})
		f.Help = datesWhy(*p.Dates, page.Actor(c).Tenant.Country)
		v.Dates = &f
	}
	for n := range p.Columns {
		f := form.Field(columnName(n), ui.Field{Label: "Column " + columnLetters(n)})
		options := []ui.Option{{Label: "Don't import"}}
		for _, field := range importing.Fields {
			options = append(options, ui.Option{Value: string(field), Label: importLabels[field]})
		}
		f.Options = form.Options(columnName(n), options...)
		v.Columns = append(v.Columns, f)
	}
	v.Problem = form.Problem()
	for n, row := range p.Beginning {
		preview := importPreview(row)
		preview.Header, preview.Skipped = int64(n+1) == p.Header, int64(n+1) < p.Header
		v.Rows = append(v.Rows, preview)
	}
	for _, row := range p.Letters {
		v.Letters = append(v.Letters, importPreview(row))
	}
	if shown := int64(len(p.Beginning)); p.Rows+p.Header > shown {
		v.More = "First " + format.Number(shown) + " rows of the file"
	}
	return v, nil
}

// importChoice is what a form or a query chooses of how a file is read. Columns belong to the header row for which
// they were shown.
func importChoice(form *forms.Form) (chosen importing.Choice) {
	chosen.Encoding = importing.Encoding(form.Value("encoding"))
	if n, err := strconv.ParseInt(form.Value("heading"), 10, 64); err == nil {
		chosen.Header = &n
	}
	if form.Checked("dates") {
		chosen.DateOrder = new(importing.DateOrder(form.Value("dates")))
	}
	if form.Value("shown") == form.Value("heading") {
		chosen.Columns = importFields(form)
	}
	return chosen
}

func importFields(form *forms.Form) (fields []importing.Field) {
	for n := 0; n < maxImportColumns && form.Checked(columnName(n)); n++ {
		fields = append(fields, importing.Field(form.Value(columnName(n))))
	}
	return fields
}

func importPreview(row importing.PreviewRow) views.ImportPreview {
	preview := views.ImportPreview{Number: format.Number(row.FileRow)}
	for _, cell := range row.Cells {
		preview.Cells = append(preview.Cells, strings.ToValidUTF8(cell, "\uFFFD"))
	}
	if row.Broken != nil {
		preview.Error = forms.Message("", "row", *row.Broken, format.Number)
	}
	return preview
}

var encodingLabels = map[importing.Encoding]string{
	importing.UTF8: "UTF-8", importing.UTF16: "UTF-16", importing.UTF16BE: "UTF-16, big-endian",
	importing.Windows1250: "Windows-1250 (Central European)", importing.Windows1251: "Windows-1251 (Cyrillic)",
	importing.Windows1252: "Windows-1252 (Western European)", importing.Windows1253: "Windows-1253 (Greek)",
	importing.Windows1254: "Windows-1254 (Turkish)", importing.Windows1257: "Windows-1257 (Baltic)",
	importing.MacRoman: "Mac Roman",
}

var orderWords = map[importing.DateOrder]string{importing.DayFirst: "day first", importing.MonthFirst: "month first"}

var orderExamples = map[importing.DateOrder]string{
	importing.DayFirst: "Day first: 25/03/2024", importing.MonthFirst: "Month first: 03/25/2024",
}

// dateFormats are examples of the dates that are read.
func dateFormats(order importing.DateOrder) string {
	if order == importing.MonthFirst {
		return "2026-11-21 or 11/21/2026"
	}
	return "2026-11-21, 21.11.2026 or 21/11/2026"
}

// datesWhy says why dates are read in an order.
func datesWhy(d importing.Dates, country string) string {
	words := "The order of your country, " + forms.CountryName(country)
	switch {
	case d.Order != d.Automatic:
		words = "As you chose"
	case d.Row > 0:
		words = "Row " + format.Number(d.Row) + " can only be read this way"
	}
	if d.Unclear > 0 && d.Row == 0 {
		words += ": " + format.Count(d.Unclear, "date", "dates") + " can be read both ways"
	}
	if d.Mixed > 0 {
		words += ". Row " + format.Number(d.Mixed) + " can only be read the other way"
	}
	return words
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

func (h *Handlers) checkImport(c echo.Context) error {
	check := func(ctx context.Context, by core.Actor, id core.ID, form *forms.Form) (importing.Import, error) {
		header, err := strconv.ParseInt(cmp.Or(form.Value("heading"), "0"), 10, 64)
		if err != nil {
			header = -1 // is refused
		}
		return h.Imports.Check(ctx, by, id, importing.Mapping{
			Encoding: importing.Encoding(form.Value("encoding")), Header: header, Columns: importFields(form),
			DateOrder: importing.DateOrder(form.Value("dates")),
		})
	}
	return h.submitImport(c, check, func(status int, form *forms.Form) error { return h.importPage(c, status, form) })
}

// submitImport runs a step of the import in the path, and shows the import or, if it was discarded,
// the upload form.
func (h *Handlers) submitImport(
	c echo.Context, step func(context.Context, core.Actor, core.ID, *forms.Form) (importing.Import, error), refused func(status int, form *forms.Form) error,
) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	return page.Submit(h.Kit, c, page.Submission[importing.Import]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (importing.Import, error) {
			return step(ctx, by, id, form)
		},
		Refused: refused,
		To: func(i importing.Import) string {
			if discarded(i) {
				return links.Imports
			}
			return links.Import(id)
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
	path := links.Import(i.ID)
	return &views.ImportProgress{
		Path: path, Title: title, Stop: panelviews.Action{Label: stopLabel, Path: path + "/cancel", Asks: true},
		Words: format.Number(i.Done) + " of " + format.Count(i.Rows, "row", "rows"),
		Done:  strconv.FormatInt(i.Done, 10), Total: strconv.FormatInt(max(i.Rows, 1), 10),
	}
}

// checkResult describes what an import would do, without its errors.
func checkResult(i importing.Import) *views.ImportResult {
	path := links.Import(i.ID)
	v := &views.ImportResult{
		Title: "No new customers", Words: "Nothing in this file can be added.",
		Actions: []panelviews.Action{
			{Label: "Discard file", Path: path + "/cancel", Asks: true},
			{Label: "Change columns", Path: path + "?step=columns"},
		},
		Figures: []ui.Figure{
			{Label: "New", Icon: "user-plus", Value: format.Number(i.Created), Against: "will be added"},
			{Label: "Existing", Icon: "users", Value: format.Number(i.Found), Against: "won't change"},
			{Label: "Duplicates", Icon: "copy", Value: format.Number(i.Repeated), Against: "in this file"},
			{Label: "Errors", Icon: "alert-triangle", Value: format.Number(i.Failed), Against: format.Noun(i.Failed, "row", "rows") + " will be skipped"},
		},
	}
	if i.Created > 0 {
		v.Title, v.Words = panel.CustomerCount(i.Created)+" to add", "All rows were checked. Nothing is imported yet."
		v.Actions = append(v.Actions, panelviews.Action{Label: "Import " + panel.CustomerCount(i.Created), Path: path + "/run", Class: "btn-primary", Asks: true})
	}
	return v
}

// heldResult describes an import that waits for a decision.
func heldResult(i importing.Import) *views.ImportResult {
	path := links.Import(i.ID)
	v := &views.ImportResult{
		Title: "On hold", Continue: path + "/continue",
		Words:  "The business was suspended after " + format.Number(i.Done) + " of " + format.Count(i.Rows, "row", "rows") + ", " + panel.CustomerCount(i.Created) + " added.",
		Button: "Continue import", Actions: []panelviews.Action{{Label: "Stop import", Path: path + "/cancel", Asks: true}},
	}
	if i.Status == importing.Checking {
		v.Words, v.Button = "The business was suspended while this file was checked. Nothing is imported yet.", "Continue check"
		v.Actions[0].Label = "Discard file"
	}
	return v
}

func (h *Handlers) continueImport(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	if _, err := h.Imports.Continue(c.Request().Context(), page.Actor(c), id); err != nil {
		return err
	}
	return h.Redirect(c, links.Import(id))
}

// finalResult describes what an import did, without its errors.
func finalResult(i importing.Import) *views.ImportResult {
	another := panelviews.Action{Label: "Import another file", Path: links.Imports}
	if discarded(i) {
		return &views.ImportResult{Title: "File discarded", Words: "Nothing was imported. Files are also discarded after 24 hours and when a customer is erased.", Actions: []panelviews.Action{another}}
	}
	v := &views.ImportResult{
		Title: panel.CustomerCount(i.Created) + " added", Actions: []panelviews.Action{another, {Label: "View customers", Path: links.Customers, Class: "btn-primary"}},
		Figures: []ui.Figure{
			{Label: "Added", Icon: "user-plus", Value: format.Number(i.Created), Against: format.Noun(i.Created, "new customer", "new customers")},
			{Label: "Existing", Icon: "users", Value: format.Number(i.Found), Against: "unchanged, or duplicates"},
			{Label: "Errors", Icon: "alert-triangle", Value: format.Number(i.Failed), Against: format.Noun(i.Failed, "row", "rows") + " skipped"},
		},
	}
	if i.Status == importing.Cancelled {
		v.Title = "Stopped after " + format.Number(i.Done) + " of " + format.Count(i.Rows, "row", "rows")
		v.Words = "Customers already added stay. To continue, upload the file again: existing customers won't change."
	}
	return v
}

// shownProblems is how many errors the page lists. The CSV file contains all of them.
const shownProblems = 100

// importResult adds how the file was read, and its rows that aren't imported, to a result.
func (h *Handlers) importResult(c echo.Context, i importing.Import, v *views.ImportResult) (_ *views.ImportResult, err error) {
	v.CSV = links.Import(i.ID) + "/problems.csv"
	if i.Status == importing.Checked {
		if v.Reading, err = h.importReading(c, i); err != nil {
			return nil, err
		}
		if err := h.addPlan(c, i, v); err != nil {
			return nil, err
		}
	}
	if i.Found+i.Repeated > 0 {
		if v.Duplicates, err = h.importDuplicates(c, i); err != nil {
			return nil, err
		}
	}
	if i.Failed == 0 {
		return v, nil
	}
	problems, err := h.Imports.ListProblems(c.Request().Context(), page.Actor(c), i.ID, shownProblems)
	if err != nil {
		return nil, err
	}
	v.ProblemsTitle = format.Count(i.Failed, "row with errors", "rows with errors")
	v.ProblemsWords = "These rows are skipped. Correct them in your file and upload it again."
	if i.Problems > shownProblems {
		v.ProblemsWords += " The first " + format.Number(shownProblems) + " errors are shown."
	}
	if i.Problems >= importing.MaxProblems {
		v.ProblemsWords += " The CSV file lists every row, but after " + format.Number(importing.MaxProblems) + " errors only the first one per row."
	}
	for _, p := range problems {
		column, message := problemWords(p)
		v.Problems = append(v.Problems, views.ImportProblem{Row: format.Number(p.FileRow), Column: column, Value: p.Value, Words: message})
	}
	return v, nil
}

// addPlan says how many of the new customers fit the plan, if not all do: then the import would be refused.
func (h *Handlers) addPlan(c echo.Context, i importing.Import, v *views.ImportResult) error {
	by := page.Actor(c)
	room, limited, err := h.Imports.Room(c.Request().Context(), by)
	if err != nil || !limited || i.Created <= room {
		return err
	}
	v.Plan = &panelviews.PlanNotice{Reached: true, Words: importing.FitsPlan(i.Created, room, format.Number) + ". Upgrade, or shorten the file."}
	if by.Role.Includes(core.Owner) {
		v.Plan.Path = links.Billing
	}
	v.Actions = slices.DeleteFunc(v.Actions, func(action panelviews.Action) bool { return action.Path == links.Import(i.ID)+"/run" })
	return nil
}

var separatorNames = map[string]string{",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Bar"}

// importReading says how a checked file was read.
func (h *Handlers) importReading(c echo.Context, i importing.Import) (*views.ImportReading, error) {
	by := page.Actor(c)
	p, err := h.Imports.Preview(c.Request().Context(), by, i.ID, importing.Choice{})
	if err != nil {
		return nil, err
	}
	v := &views.ImportReading{Change: links.Import(i.ID) + "?step=columns"}
	v.Facts = append(v.Facts,
		views.ImportFact{Name: "Encoding", Value: encodingLabels[p.Encoding]},
		views.ImportFact{Name: "Separator", Value: cmp.Or(separatorNames[p.Delimiter], "“"+p.Delimiter+"”")})
	headers := views.ImportFact{Name: "Headers", Value: "No row"}
	if 0 < p.Header && p.Header <= int64(len(p.Beginning)) {
		headers.Value = "Row " + format.Number(p.Beginning[p.Header-1].FileRow)
	}
	v.Facts = append(v.Facts, headers)
	if p.Dates != nil {
		v.Facts = append(v.Facts, views.ImportFact{
			Name: "Dates", Value: orderExamples[p.Dates.Order], Why: datesWhy(*p.Dates, by.Tenant.Country),
		})
	}
	for _, s := range p.Samples {
		row := views.ImportSample{
			Number: format.Number(s.FileRow), Name: panel.FullName(s.FirstName, s.LastName), Phone: s.Phone, Email: core.OrZero(s.Email), Since: "Today",
			Points: format.Number(s.Points), Stamps: format.Number(s.Stamps),
		}
		if s.CreatedAt != nil {
			row.Since = format.Date(*s.CreatedAt, by.Tenant.TimeZone)
		}
		v.Rows = append(v.Rows, row)
	}
	return v, nil
}

// importDuplicates lists the rows that repeat another row or an existing customer.
func (h *Handlers) importDuplicates(c echo.Context, i importing.Import) (*views.ImportDuplicates, error) {
	ctx, by := c.Request().Context(), page.Actor(c)
	list, err := h.Imports.ListDuplicates(ctx, by, i.ID, shownProblems)
	if err != nil || len(list) == 0 { // none of an import by an earlier build
		return nil, err
	}
	shared, err := h.Imports.ListShared(ctx, by, i.ID)
	if err != nil {
		return nil, err
	}
	n := i.Found + i.Repeated
	v := &views.ImportDuplicates{
		Title: format.Count(n, "row repeats a customer", "rows repeat customers"),
		Words: "Another row or an existing customer has the same phone number or e-mail address. These rows are skipped, and existing customers won't change.",
	}
	if n > shownProblems {
		v.Words += " The first " + format.Number(shownProblems) + " rows are shown."
	}
	for _, s := range shared {
		words := format.Count(s.Rows, "row shares", "rows share") + " the " + sharedNames[s.Field]
		if s.Value != "" { // blanked when a customer was erased
			words += " " + s.Value
		}
		line := views.ImportShared{Words: words + ". Only row " + format.Number(s.Row) + " is imported."}
		if s.Row == 0 {
			line.Words, line.Customer = words+" of", importCustomer(s.Customer, s.CustomerName)
		}
		v.Shared = append(v.Shared, line)
	}
	for _, p := range list {
		d := views.ImportDuplicate{
			Row: format.Number(p.FileRow), Name: p.Repeats.Name, By: importLabels[importing.Field(p.Field)], Value: p.Value,
			Customer: importCustomer(p.Repeats.Customer, p.Repeats.CustomerName),
		}
		if p.Repeats.Row > 0 {
			d.Repeats = "Row " + format.Number(p.Repeats.Row)
		}
		v.Rows = append(v.Rows, d)
	}
	return v, nil
}

var sharedNames = map[importing.Field]string{importing.PhoneField: "phone number", importing.EmailField: "e-mail address"}

func importCustomer(id *core.ID, name string) *views.ImportCustomer {
	if id == nil {
		return nil
	}
	return &views.ImportCustomer{Name: format.StoredName(name), Path: links.Customer(*id)}
}

func problemWords(p importing.Problem) (column, message string) {
	label, known := importLabels[importing.Field(p.Field)]
	switch {
	case p.Repeats != nil && p.Repeats.Row > 0:
		return label, "Repeats row " + strconv.FormatInt(p.Repeats.Row, 10) + ": same " + sharedNames[importing.Field(p.Field)]
	case p.Repeats != nil:
		return label, "Repeats " + format.StoredName(p.Repeats.CustomerName) + ": same " + sharedNames[importing.Field(p.Field)]
	case known:
		return label, forms.Message(p.Field, label, p.Violation, format.Number)
	}
	return "Whole row", forms.Message(p.Field, "Row", p.Violation, format.Number)
}

// problemsCSV answers with all errors in a file.
func (h *Handlers) problemsCSV(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	return h.CSV(c, "import-problems.csv", []string{"Row", "Column", "Value", "Error"}, func(row func(...any) error) error {
		return h.Imports.EachProblem(c.Request().Context(), page.Actor(c), id, func(p importing.Problem) error {
			column, message := problemWords(p)
			return row(p.FileRow, column, p.Value, message)
		})
	})
}

// importOf returns the import in the path.
func (h *Handlers) importOf(c echo.Context) (importing.Import, error) {
	id, err := panel.PathID(c)
	if err != nil {
		return importing.Import{}, err
	}
	return h.Imports.Find(c.Request().Context(), page.Actor(c), id)
}

var importCrumbs = []ui.Crumb{{Label: "Customers", Path: links.Customers}, {Label: "Import", Path: links.Imports}}

func (h *Handlers) importFrame(c echo.Context, title string, i importing.Import) panelviews.Frame {
	return h.Frame(c, title, links.Customers, append(slices.Clone(importCrumbs), ui.Crumb{Label: i.FileName, Path: links.Import(i.ID)})...)
}

func (h *Handlers) askRunImport(c echo.Context) error {
	return h.confirmRunImport(c, http.StatusOK, &forms.Form{})
}

func (h *Handlers) confirmRunImport(c echo.Context, status int, form *forms.Form) error {
	i, err := h.importOf(c)
	if err != nil {
		return err
	}
	words := panel.CustomerCount(i.Created) + " will be added, with the points and stamps in the file."
	if n := i.Found + i.Repeated; n > 0 {
		words += " " + format.Count(n, "row belongs to an existing customer or is a duplicate", "rows belong to existing customers or are duplicates") + ": nothing changes for them."
	}
	if i.Failed > 0 {
		words += " " + format.Count(i.Failed, "row with errors", "rows with errors") + " will be skipped."
	}
	return h.Confirm(c, status, panelviews.Confirm{
		Frame: h.importFrame(c, "Import "+panel.CustomerCount(i.Created)+"?", i),
		Confirm: ui.Confirm{
			Action: links.Import(i.ID) + "/run", Button: "Import customers", Cancel: links.Import(i.ID), Problem: form.Problem(),
			Words: []string{words, "You can stop the import, but customers already added stay."},
		},
	})
}

func (h *Handlers) runImport(c echo.Context) error {
	run := func(ctx context.Context, by core.Actor, id core.ID, _ *forms.Form) (importing.Import, error) {
		return h.Imports.Run(ctx, by, id)
	}
	return h.submitImport(c, run, func(status int, form *forms.Form) error { return h.confirmRunImport(c, status, form) })
}

func (h *Handlers) askCancelImport(c echo.Context) error {
	return h.confirmCancelImport(c, http.StatusOK, &forms.Form{})
}

func (h *Handlers) confirmCancelImport(c echo.Context, status int, form *forms.Form) error {
	i, err := h.importOf(c)
	if err != nil {
		return err
	}
	v := panelviews.Confirm{
		Frame: h.importFrame(c, "Discard this file?", i),
		Confirm: ui.Confirm{
			Action: links.Import(i.ID) + "/cancel", Button: "Discard file", Danger: true, Cancel: links.Import(i.ID), Problem: form.Problem(),
			Words: []string{"Nothing is imported. You can upload the file again."},
		},
	}
	if i.Status == importing.Running {
		v.Title, v.Button = "Stop this import?", "Stop import"
		v.Words = []string{"Customers already added stay. The remaining rows won't be imported."}
	}
	return h.Confirm(c, status, v)
}

func (h *Handlers) cancelImport(c echo.Context) error {
	cancel := func(ctx context.Context, by core.Actor, id core.ID, _ *forms.Form) (importing.Import, error) {
		return h.Imports.Cancel(ctx, by, id)
	}
	return h.submitImport(c, cancel, func(status int, form *forms.Form) error { return h.confirmCancelImport(c, status, form) })
}
