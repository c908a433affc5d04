package panel

import (
	"strconv"
	"time"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// BenefitInWords is the benefit of a voucher: "20% off", "50 points".
func BenefitInWords(b coupon.Benefit, rewardName *string, currency string) string {
	switch b.BenefitType {
	case coupon.Points:
		return format.Units(*b.BenefitValue, "points")
	case coupon.Stamps:
		return format.Units(*b.BenefitValue, "stamps")
	case coupon.Percent:
		return format.Number(*b.BenefitValue) + "% off"
	case coupon.Amount:
		return format.Money(*b.BenefitValue, currency) + " off"
	case coupon.Reward:
	}
	return "Reward: " + OrZero(rewardName)
}

// LastDay is the day that ends at an instant, with the time unless that is midnight.
func LastDay(at time.Time, zone *time.Location) string { return format.LastDay(at, zone) }

func VoucherCounts(sent, redeemed, pending, expired int64) views.VoucherCounts {
	v := views.VoucherCounts{
		Sent: format.Number(sent), Redeemed: format.Number(redeemed), Pending: format.Number(pending), Expired: format.Number(expired), Rate: "–",
		Bar: ui.BarOf(sent, ui.Share(redeemed, ui.First), ui.Share(pending, ui.Second), ui.Share(expired, ui.Rest)),
	}
	if sent > 0 {
		v.Rate = format.Percent(redeemed, sent)
	}
	return v
}

// Digits is a number as a form field has it; "" for nil.
func Digits(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}
