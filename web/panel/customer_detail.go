package panel

import (
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/views/ui"
)

var VoucherStatuses = map[coupon.VoucherStatus]ui.Badge{
	coupon.VoucherPending:  {Label: "Pending", Tone: ui.Info},
	coupon.VoucherRedeemed: {Label: "Redeemed", Tone: ui.Good},
	coupon.VoucherExpired:  {Label: "Expired", Tone: ui.Neutral},
}
