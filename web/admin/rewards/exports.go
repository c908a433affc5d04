package rewards

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

func (h *Handlers) exportRedemptions(c echo.Context) (panel.ExportFile, error) {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter, _ := redemptionFilter(q)
	zone := by.Tenant.TimeZone
	columns := []page.Column{
		{Heading: "ULID", Width: 30},
		{Heading: "Date", Width: 18},
		{Heading: "Customer", Width: 24},
		{Heading: "Customer ULID", Width: 30},
		{Heading: "Reward", Width: 24},
		{Heading: "Points spent"},
		{Heading: "Stamps spent"},
		{Heading: "Coupon", Width: 24},
		{Heading: "Status", Width: 12},
		{Heading: "Fulfilled at", Width: 18},
		{Heading: "Voided at", Width: 18},
		{Heading: "Recorded by", Width: 20},
	}
	write := func(row panel.RowWriter) error {
		return h.Rewards.ExportRedemptions(ctx, by, filter, func(r reward.NamedRedemption) error {
			return row(r.ID.String(), r.CreatedAt.In(zone), format.StoredName(r.CustomerName), r.CustomerID.String(),
				r.RewardName, r.PointsSpent, r.StampsSpent, core.OrZero(r.CouponName),
				string(r.Status), panel.LocalTime(r.FulfilledAt, zone), panel.LocalTime(r.VoidedAt, zone), by.NameOf(r.ActorKind, r.ActorName))
		})
	}
	return panel.ExportFile{Name: "redemptions-" + panel.IsoDate(h.LocalToday(by)), Sheet: "Redemptions", Columns: columns, Write: write}, nil
}
