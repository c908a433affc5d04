package admin

import (
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/report"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/web/page"
)

// couponReport counts the vouchers of each coupon by status: all of them, or those sent on the chosen
// days.
func (a *Admin) couponReport(c echo.Context) error {
	q, err := a.reportQuery(c, couponReportPath)
	if err != nil {
		return err
	}
	days, coupons, err := a.coupons(c, q)
	if err != nil && !q.Refused(err) {
		return err
	}
	v := views.CouponReport{Report: a.report(c, "Coupons", couponReportPath, q, days)}
	v.AllTime = v.Problem.None() && days.From == nil
	v.Quick = append([]views.Choice{{Label: "All time", Path: couponReportPath, Current: v.AllTime}}, v.Quick...)
	if v.Problem.None() {
		v.CSV = couponReportPath + ".csv"
		if v.AllTime {
			v.Days = "All time"
		} else {
			v.CSV = reportOf(v.CSV, c.QueryParams(), days)
		}
	}
	for _, k := range coupons {
		v.Rows = append(v.Rows, views.CouponReportRow{
			Path: couponPath(k.ID), Name: k.Name, Counts: voucherCounts(k.Sent, k.Redeemed, k.Pending, k.Expired),
		})
	}
	return a.Render(c, reportStatus(v.Report), views.CouponReportPage(v), nil)
}

// coupons reads the coupon report. Without days in the address it is of all time.
func (a *Admin) coupons(c echo.Context, q reportQuery) (days report.Range, coupons []report.Coupon, err error) {
	by, ctx := page.Actor(c), c.Request().Context()
	requested := q.Range
	if requested.From == nil && requested.To == nil && requested.Malformed == nil {
		coupons, err = a.Reports.Coupons(ctx, by)
		return days, coupons, err
	}
	if days, err = a.Reports.Days(by, requested); err != nil {
		return days, nil, err
	}
	coupons, err = a.Reports.SentCoupons(ctx, by, days)
	return days, coupons, err
}

func (a *Admin) couponCSV(c echo.Context) error {
	q, err := a.reportQuery(c, couponReportPath)
	if err != nil {
		return err
	}
	days, coupons, err := a.coupons(c, q)
	if err != nil {
		return err
	}
	name := "coupons-until-" + isoDate(a.localToday(page.Actor(c))) + ".csv"
	if days.From != nil {
		name = fileName("coupons", days)
	}
	header := []string{"ULID", "Coupon", "Sent", "Pending", "Redeemed", "Expired", "Redemption rate"}
	return a.CSV(c, name, header, func(row func(...any) error) error {
		for _, k := range coupons {
			rate := strconv.FormatFloat(k.RedemptionRate(), 'f', -1, 64)
			if err := row(k.ID.String(), k.Name, k.Sent, k.Pending, k.Redeemed, k.Expired, rate); err != nil {
				return err
			}
		}
		return nil
	})
}
