package reports

import (
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

func (h *Handlers) summaryReport(c echo.Context) error {
	q, err := h.query(c, views.Summary)
	if err != nil {
		return err
	}
	r, err := h.Reports.Compare(c.Request().Context(), page.Actor(c), q.Selection)
	return h.show(c, q, &r.Period, err, func(v views.Report) templ.Component { return views.SummaryPage(v, r) })
}

// summaryFile is the summary as a file, with a row for each day beside the day that it is compared with. A longer
// earlier period has rows of its own. With a location it has the columns that are recorded by location.
func (h *Handlers) summaryFile(c echo.Context) (panel.ExportFile, error) {
	q, err := h.query(c, views.Summary)
	if err != nil {
		return panel.ExportFile{}, err
	}
	q.Step = report.Daily
	r, err := h.Reports.Compare(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	figures := []string{
		"Sales", "Voided sales", "Spend (" + currency + ")", "Points issued", "Stamps issued", "Points reversed",
		"Refunds", "Refunded (" + currency + ")", "Spend after refunds (" + currency + ")", "Points refunded",
	}
	if q.Location == nil {
		figures = append(figures, "Points redeemed", "Redemptions", "Vouchers redeemed", "New customers", "Points expired", "Expired points returned")
	}
	columns := []page.Column{{Heading: "Date", Width: 12}}
	for _, f := range figures {
		columns = append(columns, page.Column{Heading: f})
	}
	if r.Against != nil {
		columns = append(columns, page.Column{Heading: "Compared with", Width: 14})
		for _, f := range figures {
			columns = append(columns, page.Column{Heading: earlierColumn(f)})
		}
	}
	cells := func(day time.Time, d *report.Figures) []any {
		if d == nil {
			return slices.Repeat([]any{""}, 1+len(figures))
		}
		return []any{
			page.DayCell(day), d.TransactionsCount, d.VoidedCount, money(d.SpendTotalCents), d.PointsAwarded, d.StampsAwarded,
			d.PointsReversed, d.RefundsCount, money(d.RefundedTotalCents), money(d.NetSpendTotalCents), d.PointsRefunded,
			d.PointsRedeemed, d.RedemptionsCount, d.VouchersRedeemed, d.NewCustomers, d.PointsExpired, d.PointsExpiryReturned,
		}[:1+len(figures)]
	}
	return panel.ExportFile{
		Name: fileName("summary", r.Period), Sheet: "Summary", Columns: columns,
		Write: func(row panel.RowWriter) error {
			for _, b := range slices.Concat(r.Buckets, r.Longer) {
				now := cells(b.From, &b.Current)
				if b.From.IsZero() {
					now = cells(b.From, nil)
				}
				if err := row(append(now, cells(b.Beside.From, b.Previous)...)[:len(columns)]...); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// earlierColumn is the heading of a figure of the earlier period: "Earlier sales".
func earlierColumn(figure string) string {
	return "Earlier " + strings.ToLower(figure[:1]) + figure[1:]
}
