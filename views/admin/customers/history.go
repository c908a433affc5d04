package customers

import (
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// The tabs of a customer's history.
const (
	TimelineTab    = ""
	SalesTab       = "transactions"
	RedemptionsTab = "redemptions"
	VouchersTab    = "vouchers"
)

// History is a customer's history: the records of one tab.
type History struct {
	format.Reader
	Customer customer.Profile
	Tab      string

	Filter   ui.Form // of the timeline
	Narrowed bool    // by it
	Timeline Timeline

	Sales       []transaction.Named
	Redemptions []reward.NamedRedemption
	Vouchers    []coupon.NamedVoucher
	Pager       ui.Pager // of sales, redemptions or vouchers
}

// profileCount is a number of records of a profile, which are counted up to one more than the most: "47", "100+".
func profileCount(n int64) string {
	if n > customer.ProfileCount {
		return format.Number(customer.ProfileCount) + "+"
	}
	return format.Number(n)
}

// ended is when a voucher was redeemed or expires.
func (h History) ended(v coupon.Voucher) string {
	switch {
	case v.RedeemedAt != nil:
		return h.Moment(*v.RedeemedAt)
	case v.ExpiresAt != nil:
		return "Until " + h.LastDay(*v.ExpiresAt)
	}
	return "Doesn't expire"
}
