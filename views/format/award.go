package format

import (
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

// Award is what a sale would earn.
type Award struct {
	Amount int64
	Unit   ledger.Unit
	Note   string // why it is less than expected, or unknown; else ""
	Over   bool   // it exceeds what one sale may earn, so the sale would be refused
}

// String is what the sale earns: 24 points. It is "" while that is unknown or too much.
func (a Award) String() string {
	if a.Unit == "" || a.Over {
		return ""
	}
	return Units(a.Amount, a.Unit)
}

// AwardOf computes what a sale of a type would earn.
func AwardOf(t transaction.Type, spend int64, currency string) Award {
	n, err := t.Award(spend)
	a := Award{Amount: n, Unit: t.RuleType}
	switch {
	case err != nil:
		return AwardTooLarge(t.RuleType)
	case n == 0 && spend < t.MinSpendCents:
		a.Note = "Minimum spend " + Money(t.MinSpendCents, currency)
	case t.MaxAward != nil && n == *t.MaxAward:
		a.Note = "Maximum per sale"
	}
	return a
}

// AwardOfNothing is the award while the amount of the sale is missing.
func AwardOfNothing(currency string) Award {
	return Award{Note: "Enter an amount, e.g. " + AmountExample(currency)}
}

// AwardTooLarge is the award of a sale that would earn more than the maximum.
func AwardTooLarge(u ledger.Unit) Award {
	return Award{Unit: u, Note: "One sale can earn at most " + Units(ledger.MaxAward, u) + ".", Over: true}
}

// IncompleteRule is the award of a sale by a rule that isn't complete yet.
var IncompleteRule = Award{Note: "Complete the rule to see what it earns"}
