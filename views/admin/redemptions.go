package admin

import "example.com/loyalty/views/ui"

// RedemptionList is a page of the redemptions that pass the filter.
type RedemptionList struct {
	Frame
	Tabs     []Tab
	Queue    bool // of the pending ones, the oldest first
	Reward   ui.Field
	Hidden   []ui.Pair // of the filter, besides
	Customer *ui.Pair  // the name and the path of the only one that is shown; nil: all
	NewPath  string    // redeems a reward, for that customer
	Rows     []RedemptionRow
	Pager    ui.Pager
	Problem  *ui.Problem
	Filtered bool
}

// Tab leads to a part of a list.
type Tab struct {
	ID, Label, Path string
	Current         bool
}

// RedemptionRow is a line of the list.
type RedemptionRow struct {
	ID           string
	Path         string
	Reward       string
	Cost         string
	Customer     string
	CustomerPath string
	When         string
	Ago          string // of one that waits
	Status       ui.Badge
	Ended        string // when it was handed over or taken back
	FulfilPath   string // "" where it does not wait
	VoidPath     string // "" where it may not be voided
	FormKey      string
	Note         string // what was refused just now
	Done         bool   // it was handed over just now
}

// RedemptionDetail is all there is to know of a redemption.
type RedemptionDetail struct {
	Frame
	Row        RedemptionRow
	RewardPath string
	Facts      []ui.Pair
	Entries    []LedgerEntry
}

// Redeeming is what a customer can exchange their points and stamps for.
type Redeeming struct {
	Frame
	Customer     Found
	CustomerPath string
	Inactive     bool // who redeems nothing
	Choices      []RewardChoice
	Pager        ui.Pager
	CanEdit      bool
}

// RewardChoice is a reward, and whether it can be had.
type RewardChoice struct {
	Name, Description, Cost string
	Stock                   *ui.Badge // few are left
	Path                    string    // of the question; "" where it cannot be had
	Reason                  string    // why not
}
