package customers

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/award"
	"example.com/loyalty/core/importing"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/links"
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
		route.Get(one+"/run", route.Managers, panel.WithEmptyForm(h.confirmRunImport)),
		route.Post(one+"/run", route.Managers, h.runImport),
		route.Post(one+"/continue", route.Managers, h.continueImport),
		route.Get(one+"/cancel", route.Managers, panel.WithEmptyForm(h.confirmCancelImport)),
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
	earlier, err := h.Imports.List(c.Request().Context(), by)
	if err != nil {
		return err
	}
	frame := h.Frame(c, "Import customers", links.Customers, customersCrumb)
	if by.Tenant.Country == "" {
		return h.Render(c, status, views.CountryNeededPage(frame), nil)
	}
	rules, err := h.Transactions.RulesNow(c.Request().Context(), by)
	if err != nil {
		return err
	}
	return h.Render(c, status, views.ImportStartPage(frame, form, rules.Levels, earlier), nil)
}

// highest returns the name of the highest level.
func highest(levels award.Levels) (name string) {
	for _, l := range levels.All {
		if !l.Retired {
			name = l.Name
		}
	}
	return name
}

// sampleCSV answers with a file that can be imported unchanged.
func (h *Handlers) sampleCSV(c echo.Context) error {
	rules, err := h.Transactions.RulesNow(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	fields := importing.FieldsOf(page.Actor(c).Tenant, rules.Levels)
	header := make([]string, 0, len(fields))
	for _, f := range fields {
		if f != importing.FullNameField && f != importing.ExternalIDField { // one of them is enough; only programs have IDs
			header = append(header, views.FieldNames[f])
		}
	}
	anna := []any{"Anna", "Lindqvist", "0701740605", "anna@example.com", "2024-03-15", int64(120), int64(3), "1990-05-21"}
	bilal := []any{"Bilal", "Haddad", "0701740606", "", "", int64(0), int64(0), ""}
	if slices.Contains(fields, importing.LevelField) {
		anna, bilal = append(anna, highest(rules.Levels)), append(bilal, "")
	}
	if slices.Contains(fields, importing.ExpiresOnField) {
		anna, bilal = append(anna, h.Now().AddDate(1, 0, 0).Format(time.DateOnly)), append(bilal, "")
	}
	return h.CSV(c, "customers-sample.csv", header, func(row func(...any) error) error {
		if err := row(anna...); err != nil {
			return err
		}
		return row(bilal...)
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
	frame := h.Frame(c, i.FileName, links.Customers, customersCrumb, importsCrumb)
	switch {
	case i.Status == importing.Uploaded, i.Status == importing.Checked && (refused != nil || c.QueryParam("step") == "columns"):
		return h.importColumns(c, status, frame, i, refused)
	case i.HeldAt == nil && (i.Status == importing.Checking || i.Status == importing.Running):
		return h.Render(c, status, views.ImportProgressPage(frame, i), views.ImportProgressBar(i))
	case page.IsFragment(c): // polled for progress, and it has finished
		return h.Redirect(c, links.Import(i.ID))
	}
	return h.importResult(c, status, frame, i)
}

// importOf returns the import in the path.
func (h *Handlers) importOf(c echo.Context) (importing.Import, error) {
	id, err := panel.PathID(c)
	if err != nil {
		return importing.Import{}, err
	}
	return h.Imports.Find(c.Request().Context(), page.Actor(c), id)
}

// importsCrumb leads from the page of an import to the upload form.
var importsCrumb = ui.Crumb{Label: "Import", Path: links.Imports}
