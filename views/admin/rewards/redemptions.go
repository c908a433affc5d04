package rewards

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// RedemptionList is a page of the redemptions that match the filters.
type RedemptionList struct {
	panel.Frame
	Tabs     []panel.Tab
	Queue    bool // only pending ones
	Time     ui.Heading
	Reward   ui.Field
	Hidden   []ui.Pair // further filters
	Customer *ui.Pair  // name and path of the filtered customer; nil: all
	NewPath  string    // redeems a reward for that customer
	Rows     []panel.RedemptionRow
	Pager    ui.Pager
	Problem  *ui.Problem
	Filtered bool
	Exports  *panel.Exports
}

// RedemptionDetail is the page of a redemption.
type RedemptionDetail struct {
	panel.Frame
	Row        panel.RedemptionRow
	RewardPath string
	Facts      []ui.Pair
	Entries    []panel.LedgerEntry
}

// Redeeming lists the rewards for a customer.
type Redeeming struct {
	panel.Frame
	Customer     panel.Found
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
