package admin

import "example.com/loyalty/views/ui"

// RedemptionList is a page of the redemptions that match the filters.
type RedemptionList struct {
	Frame
	Tabs     []Tab
	Queue    bool // only pending ones
	Time     ui.Heading
	Reward   ui.Field
	Hidden   []ui.Pair // further filters
	Customer *ui.Pair  // name and path of the filtered customer; nil: all
	NewPath  string    // redeems a reward for that customer
	Rows     []RedemptionRow
	Pager    ui.Pager
	Problem  *ui.Problem
	Filtered bool
	Exports  *Exports
}

// Tab leads to a part of a list.
type Tab struct {
	ID, Label, Path string
	Count           string // of its records; "": not counted
	Current         bool
}

// RedemptionRow is a line of the list.
type RedemptionRow struct {
	Path         string
	Reward       string
	Cost         string
	Customer     string
	CustomerPath string
	When         string
	Ago          string // "" unless pending
	Status       ui.Badge
	Ended        string // when it was fulfilled or voided
	FulfilPath   string // "" unless pending
	VoidPath     string // "" if it can't be voided
	By           string // who redeemed it
}

// RedemptionDetail is the page of a redemption.
type RedemptionDetail struct {
	Frame
	Row        RedemptionRow
	RewardPath string
	Facts      []ui.Pair
	Entries    []LedgerEntry
}

// Redeeming lists the rewards for a customer.
type Redeeming struct {
	Frame
	Customer     Found
	CustomerPath string
	Inactive     bool // the customer is inactive and can't redeem
	Choices      []RewardChoice
	Pager        ui.Pager
	CanEdit      bool
}

// RewardChoice is a reward, and whether the customer can redeem it.
type RewardChoice struct {
	Picture                 string // its address; "" for none
	Name, Description, Cost string
	Stock                   *ui.Badge // few are left
	Path                    string    // to the confirmation; "" if it can't be redeemed
	Reason                  string    // why not
}
