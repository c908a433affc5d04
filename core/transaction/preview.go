package transaction

import (
	"context"
	"math"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
)

// Preview is what a sale would earn.
type Preview struct {
	Award     award.Award
	ExpiresOn *time.Time // the last local day of the award; nil: none by a rule
	After     *ledger.Account
	Level     *award.Progress // of the customer, before the sale; nil: there are no levels
	Rises     *award.Level    // to which the sale would raise the customer; nil: none
	Until     *award.Clock    // when the window of the promotion ends on that day; nil: it has none
	At        time.Time       // by which it was computed, in the time zone of the business
	DayCap    *int64          // of a customer, in the award's unit; nil: none
	Earned    int64           // by the customer on that day, before the sale
	Offers    []award.Offer   // of Simulate: the promotions of which the best one counts

	offers func() []award.Offer
}

// PromotionEnd returns when the window of the promotion ends, or nil if it has none.
func (p Preview) PromotionEnd() *time.Time {
	if p.Until == nil {
		return nil
	}
	year, month, day := p.At.Date()
	end := time.Date(year, month, day, 0, int(*p.Until), 0, 0, p.At.Location())
	if !end.After(p.At) { // on the day after
		end = time.Date(year, month, day+1, 0, int(*p.Until), 0, 0, p.At.Location())
	}
	return &end
}

// Preview returns what a sale would earn, and the balances of its customer after it; the zero ID stands for no customer. It refuses
// what Record refuses, and writes nothing.
func (s *Service) Preview(ctx context.Context, by core.Actor, sale Sale, unread core.Fields) (Preview, error) {
	check := core.NewCheck(unread)
	sale.check(check, s.db.Now())
	return s.preview(ctx, by, sale, s.db.Now(), check)
}

// Simulate is Preview for a sale at any time: what one would earn by the rules of now, and the customer as they are now.
func (s *Service) Simulate(ctx context.Context, by core.Actor, sale Sale, at time.Time, unread core.Fields) (Preview, error) {
	check := core.NewCheck(unread)
	sale.OccurredAt = nil
	sale.check(check, at)
	p, err := s.preview(ctx, by, sale, at, check)
	if err == nil {
		p.Offers = p.offers()
	}
	return p, err
}

func (s *Service) preview(ctx context.Context, by core.Actor, sale Sale, now time.Time, check *core.Check) (Preview, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Preview{}, err
	}
	scope := s.db.Tenant(by)
	found, err := s.read(ctx, scope, by.Tenant.ID, previewSQL, accountSQL, sale)
	if err != nil {
		return Preview{}, err
	}
	kind := found.check(check, sale)
	known := sale.CustomerID != core.ID{}
	if known {
		customer.CheckBuyer(check, "customer_ulid", found.CustomerStatus)
	}
	var made sold
	in := sale.input(by, kind, now)
	if kind.ID != 0 && check.OK("spend_amount_cents") && check.OK("items") {
		switch {
		case known:
			made, err = sell(ctx, scope, check, found.rules, in, sale.CustomerID, found.account, now)
		default:
			made.earned = compute(check, found.rules, in, nil)
		}
		if err != nil {
			return Preview{}, err
		}
	}
	if err := check.Err(); err != nil {
		return Preview{}, err
	}
	t := sale.of(by, core.ID{}, made.earned, now)
	p := Preview{Award: made.earned, ExpiresOn: t.ExpiresOn, At: in.At, DayCap: found.rules.DayCap(in.Unit)}
	p.offers = func() []award.Offer { return found.rules.Offers(in, made.buyer) }
	if made.buyer != nil {
		p.Earned = made.buyer.Earned
	}
	if p.Award.Promotion != nil {
		if until, within := p.Award.Promotion.EndOfWindow(in.At); within {
			p.Until = &until
		}
	}
	if !known {
		return p, nil
	}
	p.Level = found.rules.Levels.Progress(found.account.Standing, core.DateOf(now, by.Tenant.TimeZone))
	for _, c := range made.changes {
		if c.Reason == award.Rose {
			p.Rises = found.rules.Levels.Find(c.To)
		}
	}
	p.After = &ledger.Account{Points: found.account.Points, Stamps: found.account.Stamps}
	balance := &p.After.Points
	if t.RuleType == ledger.Stamps {
		balance = &p.After.Stamps
	}
	if *balance > math.MaxInt64-p.Award.Total {
		return Preview{}, ledger.ErrTooLarge
	}
	*balance += p.Award.Total
	return p, nil
}
