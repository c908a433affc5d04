package admin

import "example.com/loyalty/views/ui"

// CouponList is a page of the coupons.
type CouponList struct {
	Frame
	State    ui.Field
	Rows     []CouponRow
	Pager    ui.Pager
	Problem  *ui.Problem
	Filtered bool
	CanEdit  bool
}

// CouponRow is a line of the list.
type CouponRow struct {
	Path     string
	Name     string
	Benefit  string // "20% off"
	Validity string
	State    ui.Badge
	Active   bool
	Send     string // the page that sends it; "" where it can't be sent
	Counts   VoucherCounts
}

// VoucherCounts summarises the vouchers of a coupon by status.
type VoucherCounts struct {
	None                             bool // it was never sent
	Sent, Pending, Redeemed, Expired string
	Rate                             string // the redeemed among the sent
	Bar                              ui.Bar
}

// CouponForm makes a coupon, or changes one.
type CouponForm struct {
	Frame
	Action      string
	Button      string
	Cancel      string
	FormKey     string
	Began       string
	Problem     *ui.Problem
	Name        ui.Field
	Description ui.Field

	Benefit string // of one that was sent: it cannot change; "" where it can
	Type    ui.Field
	Points  ui.Field // one of these, by the type
	Stamps  ui.Field
	Percent ui.Field
	Amount  ui.Field
	Reward  ui.Field

	NoRewards bool   // there is none to choose
	Zone      string // whose days these are
	Starts    ui.Field
	Ends      ui.Field
	Days      ui.Field
	Each      ui.Field
	InAll     ui.Field
}

// CouponDetail is all there is to know of a coupon.
type CouponDetail struct {
	Frame
	Path        string
	Name        string
	Benefit     string
	Description string
	State       ui.Badge
	Validity    string
	Active      bool
	CanEdit     bool
	Send        string // the page that sends it; "" where it can't be sent
	Counts      VoucherCounts
	Facts       []ui.Pair
	Sends       []SendRow
	SendsNote   string // where not all are shown
	Vouchers    RedeemedVouchers
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
	RedemptionPath         string // of one that was good for a reward; else ""
}
