package format

import (
	"errors"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
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

// AwardOf says what a sale of a type would earn and why, by transaction.Preview and its error. Of a sale that would be refused
// for another reason than its award, the award is unknown.
func AwardOf(p transaction.Preview, err error, kind transaction.Type, currency string) (Award, error) {
	var refusal *core.Error
	switch {
	case err == nil:
		return Award{Amount: p.Award.Total, Unit: p.Award.Unit, Note: strings.Join(AwardReasons(p, kind, currency), " · ")}, nil
	case errors.As(err, &refusal) && refusal.Kind == core.KindRule:
		return Award{Note: refusal.Message}, nil
	case refusal == nil || refusal.Kind != core.KindInvalid:
		return Award{}, err
	case len(refusal.Fields) == 1 && len(refusal.Fields["spend_amount_cents"]) > 0:
		return AwardTooLarge(kind.RuleType), nil
	}
	return Award{}, nil
}

// AwardReasons says why a sale earns what it earns, where that isn't by the rule of its type alone: Double points until 18:00.
func AwardReasons(p transaction.Preview, kind transaction.Type, currency string) (reasons []string) {
	a := p.Award
	if a.BelowMinimum {
		return []string{"Minimum spend " + Money(kind.MinSpendCents, currency)}
	}
	if a.Promotion != nil {
		words := a.Promotion.Name
		if p.Until != nil {
			words += " until " + dayEnd(*p.Until).String()
		}
		reasons = append(reasons, words)
	}
	if a.Level != nil {
		reasons = append(reasons, a.Level.Name+" "+SignedUnits(a.LevelAward, a.Unit))
	}
	switch a.CappedBy {
	case award.SaleCap:
		reasons = append(reasons, "Maximum per sale")
	case award.DayCap:
		reasons = append(reasons, CapReached(*p.DayCap, a.Unit))
	case award.NoCap:
	}
	return reasons
}

// AwardPart is a part of what a sale earned, or what it bought.
type AwardPart struct{ Name, Value string }

// AwardParts explains what a sale earned: its base, promotion, level and limit. None: all of it is by the rule of its type.
func AwardParts(d transaction.Detail) (parts []AwardPart) {
	t := d.Transaction
	if d.PromotionName == nil && d.LevelName == nil && !t.Capped {
		return nil
	}
	parts = append(parts, AwardPart{"By the rule of " + d.TypeName, Units(t.BaseAward, t.RuleType)})
	sum := t.BaseAward
	if d.PromotionName != nil {
		parts = append(parts, AwardPart{*d.PromotionName, SignedUnits(t.PromotionAward, t.RuleType)})
		sum += t.PromotionAward
	}
	if d.LevelName != nil {
		parts = append(parts, AwardPart{*d.LevelName, SignedUnits(t.LevelAward, t.RuleType)})
		sum += t.LevelAward
	}
	if less := sum - t.Award(); less > 0 {
		parts = append(parts, AwardPart{"Above the limit", SignedUnits(-less, t.RuleType)})
	}
	return parts
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
