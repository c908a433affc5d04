package coupons

import (
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// VoucherSearch finds a voucher by its code or link.
type VoucherSearch struct {
	panel.Frame
	Form ui.Form
}

// VoucherDetail is the page of a voucher.
type VoucherDetail struct {
	panel.Frame
	Voucher    coupon.ShownVoucher
	Redemption *reward.NamedRedemption // nil unless it was redeemed for a reward
	Link       string                  // the customer's link; "" if the role may not see it
}
