package reports

import (
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// couponReport counts the vouchers of each coupon by status: all of them, or those sent on the chosen
// days.
func (h *Handlers) couponReport(c echo.Context) error {
	q, err := h.query(c, views.Coupons)
	if err != nil {
		return err
	}
	days, coupons, err := h.coupons(c, q)
	return h.show(c, q, days, err, func(v views.Report) templ.Component { return views.CouponsPage(v, coupons) })
}

// coupons reads the coupon report. Without days in the address it is of all time.
func (h *Handlers) coupons(c echo.Context, q query) (days *report.Period, coupons []report.Coupon, err error) {
	by, ctx := page.Actor(c), c.Request().Context()
	if q.From == nil && q.To == nil && q.Malformed == nil {
		coupons, err = h.Reports.Coupons(ctx, by)
		return nil, coupons, err
	}
	chosen, err := h.days(c, q.Range)
	if err != nil {
		return nil, nil, err
	}
	coupons, err = h.Reports.SentCoupons(ctx, by, rangeOf(chosen))
	return &chosen, coupons, err
}

func (h *Handlers) couponCSV(c echo.Context) error {
	q, err := h.query(c, views.Coupons)
	if err != nil {
		return err
	}
	days, coupons, err := h.coupons(c, q)
	if err != nil {
		return err
	}
	name := "coupons-until-" + panel.IsoDate(h.LocalToday(page.Actor(c))) + ".csv"
	if days != nil {
		name = fileName("coupons", *days)
	}
	header := []string{"ULID", "Coupon", "Sent", "Pending", "Redeemed", "Expired", "Redemption rate"}
	return h.CSV(c, name, header, func(row func(...any) error) error {
		for _, k := range coupons {
			rate := strconv.FormatFloat(k.RedemptionRate(), 'f', -1, 64)
			if err := row(k.ID.String(), k.Name, k.Sent, k.Pending, k.Redeemed, k.Expired, rate); err != nil {
				return err
			}
		}
		return nil
	})
}
