package panel

import "example.com/loyalty/views/ui"

// VoucherCounts counts the vouchers of a coupon by status, in words.
type VoucherCounts struct {
	Sent, Redeemed, Pending, Expired string
	Rate                             string // redeemed of sent: "25.0%"
	Bar                              ui.Bar
}
