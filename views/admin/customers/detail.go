// Package customers is the HTML of the pages about customers.
package customers

import (
	"strings"

	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// CustomerDetail is a customer's page.
type CustomerDetail struct {
	panel.Frame
	Path       string
	ID         string
	Name       string
	Status     ui.Badge
	Phone      string
	Email      string
	Since      string
	Erased     bool
	Inactive   bool
	Unchecked  bool // no one has checked the phone number of a card that was opened online
	CanEdit    bool
	SalePath   string // "": not active
	RedeemPath string
	Tags       []ui.Pair // each with the path of the customers who have it
	Note       string
	Balance    ProfileBalance
	Figures    []ui.Pair
	Consent    []Consent
	Merged     string // "2 merged customers"; "": none
	History    History

	AlsoFoundBy []FurtherKey

	SubscribePath, UnsubscribePath string // "": not possible
}

// FurtherKey is a phone number or an e-mail address by which a customer is also found.
type FurtherKey struct{ Kind, Key, Text string }

// ProfileBalance is a customer's balances, and the way to the next reward.
type ProfileBalance struct {
	Amount, Unit string  // the larger one: "214", "points"
	Second       string  // "3"; "": the business doesn't use the other unit
	SecondOf     string  // "of 10 stamps", or "stamps"
	Way          *ui.Bar // to the next reward; nil: there is none
	Missing      string  // "66 points"
	Next         string  // "to A whole carrot cake (280)"
	Affordable   string  // "2 rewards"; "": none
}

// Consent is a line about what a customer agreed to.
type Consent struct {
	Label, Words string
	Given        bool
}

// History is a page of one tab of a customer's history.
type History struct {
	format.Reader

	Tabs  []panel.Tab
	View  string // "": the timeline
	First string // path of the first page
	Pager ui.Pager

	Path        string // of the customer's page
	Events      ui.Field
	Since       ui.Field
	Narrowed    bool // by Events or Since
	Days        []TimelineDay
	Continued   bool // Days are appended to those on the page
	Sales       []transaction.Named
	Redemptions []reward.NamedRedemption
	Vouchers    []HeldVoucher
}

// reached says how far the timeline reaches: "50 of 58". Each part that is loaded replaces it.
func (h History) reached() string {
	if _, end, ok := strings.Cut(h.Pager.Shown, "–"); ok {
		return end
	}
	return h.Pager.Shown
}

// TimelineDay is the entries of a day.
type TimelineDay struct {
	Label   string // "Today, 22 Nov"; "": the day continues
	Spent   string // "€ 16.70 spent"; "": nothing
	Entries []TimelineEntry
}

// TimelineEntry is a change of a balance.
type TimelineEntry struct {
	ID      string
	Icon    string
	Title   string
	Path    string // of the sale, redemption or voucher; "": none
	Note    string // type, location and who
	When    string // "12:46"
	Amount  string
	Gain    bool
	Voided  bool
	Balance string

	VoidPath string // "": not possible
}

// MergePreview asks before a duplicate is merged.
type MergePreview struct {
	panel.Frame
	Action  string
	Cancel  string
	Swap    string // path of the opposite merge
	FormKey string
	Merged  string      // the duplicate's ULID
	Problem *ui.Problem // why it can't be done; nil if it can
	Names   [2]string   // of the customer who is kept and of the duplicate
	Rows    []MergeRow
	Moved   []ui.Pair
}

// MergeRow compares a value of both, and says the one that remains.
type MergeRow struct{ Label, Kept, Merged, Result string }

// MergedLedger is the timeline of a customer before they were merged.
type MergedLedger struct {
	panel.Frame
	Others []ui.Pair // the merged customers, each with the path of their timeline
	Name   string
	Words  string
	Merge  string // leads to a merge while there is none; "" where the role can't
	History
}

// NoteForm edits the note about a customer.
type NoteForm struct {
	panel.Frame
	Action  string
	Cancel  string
	Began   string
	Problem *ui.Problem
	Note    ui.Field
}

// TagForm adds and removes a customer's tags.
type TagForm struct {
	panel.Frame
	Action    string
	Cancel    string
	Problem   *ui.Problem
	Tag       ui.Field
	Suggested []string
	Tags      []string
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
	panel.Frame
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
	panel.Frame
	Action     string
	Cancel     string
	DataPath   string
	Balance    string
	Problem    *ui.Problem
	Understood ui.Field
}

// domain is where the domain of an e-mail address begins. A long address is wrapped there.
func domain(email string) int { return strings.LastIndex(email, "@") + 1 }
