package panel

import (
	"errors"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/web/page"
)

var (
	errNoCode    = core.Invalid(core.Fields{"code": {core.Required}})
	ErrNoVoucher = core.Invalid(core.Fields{"code": {{Rule: "unknown_voucher"}}})
	errGarbled   = core.Invalid(core.Fields{"code": {{Rule: "garbled"}}})
)

// TypedVoucher finds a voucher by its code, its link or its link's token.
func (p *Panel) TypedVoucher(c echo.Context, text string) (coupon.ShownVoucher, error) {
	if core.Trimmed(text) == "" {
		return coupon.ShownVoucher{}, errNoCode
	}
	found, err := p.Coupons.FindTyped(c.Request().Context(), page.Actor(c), text)
	if errors.Is(err, core.ErrNotFound) && page.Garbled(text) {
		err = errGarbled
	}
	return found, err
}

// VoucherValue is the benefit of a voucher: "20% off", or the name of a reward.
func VoucherValue(v coupon.ShownVoucher, by core.Actor) string {
	if v.BenefitType == coupon.Reward {
		return OrZero(v.RewardName)
	}
	return BenefitInWords(v.Benefit, v.RewardName, by.Tenant.Currency)
}
