package panel

import (
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// VoucherStatus is the status of a voucher.
func VoucherStatus(s coupon.VoucherStatus) ui.Badge {
	switch s {
	case coupon.VoucherPending:
		return ui.Badge{Label: "Pending", Tone: ui.Info}
	case coupon.VoucherRedeemed:
		return ui.Badge{Label: "Redeemed", Tone: ui.Good}
	case coupon.VoucherExpired:
	}
	return ui.Badge{Label: "Expired", Tone: ui.Neutral}
}

// VoucherBar shows the vouchers of a coupon by status.
func VoucherBar(sent, redeemed, pending, expired int64) ui.Bar {
	return ui.BarOf(sent, ui.Share(redeemed, ui.First), ui.Share(pending, ui.Second), ui.Share(expired, ui.Rest))
}

// RedemptionRate is the redeemed share of the vouchers that were sent: 25.0%. It is a dash if none were.
func RedemptionRate(redeemed, sent int64) string {
	if sent == 0 {
		return "–"
	}
	return format.Percent(redeemed, sent)
}
