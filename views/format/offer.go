package format

import (
	"time"

	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// Offer is what the page for joining promises new customers.
type Offer struct {
	Heading string   // "Collect points with every visit"
	Lines   []string // "1 point for every € 1.00."; none where nothing can be earned yet
}

// OfferOf describes the first active transaction type that gives something, and the cheapest
// reward in stock that its points or stamps buy and that new customers can have on a day.
func OfferOf(types []transaction.Type, rewards []reward.Reward, currency string, today time.Time) Offer {
	o := Offer{Heading: "Get your card"}
	rule, found := earningRule(types)
	if !found {
		return o
	}
	o.Heading = "Collect " + string(rule.RuleType) + " with every visit"
	o.Lines = append(o.Lines, ruleSentence(rule, currency))
	var cheapest *reward.Reward
	var least int64
	for _, r := range rewards {
		unit, cost := r.Price()
		if !r.Active || !r.AtFirst(today) || r.Stock != nil && *r.Stock == 0 || unit != rule.RuleType || cheapest != nil && cost >= least {
			continue
		}
		cheapest, least = &r, cost
	}
	if cheapest != nil {
		o.Lines = append(o.Lines, cheapest.Name+" for "+Units(least, rule.RuleType)+".")
	}
	return o
}

// earningRule returns the oldest active type that gives something.
func earningRule(types []transaction.Type) (first transaction.Type, found bool) {
	for _, t := range types {
		gives := t.PointsPerUnit > 0
		if t.RuleType == ledger.Stamps {
			gives = t.StampsPerTransaction > 0
		}
		if t.Active && gives && (!found || t.ID < first.ID) {
			first, found = t, true
		}
	}
	return first, found
}

func ruleSentence(t transaction.Type, currency string) string {
	rule := Rule(t, currency)
	switch {
	case t.RuleType == ledger.Stamps && t.MinSpendCents > 0:
		return rule + " for every purchase of " + Money(t.MinSpendCents, currency) + " or more."
	case t.RuleType == ledger.Stamps:
		return rule + " for every purchase."
	case t.MinSpendCents > t.UnitCents:
		return rule + ", from " + Money(t.MinSpendCents, currency) + "."
	}
	return rule + "."
}

// Rule is what a sale of a type earns: 1 point for every € 1.00.
func Rule(t transaction.Type, currency string) string {
	if t.RuleType == ledger.Stamps {
		return Units(t.StampsPerTransaction, t.RuleType)
	}
	return Units(t.PointsPerUnit, t.RuleType) + " for every " + Money(t.UnitCents, currency)
}

// Units formats an amount of points or stamps: 1 point, 12 points.
func Units(n int64, unit ledger.Unit) string {
	return Number(n) + " " + UnitName(n, unit)
}

// SignedUnits formats a change of a balance: +50 points, −1 stamp.
func SignedUnits(n int64, unit ledger.Unit) string {
	switch {
	case n < 0:
		return "−" + Units(-n, unit)
	case n == 0:
		return Units(0, unit)
	}
	return "+" + Units(n, unit)
}

// UnitName is the name of a unit for an amount of n: point, points.
func UnitName(n int64, unit ledger.Unit) string {
	if unit == ledger.Stamps {
		return oneOrMany(n, "stamp", "stamps")
	}
	return oneOrMany(n, "point", "points")
}

func oneOrMany(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
