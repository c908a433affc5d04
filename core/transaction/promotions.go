package transaction

import (
	"context"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
)

// CurrentPromotion is a promotion of today, as programs see it.
type CurrentPromotion struct {
	award.Promotion
	Codes []string // of its categories, in order; nil: it is about the whole sale
	OnNow bool     // in one of its windows
}

// CurrentPromotions returns a page of the active promotions whose days include today, the newest first, from the rules by which sales
// earn now (RulesNow). One whose window began yesterday is on until that ends.
func (s *Service) CurrentPromotions(ctx context.Context, by core.Actor, p core.Page) (core.List[CurrentPromotion], error) {
	if err := core.NewCheck(p.Malformed).Err(); err != nil {
		return core.List[CurrentPromotion]{}, err
	}
	rules, err := s.RulesNow(ctx, by)
	if err != nil {
		return core.List[CurrentPromotion]{}, err
	}
	now := s.db.Now().In(by.Tenant.TimeZone)
	var fetched []CurrentPromotion
	for _, one := range rules.Promotions { // the oldest first
		after := p.Cursor == nil || p.Back() == (one.ID > p.Cursor.Number()) && one.ID != p.Cursor.Number()
		if after && one.IsToday(now) {
			fetched = append(fetched, CurrentPromotion{one, rules.CodesOf(one), one.IsOn(now)})
		}
	}
	if !p.Back() {
		slices.Reverse(fetched)
	}
	fetched = fetched[:min(len(fetched), p.Limit())]
	return core.NewList(p, fetched, func(c CurrentPromotion) core.Cursor { return core.NumberCursor(c.StartsOn, c.ID) }), nil
}
