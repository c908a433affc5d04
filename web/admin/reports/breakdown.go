package reports

import (
	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
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

// locationFile has a row for each location.
func (h *Handlers) locationFile(c echo.Context) (panel.ExportFile, error) {
	q, err := h.query(c, views.Locations)
	if err != nil {
		return panel.ExportFile{}, err
	}
	r, err := h.Reports.Locations(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	columns := breakdownColumns(r.Against, currency, "Location", "Sales", "Spend ("+currency+")", "Points issued", "Stamps issued", "Voided sales", "Void rate")
	return panel.ExportFile{
		Name: fileName("locations", r.Period), Sheet: "Locations", Columns: columns,
		Write: func(row panel.RowWriter) error {
			for _, l := range r.Rows {
				name := "No location"
				if l.ID != nil {
					name = core.OrZero(l.Name)
				}
				now, then := l.VoidRates()
				cells := []any{name, l.TransactionsCount, money(l.SpendTotalCents), l.PointsAwarded, l.StampsAwarded, l.VoidedCount, rateCell(now)}
				if err := row(breakdownCells(r.Against, money, cells, l.PreviousSpendCents, then)...); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// breakdownColumns are the columns of a breakdown as a file, with those of the earlier period if there is one.
func breakdownColumns(against *report.Period, currency, first string, figures ...string) []page.Column {
	columns := []page.Column{{Heading: first, Width: 30}}
	if against != nil {
		figures = append(figures, "Earlier spend ("+currency+")", "Earlier sales", "Earlier voided sales", "Earlier void rate", "Compared with")
	}
	for _, f := range figures {
		columns = append(columns, page.Column{Heading: f})
	}
	return columns
}

// breakdownCells are the cells of a row below breakdownColumns.
func breakdownCells(against *report.Period, money func(int64) page.MoneyCell, cells []any, spend int64, then report.VoidRate) []any {
	if against == nil {
		return cells
	}
	return append(cells, money(spend), then.Recorded-then.Voided, then.Voided, rateCell(then), format.Period(against.From, against.To))
}

// rateCell is empty for few sales.
func rateCell(r report.VoidRate) page.ShareCell {
	if !r.Known() {
		return page.ShareCell{}
	}
	return page.ShareCell{Of: r.Voided, Whole: r.Recorded}
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

// staffFile has a row for each person and token.
func (h *Handlers) staffFile(c echo.Context) (panel.ExportFile, error) {
	q, err := h.query(c, views.Staff)
	if err != nil {
		return panel.ExportFile{}, err
	}
	by := page.Actor(c)
	r, err := h.Reports.Staff(c.Request().Context(), by, q.Selection)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	redemptions := q.Location == nil
	figures := []string{"Kind", "Sales", "Voided sales", "Spend (" + currency + ")", "Points issued", "Stamps issued"}
	if redemptions {
		figures = append(figures, "Redemptions")
	}
	return panel.ExportFile{
		Name: fileName("staff", r.Period), Sheet: "Staff", Columns: breakdownColumns(r.Against, currency, "Recorded by", append(figures, "Void rate")...),
		Write: func(row panel.RowWriter) error {
			for _, p := range r.Rows {
				now, then := p.VoidRates()
				cells := []any{
					by.NameOf(p.ActorKind, p.Name), string(p.ActorKind), p.TransactionsCount, p.VoidedCount, money(p.SpendTotalCents), p.PointsAwarded, p.StampsAwarded,
				}
				if redemptions {
					cells = append(cells, p.RedemptionsCount)
				}
				if err := row(breakdownCells(r.Against, money, append(cells, rateCell(now)), p.PreviousSpendCents, then)...); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
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
