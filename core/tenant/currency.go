package tenant

import (
	"context"
	"fmt"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// AmountKind says what a stored amount is for.
type AmountKind string

// The kinds of amounts that a business has before its first sale.
const (
	RuleAmount    AmountKind = "rule"        // earns the quantity in points
	MinSpend      AmountKind = "min_spend"   // of a transaction type
	RewardCost    AmountKind = "reward_cost" // to the business
	RewardValue   AmountKind = "reward_value"
	CouponBenefit AmountKind = "coupon"
	Ceiling       AmountKind = "ceiling" // sales above it are confirmed

	PromotionMinSpend AmountKind = "promotion" // of what a promotion is about
	LevelThreshold    AmountKind = "level"     // that customers reach by spending
)

// ConvertedAmount is a stored amount before and after a change of the currency, each in its currency's smallest unit.
type ConvertedAmount struct {
	Kind     AmountKind
	Name     string // of the transaction type, the promotion, the level, the reward or the coupon
	Quantity int64  // of a rule: points
	Old, New int64
}

// CurrencyChangeError refuses a new currency until it is confirmed: amounts that the business entered, such as "1 point for
// every € 1.00", will be in that currency. They keep their numbers, not their worth.
type CurrencyChangeError struct {
	From, To string
	Amounts  []ConvertedAmount
}

// Error names the currencies.
func (c *CurrencyChangeError) Error() string {
	return fmt.Sprintf("%d amounts would change from %s to %s", len(c.Amounts), c.From, c.To)
}

// Key identifies what is confirmed: the currencies, and every amount.
func (c *CurrencyChangeError) Key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s-%s", c.From, c.To)
	for _, a := range c.Amounts {
		fmt.Fprintf(&b, " %s:%d", a.Kind, a.Old)
	}
	return b.String()
}

// Rounded reports whether an amount isn't exactly the same number in the new currency: $ 1.50 is ¥ 2.
func (c *CurrencyChangeError) Rounded(a ConvertedAmount) bool {
	shift := core.CurrencyDecimals(c.To) - core.CurrencyDecimals(c.From)
	old, converted := a.Old, a.New
	for range shift {
		old *= 10
	}
	for range -shift {
		converted *= 10
	}
	return old != converted
}

// changeCurrency converts the amounts of the business whose data the transaction sees, and returns the converted
// ceiling. Without the decimals of the new currency, "1 point for every $ 1.00" would become "every KWD 0.100". It
// returns a *CurrencyChangeError if confirmed is neither nil, for programs, nor the key of what changes.
func changeCurrency(ctx context.Context, tx *db.Tx, from, to string, ceiling *int64, confirmed *string) (*int64, error) {
	c := &CurrencyChangeError{From: from, To: to}
	var err error
	c.Amounts, err = db.All[ConvertedAmount](ctx, tx, convertAmountsSQL, db.Args{"shift": core.CurrencyDecimals(to) - core.CurrencyDecimals(from)})
	if err != nil {
		return nil, err
	}
	if ceiling != nil {
		converted := convertCeiling(*ceiling, from, to)
		if *ceiling != core.DefaultCeiling(from) {
			c.Amounts = append(c.Amounts, ConvertedAmount{Kind: Ceiling, Old: *ceiling, New: converted})
		}
		ceiling = &converted
	}
	if len(c.Amounts) > 0 && confirmed != nil && *confirmed != c.Key() {
		return nil, c
	}
	return ceiling, nil
}

// convertCeiling converts a ceiling. The default becomes the default.
func convertCeiling(cents int64, from, to string) int64 {
	if cents == core.DefaultCeiling(from) {
		return core.DefaultCeiling(to)
	}
	return min(core.ConvertCents(cents, from, to), maxCeiling)
}
