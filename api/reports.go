package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/report"
)

type summaryResource struct {
	From string `json:"from"`
	To   string `json:"to"`
	figuresResource
	ActiveCustomers int64         `json:"active_customers"`
	Days            []dayResource `json:"days"`
}

type dayResource struct {
	Date string `json:"date"`
	figuresResource
}

type figuresResource struct {
	TransactionsCount    int64 `json:"transactions_count"`
	VoidedCount          int64 `json:"voided_count"`
	SpendTotalCents      int64 `json:"spend_total_cents"`
	PointsAwarded        int64 `json:"points_awarded"`
	StampsAwarded        int64 `json:"stamps_awarded"`
	PointsReversed       int64 `json:"points_reversed"`
	PointsRedeemed       int64 `json:"points_redeemed"`
	RedemptionsCount     int64 `json:"redemptions_count"`
	VouchersRedeemed     int64 `json:"vouchers_redeemed"`
	NewCustomers         int64 `json:"new_customers"`
	PointsExpired        int64 `json:"points_expired"`
	PointsExpiryReturned int64 `json:"points_expiry_returned"`
	PointsRefunded       int64 `json:"points_refunded"`
	RefundsCount         int64 `json:"refunds_count"`
	RefundedTotalCents   int64 `json:"refunded_total_cents"`
	NetSpendTotalCents   int64 `json:"net_spend_total_cents"`
}

func newSummaryResource(s report.Summary) summaryResource {
	days := make([]dayResource, len(s.Days))
	for i, d := range s.Days {
		days[i] = dayResource{Date: d.Date.Format(time.DateOnly), figuresResource: figuresResource(d.Figures)}
	}
	return summaryResource{
		From: s.From.Format(time.DateOnly), To: s.To.Format(time.DateOnly), figuresResource: figuresResource(s.Figures),
		ActiveCustomers: s.ActiveCustomers, Days: days,
	}
}

// days returns the range of days of a report.
func (q query) days() report.Range {
	return report.Range{From: q.date("from"), To: q.date("to"), Malformed: q.unreadable}
}

func (a *API) summary(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	found, err := a.Reports.Summary(c.Request().Context(), actor(c), q.days())
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, newSummaryResource(found))
}

type topCustomerResource struct {
	customerFields
	TransactionsCount int64 `json:"transactions_count"`
	SpendTotalCents   int64 `json:"spend_total_cents"`
	PointsAwarded     int64 `json:"points_awarded"`
}

func newTopCustomerResource(c report.Customer) topCustomerResource {
	return topCustomerResource{
		customerFields: customerFields{
			ULID: c.ID, FirstName: c.FirstName, LastName: c.LastName, Phone: c.Phone, Email: c.Email, Status: customer.Status(c.Status),
			PointsBalance: c.PointsBalance, StampsBalance: c.StampsBalance,
			CreatedAt: stamp(c.CreatedAt), UpdatedAt: stamp(c.UpdatedAt),
		},
		TransactionsCount: c.TransactionsCount, SpendTotalCents: c.SpendTotalCents, PointsAwarded: c.PointsAwarded,
	}
}

func (a *API) topCustomers(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	r := report.Ranking{Range: q.days(), By: q.text("by"), Limit: q.integer("limit")}
	top, err := a.Reports.Top(c.Request().Context(), actor(c), r)
	if err != nil {
		return err
	}
	return writeAll(c, top, newTopCustomerResource)
}

type couponReportResource struct {
	ULID           core.ID `json:"ulid"`
	Name           string  `json:"name"`
	Sent           int64   `json:"sent"`
	Pending        int64   `json:"pending"`
	Redeemed       int64   `json:"redeemed"`
	Expired        int64   `json:"expired"`
	RedemptionRate float64 `json:"redemption_rate"`
}

func newCouponReportResource(c report.Coupon) couponReportResource {
	return couponReportResource{
		ULID: c.ID, Name: c.Name, Sent: c.Sent, Pending: c.Pending, Redeemed: c.Redeemed, Expired: c.Expired,
		RedemptionRate: c.RedemptionRate(),
	}
}

func (a *API) couponReport(c echo.Context) error {
	coupons, err := a.Reports.Coupons(c.Request().Context(), actor(c))
	if err != nil {
		return err
	}
	return writeAll(c, coupons, newCouponReportResource)
}
