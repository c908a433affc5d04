// Package rewards is the HTML of the pages about rewards and redemptions.
package rewards

import (
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/reward"
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
	List     []reward.NamedRedemption
	Pager    ui.Pager
	Problem  *ui.Problem
	Filtered bool
	Exports  *panel.Exports
}

// RedemptionDetail is the page of a redemption.
type RedemptionDetail struct {
	panel.Frame
	Redemption reward.RedemptionDetail
}

// Redeeming lists the rewards for a customer.
type Redeeming struct {
	panel.Frame
	Customer customer.Customer
	Choices  []reward.Reward
	Pager    ui.Pager
}
