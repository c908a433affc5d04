// Package rewards is the HTML of the pages about rewards and redemptions.
package rewards

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// RedemptionList is a page of the redemptions that match the filters.
type RedemptionList struct {
	panel.Frame
	Filter   ui.Form
	Filtered bool
	Status   string    // of the chosen tab
	Sort     core.Sort // "": the tab's usual order
	Time     ui.Heading
	Rewards  []reward.Choice
	Customer *customer.Customer // nil: those of all customers
	List     []reward.NamedRedemption
	Pager    ui.Pager
	Exports  *panel.Exports
}

// AnyStatus is the status filter that shows every redemption.
const AnyStatus = "all"

// queue reports whether the list has the redemptions that wait to be fulfilled.
func (v RedemptionList) queue() bool { return v.Status == string(reward.Pending) }

// newPath leads to the page that redeems a reward, for the customer whose redemptions are listed.
func (v RedemptionList) newPath() string {
	if v.Customer == nil {
		return links.NewRedemption
	}
	return links.RedeemFor(v.Customer.ID)
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
	Barriers map[core.ID]*reward.Barrier // by rewards that the customer can't have
	Pager    ui.Pager
}
