package reports

import (
	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// earningReport shows by which rules sales earned, the hours of promotions, and customers by level.
func (h *Handlers) earningReport(c echo.Context) error {
	q, err := h.query(c, views.Earning)
	if err != nil {
		return err
	}
	e, err := h.Reports.Earning(c.Request().Context(), page.Actor(c), q.Selection)
	return h.show(c, q, &e.Period, err, func(v views.Report) templ.Component { return views.EarningPage(v, e) })
}

// earning is the report for a file.
func (h *Handlers) earning(c echo.Context) (report.Earning, error) {
	q, err := h.query(c, views.Earning)
	if err != nil {
		return report.Earning{}, err
	}
	return h.Reports.Earning(c.Request().Context(), page.Actor(c), q.Selection)
}

// rulesFile has a row for each rule, and one for what caps took off, of each unit.
func (h *Handlers) rulesFile(c echo.Context) (panel.ExportFile, error) {
	e, err := h.earning(c)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	columns := []page.Column{
		{Heading: "Unit", Width: 10},
		{Heading: "Rule", Width: 14},
		{Heading: "Name", Width: 30},
		{Heading: "Sales"},
		{Heading: "Spend (" + currency + ")"},
		{Heading: "Awarded"},
		{Heading: "Taken off by caps"},
	}
	for _, heading := range comparedHeader(e.Against, nil, "Earlier award") {
		columns = append(columns, page.Column{Heading: heading})
	}
	return panel.ExportFile{
		Name: fileName("earning", e.Period), Sheet: "Awards by rule", Columns: columns,
		Write: func(row panel.RowWriter) error {
			for _, u := range e.Units {
				for _, r := range u.Rules {
					name := ""
					if r.Name != nil {
						name = *r.Name
					}
					cells := []any{string(u.Unit), views.RuleLabels[r.Kind], name, r.TransactionsCount, money(r.SpendTotalCents), r.Awarded, int64(0)}
					if err := row(comparedCells(e.Against, cells, r.PreviousAwarded)...); err != nil {
						return err
					}
				}
				caps := []any{string(u.Unit), "Caps", "", u.CappedSales, "", int64(0), u.CappedOff}
				if err := row(comparedCells(e.Against, caps, "")...); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// promotionHoursFile has a row for the hours of each promotion, and one for the other hours.
func (h *Handlers) promotionHoursFile(c echo.Context) (panel.ExportFile, error) {
	e, err := h.earning(c)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	spend := "Spend (" + currency + ")"
	return panel.ExportFile{
		Name: fileName("promotion-hours", e.Period), Sheet: "Hours of promotions",
		Columns: []page.Column{
			{Heading: "Promotion", Width: 30},
			{Heading: "Hours", Width: 14},
			{Heading: "Began", Width: 12},
			{Heading: "Days"},
			{Heading: "Sales"},
			{Heading: spend},
			{Heading: "Days before"},
			{Heading: "Sales before"},
			{Heading: spend + " before"},
		},
		Write: func(row panel.RowWriter) error {
			for _, p := range e.Hours {
				for _, r := range views.HourRows(p) {
					err := row(p.Name, r.Label, page.DayCell(p.Since), r.Now.Days, r.Now.TransactionsCount, money(r.Now.SpendTotalCents),
						r.Before.Days, r.Before.TransactionsCount, money(r.Before.SpendTotalCents))
					if err != nil {
						return err
					}
				}
			}
			return nil
		},
	}, nil
}

// levelsFile has a row for each level: its customers now, and the moves to it.
func (h *Handlers) levelsFile(c echo.Context) (panel.ExportFile, error) {
	e, err := h.earning(c)
	if err != nil {
		return panel.ExportFile{}, err
	}
	columns := []page.Column{{Heading: "Level", Width: 20}, {Heading: "Customers now"}}
	for _, m := range views.Moves {
		columns = append(columns, page.Column{Heading: m.Label})
	}
	return panel.ExportFile{
		Name: fileName("levels", e.Period), Sheet: "Customers by level", Columns: columns,
		Write: func(row panel.RowWriter) error {
			for _, l := range e.Levels {
				cells := []any{l.Name, l.Customers}
				for _, m := range views.Moves {
					cells = append(cells, m.Of(l))
				}
				if err := row(cells...); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}
