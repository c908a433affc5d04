package api

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
)

type voucherResource struct {
	ULID            core.ID              `json:"ulid"`
	CouponULID      core.ID              `json:"coupon_ulid"`
	CustomerULID    core.ID              `json:"customer_ulid"`
	Status          coupon.VoucherStatus `json:"status"`
	Benefit         benefitResource      `json:"benefit"`
	RedemptionULID  *core.ID             `json:"redemption_ulid"` // of a voucher for a reward
	TransactionULID *core.ID             `json:"transaction_ulid"`
	ExpiresAt       *stamp               `json:"expires_at"`
	RedeemedAt      *stamp               `json:"redeemed_at"`
	RestoredAt      *stamp               `json:"restored_at"`
	CreatedAt       stamp                `json:"created_at"`
}

func newVoucherResource(v coupon.Voucher) voucherResource {
	return voucherResource{
		ULID: v.ID, CouponULID: v.CouponID, CustomerULID: v.CustomerID, Status: v.Status,
		Benefit: newBenefitResource(v.Benefit), RedemptionULID: v.RedemptionID, TransactionULID: v.TransactionID,
		ExpiresAt: optionalStamp(v.ExpiresAt), RedeemedAt: optionalStamp(v.RedeemedAt), RestoredAt: optionalStamp(v.RestoredAt),
		CreatedAt: stamp(v.CreatedAt),
	}
}

// voucherDetail is a voucher that is looked up before it is redeemed.
type voucherDetail struct {
	voucherResource
	CouponName    string         `json:"coupon_name"`
	Redeemable    bool           `json:"redeemable"`
	NotRedeemable *notRedeemable `json:"not_redeemable"`
}

// notRedeemable is the rule that would refuse a voucher, as in the problem document.
type notRedeemable struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func newVoucherDetail(v coupon.ShownVoucher) voucherDetail {
	d := voucherDetail{voucherResource: newVoucherResource(v.Voucher), CouponName: v.CouponName, Redeemable: true}
	var rule *core.Error
	if errors.As(v.RefusalNow(), &rule) {
		d.Redeemable, d.NotRedeemable = false, &notRedeemable{rule.Code, rule.Message}
	}
	return d
}

// voucherText is what the path has of a voucher: its ULID, or what a customer shows: the code as it is printed, or the
// link that the QR code contains.
func voucherText(c echo.Context) string { return pathText(c, "ulid") }

func (a *API) findVoucher(c echo.Context) error {
	found, err := a.Coupons.FindTyped(c.Request().Context(), actor(c), voucherText(c))
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, newVoucherDetail(found))
}

// redeemVoucher needs no body. What finds no voucher is refused after the idempotency key is checked.
func (a *API) redeemVoucher(c echo.Context) error {
	in, err := usedSale(c)
	if err != nil {
		return err
	}
	var sale *core.ID
	if in.raw("transaction_ulid") != nil {
		sale = new(in.reference("transaction_ulid"))
	}
	return idempotent(c, func(once *core.Once[coupon.Voucher]) (core.Reply[coupon.Voucher], error) {
		return a.Coupons.RedeemTyped(c.Request().Context(), actor(c), voucherText(c), sale, in.unreadable, once)
	}, func(v coupon.Voucher) (int, any) { return http.StatusOK, newVoucherResource(v) })
}

// usedSale reads a body that names the sale of a voucher. Any other is ignored, as before there was one to read: it
// isn't refused, and isn't in the fingerprint of the idempotency key.
func usedSale(c echo.Context) (object, error) {
	in, err := readBody(c)
	if _, named := in.fields["transaction_ulid"]; named || err != nil && !errors.Is(err, errMalformed) && !errors.Is(err, errMediaType) {
		return in, err
	}
	c.Set(bodyKey, nil)
	return object{unreadable: core.Fields{}}, nil
}

// restoreVoucher reads no body.
func (a *API) restoreVoucher(c echo.Context) error {
	return idempotent(c, func(once *core.Once[coupon.Voucher]) (core.Reply[coupon.Voucher], error) {
		return a.Coupons.RestoreTyped(c.Request().Context(), actor(c), voucherText(c), once)
	}, func(v coupon.Voucher) (int, any) { return http.StatusOK, newVoucherResource(v) })
}
