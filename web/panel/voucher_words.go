package panel

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// VoucherStatuses are the statuses of vouchers in words.
var VoucherStatuses = map[coupon.VoucherStatus]ui.Badge{
	coupon.VoucherPending:  views.VoucherStatus(coupon.VoucherPending),
	coupon.VoucherRedeemed: views.VoucherStatus(coupon.VoucherRedeemed),
	coupon.VoucherExpired:  views.VoucherStatus(coupon.VoucherExpired),
}

// BenefitInWords is the benefit of a coupon: "20% off", "50 points".
func BenefitInWords(b coupon.Benefit, rewardName *string, currency string) string {
	return format.Reader{By: core.Actor{Tenant: core.Tenant{Currency: currency}}}.Benefit(b, rewardName)
}

// LastDay is the day that ends at an instant, with the time unless that is midnight.
func LastDay(at time.Time, zone *time.Location) string { return format.LastDay(at, zone) }

// VoucherCounts are the vouchers of a coupon by status, in words.
func VoucherCounts(sent, redeemed, pending, expired int64) views.VoucherCounts {
	return views.VoucherCounts{
		Sent: format.Number(sent), Redeemed: format.Number(redeemed), Pending: format.Number(pending), Expired: format.Number(expired),
		Rate: views.RedemptionRate(redeemed, sent), Bar: views.VoucherBar(sent, redeemed, pending, expired),
	}
}
