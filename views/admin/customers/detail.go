package customers

import (
	"math"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// CustomerDetail is a customer's page.
type CustomerDetail struct {
	panel.Frame
	Customer customer.Profile
	Rewards  reward.Outlook // those within reach
	Level    level.OfCustomer
	History  History
}

func (v CustomerDetail) path() string { return links.Customer(v.Customer.ID) }

func (v CustomerDetail) mayEdit() bool { return v.May(core.Manager) && !v.Customer.Erased }

func (v CustomerDetail) isActive() bool { return v.Customer.Status == customer.Active }

// isInactive isn't said of erased customers: they can't be activated.
func (v CustomerDetail) isInactive() bool { return !v.isActive() && !v.Customer.Erased }

func (v CustomerDetail) figures() []ui.Pair {
	c := v.Customer
	average, last := "–", "Never"
	if c.Visits > 0 {
		average = v.Money(c.AverageCents())
	}
	if c.LastVisit != nil {
		last = v.Moment(*c.LastVisit)
	}
	return []ui.Pair{
		{Name: "Lifetime spend", Value: v.Money(c.SpentCents)},
		{Name: "Visits", Value: format.Number(c.Visits)},
		{Name: "Average sale", Value: average},
		{Name: "Last visit", Value: last},
	}
}

// balance is a customer's balances, and the way to the next reward.
type balance struct {
	amount, unit string  // the larger one: "214", "points"
	second       string  // "3"; "": the business doesn't use the other unit
	secondOf     string  // "of 10 stamps", or "stamps"
	way          *ui.Bar // to the next reward; nil: there is none
	missing      string  // "66 points"
	next         string  // "to A whole carrot cake (280)"
}

// balanceOf shows points first, unless the customer and the rewards only have stamps.
func balanceOf(of customer.Customer, rewards reward.Outlook) balance {
	main, second := ledger.Points, ledger.Stamps
	amount, other, cost, name, otherCost := of.PointsBalance, of.StampsBalance, rewards.PointsCost, rewards.NextForPoints, rewards.StampsCost
	if amount == 0 && cost == nil && (other != 0 || otherCost != nil) {
		main, second = second, main
		amount, other, cost, name, otherCost = other, amount, otherCost, rewards.NextForStamps, nil
	}
	b := balance{amount: format.Number(amount), unit: format.UnitName(amount, main)}
	if otherCost != nil && other >= 0 {
		b.second, b.secondOf = format.Number(other), "of "+format.Units(*otherCost, second)
	} else if other != 0 {
		b.second, b.secondOf = format.Number(other), format.UnitName(other, second)
	}
	if cost != nil && !of.Erased {
		reached := max(amount, 0)
		b.way = &ui.Bar{Parts: []ui.BarPart{{Length: 100 * float64(reached) / float64(*cost), Tone: ui.First}}}
		b.missing, b.next = missing(*cost, amount, main), "to "+*name+" ("+format.Number(*cost)+")"
	}
	return b
}

// missing is what a balance lacks to a cost. A balance far below zero lacks more than 64 bits hold.
func missing(cost, balance int64, unit ledger.Unit) string {
	lacks := cost - balance
	if lacks < cost && balance < 0 {
		lacks = math.MaxInt64
	}
	return format.Units(lacks, unit)
}
