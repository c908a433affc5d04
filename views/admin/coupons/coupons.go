// Package coupons is the HTML of the pages about coupons, sends and vouchers.
package coupons

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// CouponList is a page of the coupons.
type CouponList struct {
	panel.Frame
	State    ui.Field
	Rows     []CouponRow
	Pager    ui.Pager
	Problem  *ui.Problem
	Filtered bool
	CanEdit  bool
}

// CouponRow is a coupon in words.
type CouponRow struct {
	Path      string
	Name      string
	Benefit   string // "20% off"
	Validity  string
	State     ui.Badge
	Active    bool
	Send      string // path of the page that sends it; "" if it can't be sent
	SendLabel string // of the link to it
	Sends     int64  // how often it was sent
	Counts    panel.VoucherCounts
}

// CouponForm creates or edits a coupon.
type CouponForm struct {
	panel.Frame
	Action      string
	Button      string
	Cancel      string
	FormKey     string
	Began       string
	Problem     *ui.Problem
	Name        ui.Field
	Description ui.Field

	Benefit string // can't change after sending; "" before
	Type    ui.Field
	Points  ui.Field // the type decides which of these counts
	Stamps  ui.Field
	Percent ui.Field
	Amount  ui.Field
	Reward  ui.Field

	NoRewards bool   // there is no reward to choose
	Zone      string // time zone of the dates
	Starts    ui.Field
	Ends      ui.Field
	Days      ui.Field
	Each      ui.Field
	InAll     ui.Field
}

// CouponDetail is the page of a coupon.
type CouponDetail struct {
	panel.Frame
	Coupon      CouponRow
	Description string
	CanEdit     bool
	Facts       []ui.Pair
	Sends       []SendRow
	SendsNote   string // says that not all are shown
	Vouchers    RedeemedVouchers
	Exports     *panel.Exports // nil: no vouchers, or not for this role
}

// RedeemedVouchers is a page of a coupon's redeemed vouchers.
type RedeemedVouchers struct {
	Rows  []RedeemedVoucher
	Pager ui.Pager
}

// RedeemedVoucher is a line of them.
type RedeemedVoucher struct {
	Customer, CustomerPath string
	When, Sent             string
	RedemptionPath         string // "" unless it gave a reward
}
