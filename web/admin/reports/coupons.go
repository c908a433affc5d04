package reports

import (
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin/reports"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// couponReport counts the vouchers of each coupon by status: all of them, or those sent on the chosen
// days.
func (h *Handlers) couponReport(c echo.Context) error {
	q, err := h.reportQuery(c, links.CouponReport)
	if err != nil {
		return err
	}
	days, coupons, err := h.coupons(c, q)
	if err != nil && !q.Refused(err) {
		return err
	}
	v := views.CouponReport{Report: h.report(c, "Coupons", links.CouponReport, q, days)}
	v.AllTime = v.Problem.None() && days.From == nil
	v.Quick = append([]views.Choice{{Label: "All time", Path: links.CouponReport, Current: v.AllTime}}, v.Quick...)
	if v.Problem.None() {
		v.CSV = links.CouponReport + ".csv"
		if v.AllTime {
			v.Days = "All time"
		} else {
			v.CSV = reportOf(v.CSV, c.QueryParams(), days)
		}
	}
	for _, k := range coupons {
		v.Rows = append(v.Rows, views.CouponReportRow{
			Path: links.Coupon(k.ID), Name: k.Name, Counts: panel.VoucherCounts(k.Sent, k.Redeemed, k.Pending, k.Expired),
		})
	}
	return h.Render(c, reportStatus(v.Report), views.CouponReportPage(v), nil)
}

// coupons reads the coupon report. Without days in the address it is of all time.
func (h *Handlers) coupons(c echo.Context, q reportQuery) (days report.Range, coupons []report.Coupon, err error) {
	by, ctx := page.Actor(c), c.Request().Context()
	requested := q.Range
	if requested.From == nil && requested.To == nil && requested.Malformed == nil {
		coupons, err = h.Reports.Coupons(ctx, by)
		return days, coupons, err
	}
	if days, err = h.Reports.Days(by, requested); err != nil {
		return days, nil, err
	}
	coupons, err = h.Reports.SentCoupons(ctx, by, days)
	return days, coupons, err
}

func (h *Handlers) couponCSV(c echo.Context) error {
	q, err := h.reportQuery(c, links.CouponReport)
	if err != nil {
		return err
	}
	days, coupons, err := h.coupons(c, q)
	if err != nil {
		return err
	}
	name := "coupons-until-" + panel.IsoDate(h.LocalToday(page.Actor(c))) + ".csv"
	if days.From != nil {
		name = fileName("coupons", days)
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
