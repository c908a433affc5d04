package coupons

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

var voucherColumns = []page.Column{
	{Heading: "Voucher code", Width: 30},
	{Heading: "Customer", Width: 24},
	{Heading: "Customer ULID", Width: 30},
	{Heading: "Status", Width: 12},
	{Heading: "Sent", Width: 18},
	{Heading: "Valid until", Width: 18},
	{Heading: "Redeemed at", Width: 18},
	{Heading: "E-mail", Width: 12},
}

// exportVouchers exports the vouchers of a coupon, or of the send in the address.
func (h *Handlers) exportVouchers(c echo.Context) (panel.ExportFile, error) {
	found, err := h.couponOf(c)
	if err != nil {
		return panel.ExportFile{}, err
	}
	ctx, by := c.Request().Context(), page.Actor(c)
	var send *core.ID
	if given := c.QueryParam("send"); given != "" {
		id, err := core.ParseID(given)
		if err != nil {
			return panel.ExportFile{}, err
		}
		send = &id
	}
	zone := by.Tenant.TimeZone
	write := func(row panel.RowWriter) error {
		return h.Coupons.ExportVouchers(ctx, by, found.ID, send, func(v coupon.SentVoucher) error {
			return row(v.ID.String(), format.StoredName(v.CustomerName), v.CustomerID.String(), string(v.Status),
				v.CreatedAt.In(zone), panel.LocalTime(v.ExpiresAt, zone), panel.LocalTime(v.RedeemedAt, zone), core.OrZero(v.MailStatus))
		})
	}
	return panel.ExportFile{Name: "vouchers-" + panel.IsoDate(h.LocalToday(by)), Sheet: "Vouchers", Columns: voucherColumns, Write: write}, nil
}
