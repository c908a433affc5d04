// Package merging merges a customer into another who is the same person. It moves what every noun has of the
// duplicate through that noun's own package; both ledgers stay, and entries that name the merge move the
// balances. It can't be undone.
package merging

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
)

// Service merges customers, for managers.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// ErrTooLarge refuses a merge of balances whose sum exceeds 64 bits.
var ErrTooLarge = core.Refuse("merged-balance-too-large", "The two balances together exceed the largest possible balance.")

// Merge merges a customer (a ULID) into kept, who is returned. A duplicate that is missing, erased or kept itself is
// refused on the field "customer_ulid".
//
// Everything that refers to a customer shares a lock on their row, which this takes alone: it is either moved, or it
// finds the duplicate merged. Sales, redemptions and vouchers are moved before the accounts are locked, as a void locks
// them.
func (s *Service) Merge(ctx context.Context, by core.Actor, kept, duplicate core.ID, unread core.Fields, once *core.Once[customer.Customer]) (core.Reply[customer.Customer], error) {
	c, err := db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (customer.Customer, error) {
		check := core.NewCheck(unread)
		if check.OK("customer_ulid") && duplicate == kept {
			check.Add("customer_ulid", core.InvalidChoice)
		}
		// Merges of one business take turns, so that two merges of the same customers can't interleave. While the duplicate's
		// keys move, no request can create a new customer with one of them.
		if err := customer.LockKeys(tx); err != nil {
			return customer.Customer{}, err
		}
		if err := coupon.KeepSendsOut(ctx, tx); err != nil {
			return customer.Customer{}, err
		}
		m := customer.Merge{ID: core.NewID(tx.Now)}
		var err error
		if m.Merged, m.Kept, err = customer.LockPair(ctx, tx, duplicate, kept); err != nil {
			return customer.Customer{}, err
		}
		switch {
		case m.Kept.ID.IsZero():
			return customer.Customer{}, core.ErrNotFound
		case m.Kept.Erased:
			return customer.Customer{}, customer.ErrErased
		case check.OK("customer_ulid") && (m.Merged.ID.IsZero() || m.Merged.Erased):
			check.Add("customer_ulid", core.InvalidChoice)
		}
		if err := check.Err(); err != nil {
			return customer.Customer{}, err
		}
		if err := move(ctx, tx, by, &m); err != nil {
			return customer.Customer{}, err
		}
		return customer.FindIn(ctx, tx, kept)
	}))
	if errors.Is(ledger.Refusal(err), ledger.ErrTooLarge) {
		err = ErrTooLarge
	}
	return c, err
}

// move moves everything of the duplicate and closes it.
func move(ctx context.Context, tx *db.Tx, by core.Actor, m *customer.Merge) (err error) {
	merged, kept := m.Merged.ID, m.Kept.ID
	if err := customer.Distrust(tx, m.Merged, m.Kept); err != nil {
		return err
	}
	if m.Sales, err = transaction.Move(ctx, tx, merged, kept); err != nil {
		return err
	}
	if m.Redemptions, err = reward.Move(ctx, tx, merged, kept); err != nil {
		return err
	}
	if m.Vouchers, err = coupon.MoveVouchers(ctx, tx, merged, kept); err != nil {
		return err
	}
	if err := walkin.MovePINs(tx, merged, kept); err != nil {
		return err
	}
	var read transaction.RulesReading
	pair, err := ledger.LockPair(ctx, tx, by, merged, kept, read.Reading())
	if err != nil {
		return err
	}
	balances, levels := pair.Merged.Account, read.Rules().Levels
	standing, changes := levels.Merge(pair.Kept.Standing, pair.Merged.Standing, core.DateOf(tx.Now, by.Tenant.TimeZone))
	standing = award.MergeEarned(standing, pair.Merged.Standing)
	var closing []award.Change // of the duplicate's level
	if had := pair.Merged.Standing; had.LevelID != nil {
		closing = []award.Change{{From: had.LevelID, Reason: award.Merged, FromUntil: had.LevelUntil}}
	}
	m.Points, m.Stamps = balances.Points, balances.Stamps
	if err := customer.Close(ctx, tx, by, *m); err != nil {
		return err
	}
	return errors.Join(
		ledger.Merge(tx, by, m.ID, merged, kept, balances),
		ledger.KeepStanding(tx, kept, standing), ledger.KeepStanding(tx, merged, ledger.Standing{}),
		level.Queue(tx, by, kept, &m.ID, changes), level.Queue(tx, by, merged, &m.ID, closing))
}

// Preview is what a merge would move.
type Preview struct {
	Kept, Merged customer.Profile
	// With the balances of both; ErrTooLarge if they exceed 64 bits.
	Points, Stamps int64
}

// Preview returns what merging a duplicate into kept would do, or the refusal. unread is what the front end could not read.
func (s *Service) Preview(ctx context.Context, by core.Actor, kept, duplicate core.ID, unread core.Fields) (Preview, error) {
	if err := by.Require(core.Manager); err != nil {
		return Preview{}, err
	}
	customers := customer.NewService(s.db)
	var p Preview
	var err error
	if p.Kept, err = customers.Profile(ctx, by, kept); err != nil {
		return Preview{}, err
	}
	check := core.NewCheck(unread)
	if check.OK("customer_ulid") {
		p.Merged, err = customers.Profile(ctx, by, duplicate)
		switch {
		case errors.Is(err, core.ErrNotFound), err == nil && (p.Merged.Erased || duplicate == kept):
			check.Add("customer_ulid", core.InvalidChoice)
		case err != nil:
			return Preview{}, err
		}
	}
	if err := check.Err(); err != nil {
		return Preview{}, err
	}
	if p.Kept.Erased {
		return Preview{}, customer.ErrErased
	}
	var points, stamps bool
	p.Points, points = add(p.Kept.PointsBalance, p.Merged.PointsBalance)
	p.Stamps, stamps = add(p.Kept.StampsBalance, p.Merged.StampsBalance)
	if !points || !stamps {
		return p, ErrTooLarge
	}
	return p, nil
}

// add returns a sum, and whether it fits in 64 bits.
func add(a, b int64) (sum int64, fits bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}
