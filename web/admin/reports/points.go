package reports

import (
	"slices"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// pointsReport is the statement of points or stamps, with what they are worth and when they end. The page of a large business asks for the
// latter when it is shown, if they have to be counted.
func (h *Handlers) pointsReport(c echo.Context) error {
	q, err := h.query(c, views.Points)
	if err != nil {
		return err
	}
	by, ctx := page.Actor(c), c.Request().Context()
	if page.IsFragment(c) {
		endings, err := h.Reports.Endings(ctx, by, q.Filled("unit"))
		if err != nil {
			return err
		}
		return h.show(c, q, nil, nil, func(v views.Report) templ.Component { return views.Endings(v, endings) })
	}
	var endings report.Endings
	st, err := h.Reports.Points(ctx, by, balances(q, by))
	if err == nil && !st.SlowEndings {
		endings, err = h.Reports.Endings(ctx, by, q.Filled("unit"))
	}
	return h.show(c, q, &st.Period, err, func(v views.Report) templ.Component { return views.PointsPage(v, st, endings) })
}

// balances are what was asked of a statement.
func balances(q query, by core.Actor) report.Balances {
	b := report.Balances{
		Range: q.Range, Against: q.Against, Unit: q.Filled("unit"), ValueCents: q.Amount("value", by.Tenant.Currency), ExpectedRate: q.Rate("rate"),
	}
	b.Malformed = q.Malformed
	return b
}

// statementFile is the statement with a row for each day. A longer earlier period has rows of its own.
func (h *Handlers) statementFile(c echo.Context) (panel.ExportFile, error) {
	q, err := h.query(c, views.Points)
	if err != nil {
		return panel.ExportFile{}, err
	}
	by := page.Actor(c)
	asked := balances(q, by)
	asked.Step = report.Daily
	st, err := h.Reports.Points(c.Request().Context(), by, asked)
	if err != nil {
		return panel.ExportFile{}, err
	}
	columns := []page.Column{{Heading: "Date", Width: 12}, {Heading: "Opening balance"}}
	for _, l := range views.FlowLines {
		columns = append(columns, page.Column{Heading: l.Column})
	}
	columns = append(columns, page.Column{Heading: "Closing balance"})
	if st.Against != nil {
		columns = append(columns, page.Column{Heading: "Compared with", Width: 14}, page.Column{Heading: "Earlier closing balance"})
	}
	return panel.ExportFile{
		Name: fileName(string(st.Unit), st.Period), Sheet: "Statement", Columns: columns,
		Write: func(row panel.RowWriter) error {
			for _, s := range slices.Concat(st.Steps, st.Longer) {
				cells := []any{page.DayCell(s.From), s.Current.Opening}
				for _, l := range views.FlowLines {
					cells = append(cells, l.Amount(s.Current.Total))
				}
				cells = append(cells, s.Current.Closing)
				if s.From.IsZero() {
					cells = slices.Repeat([]any{""}, len(cells))
				}
				earlier := []any{"", ""}
				if s.Previous != nil {
					earlier = []any{page.DayCell(s.Beside.From), s.Previous.Closing}
				}
				if err := row(append(cells, earlier...)[:len(columns)]...); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// lastDaysFile is what was redeemed, has expired and is open of each month's last days.
func (h *Handlers) lastDaysFile(c echo.Context) (panel.ExportFile, error) {
	q, err := h.query(c, views.Points)
	if err != nil {
		return panel.ExportFile{}, err
	}
	by := page.Actor(c)
	e, err := h.Reports.Endings(c.Request().Context(), by, q.Filled("unit"))
	if err != nil {
		return panel.ExportFile{}, err
	}
	return panel.ExportFile{
		Name: string(e.Unit) + "-by-last-day-" + panel.IsoDate(h.LocalToday(by)), Sheet: "Last days",
		Columns: []page.Column{{Heading: "Last day in", Width: 18}, {Heading: "Redeemed"}, {Heading: "Expired"}, {Heading: "Open"}},
		Write: func(row panel.RowWriter) error {
			for _, o := range e.Outcomes {
				if err := row(views.OutcomeLabel(o), o.Redeemed, o.Expired, o.Open); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// earnedFile is when what is outstanding was earned, and how much of it isn't known.
func (h *Handlers) earnedFile(c echo.Context) (panel.ExportFile, error) {
	q, err := h.query(c, views.Points)
	if err != nil {
		return panel.ExportFile{}, err
	}
	by := page.Actor(c)
	e, err := h.Reports.Endings(c.Request().Context(), by, q.Filled("unit"))
	if err != nil {
		return panel.ExportFile{}, err
	}
	return panel.ExportFile{
		Name: string(e.Unit) + "-by-month-of-earning-" + panel.IsoDate(h.LocalToday(by)), Sheet: "Earned in",
		Columns: []page.Column{{Heading: "Earned in", Width: 40}, {Heading: "From", Width: 12}, {Heading: "To", Width: 12}, {Heading: "Outstanding"}},
		Write: func(row panel.RowWriter) error {
			for _, at := range e.Earned.Times {
				if err := row(views.EarnedLabel(at), page.DayCell(at.From), page.DayCell(at.To), at.Amount); err != nil {
					return err
				}
			}
			for _, rest := range []struct {
				label  string
				amount int64
			}{
				{"Not known: no last day", e.Earned.Undated}, {"Not known: imported or returned", e.Earned.Apart}, {"Not known: the rule was changed", e.Earned.Unclear},
			} {
				if rest.amount == 0 {
					continue
				}
				if err := row(rest.label, "", "", rest.amount); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}
