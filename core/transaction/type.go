package transaction

import (
	"context"
	"math/bits"
	"strconv"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Type is a kind of sale and the rule that turns its spend into points or stamps.
type Type struct {
	ID       int64
	Name     string
	RuleType ledger.Unit
	Active   bool
	Rule
}

// Rule is what a sale earns. Points: PointsPerUnit for each whole UnitCents spent.
// Stamps: StampsPerTransaction. Below MinSpendCents nothing is earned.
type Rule struct {
	PointsPerUnit        int64
	UnitCents            int64
	StampsPerTransaction int64
	MinSpendCents        int64
	MaxAward             *int64 // of one sale; nil: no cap
}

// Award is what a sale of that spend earns. ledger.ErrTooLarge when the number
// leaves its 64 bits.
func (t Type) Award(spendCents int64) (int64, error) {
	if spendCents < t.MinSpendCents {
		return 0, nil
	}
	award := t.StampsPerTransaction
	if t.RuleType == ledger.Points {
		overflow, low := bits.Mul64(uint64(t.PointsPerUnit), uint64(spendCents/t.UnitCents))
		if t.MaxAward == nil && (overflow != 0 || low > 1<<63-1) {
			return 0, ledger.ErrTooLarge
		}
		if overflow != 0 || low > 1<<63-1 {
			return *t.MaxAward, nil
		}
		award = int64(low)
	}
	if t.MaxAward != nil {
		award = min(award, *t.MaxAward)
	}
	return award, nil
}

// NewType describes a type to be.
type NewType struct {
	Name     string
	RuleType ledger.Unit
	Rule
}

func (n *NewType) validate() error {
	check := core.NewCheck(nil)
	n.Name = check.Text("name", &n.Name, 100)
	core.OneOf(check, "rule_type", n.RuleType, ledger.Points, ledger.Stamps)
	if n.UnitCents == 0 {
		n.UnitCents = 100
	}
	const most = 1_000_000_000
	check.Integer("points_per_unit", &n.PointsPerUnit, 0, most)
	check.Integer("unit_cents", &n.UnitCents, 1, MaxSpendCents)
	check.Integer("stamps_per_transaction", &n.StampsPerTransaction, 0, most)
	check.Integer("min_spend_cents", &n.MinSpendCents, 0, MaxSpendCents)
	if n.MaxAward != nil {
		check.Integer("max_award", n.MaxAward, 1, most*most)
	}
	return check.Err()
}

// AddType makes a type. Two round trips.
func (s *Service) AddType(ctx context.Context, by core.Actor, n NewType) (Type, error) {
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Type, error) {
		if err := n.validate(); err != nil {
			return Type{}, err
		}
		t, err := db.One[Type](ctx, tx, insertTypeSQL, db.Args{
			"name": n.Name, "rule_type": n.RuleType, "points_per_unit": n.PointsPerUnit, "unit_cents": n.UnitCents,
			"stamps_per_transaction": n.StampsPerTransaction, "min_spend_cents": n.MinSpendCents, "max_award": n.MaxAward,
			"now": tx.Now,
		})
		if err != nil {
			return Type{}, err
		}
		return t, audit.Write(tx, by, audit.Entry{
			Action: "transaction_type.create", Subject: "transaction_type", ID: strconv.FormatInt(t.ID, 10), New: t,
		})
	})
}

// Types returns the tenant's types, the first made first. One round trip.
func (s *Service) Types(ctx context.Context, by core.Actor) ([]Type, error) {
	return db.ReadAll[Type](ctx, s.db, by, typesSQL, nil)
}

// SetTypeActive lets sales use a type, or no longer.
func (s *Service) SetTypeActive(ctx context.Context, by core.Actor, id int64, active bool) (Type, error) {
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Type, error) {
		t, err := db.One[Type](ctx, tx, setTypeActiveSQL, db.Args{"id": id, "active": active})
		if err != nil {
			return Type{}, err
		}
		return t, audit.Write(tx, by, audit.Entry{
			Action: "transaction_type.edit", Subject: "transaction_type", ID: strconv.FormatInt(id, 10),
			Old: map[string]any{"active": !active}, New: map[string]any{"active": active},
		})
	})
}
