package reports

import (
	"fmt"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/page"
)

var weekdays = [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// hourReport shows the number of sales by weekday and hour.
func (h *Handlers) hourReport(c echo.Context) error {
	q, err := h.reportQuery(c, links.HourReport)
	if err != nil {
		return err
	}
	hours, err := h.Reports.Hours(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil && !q.Refused(err) {
		return err
	}
	var days report.Range
	if err == nil {
		days = fromTo(hours.From, hours.To)
	}
	v := views.HourReport{Report: h.report(c, "Hours", links.HourReport, q, days)}
	if v.Problem.None() {
		v.CSV = reportOf(links.HourReport+".csv", c.QueryParams(), days)
		fillHours(&v, hours)
	}
	return h.Render(c, reportStatus(v.Report), views.HourReportPage(v), nil)
}

// fillHours adds the rows from the first to the last hour with sales.
func fillHours(v *views.HourReport, h report.Hours) {
	const all = 7
	var sales [24][8]int64
	var perDay [8]int64
	first, last, most := 24, -1, int64(1)
	for _, cell := range h.Cells {
		weekday := int64(all)
		if cell.Weekday != nil {
			weekday = *cell.Weekday
		}
		if cell.Hour == nil {
			perDay[weekday] = cell.TransactionsCount
			continue
		}
		sales[*cell.Hour][weekday] = cell.TransactionsCount
		first, last = min(first, int(*cell.Hour)), max(last, int(*cell.Hour))
		if weekday != all {
			most = max(most, cell.TransactionsCount)
		}
	}
	for hour := first; hour <= last; hour++ {
		row := views.HourRow{Label: fmt.Sprintf("%02d:00", hour), Total: format.Number(sales[hour][all])}
		for weekday := range weekdays {
			n := sales[hour][weekday]
			row.Cells = append(row.Cells, views.HourCell{Text: format.Number(n), Heat: heat(n, most)})
		}
		v.Rows = append(v.Rows, row)
	}
	total := int64(0)
	for weekday, name := range weekdays {
		v.Weekdays = append(v.Weekdays, name)
		v.Totals = append(v.Totals, format.Number(perDay[weekday]))
		v.Averages = append(v.Averages, averageOf(perDay[weekday], h.Days[weekday]))
		total += h.Days[weekday]
	}
	v.Total, v.Average = format.Number(perDay[all]), averageOf(perDay[all], total)
}

// heat is the shade of a number: 0 for none, then 1 to 5 in equal steps up to the highest number.
func heat(n, most int64) int {
	if n == 0 {
		return 0
	}
	return 1 + int((n*5-1)/most)
}

// averageOf is an average with one decimal, or "–" without days.
func averageOf(sales, days int64) string {
	if days == 0 {
		return "–"
	}
	return strconv.FormatFloat(float64(sales)/float64(days), 'f', 1, 64)
}

func (h *Handlers) hourCSV(c echo.Context) error {
	q, err := h.reportQuery(c, links.HourReport)
	if err != nil {
		return err
	}
	hours, err := h.Reports.Hours(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	header := []string{"Weekday", "Hour", "Sales", "Spend (" + currency + ")"}
	return h.CSV(c, fileName("hours", fromTo(hours.From, hours.To)), header, func(row func(...any) error) error {
		for _, cell := range hours.Cells {
			if cell.Weekday == nil || cell.Hour == nil {
				continue
			}
			err := row(weekdays[*cell.Weekday], fmt.Sprintf("%02d:00", *cell.Hour), cell.TransactionsCount, format.Amount(cell.SpendTotalCents, currency))
			if err != nil {
				return err
			}
		}
		return nil
	})
}
