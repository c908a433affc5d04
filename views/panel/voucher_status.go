package panel

import (
	"example.com/loyalty/core/coupon"
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
