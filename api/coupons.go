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
}

func newCouponResource(c coupon.Coupon) couponResource {
	return couponResource{
		ULID: c.ID, Name: c.Name, Description: c.Description, Benefit: newBenefitResource(c.Benefit),
		MaxPerCustomer: c.MaxPerCustomer, MaxRedemptions: c.MaxRedemptions, RedemptionsCount: c.RedemptionsCount,
		StartsAt: optionalStamp(c.StartsAt), ExpiresAt: optionalStamp(c.ExpiresAt), VoucherValidDays: c.VoucherValidDays,
		Active: c.Active, CreatedAt: stamp(c.CreatedAt),
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

type voucherResource struct {
	ULID           core.ID              `json:"ulid"`
	CouponULID     core.ID              `json:"coupon_ulid"`
	CustomerULID   core.ID              `json:"customer_ulid"`
	Status         coupon.VoucherStatus `json:"status"`
	Benefit        benefitResource      `json:"benefit"`
	RedemptionULID *core.ID             `json:"redemption_ulid"` // of a voucher for a reward
	ExpiresAt      *stamp               `json:"expires_at"`
	RedeemedAt     *stamp               `json:"redeemed_at"`
	CreatedAt      stamp                `json:"created_at"`
}

func newVoucherResource(v coupon.Voucher) voucherResource {
	return voucherResource{
		ULID: v.ID, CouponULID: v.CouponID, CustomerULID: v.CustomerID, Status: v.Status,
		Benefit: newBenefitResource(v.Benefit), RedemptionULID: v.RedemptionID,
		ExpiresAt: optionalStamp(v.ExpiresAt), RedeemedAt: optionalStamp(v.RedeemedAt), CreatedAt: stamp(v.CreatedAt),
	}
}

// redeemVoucher reads no body; the path has the voucher's ULID, or what a customer shows: the code as it is printed,
// or the link that the QR code contains. What finds no voucher is refused after the idempotency key is checked.
func (a *API) redeemVoucher(c echo.Context) error {
	return idempotent(c, func(once *core.Once[coupon.Voucher]) (core.Reply[coupon.Voucher], error) {
		return a.Coupons.RedeemTyped(c.Request().Context(), actor(c), pathText(c, "ulid"), once)
	}, func(v coupon.Voucher) (int, any) { return http.StatusOK, newVoucherResource(v) })
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
