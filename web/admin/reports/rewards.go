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

// rewardReport shows the redemptions of each reward, and what they cost.
func (h *Handlers) rewardReport(c echo.Context) error {
	q, err := h.query(c, views.Rewards)
	if err != nil {
		return err
	}
	r, err := h.Reports.Rewards(c.Request().Context(), page.Actor(c), q.Selection)
	return h.show(c, q, &r.Period, err, func(v views.Report) templ.Component { return views.RewardsPage(v, r) })
}

// rewardUse is the report for a file.
func (h *Handlers) rewardUse(c echo.Context) (report.RewardUses, error) {
	q, err := h.query(c, views.Rewards)
	if err != nil {
		return report.RewardUses{}, err
	}
	return h.Reports.Rewards(c.Request().Context(), page.Actor(c), q.Selection)
}

// rewardFile has a row for each reward.
func (h *Handlers) rewardFile(c echo.Context) (panel.ExportFile, error) {
	r, err := h.rewardUse(c)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	columns := columnsOf(r.Against, []string{
		"ULID", "Reward", "Redemptions", "For points or stamps", "By voucher", "Points spent", "Stamps spent", "Cost (" + currency + ")", "Without a known cost", "Voided",
	}, "Earlier redemptions")
	columns[0].Width, columns[1].Width = 28, 30
	return panel.ExportFile{
		Name: fileName("rewards", r.Period), Sheet: "Rewards", Columns: columns,
		Write: func(row panel.RowWriter) error {
			for _, u := range r.Rows {
				var cost any = ""
				if u.UnpricedCount == 0 {
					cost = money(u.CostCents)
				}
				cells := []any{
					u.ID.String(), u.Name, u.RedemptionsCount, u.PaidCount, u.VouchersCount, u.PointsSpent, u.StampsSpent, cost, u.UnpricedCount, u.VoidedCount,
				}
				if err := row(comparedCells(r.Against, cells, u.PreviousRedemptionsCount)...); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// rewardStepsFile has a row for each step of the charts.
func (h *Handlers) rewardStepsFile(c echo.Context) (panel.ExportFile, error) {
	r, err := h.rewardUse(c)
	if err != nil {
		return panel.ExportFile{}, err
	}
	currency, money := moneyOf(c)
	figures := []string{"Cost (" + currency + ")", "For points or stamps", "By voucher"}
	return stepsFile("rewards", r.Period, r.Against, slices.Concat(r.Buckets, r.Longer), figures, func(s report.RewardStep) []any {
		return []any{money(s.CostCents), s.PaidCount, s.VouchersCount}
	}), nil
}
