package reports

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// measures are the choices of what to rank customers by.
var measures = []ui.Option{
	{Value: string(report.Spend), Label: "Spend"}, {Value: string(report.Points), Label: "Points issued"}, {Value: string(report.Visits), Label: "Sales"},
}

// topReport ranks customers.
func (h *Handlers) topReport(c echo.Context) error {
	q, err := h.reportQuery(c, links.TopReport)
	if err != nil {
		return err
	}
	days, top, err := h.top(c, q)
	if err != nil && !q.Refused(err) {
		return err
	}
	v := views.TopReport{Report: h.report(c, "Top customers", links.TopReport, q, days)}
	if v.Problem.None() {
		v.CSV = reportOf(links.TopReport+".csv", c.QueryParams(), days)
		measure := measureOf(q.Form)
		for _, m := range measures {
			choice := views.Choice{Label: m.Label, Path: optionLink(links.TopReport, c.QueryParams(), "by", m.Value), Current: m.Value == string(measure)}
			v.Measures = append(v.Measures, choice)
			if choice.Current {
				v.By = strings.ToLower(m.Label)
			}
		}
		v.Menus = append(v.Menus, limitMenu(c.QueryParams(), cmp.Or(q.Value("limit"), limits[0])))
		v.Rows = topRows(top, measure, page.Actor(c).Tenant.Currency)
	}
	return h.Render(c, reportStatus(v.Report), views.TopReportPage(v), nil)
}

// limits are the choices of how many customers to show.
var limits = []string{"10", "25", "50", "100"}

func limitMenu(options url.Values, chosen string) views.Menu {
	m := views.Menu{Name: "How many", Label: "Top " + chosen}
	for _, n := range limits {
		m.Choices = append(m.Choices, views.Choice{Label: "Top " + n, Path: optionLink(links.TopReport, options, "limit", n), Current: n == chosen})
	}
	return m
}

func (h *Handlers) top(c echo.Context, q reportQuery) (days report.Range, top []report.Customer, err error) {
	by := page.Actor(c)
	r := report.Ranking{Range: q.Range, By: q.Filled("by"), Limit: q.Integer("limit"), Location: q.Location}
	for name, violations := range q.Malformed { // of the limit
		if r.Malformed == nil {
			r.Malformed = core.Fields{}
		}
		r.Malformed[name] = violations
	}
	if top, err = h.Reports.Top(c.Request().Context(), by, r); err != nil {
		return days, nil, err
	}
	days, err = h.Reports.Days(by, q.Range)
	return days, top, err
}

// measureOf is what an accepted ranking is by.
func measureOf(q *forms.Form) report.Measure {
	if by := q.Filled("by"); by != nil {
		return report.Measure(*by)
	}
	return report.Spend
}

// topRows are the customers of a ranking. Each has a bar that compares them with the first one.
func topRows(top []report.Customer, by report.Measure, currency string) (rows []views.TopCustomer) {
	for i, c := range top {
		row := views.TopCustomer{
			Rank: strconv.Itoa(i + 1), Path: links.Customer(c.ID), Name: panel.FullName(c.FirstName, c.LastName), Phone: c.Phone, Email: core.OrZero(c.Email),
			Sales: format.Number(c.TransactionsCount), Spend: format.Money(c.SpendTotalCents, currency), Points: format.Number(c.PointsAwarded),
			SalesAndPoints: format.Count(c.TransactionsCount, "sale", "sales") + ", " + format.Count(c.PointsAwarded, "point", "points"),
			Bar:            ui.BarOf(measured(top[0], by), ui.Share(measured(c, by), ui.First)),
		}
		rows = append(rows, row)
	}
	return rows
}

func measured(c report.Customer, by report.Measure) int64 {
	switch by {
	case report.Points:
		return c.PointsAwarded
	case report.Visits:
		return c.TransactionsCount
	case report.Spend:
	}
	return c.SpendTotalCents
}

// topCSV is the ranking as a file.
func (h *Handlers) topCSV(c echo.Context) error {
	q, err := h.reportQuery(c, links.TopReport)
	if err != nil {
		return err
	}
	days, top, err := h.top(c, q)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	header := []string{
		"Rank", "ULID", "First name", "Last name", "Phone", "E-mail", "Sales", "Spend (" + currency + ")", "Points issued", "Points balance", "Stamps balance",
	}
	return h.CSV(c, fileName("top-customers", days), header, func(row func(...any) error) error {
		for i, t := range top {
			err := row(int64(i+1), t.ID.String(), t.FirstName, t.LastName, t.Phone, core.OrZero(t.Email), t.TransactionsCount, format.Amount(t.SpendTotalCents, currency),
				t.PointsAwarded, t.PointsBalance, t.StampsBalance)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
