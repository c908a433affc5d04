package admin

import "example.com/loyalty/views/ui"

// CustomerDetail is a customer's page.
type CustomerDetail struct {
	Frame
	Path       string
	ID         string
	Name       string
	Status     ui.Badge
	Phone      string
	Email      string
	Since      string
	Points     string
	Stamps     string
	Erased     bool
	Inactive   bool
	CanEdit    bool
	SalePath   string // "": not active
	RedeemPath string
	History    History

	Unsubscribed                   string // "Unsubscribed from e-mails since 3 Nov 2026"; "": gets them
	SubscribePath, UnsubscribePath string // "": not possible
}

// History is a page of one tab of a customer's history.
type History struct {
	Tabs  []Tab
	View  string // "": the timeline
	First string // path of the first page
	Pager ui.Pager

	Entries     []TimelineEntry
	Continued   bool // Entries are appended to those on the page
	Sales       []TransactionRow
	Redemptions []RedemptionRow
	Vouchers    []HeldVoucher
}

// TimelineEntry is a change of a balance.
type TimelineEntry struct {
	Icon    string
	Title   string
	Path    string   // of the sale, redemption or voucher; "": none
	Notes   []string // transaction type and location
	When    string
	By      string
	Amount  string
	Gain    bool
	Balance string
}

// HeldVoucher is a row of a customer's vouchers.
type HeldVoucher struct {
	Coupon     string
	CouponPath string
	Path       string
	Benefit    string
	Sent       string
	Until      string
	Status     ui.Badge
	Redeemable bool
}

// Adjustment is the form that adjusts a balance.
type Adjustment struct {
	Frame
	Action  string
	Cancel  string
	FormKey string
	Problem *ui.Problem
	Unit    ui.Field
	Amount  ui.Field
	Reason  ui.Field
	After   BalanceAfter
}

// BalanceAfter previews an adjustment.
type BalanceAfter struct {
	Before, After string // "": not known yet
	Note          string // why it would be refused
}

// Erasure is the form that erases a customer.
type Erasure struct {
	Frame
	Action     string
	Cancel     string
	DataPath   string
	Balance    string
	Problem    *ui.Problem
	Understood ui.Field
}
