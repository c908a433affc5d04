package reports

import (
	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// topReport ranks customers.
func (h *Handlers) topReport(c echo.Context) error {
	q, err := h.query(c, views.TopCustomers)
	if err != nil {
		return err
	}
	days, top, err := h.top(c, q)
	return h.show(c, q, &days, err, func(v views.Report) templ.Component { return views.TopCustomersPage(v, measureOf(q.Form), top) })
}

func (h *Handlers) top(c echo.Context, q query) (days report.Period, top []report.Customer, err error) {
	by := page.Actor(c)
	r := report.Ranking{Range: q.Range, By: q.Filled("by"), Limit: q.Integer("limit"), Location: q.Location}
	for name, violations := range q.Malformed { // the limit was read after the days
		if r.Malformed == nil {
			r.Malformed = core.Fields{}
		}
		r.Malformed[name] = violations
	}
	if top, err = h.Reports.Top(c.Request().Context(), by, r); err != nil {
		return days, nil, err
	}
	days, err = h.days(c, q.Range)
	return days, top, err
}

// measureOf is the figure by which customers are ranked.
func measureOf(q *forms.Form) report.Measure {
	if by := q.Filled("by"); by != nil {
		return report.Measure(*by)
	}
	return report.Spend
}

// topFile is the ranking as a file.
func (h *Handlers) topFile(c echo.Context) (panel.ExportFile, error) {
	q, err := h.query(c, views.TopCustomers)
	if err != nil {
		return panel.ExportFile{}, err
	}
	days, top, err := h.top(c, q)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	return panel.ExportFile{
		Name: fileName("top-customers", days), Sheet: "Top customers",
		Columns: []page.Column{
			{Heading: "Rank"},
			{Heading: "ULID", Width: 28},
			{Heading: "First name", Width: 16},
			{Heading: "Last name", Width: 16},
			{Heading: "Phone", Width: 18},
			{Heading: "E-mail", Width: 28},
			{Heading: "Sales"},
			{Heading: "Spend (" + currency + ")"},
			{Heading: "Points issued"},
			{Heading: "Points balance"},
			{Heading: "Stamps balance"},
		},
		Write: func(row panel.RowWriter) error {
			for i, t := range top {
				err := row(int64(i+1), t.ID.String(), t.FirstName, t.LastName, t.Phone, core.OrZero(t.Email), t.TransactionsCount, money(t.SpendTotalCents),
					t.PointsAwarded, t.PointsBalance, t.StampsBalance)
				if err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}
