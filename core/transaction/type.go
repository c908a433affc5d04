package transaction

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"strconv"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// RuleType is the unit that sales of a type earn.
type RuleType = ledger.Unit

// Type is a kind of sale and the rule that turns its spend into points or stamps.
type Type struct {
	ID       int64
	Name     string
	RuleType RuleType
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

// Award is what a sale of that spend earns. A spend that would earn more than
// ledger.MaxAward is refused on its field.
func (t Type) Award(spendCents int64) (int64, error) {
	check := core.NewCheck(nil)
	award := t.award(check, spendCents)
	return award, check.Err()
}

// award is what a sale earns, and notes a spend that would earn too much.
func (t Type) award(check *core.Check, spendCents int64) int64 {
	award := t.uncheckedAward(spendCents)
	if award > ledger.MaxAward {
		check.Integer("spend_amount_cents", &spendCents, 0, t.largestSpend())
		return 0
	}
	return award
}

// uncheckedAward is what the rule gives, or the largest number where it gives more.
func (t Type) uncheckedAward(spendCents int64) int64 {
	if spendCents < t.MinSpendCents {
		return 0
	}
	award := t.StampsPerTransaction
	if t.RuleType == ledger.Points {
		overflow, low := bits.Mul64(uint64(t.PointsPerUnit), uint64(spendCents/t.UnitCents))
		award = int64(min(low, math.MaxInt64))
		if overflow != 0 {
			award = math.MaxInt64
		}
	}
	if t.MaxAward != nil {
		award = min(award, *t.MaxAward)
	}
	return award
}

// largestSpend is the most that a sale can be without earning more than ledger.MaxAward,
// of a type where some sales would.
func (t Type) largestSpend() int64 {
	below := t.MinSpendCents - 1
	if t.RuleType != ledger.Points {
		return below
	}
	return max(below, ledger.MaxAward/t.PointsPerUnit*t.UnitCents+t.UnitCents-1)
}

// NewType describes a type to be.
type NewType struct {
	Name     string
	RuleType RuleType
	Rule     // UnitCents 0: 100

	Malformed core.Fields // what the front end could not read
}

// EditType describes a change of a type: fields that are not set stay as they are.
type EditType struct {
	Name                 core.Optional[string]
	RuleType             core.Optional[string] // only as long as there is no sale of the type
	Active               core.Optional[bool]
	PointsPerUnit        core.Optional[int64]
	UnitCents            core.Optional[int64]
	StampsPerTransaction core.Optional[int64]
	MinSpendCents        core.Optional[int64]
	MaxAward             core.Optional[int64] // null: no cap

	Malformed core.Fields
}

const maxTypeName = 100

func (n NewType) validate() (Type, error) {
	check := core.NewCheck(n.Malformed)
	t := Type{Name: check.Text("name", &n.Name, maxTypeName)}
	n.readRule(check, &t)
	return t, check.Err()
}

func (n NewType) readRule(check *core.Check, t *Type) {
	if n.UnitCents == 0 {
		n.UnitCents = 100
	}
	e := EditType{RuleType: core.Set(string(n.RuleType))}
	e.readRule(check, Type{Rule: n.Rule}, t)
}

func (e EditType) validate(old Type, used bool) (Type, error) {
	check := core.NewCheck(e.Malformed)
	t := Type{ID: old.ID, Name: check.Text("name", e.Name.Or(&old.Name), maxTypeName)}
	e.readRule(check, old, &t)
	if used && t.RuleType != old.RuleType && check.OK("rule_type") {
		check.Add("rule_type", core.Violation{Rule: "fixed_after_sales"})
	}
	if active := e.Active.Or(&old.Active); active != nil {
		t.Active = *active
	} else {
		check.Add("active", core.Required)
	}
	return t, check.Err()
}

// readRule puts the old rule with its changes into a type, and notes what is wrong with it.
func (e EditType) readRule(check *core.Check, old Type, t *Type) {
	t.RuleType = RuleType(check.Text("rule_type", e.RuleType.Or(new(string(old.RuleType))), 20))
	if check.OK("rule_type") {
		core.OneOf(check, "rule_type", t.RuleType, ledger.Points, ledger.Stamps)
	}
	const most = 1_000_000_000
	t.Rule = Rule{
		PointsPerUnit:        check.Integer("points_per_unit", e.PointsPerUnit.Or(&old.PointsPerUnit), 0, most),
		UnitCents:            check.Integer("unit_cents", e.UnitCents.Or(&old.UnitCents), 1, MaxSpendCents),
		StampsPerTransaction: check.Integer("stamps_per_transaction", e.StampsPerTransaction.Or(&old.StampsPerTransaction), 0, most),
		MinSpendCents:        check.Integer("min_spend_cents", e.MinSpendCents.Or(&old.MinSpendCents), 0, MaxSpendCents),
		MaxAward:             e.MaxAward.Or(old.MaxAward),
	}
	if t.MaxAward != nil {
		check.Integer("max_award", t.MaxAward, 1, ledger.MaxAward)
	}
}

// Preview is what a sale of that spend would earn by a rule that is still being
// written, and of which unit. A name is not asked for. A rule that is complete tells its
// unit, also where the spend would earn too much. No round trip.
func (n NewType) Preview(spendCents *int64) (award int64, unit RuleType, err error) {
	check := core.NewCheck(n.Malformed)
	spend := check.Integer("spend_amount_cents", spendCents, 0, MaxSpendCents)
	var t Type
	n.readRule(check, &t)
	if err := check.Err(); err != nil {
		return 0, "", err
	}
	award, err = t.Award(spend)
	return award, t.RuleType, err
}

// AddType makes a type. Two round trips.
func (s *Service) AddType(ctx context.Context, by core.Actor, n NewType) (Type, error) {
	if err := by.Require(core.Manager); err != nil {
		return Type{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Type, error) {
		t, err := n.validate()
		if err != nil {
			return Type{}, err
		}
		args := t.args()
		args["now"] = tx.Now
		if t, err = db.One[Type](ctx, tx, insertTypeSQL, args); err != nil {
			return Type{}, err
		}
		return t, t.log(tx, by, "transaction_type.create", nil, t.facts())
	})
}

// EditType changes the fields that are set. Sales keep what they earned: a new rule is
// for those to come. Three round trips.
func (s *Service) EditType(ctx context.Context, by core.Actor, id int64, e EditType) (Type, error) {
	if err := by.Require(core.Manager); err != nil {
		return Type{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Type, error) {
		// Held until the end: the log must name the values this edit replaced.
		old, err := db.One[heldType](ctx, tx, lockTypeSQL, db.Args{"id": id})
		if err != nil {
			return Type{}, err
		}
		t, err := e.validate(old.Type, old.Used)
		if err != nil {
			return Type{}, err
		}
		args := t.args()
		args["id"], args["active"] = id, t.Active
		if t, err = db.One[Type](ctx, tx, updateTypeSQL, args); err != nil {
			return Type{}, err
		}
		return t, t.log(tx, by, "transaction_type.edit", old.facts(), t.facts())
	})
}

// heldType is a type that is being edited, and whether there are sales of it.
type heldType struct {
	Type
	Used bool
}

// FindType returns a type, or core.ErrNotFound. One round trip.
func (s *Service) FindType(ctx context.Context, by core.Actor, id int64) (Type, error) {
	return db.ReadOne[Type](ctx, s.db, by, findTypeSQL, db.Args{"id": id})
}

// Types returns the tenant's types, the first made first. One round trip.
func (s *Service) Types(ctx context.Context, by core.Actor) ([]Type, error) {
	return db.ReadAll[Type](ctx, s.db, by, typesSQL, nil)
}

// SetTypeActive lets sales use a type, or no longer. Two round trips, and a third where
// it is so already.
func (s *Service) SetTypeActive(ctx context.Context, by core.Actor, id int64, active bool) (Type, error) {
	if err := by.Require(core.Manager); err != nil {
		return Type{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Type, error) {
		t, err := db.One[Type](ctx, tx, setTypeActiveSQL, db.Args{"id": id, "active": active})
		if errors.Is(err, core.ErrNotFound) {
			// Nothing changed: it is so already, or nobody's.
			return db.One[Type](ctx, tx, findTypeSQL, db.Args{"id": id})
		}
		if err != nil {
			return Type{}, err
		}
		return t, t.log(tx, by, "transaction_type.edit", map[string]any{"active": !active}, map[string]any{"active": active})
	})
}

func (t Type) args() db.Args {
	return db.Args{
		"name": t.Name, "rule_type": t.RuleType, "points_per_unit": t.PointsPerUnit, "unit_cents": t.UnitCents,
		"stamps_per_transaction": t.StampsPerTransaction, "min_spend_cents": t.MinSpendCents, "max_award": t.MaxAward,
	}
}

func (t Type) log(tx *db.Tx, by core.Actor, action string, old, now any) error {
	return audit.Write(tx, by, audit.Entry{
		Action: action, Subject: "transaction_type", ID: strconv.FormatInt(t.ID, 10), Name: t.Name, Old: old, New: now,
	})
}

// facts are what the log tells of a type.
func (t Type) facts() map[string]any {
	return map[string]any{
		"name": t.Name, "rule_type": t.RuleType, "active": t.Active, "points_per_unit": t.PointsPerUnit, "unit_cents": t.UnitCents,
		"stamps_per_transaction": t.StampsPerTransaction, "min_spend_cents": t.MinSpendCents, "max_award": t.MaxAward,
	}
}
