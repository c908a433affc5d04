package coupons

import (
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// VoucherSearch finds a voucher by its code or link.
type VoucherSearch struct {
	panel.Frame
	Code ui.Field
}

// VoucherDetail is the page of a voucher.
type VoucherDetail struct {
	panel.Frame
	Path         string
	Benefit      string // "20% off"
	Instruction  string // "Take 20% off the bill"; "" if it can't be redeemed
	Icon         string // beside Refusal
	Refusal      string // why it can't be redeemed; "" if it can
	Status       ui.Badge
	Coupon       string
	CouponPath   string
	Customer     string
	CustomerPath string
	Facts        []ui.Pair
	Redemption   *reward.NamedRedemption // nil unless it was redeemed for a reward
	Link         string                  // the customer's link; "" if the role may not see it
}
