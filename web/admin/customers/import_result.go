package customers

import (
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/importing"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// importResult shows what an import would do or did, and the rows that aren't imported.
func (h *Handlers) importResult(c echo.Context, status int, f panelviews.Frame, i importing.Import) error {
	v := views.ImportResult{Frame: f, Import: i}
	if i.HeldAt == nil {
		if err := h.addCheck(c, &v); err != nil {
			return err
		}
		if err := h.addProblems(c, &v); err != nil {
			return err
		}
	}
	return h.Render(c, status, views.ImportResultPage(v), nil)
}

// addCheck adds how a checked file is read, and how many of its new customers fit the plan. If not all do, the import
// would be refused.
func (h *Handlers) addCheck(c echo.Context, v *views.ImportResult) error {
	if v.Import.Status != importing.Checked {
		return nil
	}
	ctx, by := c.Request().Context(), page.Actor(c)
	reading, err := h.Imports.Preview(ctx, by, v.Import.ID, importing.Choice{})
	if err != nil {
		return err
	}
	v.Reading = &reading
	room, limited, err := h.Imports.Room(ctx, by)
	if limited && v.Import.Created > room {
		v.Room = &room
	}
	return err
}

// addProblems adds the rows that aren't imported.
func (h *Handlers) addProblems(c echo.Context, v *views.ImportResult) (err error) {
	ctx, by, i := c.Request().Context(), page.Actor(c), v.Import
	if i.Found+i.Repeated > 0 {
		if v.Duplicates, err = h.Imports.ListDuplicates(ctx, by, i.ID, views.ShownProblems); err != nil {
			return err
		}
	}
	if len(v.Duplicates) > 0 { // none of an import by an earlier build
		if v.Shared, err = h.Imports.ListShared(ctx, by, i.ID); err != nil {
			return err
		}
	}
	if i.Failed == 0 {
		return nil
	}
	problems, err := h.Imports.ListProblems(ctx, by, i.ID, views.ShownProblems)
	for _, p := range problems {
		column, message := problemWords(p)
		v.Problems = append(v.Problems, views.ImportProblem{Problem: p, Column: column, Message: message})
	}
	return err
}

func problemWords(p importing.Problem) (column, message string) {
	label, known := views.FieldNames[importing.Field(p.Field)]
	switch {
	case p.Repeats != nil && p.Repeats.Row > 0:
		return label, "Repeats row " + strconv.FormatInt(p.Repeats.Row, 10) + ": same " + views.KeyNames[importing.Field(p.Field)]
	case p.Repeats != nil:
		return label, "Repeats " + format.StoredName(p.Repeats.CustomerName) + ": same " + views.KeyNames[importing.Field(p.Field)]
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
