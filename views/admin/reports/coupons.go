package reports

import (
	"strings"

	"example.com/loyalty/core/report"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// couponFigures are the main figures of coupons. Discounts and costs that rise are no fault, and neither are fewer vouchers sent.
func (v Report) couponFigures(u report.CouponUses) []ui.Figure {
	now, then := u.Total, u.Previous
	sent := v.figure(u.Against, "Vouchers sent", now.Sent, then.Sent, format.Number)
	rate := ui.Figure{Label: "Of these redeemed", Value: redemptionRate(now)}
	if u.Against != nil {
		rate.Against = "No earlier data"
		if then.Sent > 0 {
			rate.Against = "was " + redemptionRate(then)
		}
	}
	discount := v.figure(u.Against, "Discounts", now.DiscountCents, then.DiscountCents, v.Money)
	cost := ui.Figure{Label: "Cost of coupons", Value: "Not known"}
	if known, _ := v.knownCost(now.Cost, now.Unpriced); known != "" {
		cost.Value = strings.ReplaceAll(known, "\u00a0", "\u202f") // a range breaks between its amounts, not within one
	}
	if u.Against != nil {
		cost.Against = "No earlier data"
		if known, _ := v.knownCost(then.Cost, then.Unpriced); known != "" && then.Redeemed+then.TransactionsCount > 0 {
			cost.Against = "was " + known
		}
	}
	return []ui.Figure{
		sent, rate,
		v.figure(u.Against, "Vouchers redeemed", now.Redeemed, then.Redeemed, format.Number),
		v.figure(u.Against, "Spend with vouchers", now.SpendTotalCents, then.SpendTotalCents, v.Money),
		discount, cost,
	}
}

// redemptionRate is the redeemed share of the vouchers sent: 25.0%.
func redemptionRate(c report.CouponUse) string {
	if c.Sent == 0 {
		return "–"
	}
	return format.Percent(c.SentRedeemed, c.Sent)
}

// perSale is "–" if nothing was sold.
func (v Report) perSale(spend, sales int64) string {
	if sales <= 0 {
		return "–"
	}
	return v.Money(spend / sales)
}

// ReturnRow is some sales, beside those of the earlier period.
type ReturnRow struct {
	Label string
	report.SalesWithout
	Earlier report.SalesWithout
}

// ReturnRows are the sales with a voucher, and of these those that aren't the first of their customer, beside the sale before each; and
// the sales without a voucher.
func ReturnRows(u report.CouponUses) []ReturnRow {
	row := func(label string, of func(report.CouponUse) report.SalesWithout) ReturnRow {
		return ReturnRow{label, of(u.Total), of(u.Previous)}
	}
	return []ReturnRow{
		row("With a voucher", func(c report.CouponUse) report.SalesWithout {
			return report.SalesWithout{TransactionsCount: c.TransactionsCount, SpendTotalCents: c.SpendTotalCents}
		}),
		row("Of these, not a first sale", func(c report.CouponUse) report.SalesWithout {
			return report.SalesWithout{TransactionsCount: c.AgainCount, SpendTotalCents: c.AgainSpendCents}
		}),
		row("The sales just before them", func(c report.CouponUse) report.SalesWithout {
			return report.SalesWithout{TransactionsCount: c.AgainCount, SpendTotalCents: c.BeforeSpendCents}
		}),
		{"Without a voucher", u.Without, u.PreviousWithout},
	}
}

// couponCostInWords says what the cost of coupons consists of.
func couponCostInWords(t report.CouponUse) string {
	words := "Spend is of the sales that vouchers were used with; a sale with vouchers of two coupons counts for both, and once in all. The cost is the discounts of these sales"
	if t.RewardsCount > 0 {
		words += ", and what rewards given by vouchers cost you at present"
	}
	if t.PointsGiven > 0 || t.StampsGiven > 0 {
		words += ", and what rewards for the points and stamps given would cost you"
		if t.Cost.Least != t.Cost.Most {
			words += ", from the reward that costs you the least for them to the one that costs you the most"
		}
	}
	return words + "."
}

// unknownInWords says why the cost of some vouchers isn't known.
func unknownInWords(u report.CouponUses) string {
	var why []string
	if hasUnpriced(u, func(c report.CouponUse) bool { return !gives(c) }) {
		why = append(why, "The till didn’t take their discount off a sale.")
	}
	if lacksCosts(u) {
		why = append(why, "No active reward says what it costs you.")
	}
	return strings.Join(why, " ")
}

func gives(c report.CouponUse) bool { return c.RewardsCount+c.PointsGiven+c.StampsGiven > 0 }

func hasUnpriced(u report.CouponUses, is func(report.CouponUse) bool) bool {
	for _, c := range u.Rows {
		if c.Unpriced > 0 && is(c) {
			return true
		}
	}
	return false
}

// lacksCosts reports whether costs of rewards are missing.
func lacksCosts(u report.CouponUses) bool { return hasUnpriced(u, gives) }

// couponSpendChart shows the spend of sales with vouchers.
func (v Report) couponSpendChart(u report.CouponUses) ui.Chart {
	c := chart[report.CouponStep]{
		Chart: ui.Chart{
			ID: "coupon-spend", Title: "Spend with vouchers", Series: []ui.Series{{Name: "Spend", Kind: ui.Line}},
			Summary: soFar(v.Money(u.Total.SpendTotalCents)+" in "+format.Count(u.Total.TransactionsCount, "sale", "sales")+" with vouchers", u.To, v.Today()),
			Unit:    v.Symbol(), Decimals: format.Decimals(v.By.Tenant.Currency),
		},
		measure: "Spend per ", compared: u.Against != nil, earlier: v.earlier(u.To, u.Against),
		line: func(s report.CouponStep) ui.ChartValue {
			return ui.ChartValue{Number: s.SpendTotalCents, Text: v.Money(s.SpendTotalCents)}
		},
	}
	return c.withRows(u.Step, u.Buckets, u.Longer, v.Today())
}

// vouchersChart shows the vouchers redeemed.
func (v Report) vouchersChart(u report.CouponUses) ui.Chart {
	c := chart[report.CouponStep]{
		Chart: ui.Chart{
			ID: "vouchers", Title: "Vouchers redeemed", Series: []ui.Series{{Name: "Redeemed", Kind: ui.Line}},
			Summary: soFar(format.Count(u.Total.Redeemed, "voucher", "vouchers")+" redeemed", u.To, v.Today()),
		},
		measure: "Vouchers per ", compared: u.Against != nil, earlier: v.earlier(u.To, u.Against),
		line: func(s report.CouponStep) ui.ChartValue { return chartNumber(s.Redeemed) },
	}
	return c.withRows(u.Step, u.Buckets, u.Longer, v.Today())
}
