// Package award computes what a sale earns: by the rule of its type, the best promotion and the customer's level, within the
// caps (decisions §15). Every award of the product is computed here, and nothing else is: the package reads no tables.
package award

import (
	"math"
	"math/bits"
	"time"

	"example.com/loyalty/core/ledger"
)

// Rule is the earning rule of a type. A sale earns PointsPerUnit points for each whole UnitCents spent, or StampsPerTransaction
// stamps. Below MinSpendCents it earns nothing.
type Rule struct {
	PointsPerUnit        int64
	UnitCents            int64
	StampsPerTransaction int64
	MinSpendCents        int64
	MaxAward             *int64  // of one sale; nil: no cap
	ExcludedCategories   []int64 // whose items earn nothing, and don't count as spend
}

// Sale is what an award depends on, apart from the customer.
type Sale struct {
	TypeID int64
	Unit   ledger.Unit
	Rule
	LocationID *int64
	SpendCents int64
	Items      []Item
	At         time.Time // when the customer bought, in the time zone of the business
}

// Item is a part of a sale's spend.
type Item struct {
	Category    string `json:"category"` // the code that a till or a shop sends
	AmountCents int64  `json:"amount_cents"`
}

// Buyer is what an award knows about its customer.
type Buyer struct {
	FirstVisit bool // they have no completed sale
	Birthday   Birthday
	Level      *Level          // nil: none
	Earned     int64           // in the sale's unit on its local day
	Uses       map[int64]int64 // of promotions with a limit, as the limit counts; nil: none
}

// Cap is what reduced an award.
type Cap string

// The caps.
const (
	NoCap   Cap = ""
	SaleCap Cap = "sale" // Rule.MaxAward
	DayCap  Cap = "day"  // of the business, for a customer and a local day
)

// Award is what a sale earns, with its parts. All amounts are in the sale's unit.
type Award struct {
	Unit           ledger.Unit
	EligibleCents  int64      // the spend without excluded categories
	Base           int64      // by the type's rule, within its cap
	Promotion      *Promotion // the one that counts; nil: none
	PromotionAward int64
	Level          *Level // the one that adds something; nil: none
	LevelAward     int64
	Total          int64 // what is awarded
	CappedBy       Cap
	BelowMinimum   bool // the spend is below the rule's minimum
	TooLarge       bool // before the day's cap it is above ledger.MaxAward: the sale is refused

	UnknownCodes []string // of items, that no category has
}

// Compute returns what a sale earns. Without a buyer, it is what a customer earns about whom nothing is known: no level and
// no promotion that asks for something, and nothing earned before.
func (r *Rules) Compute(s Sale, b *Buyer) Award {
	bought := r.sort(s)
	a := Award{Unit: s.Unit, EligibleCents: bought.eligible, UnknownCodes: bought.unknown}
	if a.BelowMinimum = bought.eligible < s.MinSpendCents; a.BelowMinimum {
		return a
	}
	earned := s.of(s.Unit, bought.eligible)
	a.Base = s.within(earned)
	if b == nil {
		b = &Buyer{}
	}
	a.Promotion, a.PromotionAward = r.best(s, bought, b)
	if b.Level != nil {
		if a.LevelAward = share(a.Base, b.Level.Percent-100); a.LevelAward > 0 {
			a.Level = b.Level
		}
	}
	a.Total = add(add(a.Base, a.PromotionAward), a.LevelAward)
	if a.Base < earned {
		a.CappedBy = SaleCap
	}
	a.limit(SaleCap, s.MaxAward, 0)
	a.TooLarge = a.Total > ledger.MaxAward
	a.limit(DayCap, r.DayCap(s.Unit), b.Earned)
	return a
}

// limit reduces the total to what a cap leaves.
func (a *Award) limit(by Cap, most *int64, used int64) {
	if most == nil {
		return
	}
	if left := max(0, *most-used); a.Total > left {
		a.Total, a.CappedBy = left, by
	}
}

// best returns the promotion that gives a sale most, the oldest of equals, and what it gives. One that gives nothing doesn't count.
func (r *Rules) best(s Sale, bought bought, b *Buyer) (best *Promotion, most int64) {
	for i := range r.Promotions {
		p := &r.Promotions[i]
		if !p.suits(s, bought) || !p.isFor(b, s.At, r.Levels) || p.isUsedUp(b) {
			continue
		}
		if gives := p.gives(s, bought); gives > most {
			best, most = p, gives
		}
	}
	return best, most
}

// Offer is a promotion and what it would give.
type Offer struct {
	*Promotion
	Gives int64
}

// Offers returns all promotions that a sale has a part in, the oldest first, to show why the best one counts.
func (r *Rules) Offers(s Sale, b *Buyer) (offers []Offer) {
	bought := r.sort(s)
	if bought.eligible < s.MinSpendCents {
		return nil
	}
	if b == nil {
		b = &Buyer{}
	}
	for i := range r.Promotions {
		if p := &r.Promotions[i]; p.suits(s, bought) && p.isFor(b, s.At, r.Levels) && !p.isUsedUp(b) {
			offers = append(offers, Offer{p, p.gives(s, bought)})
		}
	}
	return offers
}

// Largest returns the largest spend with which a sale isn't too large, for the refusal of one that is.
func (r *Rules) Largest(s Sale, b *Buyer) int64 {
	fits, exceeds := int64(-1), s.SpendCents
	for exceeds-fits > 1 {
		s.SpendCents = fits + (exceeds-fits)/2
		if r.Compute(s, b).TooLarge {
			exceeds = s.SpendCents
		} else {
			fits = s.SpendCents
		}
	}
	return fits
}

// of returns what an amount earns by the rule alone, and the largest number on overflow.
func (r Rule) of(unit ledger.Unit, cents int64) int64 {
	if unit == ledger.Stamps {
		return r.StampsPerTransaction
	}
	return multiply(r.PointsPerUnit, cents/r.UnitCents)
}

// within returns an award within the cap of one sale.
func (r Rule) within(award int64) int64 {
	if r.MaxAward != nil {
		return min(award, *r.MaxAward)
	}
	return award
}

// bought is what the items of a sale say.
type bought struct {
	eligible   int64 // the spend without excluded categories
	categories map[int64]int64
	unknown    []string
}

// sort adds up the items by category. Excluded ones are left out.
func (r *Rules) sort(s Sale) bought {
	b := bought{eligible: s.SpendCents}
	for _, item := range s.Items {
		category, known := r.Categories[CodeKey(item.Category)]
		switch {
		case !known:
			b.unknown = append(b.unknown, item.Category)
		case contains(s.ExcludedCategories, category):
			b.eligible = max(0, b.eligible-item.AmountCents)
		default:
			if b.categories == nil {
				b.categories = map[int64]int64{}
			}
			b.categories[category] = add(b.categories[category], item.AmountCents)
		}
	}
	return b
}

// share returns a percentage of an amount, rounded down, and the largest number on overflow.
func share(amount, percent int64) int64 {
	if high, _ := bits.Mul64(uint64(amount), uint64(percent)); high >= 100 {
		return math.MaxInt64
	}
	return Part(amount, percent, 100)
}

// Part returns the share of an amount that a part is of a whole, rounded down. The product may have more than 64 bits.
func Part(amount, part, whole int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(part))
	quotient, _ := bits.Div64(high, low, uint64(whole))
	return int64(min(quotient, math.MaxInt64))
}

// add returns a sum of amounts that aren't below zero, and the largest number on overflow.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// multiply is add for a product.
func multiply(a, b int64) int64 {
	overflow, low := bits.Mul64(uint64(a), uint64(b))
	if overflow != 0 {
		return math.MaxInt64
	}
	return int64(min(low, math.MaxInt64))
}
