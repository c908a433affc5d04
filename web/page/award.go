package page

import (
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

// Award is what a sale would earn.
type Award struct {
	Amount int64
	Unit   ledger.Unit
	Note   string // why it is less than expected; "" normally
	Over   bool   // it is more than one sale may earn, so the sale would be refused
}

// AwardOf says what a sale of a type would earn.
func AwardOf(t transaction.Type, spend int64, currency string) Award {
	n, err := t.Award(spend)
	a := Award{Amount: n, Unit: t.RuleType}
	switch {
	case err != nil:
		return TooMuch(t.RuleType)
	case n == 0 && spend < t.MinSpendCents:
		a.Note = "(from " + Money(t.MinSpendCents, currency) + " on)"
	case t.MaxAward != nil && n == *t.MaxAward:
		a.Note = "(the most that one sale earns)"
	}
	return a
}

// TooMuch is the award of a sale that would earn more than one may.
func TooMuch(u ledger.Unit) Award {
	return Award{Unit: u, Note: "One sale can earn at most " + Units(ledger.MaxAward, u) + ".", Over: true}
}
