package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
)

// benefitResource has one value, the one for its type.
type benefitResource struct {
	Type        coupon.BenefitType `json:"type"`
	Points      *int64             `json:"points,omitempty"`
	Stamps      *int64             `json:"stamps,omitempty"`
	Percent     *int64             `json:"percent,omitempty"`
	AmountCents *int64             `json:"amount_cents,omitempty"`
	RewardULID  *core.ID           `json:"reward_ulid,omitempty"`
}

func newBenefitResource(b coupon.Benefit) benefitResource {
	r := benefitResource{Type: b.BenefitType, RewardULID: b.BenefitRewardID}
	switch b.BenefitType {
	case coupon.Points:
		r.Points = b.BenefitValue
	case coupon.Stamps:
		r.Stamps = b.BenefitValue
	case coupon.Percent:
		r.Percent = b.BenefitValue
	case coupon.Amount:
		r.AmountCents = b.BenefitValue
	case coupon.Reward:
	}
	return r
}

type couponResource struct {
	ULID             core.ID         `json:"ulid"`
	Name             string          `json:"name"`
	Description      *string         `json:"description"`
	Benefit          benefitResource `json:"benefit"`
	MaxPerCustomer   int64           `json:"max_per_customer"`
	MaxRedemptions   *int64          `json:"max_redemptions"` // null: unlimited
	RedemptionsCount int64           `json:"redemptions_count"`
	StartsAt         *stamp          `json:"starts_at"`
	ExpiresAt        *stamp          `json:"expires_at"`
	VoucherValidDays *int64          `json:"voucher_valid_days"`
	Active           bool            `json:"active"`
	CreatedAt        stamp           `json:"created_at"`
	MinTierID        *int64          `json:"min_tier_id"` // null: all customers
}

func newCouponResource(c coupon.Coupon) couponResource {
	return couponResource{
		ULID: c.ID, Name: c.Name, Description: c.Description, Benefit: newBenefitResource(c.Benefit),
		MaxPerCustomer: c.MaxPerCustomer, MaxRedemptions: c.MaxRedemptions, RedemptionsCount: c.RedemptionsCount,
		StartsAt: optionalStamp(c.StartsAt), ExpiresAt: optionalStamp(c.ExpiresAt), VoucherValidDays: c.VoucherValidDays,
		Active: c.Active, CreatedAt: stamp(c.CreatedAt), MinTierID: c.MinLevelID,
	}
}

func (a *API) listCoupons(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	p := q.page()
	l, err := a.Coupons.List(c.Request().Context(), actor(c), p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, newCouponResource)
}

func (a *API) findCoupon(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	found, err := a.Coupons.FindCoupon(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, newCouponResource(found))
}

func (a *API) listCouponRedemptions(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	q, err := parameters(c)
	if err != nil {
		return err
	}
	p := q.page()
	l, err := a.Coupons.ListRedeemed(c.Request().Context(), actor(c), id, p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, func(v coupon.RedeemedVoucher) voucherResource { return newVoucherResource(v.Voucher) })
}
