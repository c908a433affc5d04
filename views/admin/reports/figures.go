package reports

import (
	"net/url"
	"slices"
	"strconv"

	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
)

// comparedFigure is a key figure with what it was in the earlier period.
func comparedFigure(of format.Figure, path string, now, then int64, write func(int64) string) ui.Figure {
	change := format.ChangeOf(of, now, then)
	f := ui.Figure{
		Label: string(of), Path: path, Value: write(now),
		Change: change.Words, Trend: string(change.Trend), Tone: tones[change.News], Against: "No earlier data",
	}
	if f.Change != "" {
		f.Against = "was " + write(then)
	}
	return f
}

// tones are the colours of changes.
var tones = map[format.News]ui.Tone{format.GoodNews: ui.Good, format.BadNews: ui.Bad, format.NoNews: ui.Neutral}

// average is 0 if nothing was sold.
func average(f report.Figures) int64 {
	if f.TransactionsCount == 0 {
		return 0
	}
	return f.SpendTotalCents / f.TransactionsCount
}

// figures are the four main figures. Each leads to its report.
func (v Dashboard) figures() []ui.Figure {
	now, then, days := v.Overview.Current, v.Overview.Previous, v.Overview.Period
	rankedBy := func(m report.Measure) string { return onDays(links.TopReport, days, url.Values{"by": {string(m)}}) }
	figures := []ui.Figure{
		comparedFigure(format.ActiveCustomers, rankedBy(report.Visits), now.ActiveCustomers, then.ActiveCustomers, format.Number),
		comparedFigure(format.PointsIssued, rankedBy(report.Points), now.PointsAwarded, then.PointsAwarded, format.Number),
		comparedFigure(format.Redemptions, onDays(links.RewardReport, days, nil), now.RedemptionsCount, then.RedemptionsCount, format.Number),
		comparedFigure(format.Spend, onDays(links.Reports, days, nil), now.SpendTotalCents, then.SpendTotalCents, v.Money),
	}
	for i := range figures {
		figures[i].AgainstDays = shortDays(v.Overview.Against, days.To.Year())
	}
	return figures
}

// figures are the figures of a summary, each with a link to what it counts.
func (v Report) figures(r report.Comparison) (figures []ui.Figure) {
	to := func(path string, filter ...string) string {
		filters := url.Values{}
		for pair := range slices.Chunk(filter, 2) {
			filters.Set(pair[0], pair[1])
		}
		if v.Place != nil {
			name := "location"
			if path == links.Transactions {
				name = "location_id"
			}
			filters.Set(name, strconv.FormatInt(*v.Place, 10))
		}
		return onDays(path, r.Period, filters)
	}
	add := func(of format.Figure, path string, now, then int64, write func(int64) string) {
		f := comparedFigure(of, path, now, then, write)
		if r.Against == nil {
			f.Change, f.Against = "", ""
		}
		figures = append(figures, f)
	}
	now, then, everywhere := r.Current, r.Previous, v.Place == nil
	sales, voided := to(links.Transactions, "status", "completed"), to(links.Transactions, "status", "voided")

	add(format.SalesCount, sales, now.TransactionsCount, then.TransactionsCount, format.Number)
	add(format.Spend, to(links.TopReport), now.SpendTotalCents, then.SpendTotalCents, v.Money)
	if now.RefundsCount > 0 || then.RefundsCount > 0 {
		add(format.NetSpend, "", now.NetSpendTotalCents, then.NetSpendTotalCents, v.Money)
	}
	add(format.AverageSale, to(links.HourReport), average(now.Figures), average(then.Figures), v.Money)
	add(format.PointsIssued, to(links.TopReport, "by", string(report.Points)), now.PointsAwarded, then.PointsAwarded, format.Number)
	if everywhere {
		add(format.PointsRedeemed, to(links.RewardReport), now.PointsRedeemed, then.PointsRedeemed, format.Number)
		add(format.CustomersNew, joinedBetween(r.Period), now.NewCustomers, then.NewCustomers, format.Number)
	}
	add(format.ActiveCustomers, to(links.TopReport, "by", string(report.Visits)), now.ActiveCustomers, then.ActiveCustomers, format.Number)
	if everywhere {
		add(format.Redemptions, to(links.RewardReport), now.RedemptionsCount, then.RedemptionsCount, format.Number)
		add(format.VouchersRedeemed, to(links.CouponReport), now.VouchersRedeemed, then.VouchersRedeemed, format.Number)
	}
	add(format.StampsIssued, sales, now.StampsAwarded, then.StampsAwarded, format.Number)
	add(format.VoidedSales, voided, now.VoidedCount, then.VoidedCount, format.Number)
	add(format.PointsReversed, voided, now.PointsReversed, then.PointsReversed, format.Number)
	if now.RefundsCount > 0 || then.RefundsCount > 0 {
		add(format.Refunds, "", now.RefundsCount, then.RefundsCount, format.Number)
		add(format.PointsRefunded, "", now.PointsRefunded, then.PointsRefunded, format.Number)
	}
	if everywhere && (now.PointsExpired > 0 || then.PointsExpired > 0) {
		add(format.PointsExpired, onDays(links.PointsReport, r.Period, nil), now.PointsExpired, then.PointsExpired, format.Number)
	}
	return figures
}
