package admin

import "example.com/loyalty/views/ui"

// CustomerDetail is a customer and a part of their history.
type CustomerDetail struct {
	Frame
	Path       string
	ID         string
	Name       string
	Status     ui.Badge
	Phone      string
	Email      string
	Mails      Mails
	Since      string
	Points     string
	Stamps     string
	Erased     bool
	Inactive   bool
	CanEdit    bool
	SalePath   string // "" where nothing can be recorded for them
	RedeemPath string
	History    History
}

// History is a page of one view of what a customer did.
type History struct {
	Tabs  []Tab
	View  string // "" is the timeline
	First string // the path of its first page
	Pager ui.Pager

	Entries     []TimelineEntry
	Continued   bool // more of the entries that are there
	Sales       []TransactionRow
	Redemptions []RedemptionRow
	Vouchers    []HeldVoucher
}

// TimelineEntry is a change of a balance, explained.
type TimelineEntry struct {
	Icon    string
	What    string
	Path    string   // of the sale or redemption that made it; "" for none
	Notes   []string // more about it
	When    string
	By      string
	Amount  string
	Gain    bool
	Balance string
}

// Mails says whether a customer gets coupon e-mails, and what a manager can change about it.
type Mails struct {
	Unsubscribed                   string // "Unsubscribed from e-mails since 3 Nov 2026"; "" for those who get them
	SubscribePath, UnsubscribePath string // "" where that can't be done
}

// HeldVoucher is a voucher of a customer.
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

// Adjustment changes a balance by hand.
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

// BalanceAfter is what an adjustment would leave.
type BalanceAfter struct {
	Before, After string // "" where it cannot be said yet
	Note          string // why it would be refused
}

// Erasure asks before a customer is erased.
type Erasure struct {
	Frame
	Action      string
	Cancel      string
	DataPath    string
	Problem     *ui.Problem
	Goes, Stays []string
	Understood  ui.Field
}
