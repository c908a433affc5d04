package transaction

import (
	"context"
	"math"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Preview is what a sale would earn.
type Preview struct {
	RuleType  RuleType
	Award     int64
	ExpiresOn *time.Time // the last local day of the award; nil: none by a rule
	After     *ledger.Account
}

// previewed is what a sale refers to, with the balances of its customer.
type previewed struct {
	referred
	Points, Stamps int64
}

// Preview returns what a sale would earn, and the balances of its customer after it; the zero ID stands for no customer. It refuses
// what Record refuses, and writes nothing.
func (s *Service) Preview(ctx context.Context, by core.Actor, sale Sale, unread core.Fields) (Preview, error) {
	if err := by.Require(core.Cashier); err != nil {
		return Preview{}, err
	}
	now, check := s.db.Now(), core.NewCheck(unread)
	sale.check(check, now)
	found, err := db.One[previewed](ctx, s.db.Tenant(by), previewSQL, sale.references())
	if err != nil {
		return Preview{}, err
	}
	kind, award := found.earn(check, sale)
	known := sale.CustomerID != core.ID{}
	if known {
		customer.CheckBuyer(check, "customer_ulid", found.CustomerStatus)
	}
	if err := check.Err(); err != nil {
		return Preview{}, err
	}
	t := sale.of(by, kind, core.ID{}, award, now)
	p := Preview{RuleType: t.RuleType, Award: award, ExpiresOn: t.ExpiresOn}
	if !known {
		return p, nil
	}
	p.After = &ledger.Account{Points: found.Points, Stamps: found.Stamps}
	balance := &p.After.Points
	if t.RuleType == ledger.Stamps {
		balance = &p.After.Stamps
	}
	if *balance > math.MaxInt64-award {
		return Preview{}, ledger.ErrTooLarge
	}
	*balance += award
	return p, nil
}
