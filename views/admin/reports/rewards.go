package reports

import (
	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// rewardFigures are the main figures of rewards. Neither direction of them is good or bad news.
func (v Report) rewardFigures(r report.RewardUses) []ui.Figure {
	t := r.Total
	figures := []ui.Figure{
		v.figure(r.Against, "For points or stamps", t.PaidCount, t.PreviousPaidCount, format.Number),
		v.figure(r.Against, "By voucher", t.VouchersCount, t.PreviousVouchersCount, format.Number),
		v.figure(r.Against, "Points spent", t.PointsSpent, t.PreviousPointsSpent, format.Number),
	}
	if t.StampsSpent > 0 || t.PreviousStampsSpent > 0 {
		figures = append(figures, v.figure(r.Against, "Stamps spent", t.StampsSpent, t.PreviousStampsSpent, format.Number))
	}
	cost := v.figure(r.Against, "Cost of rewards", t.CostCents, t.PreviousCostCents, v.Money)
	if t.CostCents == 0 && t.UnpricedCount > 0 {
		cost.Value = "Not known"
	}
	return append(figures, cost)
}

// figure is a key figure, compared if the report is.
func (v Report) figure(against *report.Period, label string, now, then int64, words func(int64) string) ui.Figure {
	f := comparedFigure(format.Figure(label), "", now, then, words)
	if against == nil {
		f.Change, f.Trend, f.Against = "", "", ""
	}
	return f
}

// rewardCost is what redemptions cost, and what isn't known of it. "": nothing is known.
func (v Report) rewardCost(u report.RewardUse) (cost, missing string) {
	return v.knownCost(report.Cost{Least: u.CostCents, Most: u.CostCents}, u.UnpricedCount)
}

// knownCost is a cost in words, and how many it leaves out.
func (v Report) knownCost(c report.Cost, unpriced int64) (cost, missing string) {
	switch {
	case unpriced == 0:
		return v.cost(c), ""
	case c == (report.Cost{}):
		return "", ""
	}
	return v.cost(c), format.Number(unpriced) + " not known"
}

// notInCost says how many of something have no known cost.
func notInCost(n, of int64, one, many string) string {
	if n < of {
		return "The cost of " + format.Count(n, one, many) + " isn’t known, so it isn’t counted."
	}
	return "The cost of " + format.Noun(n, "this "+one, "these "+many) + " isn’t known."
}

// rewardCostChart shows what rewards cost in each step.
func (v Report) rewardCostChart(r report.RewardUses) ui.Chart {
	c := chart[report.RewardStep]{
		Chart: ui.Chart{
			ID: "reward-cost", Title: "Cost of rewards", Series: []ui.Series{{Name: "Cost", Kind: ui.Line}},
			Summary: soFar(v.Money(r.Total.CostCents)+" for "+format.Count(r.Total.RedemptionsCount-r.Total.UnpricedCount, "redemption", "redemptions"), r.To, v.Today()),
			Unit:    v.Symbol(), Decimals: format.Decimals(v.By.Tenant.Currency),
		},
		measure: "Cost per ", compared: r.Against != nil, earlier: v.earlier(r.To, r.Against),
		line: func(s report.RewardStep) ui.ChartValue {
			return ui.ChartValue{Number: s.CostCents, Text: v.Money(s.CostCents)}
		},
	}
	return c.withRows(r.Step, r.Buckets, r.Longer, v.Today())
}

// redemptionsChart shows redemptions that were paid for, and those by voucher.
func (v Report) redemptionsChart(r report.RewardUses) ui.Chart {
	c := chart[report.RewardStep]{
		Chart: ui.Chart{
			ID: "redemptions", Title: "Redemptions", Series: []ui.Series{{Name: "For points or stamps", Kind: ui.Line}, {Name: "By voucher", Kind: ui.Bars}},
			Summary: soFar(format.Number(r.Total.PaidCount)+" for points or stamps, "+format.Number(r.Total.VouchersCount)+" by voucher", r.To, v.Today()),
		},
		measure: "Redemptions per ", compared: r.Against != nil, earlier: v.earlier(r.To, r.Against),
		line: func(s report.RewardStep) ui.ChartValue { return chartNumber(s.PaidCount) },
		bars: func(s report.RewardStep) ui.ChartValue { return chartNumber(s.VouchersCount) },
	}
	return c.withRows(r.Step, r.Buckets, r.Longer, v.Today())
}

func chartNumber(n int64) ui.ChartValue { return ui.ChartValue{Number: n, Text: format.Number(n)} }
