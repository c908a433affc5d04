package panel

import (
	"errors"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/web/page"
)

var (
	errNoCode  = core.Invalid(core.Fields{"code": {core.Required}})
	errGarbled = core.Invalid(core.Fields{"code": {{Rule: "garbled"}}})
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
