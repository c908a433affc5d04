package reports

import (
	"slices"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// couponReport shows what coupons brought and cost.
func (h *Handlers) couponReport(c echo.Context) error {
	q, err := h.query(c, views.Coupons)
	if err != nil {
		return err
	}
	u, err := h.Reports.CouponUse(c.Request().Context(), page.Actor(c), q.Selection)
	return h.show(c, q, &u.Period, err, func(v views.Report) templ.Component { return views.CouponsPage(v, u) })
}

// couponUse is the report for a file.
func (h *Handlers) couponUse(c echo.Context) (report.CouponUses, error) {
	q, err := h.query(c, views.Coupons)
	if err != nil {
		return report.CouponUses{}, err
	}
	return h.Reports.CouponUse(c.Request().Context(), page.Actor(c), q.Selection)
}

// couponFile has a row for each coupon, one for all of them, and one for sales without a voucher.
func (h *Handlers) couponFile(c echo.Context) (panel.ExportFile, error) {
	u, err := h.couponUse(c)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	columns := columnsOf(u.Against, []string{
		"ULID", "Coupon", "Vouchers sent", "Pending", "Redeemed of these", "Expired", "Redemption rate", "Vouchers redeemed", "Sales", "Spend (" + currency + ")",
		"Spend per sale (" + currency + ")", "Sales that weren’t a customer’s first", "Spend of these (" + currency + ")",
		"Spend at the sales just before them (" + currency + ")", "Discount (" + currency + ")", "Rewards given", "Points given", "Stamps given",
		"Lowest cost (" + currency + ")", "Highest cost (" + currency + ")", "Vouchers without a known cost",
	}, "Earlier spend ("+currency+")")
	columns[0].Width, columns[1].Width = 28, 30
	perSale := func(spend, sales int64) any {
		if sales <= 0 {
			return ""
		}
		return money(spend / sales)
	}
	cells := func(id, name string, k report.CouponUse) []any {
		return comparedCells(u.Against, []any{
			id, name, k.Sent, k.SentPending, k.SentRedeemed, k.SentExpired(),
			page.ShareCell{Of: k.SentRedeemed, Whole: k.Sent},
			k.Redeemed, k.TransactionsCount, money(k.SpendTotalCents),
			perSale(k.SpendTotalCents, k.TransactionsCount), k.AgainCount, money(k.AgainSpendCents), money(k.BeforeSpendCents),
			money(k.DiscountCents), k.RewardsCount, k.PointsGiven, k.StampsGiven,
			money(k.Cost.Least), money(k.Cost.Most), k.Unpriced,
		}, money(k.PreviousSpendCents))
	}
	return panel.ExportFile{
		Name: fileName("coupons", u.Period), Sheet: "Coupons", Columns: columns,
		Write: func(row panel.RowWriter) error {
			for _, k := range u.Rows {
				if err := row(cells(k.ID.String(), k.Name, k)...); err != nil {
					return err
				}
			}
			if err := row(cells("", "All coupons", u.Total)...); err != nil {
				return err
			}
			without := []any{
				"", "Sales without a voucher", "", "", "", "", "", "", u.Without.TransactionsCount, money(u.Without.SpendTotalCents),
				perSale(u.Without.SpendTotalCents, u.Without.TransactionsCount), "", "", "", "", "", "", "", "", "", "",
			}
			return row(comparedCells(u.Against, without, money(u.PreviousWithout.SpendTotalCents))...)
		},
	}, nil
}

// couponStepsFile has a row for each step of the charts.
func (h *Handlers) couponStepsFile(c echo.Context) (panel.ExportFile, error) {
	u, err := h.couponUse(c)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	return stepsFile("coupons", u.Period, u.Against, slices.Concat(u.Buckets, u.Longer), []string{"Vouchers redeemed", "Spend with vouchers (" + currency + ")"}, func(s report.CouponStep) []any {
		return []any{s.Redeemed, money(s.SpendTotalCents)}
	}), nil
}

// columnsOf are the columns of a file with headings as of comparedHeader.
func columnsOf(against *report.Period, headings []string, earlier string) (columns []page.Column) {
	for _, heading := range comparedHeader(against, headings, earlier) {
		columns = append(columns, page.Column{Heading: heading})
	}
	return columns
}

// stepsFile has a row for each step of a report, beside the days that it is compared with. A longer earlier period has rows of its own.
func stepsFile[T any](name string, days report.Period, against *report.Period, steps []report.Bucket[T], figures []string, cells func(T) []any) panel.ExportFile {
	columns := []page.Column{{Heading: "From", Width: 12}, {Heading: "To", Width: 12}}
	for _, f := range figures {
		columns = append(columns, page.Column{Heading: f})
	}
	if against != nil {
		columns = append(columns, page.Column{Heading: "Earlier from", Width: 14}, page.Column{Heading: "Earlier to", Width: 14})
		for _, f := range figures {
			columns = append(columns, page.Column{Heading: earlierColumn(f)})
		}
	}
	of := func(p report.Period, t *T) []any {
		if t == nil {
			return slices.Repeat([]any{""}, 2+len(figures))
		}
		return append([]any{page.DayCell(p.From), page.DayCell(p.To)}, cells(*t)...)
	}
	return panel.ExportFile{
		Name: fileName(name+"-over-time", days), Sheet: "Over time", Columns: columns,
		Write: func(row panel.RowWriter) error {
			for _, s := range steps {
				now := &s.Current
				if s.From.IsZero() {
					now = nil
				}
				if err := row(append(of(s.Period, now), of(s.Beside, s.Previous)...)[:len(columns)]...); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
