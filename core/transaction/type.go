package transaction

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/promotion"
)

// RuleType is the unit that sales of a type earn.
type RuleType = ledger.Unit

// Type is a kind of sale and its earning rule.
type Type struct {
	ID       int64
	Name     string
	RuleType RuleType
	Active   bool
	Rule
}

// Rule is the earning rule of a type.
type Rule = award.Rule

// Award returns what a sale earns by the type's rule alone: without promotions, levels and caps of the business. A spend that would
// earn more than ledger.MaxAward is refused on its field.
func (t Type) Award(spendCents int64) (int64, error) {
	check := core.NewCheck(nil)
	earned := compute(check, &award.Rules{}, t.sale(Sale{SpendAmountCents: spendCents}), nil)
	return earned.Total, check.Err()
}

// NewType describes a type to be created.
type NewType struct {
	Name     string
	RuleType RuleType
	Rule     // UnitCents 0: 100

	Malformed core.Fields // what the front end could not read
}

// EditType describes a change of a type. Fields that are not set stay as they are.
type EditType struct {
	Name                 core.Optional[string]
	RuleType             core.Optional[string] // fixed after the first sale
	Active               core.Optional[bool]
	PointsPerUnit        core.Optional[int64]
	UnitCents            core.Optional[int64]
	StampsPerTransaction core.Optional[int64]
	MinSpendCents        core.Optional[int64]
	MaxAward             core.Optional[int64] // null: no cap
	ExcludedCategories   core.Optional[[]int64]

	Malformed core.Fields
}

const (
	maxTypeName = 100
	maxExcluded = 100 // categories
)

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

func (e EditType) validate(old lockedType) (Type, error) {
	check := core.NewCheck(e.Malformed)
	t := Type{ID: old.ID, Name: check.Text("name", e.Name.Or(&old.Name), maxTypeName)}
	e.readRule(check, old.Type, &t)
	if slices.ContainsFunc(t.ExcludedCategories, func(id int64) bool { return !slices.Contains(old.Categories, id) }) {
		check.Add("excluded_categories", core.InvalidChoice)
	}
	if old.Used && t.RuleType != old.RuleType && check.OK("rule_type") {
		check.Add("rule_type", core.Violation{Rule: "fixed_after_sales"})
	}
	if active := e.Active.Or(&old.Active); active != nil {
		t.Active = *active
	} else {
		check.Add("active", core.Required)
	}
	return t, check.Err()
}

// readRule sets a type's rule to the old one with the changes, and adds violations.
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
		ExcludedCategories:   slices.Compact(slices.Sorted(slices.Values(core.OrZero(e.ExcludedCategories.Or(&old.ExcludedCategories))))),
	}
	if len(t.ExcludedCategories) > maxExcluded {
		check.Add("excluded_categories", core.MaxItems(maxExcluded))
	}
	if t.MaxAward != nil {
		check.Integer("max_award", t.MaxAward, 1, ledger.MaxAward)
	}
}

// Preview returns what a sale would earn by a rule that is being edited, and its unit. The type needs no
// name. The unit is also returned with the error for a spend that would earn too much.
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

// AddType creates a type.
func (s *Service) AddType(ctx context.Context, by core.Actor, n NewType, once *core.Once[Type]) (core.Reply[Type], error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (Type, error) {
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
	}))
}

// EditType changes the fields that are set. A new rule applies to later sales.
func (s *Service) EditType(ctx context.Context, by core.Actor, id int64, e EditType) (Type, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Type, error) {
		// Locked, because the audit log must contain the values that this edit replaces.
		old, err := db.One[lockedType](ctx, tx, lockTypeSQL, db.Args{"id": id})
		if err != nil {
			return Type{}, err
		}
		t, err := e.validate(old)
		if err != nil {
			return Type{}, err
		}
		args := t.args()
		args["id"], args["active"] = id, t.Active
		if t, err = db.One[Type](ctx, tx, updateTypeSQL, args); err != nil {
			return Type{}, err
		}
		return t, errors.Join(promotion.RulesChanged(tx), t.log(tx, by, "transaction_type.edit", old.facts(), t.facts()))
	})
}

// lockedType is a type that is being edited, whether it has sales, and the categories that it can exclude.
type lockedType struct {
	Type
	Used       bool
	Categories []int64
}

// FindType returns a type, or core.ErrNotFound.
func (s *Service) FindType(ctx context.Context, by core.Actor, id int64) (Type, error) {
	return db.One[Type](ctx, s.db.Tenant(by), findTypeSQL, db.Args{"id": id})
}

// Types returns the tenant's types, the oldest first.
func (s *Service) Types(ctx context.Context, by core.Actor) ([]Type, error) {
	return db.All[Type](ctx, s.db.Tenant(by), typesSQL, nil)
}

// ListTypes returns a page of the tenant's types, the oldest first.
func (s *Service) ListTypes(ctx context.Context, by core.Actor, p core.Page) (core.List[Type], error) {
	return db.ListPage(ctx, s.db, by, typePages, nil, p, func(t Type) core.Cursor { return core.NumberCursor(time.Unix(0, 0), t.ID) })
}

// SetTypeActive activates or deactivates a type for new sales.
func (s *Service) SetTypeActive(ctx context.Context, by core.Actor, id int64, active bool) (Type, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Type, error) {
		t, err := db.One[Type](ctx, tx, setTypeActiveSQL, db.Args{"id": id, "active": active})
		if errors.Is(err, core.ErrNotFound) {
			// The type already has that state, or doesn't exist.
			return db.One[Type](ctx, tx, findTypeSQL, db.Args{"id": id})
		}
		if err != nil {
			return Type{}, err
		}
		return t, errors.Join(promotion.RulesChanged(tx),
			t.log(tx, by, "transaction_type.edit", map[string]any{"active": !active}, map[string]any{"active": active}))
	})
}

func (t Type) args() db.Args {
	return db.Args{
		"name": t.Name, "rule_type": t.RuleType, "points_per_unit": t.PointsPerUnit, "unit_cents": t.UnitCents,
		"stamps_per_transaction": t.StampsPerTransaction, "min_spend_cents": t.MinSpendCents, "max_award": t.MaxAward,
		"excluded_categories": append([]int64{}, t.ExcludedCategories...),
	}
}

func (t Type) log(tx *db.Tx, by core.Actor, action string, old, now any) error {
	return audit.Write(tx, by, audit.Entry{
		Action: action, Subject: "transaction_type", ID: strconv.FormatInt(t.ID, 10), Name: t.Name, Old: old, New: now,
	})
}

// facts returns a type's values for the audit log.
func (t Type) facts() map[string]any {
	facts := map[string]any{
		"name": t.Name, "rule_type": t.RuleType, "active": t.Active, "points_per_unit": t.PointsPerUnit, "unit_cents": t.UnitCents,
		"stamps_per_transaction": t.StampsPerTransaction, "min_spend_cents": t.MinSpendCents, "max_award": t.MaxAward,
	}
	if len(t.ExcludedCategories) > 0 {
		facts["excluded_categories"] = t.ExcludedCategories
	}
	return facts
}
