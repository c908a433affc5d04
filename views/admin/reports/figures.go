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
func comparedFigure(label, path string, now, then int64, format func(int64) string) ui.Figure {
	f := ui.Figure{Label: label, Path: path, Value: format(now), Against: "No earlier data"}
	if f.Change, f.Trend = relativeChange(now, then); f.Change != "" {
		f.Against = "was " + format(then)
	}
	return f
}

// relativeChange is "+12.5%" or, from a tenfold increase, "12×", because larger percentages are hard to
// read. It is "" if there is nothing to compare with.
func relativeChange(now, then int64) (string, ui.Trend) {
	switch {
	case then <= 0:
		return "", ui.Level
	case format.Percent(max(now, then)-min(now, then), then) == format.Percent(0, then):
		return "0%", ui.Level
	case now/10 >= then:
		return format.Number(now/then) + "×", ui.Up
	case now > then:
		return "+" + format.Percent(now-then, then), ui.Up
	}
	return "−" + format.Percent(then-now, then), ui.Down
}

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
	return []ui.Figure{
		comparedFigure("Active customers", rankedBy(report.Visits), now.ActiveCustomers, then.ActiveCustomers, format.Number),
		comparedFigure("Points issued", rankedBy(report.Points), now.PointsAwarded, then.PointsAwarded, format.Number),
		comparedFigure("Redemptions", onDays(links.RewardReport, days, nil), now.RedemptionsCount, then.RedemptionsCount, format.Number),
		comparedFigure("Tracked spend", onDays(links.Reports, days, nil), now.SpendTotalCents, then.SpendTotalCents, v.Money),
	}
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
	add := func(label, path string, now, then int64, format func(int64) string) *ui.Figure {
		f := comparedFigure(label, path, now, then, format)
		if r.Against == nil {
			f.Change, f.Against = "", ""
		}
		figures = append(figures, f)
		return &figures[len(figures)-1]
	}
	now, then, everywhere := r.Current, r.Previous, v.Place == nil
	sales, voided := to(links.Transactions, "status", "completed"), to(links.Transactions, "status", "voided")

	add("Sales", sales, now.TransactionsCount, then.TransactionsCount, format.Number)
	add("Tracked spend", to(links.TopReport), now.SpendTotalCents, then.SpendTotalCents, v.Money)
	if now.RefundsCount > 0 || then.RefundsCount > 0 {
		add("Spend after refunds", "", now.NetSpendTotalCents, then.NetSpendTotalCents, v.Money)
	}
	add("Average sale", to(links.HourReport), average(now.Figures), average(then.Figures), v.Money)
	add("Points issued", to(links.TopReport, "by", string(report.Points)), now.PointsAwarded, then.PointsAwarded, format.Number)
	if everywhere {
		add("Points redeemed", to(links.RewardReport), now.PointsRedeemed, then.PointsRedeemed, format.Number)
		add("New customers", joinedBetween(r.Period), now.NewCustomers, then.NewCustomers, format.Number)
	}
	add("Active customers", to(links.TopReport, "by", string(report.Visits)), now.ActiveCustomers, then.ActiveCustomers, format.Number)
	if everywhere {
		add("Redemptions", to(links.RewardReport), now.RedemptionsCount, then.RedemptionsCount, format.Number)
		add("Vouchers redeemed", to(links.CouponReport), now.VouchersRedeemed, then.VouchersRedeemed, format.Number)
	}
	add("Stamps issued", sales, now.StampsAwarded, then.StampsAwarded, format.Number)
	add("Voided sales", voided, now.VoidedCount, then.VoidedCount, format.Number).Plain = true
	add("Points reversed", voided, now.PointsReversed, then.PointsReversed, format.Number).Plain = true
	if now.RefundsCount > 0 || then.RefundsCount > 0 {
		add("Refunds", "", now.RefundsCount, then.RefundsCount, format.Number).Plain = true
		add("Points refunded", "", now.PointsRefunded, then.PointsRefunded, format.Number).Plain = true
	}
	if everywhere && (now.PointsExpired > 0 || then.PointsExpired > 0) {
		add("Points expired", onDays(links.PointsReport, r.Period, nil), now.PointsExpired, then.PointsExpired, format.Number).Plain = true
	}
	return figures
}
