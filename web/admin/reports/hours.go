package reports

import (
	"fmt"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/page"
)

// hourReport shows the number of sales by weekday and hour.
func (h *Handlers) hourReport(c echo.Context) error {
	q, err := h.query(c, views.Hours)
	if err != nil {
		return err
	}
	hours, err := h.Reports.Hours(c.Request().Context(), page.Actor(c), q.Selection)
	return h.show(c, q, &hours.Period, err, func(v views.Report) templ.Component { return views.HoursPage(v, hours) })
}

func (h *Handlers) hourCSV(c echo.Context) error {
	q, err := h.query(c, views.Hours)
	if err != nil {
		return err
	}
	hours, err := h.Reports.Hours(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	header := []string{"Weekday", "Hour", "Sales", "Spend (" + currency + ")"}
	return h.CSV(c, fileName("hours", hours.Period), header, func(row func(...any) error) error {
		for _, cell := range hours.Cells {
			if cell.Weekday == nil || cell.Hour == nil {
				continue
			}
			err := row(views.Weekdays[*cell.Weekday], fmt.Sprintf("%02d:00", *cell.Hour), cell.TransactionsCount, format.Amount(cell.SpendTotalCents, currency))
			if err != nil {
				return err
			}
		}
		return nil
	})
}
