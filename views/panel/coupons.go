package panel

import "example.com/loyalty/views/ui"

// VoucherCounts counts the vouchers of a coupon by status.
type VoucherCounts struct {
	Sent, Redeemed, Pending, Expired string
	Rate                             string // redeemed of sent: "25.0%"
	Bar                              ui.Bar
}

// Words leaves out pending and expired vouchers where there are none.
func (c VoucherCounts) Words() string {
	words := c.Sent + "\u00a0sent · " + c.Redeemed + "\u00a0redeemed"
	if c.Pending != "0" {
		words += " · " + c.Pending + "\u00a0pending"
	}
	if c.Expired != "0" {
		words += " · " + c.Expired + "\u00a0expired"
	}
	return words
}
