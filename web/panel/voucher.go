package panel

import (
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

var (
	errNoCode    = core.Invalid(core.Fields{"code": {core.Required}})
	ErrNoVoucher = core.Invalid(core.Fields{"code": {{Rule: "unknown_voucher"}}})
	errGarbled   = core.Invalid(core.Fields{"code": {{Rule: "garbled"}}})
)

// TypedVoucher finds a voucher by its code, its link or its link's token.
func (b *Business) TypedVoucher(c echo.Context, text string) (coupon.ShownVoucher, error) {
	if core.Trimmed(text) == "" {
		return coupon.ShownVoucher{}, errNoCode
	}
	found, err := b.Coupons.FindTyped(c.Request().Context(), page.Actor(c), text)
	if errors.Is(err, core.ErrNotFound) && page.Garbled(text) {
		err = errGarbled
	}
	return found, err
}

// VoucherValue is the benefit of a voucher: "20% off", or the name of a reward.
func VoucherValue(v coupon.ShownVoucher, by core.Actor) string {
	if v.BenefitType == coupon.Reward {
		return core.OrZero(v.RewardName)
	}
	return BenefitInWords(v.Benefit, v.RewardName, by.Tenant.Currency)
}

var VoucherStatuses = map[coupon.VoucherStatus]ui.Badge{
	coupon.VoucherPending:  {Label: "Pending", Tone: ui.Info},
	coupon.VoucherRedeemed: {Label: "Redeemed", Tone: ui.Good},
	coupon.VoucherExpired:  {Label: "Expired", Tone: ui.Neutral},
}

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
	return "Reward: " + core.OrZero(rewardName)
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
