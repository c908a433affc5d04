package admin

import "example.com/loyalty/views/ui"

// VoucherSearch finds the voucher that a customer shows.
type VoucherSearch struct {
	Frame
	Code ui.Field
}

// VoucherDetail is a voucher at the counter.
type VoucherDetail struct {
	Frame
	Path         string
	Benefit      string // "20% off"
	Instruction  string // "Take 20% off the bill"; "" where it can't be redeemed
	Icon         string // beside Refusal
	Refusal      string // why it can't be redeemed; "" where it can
	Status       ui.Badge
	Coupon       string
	CouponPath   string
	Customer     string
	CustomerPath string
	Until        string // the last day; "" for never
	Facts        []ui.Pair
	Redemption   *RedemptionRow // of a redeemed one that gave a reward
	Link         string         // the customer's, for those who may pass it on; else ""
}
