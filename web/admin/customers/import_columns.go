package customers

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/importing"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// importColumns shows the form that says how a file is read. refused is the form if it was refused; else the choices are
// in the query.
func (h *Handlers) importColumns(c echo.Context, status int, f panelviews.Frame, i importing.Import, refused *forms.Form) error {
	form := refused
	if form == nil {
		form = forms.Query(c.QueryParams())
	}
	p, err := h.Imports.Preview(c.Request().Context(), page.Actor(c), i.ID, importChoice(form))
	if refused == nil && form.Refused(err) || refused != nil && core.IsKind(err, core.KindInvalid) {
		p, err = h.Imports.Preview(c.Request().Context(), page.Actor(c), i.ID, importing.Choice{})
	}
	if err != nil {
		return err
	}
	for n, f := range p.Columns {
		if refused == nil || !form.Checked(views.ColumnName(n)) {
			form.Values.Set(views.ColumnName(n), string(f))
		}
	}
	if refused == nil {
		form.Values.Set("encoding", string(p.Encoding))
		form.Values.Set("heading", strconv.FormatInt(p.Header, 10))
		form.Values.Set("dates", string(p.DateOrder))
	}
	if !form.Problem().None() {
		status = http.StatusUnprocessableEntity
	}
	v := views.ImportColumns{Frame: f, Preview: p, Form: form, Message: unreadable}
	return h.Render(c, status, views.ImportColumnsPage(v), views.ImportColumnsForm(v))
}

// unreadable says why a row can't be read.
func unreadable(v core.Violation) string { return forms.Message("", "row", v, format.Number) }

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
	for n := 0; n < maxImportColumns && form.Checked(views.ColumnName(n)); n++ {
		fields = append(fields, importing.Field(form.Value(views.ColumnName(n))))
	}
	return fields
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
