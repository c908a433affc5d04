package reports

import (
	"fmt"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// hourReport shows sales by weekday and hour: their number or their spend.
func (h *Handlers) hourReport(c echo.Context) error {
	q, err := h.query(c, views.Hours)
	if err != nil {
		return err
	}
	hours, err := h.Reports.Hours(c.Request().Context(), page.Actor(c), q.Selection)
	return h.show(c, q, &hours.Period, err, func(v views.Report) templ.Component { return views.HoursPage(v, hours) })
}

// hoursFile has a row for each hour of a weekday with sales.
func (h *Handlers) hoursFile(c echo.Context) (panel.ExportFile, error) {
	q, err := h.query(c, views.Hours)
	if err != nil {
		return panel.ExportFile{}, err
	}
	hours, err := h.Reports.Hours(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	return panel.ExportFile{
		Name: fileName("hours", hours.Period), Sheet: "Hours",
		Columns: []page.Column{{Heading: "Weekday", Width: 12}, {Heading: "Hour"}, {Heading: "Sales"}, {Heading: "Spend (" + currency + ")"}},
		Write: func(row panel.RowWriter) error {
			for _, cell := range hours.Cells {
				if cell.Weekday == nil || cell.Hour == nil {
					continue
				}
				err := row(views.Weekdays[*cell.Weekday], fmt.Sprintf("%02d:00", *cell.Hour), cell.TransactionsCount, money(cell.SpendTotalCents))
				if err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}
