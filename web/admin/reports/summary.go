package reports

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

func (h *Handlers) summaryReport(c echo.Context) error {
	q, err := h.reportQuery(c, links.Reports)
	if err != nil {
		return err
	}
	r, err := h.Reports.Compare(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil && !q.Refused(err) {
		return err
	}
	var days report.Range
	if err == nil {
		days = fromTo(r.From, r.To)
	}
	v := views.SummaryReport{Report: h.report(c, "Reports", links.Reports, q, days)}
	if v.Problem.None() {
		v.CSV = reportOf(links.SummaryCSV, c.QueryParams(), days)
		v.Chart = true
		currency, today := page.Actor(c).Tenant.Currency, h.LocalToday(page.Actor(c))
		v.Figures = summaryFigures(r, currency, q.Location)
		v.Charts = []ui.Chart{spendChart(r, currency, today), summaryPoints(r, today)}
		if q.Location != nil {
			v.Note = "Redemptions, vouchers and new customers aren't recorded by location."
			v.Charts[1] = onlyIssued(v.Charts[1], soFar(format.Count(r.Current.PointsAwarded, "point", "points")+" issued", r.To, today))
		}
		if r.Against != nil {
			v.Compared = comparedWith(*r.Against, r.To, today)
		}
	}
	return h.Render(c, reportStatus(v.Report), views.SummaryReportPage(v), nil)
}

// summaryFigures returns the figures of a summary, each with a link to what it counts.
func summaryFigures(r report.Comparison, currency string, location *int64) (figures []ui.Figure) {
	now, then, days := r.Current, r.Previous, fromTo(r.From, r.To)
	to := func(path string, options ...string) string {
		q := url.Values{}
		for i := 0; i < len(options); i += 2 {
			q.Set(options[i], options[i+1])
		}
		if location != nil {
			name := "location"
			if path == links.Transactions {
				name = "location_id"
			}
			q.Set(name, strconv.FormatInt(*location, 10))
		}
		return reportOf(path, q, days)
	}
	money := moneyIn(currency)
	add := func(label, path string, now, then int64, format func(int64) string) *ui.Figure {
		f := comparedFigure(label, path, now, then, format)
		if r.Against == nil {
			f.Change, f.Against = "", ""
		}
		figures = append(figures, f)
		return &figures[len(figures)-1]
	}
	sales := to(links.Transactions, "status", "completed")
	joined := links.Customers + "?" + url.Values{"created_from": {panel.IsoDate(r.From)}, "created_to": {panel.IsoDate(r.To)}}.Encode()
	everywhere := location == nil

	add("Sales", sales, now.TransactionsCount, then.TransactionsCount, format.Number)
	add("Tracked spend", to(links.TopReport), now.SpendTotalCents, then.SpendTotalCents, money)
	add("Average sale", to(links.HourReport), average(now.Figures), average(then.Figures), money)
	add("Points issued", to(links.TopReport, "by", string(report.Points)), now.PointsAwarded, then.PointsAwarded, format.Number)
	if everywhere {
		add("Points redeemed", to(links.RewardReport), now.PointsRedeemed, then.PointsRedeemed, format.Number)
		add("New customers", joined, now.NewCustomers, then.NewCustomers, format.Number)
	}
	add("Active customers", to(links.TopReport, "by", string(report.Visits)), now.ActiveCustomers, then.ActiveCustomers, format.Number)
	if everywhere {
		add("Redemptions", to(links.RewardReport), now.RedemptionsCount, then.RedemptionsCount, format.Number)
		add("Vouchers redeemed", to(links.CouponReport), now.VouchersRedeemed, then.VouchersRedeemed, format.Number)
	}
	add("Stamps issued", sales, now.StampsAwarded, then.StampsAwarded, format.Number)
	voided := to(links.Transactions, "status", "voided")
	add("Voided sales", voided, now.VoidedCount, then.VoidedCount, format.Number).Plain = true
	add("Points reversed", voided, now.PointsReversed, then.PointsReversed, format.Number).Plain = true
	return figures
}

func summaryPoints(r report.Comparison, today time.Time) ui.Chart {
	flow := func(f report.Figures) report.PointsFlow {
		return report.PointsFlow{Awarded: f.PointsAwarded, Redeemed: f.PointsRedeemed}
	}
	summary := soFar(pointsSummary(r.Current.PointsAwarded, r.Current.PointsRedeemed), r.To, today)
	return pointsChart(r.Step, r.Buckets, flow, r.Against != nil, summary, today)
}

// onlyIssued is the chart of points without the redeemed ones, its last series.
func onlyIssued(chart ui.Chart, summary string) ui.Chart {
	chart.Title, chart.Summary = "Points issued", summary
	chart.Series = chart.Series[:len(chart.Series)-1]
	for i, row := range chart.Rows {
		chart.Rows[i].Values = row.Values[:len(row.Values)-1]
	}
	return chart
}

func spendChart(r report.Comparison, currency string, today time.Time) ui.Chart {
	chart := ui.Chart{
		ID: "spend", Title: "Tracked spend", Series: []ui.Series{{Name: "Spend", Kind: ui.Line}}, Unit: format.Symbol(currency), Decimals: format.Decimals(currency),
		Summary: soFar(format.Money(r.Current.SpendTotalCents, currency)+" in "+format.Count(r.Current.TransactionsCount, "sale", "sales"), r.To, today),
	}
	if r.Against != nil {
		chart.Series = append(chart.Series, ui.Series{Name: earlierName, Kind: ui.Earlier})
	}
	amount := func(cents int64) ui.ChartValue {
		return ui.ChartValue{Number: cents, Text: format.Money(cents, currency)}
	}
	return chartOf(chart, r.Step, r.Buckets, func(b report.Bucket[report.Figures]) []ui.ChartValue {
		values := []ui.ChartValue{amount(b.Current.SpendTotalCents)}
		switch {
		case r.Against == nil:
		case b.Previous == nil:
			values = append(values, ui.ChartValue{})
		default:
			values = append(values, amount(b.Previous.SpendTotalCents))
		}
		return values
	}, today)
}

// summaryCSV is the summary as a file, with a row for each day beside the day that it is compared with. A longer
// earlier period has rows of its own. With a location it has the columns that are recorded by location.
func (h *Handlers) summaryCSV(c echo.Context) error {
	q, err := h.reportQuery(c, links.Reports)
	if err != nil {
		return err
	}
	q.Step = report.Daily
	r, err := h.Reports.Compare(c.Request().Context(), page.Actor(c), q.Selection)
	if err != nil {
		return err
	}
	currency := page.Actor(c).Tenant.Currency
	figures := []string{"Sales", "Voided sales", "Spend (" + currency + ")", "Points issued", "Stamps issued", "Points reversed"}
	if q.Location == nil {
		figures = append(figures, "Points redeemed", "Redemptions", "Vouchers redeemed", "New customers")
	}
	header := append([]string{"Date"}, figures...)
	if r.Against != nil {
		header = append(header, "Compared with")
		for _, f := range figures {
			header = append(header, earlierColumn(f))
		}
	}
	cells := func(day time.Time, d *report.Figures) []any {
		if d == nil {
			return slices.Repeat([]any{""}, 1+len(figures))
		}
		return []any{
			panel.IsoDate(day), d.TransactionsCount, d.VoidedCount, format.Amount(d.SpendTotalCents, currency), d.PointsAwarded, d.StampsAwarded,
			d.PointsReversed, d.PointsRedeemed, d.RedemptionsCount, d.VouchersRedeemed, d.NewCustomers,
		}[:1+len(figures)]
	}
	return h.CSV(c, fileName("summary", fromTo(r.From, r.To)), header, func(row func(...any) error) error {
		for i, b := range slices.Concat(r.Buckets, r.Longer) {
			now := cells(b.From, &b.Current)
			if i >= len(r.Buckets) {
				now = cells(b.From, nil)
			}
			if err := row(append(now, cells(b.Beside.From, b.Previous)...)[:len(header)]...); err != nil {
				return err
			}
		}
		return nil
	})
}

// earlierColumn is the heading of a figure of the earlier period: "Earlier sales".
func earlierColumn(figure string) string {
	return "Earlier " + strings.ToLower(figure[:1]) + figure[1:]
}
