package reports

import (
	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/page"
)

// locationReport shows the sales of each location.
func (h *Handlers) locationReport(c echo.Context) error {
	q, err := h.query(c, views.Locations)
	if err != nil {
		return err
	}
	r, err := h.Reports.Locations(c.Request().Context(), page.Actor(c), q.Selection)
	return h.show(c, q, &r.Period, err, func(v views.Report) templ.Component { return views.LocationsPage(v, r) })
}

func (h *Handlers) locationCSV(c echo.Context) error {
	q, err := h.query(c, views.Locations)
	if err != nil {
		return err
	}
	r, err := h.Reports.Locations(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	header := comparedHeader(r.Against, []string{"Location", "Sales", "Spend (" + currency + ")", "Points issued", "Stamps issued"}, "Earlier spend ("+currency+")")
	return h.CSV(c, fileName("locations", r.Period), header, func(row func(...any) error) error {
		for _, l := range r.Rows {
			name := "No location"
			if l.ID != nil {
				name = core.OrZero(l.Name)
			}
			cells := []any{name, l.TransactionsCount, format.Amount(l.SpendTotalCents, currency), l.PointsAwarded, l.StampsAwarded}
			if err := row(comparedCells(r.Against, cells, format.Amount(l.PreviousSpendCents, currency))...); err != nil {
				return err
			}
		}
		return nil
	})
}

// staffReport shows what each person and token recorded.
func (h *Handlers) staffReport(c echo.Context) error {
	q, err := h.query(c, views.Staff)
	if err != nil {
		return err
	}
	r, err := h.Reports.Staff(c.Request().Context(), page.Actor(c), q.Selection)
	return h.show(c, q, &r.Period, err, func(v views.Report) templ.Component { return views.StaffPage(v, r) })
}

func (h *Handlers) staffCSV(c echo.Context) error {
	q, err := h.query(c, views.Staff)
	if err != nil {
		return err
	}
	r, err := h.Reports.Staff(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	header := []string{"Recorded by", "Kind", "Sales", "Voided sales", "Spend (" + currency + ")", "Points issued", "Stamps issued"}
	if q.Location == nil {
		header = append(header, "Redemptions")
	}
	figures := len(header)
	header = comparedHeader(r.Against, header, "Earlier spend ("+currency+")")
	return h.CSV(c, fileName("staff", r.Period), header, func(row func(...any) error) error {
		for _, p := range r.Rows {
			cells := []any{
				page.Actor(c).NameOf(p.ActorKind, p.Name), string(p.ActorKind), p.TransactionsCount, p.VoidedCount, format.Amount(p.SpendTotalCents, currency), p.PointsAwarded, p.StampsAwarded,
				p.RedemptionsCount,
			}[:figures]
			if err := row(comparedCells(r.Against, cells, format.Amount(p.PreviousSpendCents, currency))...); err != nil {
				return err
			}
		}
		return nil
	})
}

// comparedHeader adds the columns of the earlier period to the header of a file, if there is one.
func comparedHeader(against *report.Period, header []string, earlier string) []string {
	if against == nil {
		return header
	}
	return append(header, earlier, "Compared with")
}

// comparedCells are the cells of a row below comparedHeader.
func comparedCells(against *report.Period, cells []any, earlier any) []any {
	if against == nil {
		return cells
	}
	return append(cells, earlier, format.Period(against.From, against.To))
}
