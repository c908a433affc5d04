package billing

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Plan is what a tenant pays for, with its limits.
type Plan struct {
	ID             int64
	Name           string
	MonthlyCents   int64 // before tax
	YearlyCents    int64
	Currency       string
	CustomersLimit *int64 // active customers; nil: no limit
	StaffLimit     *int64 // active people
	SendsLimit     *int64 // sends in a calendar month
	Retired        bool   // can't be chosen any more
	Tenants        int64  // on this plan
}

// PlanInput describes a new or changed plan: all of its fields.
type PlanInput struct {
	Name           string
	MonthlyCents   *int64
	YearlyCents    *int64
	Currency       string
	CustomersLimit *int64
	StaffLimit     *int64
	SendsLimit     *int64

	Malformed core.Fields // what the front end could not read
}

// ErrPlanInUse refuses to delete a plan that tenants are on or were billed for.
var ErrPlanInUse = core.Refuse("plan-in-use", "Businesses are on this plan or were billed for it. Retire it instead: businesses on it keep it, and no others can choose it.")

// read returns the plan. It keeps the stored currency, also when it is withdrawn.
func (in PlanInput) read(stored string) (Plan, *core.Check) {
	check := core.NewCheck(in.Malformed)
	p := Plan{
		Name:         check.Text("name", &in.Name, maxName),
		MonthlyCents: check.Integer("monthly_cents", in.MonthlyCents, 0, maxCents),
		YearlyCents:  check.Integer("yearly_cents", in.YearlyCents, 0, maxCents),
		Currency:     check.Text("currency", &in.Currency, 3),
	}
	if check.OK("currency") && p.Currency != stored && !core.IsCurrency(p.Currency) {
		check.Add("currency", core.InvalidChoice)
	}
	limit := func(field string, v *int64) *int64 {
		if v != nil {
			check.Integer(field, v, 0, maxCents)
		}
		return v
	}
	p.CustomersLimit = limit("customers_limit", in.CustomersLimit)
	p.StaffLimit = limit("staff_limit", in.StaffLimit)
	p.SendsLimit = limit("sends_limit", in.SendsLimit)
	return p, check
}

// Plans returns all plans by price, retired ones last.
func (s *Service) Plans(ctx context.Context, by core.Actor) ([]Plan, error) {
	if err := by.RequireAdmin(); err != nil {
		return nil, err
	}
	return db.All[Plan](ctx, s.db.Platform(), plansSQL, nil)
}

// Plan returns a plan, or core.ErrNotFound.
func (s *Service) Plan(ctx context.Context, by core.Actor, id int64) (Plan, error) {
	if err := by.RequireAdmin(); err != nil {
		return Plan{}, err
	}
	return db.One[Plan](ctx, s.db.Platform(), planSQL, db.Args{"id": id})
}

// CreatePlan creates a plan.
func (s *Service) CreatePlan(ctx context.Context, by core.Actor, in PlanInput, once *core.Once[Plan]) (core.Reply[Plan], error) {
	if err := by.RequireAdmin(); err != nil {
		return core.Reply[Plan]{}, err
	}
	p, check := in.read("")
	if err := check.Err(); err != nil {
		return core.Reply[Plan]{}, err
	}
	return db.In(ctx, s.db.Platform(), db.Once(ctx, by, once, func(tx *db.Tx) (Plan, error) {
		var err error
		p.ID, err = db.One[int64](ctx, tx, insertPlanSQL, p.args())
		if err != nil {
			return Plan{}, refuseDuplicateName(err)
		}
		return p, audit.Write(tx, by, audit.Entry{Action: "plan.create", Subject: "plan", ID: idText(p.ID), Name: p.Name, New: p.facts()})
	}))
}

// EditPlan changes a plan. A new price applies from each tenant's next period. The currency of a
// plan in use can't be changed, because its tenants were billed in it.
func (s *Service) EditPlan(ctx context.Context, by core.Actor, plan int64, in PlanInput) (Plan, error) {
	if err := by.RequireAdmin(); err != nil {
		return Plan{}, err
	}
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) (Plan, error) {
		old, err := db.One[Plan](ctx, tx, lockPlanSQL, db.Args{"id": plan})
		if err != nil {
			return Plan{}, err
		}
		edited, check := in.read(old.Currency)
		edited.ID, edited.Retired, edited.Tenants = old.ID, old.Retired, old.Tenants
		if edited.Currency != old.Currency && old.Tenants > 0 && check.OK("currency") {
			check.Add("currency", core.Violation{Rule: "plan_in_use"})
		}
		if err := check.Err(); err != nil {
			return Plan{}, err
		}
		was, is := audit.Changed(old.facts(), edited.facts())
		if len(is) == 0 {
			return edited, nil
		}
		args := edited.args()
		args["id"] = plan
		if _, err := db.Exec(ctx, tx, updatePlanSQL, args); err != nil {
			return Plan{}, refuseDuplicateName(err)
		}
		was["currency"], is["currency"] = old.Currency, edited.Currency // the log shows the amounts in it
		return edited, audit.Write(tx, by, audit.Entry{Action: "plan.edit", Subject: "plan", ID: idText(plan), Name: edited.Name, Old: was, New: is})
	})
}

// RetirePlan keeps a plan from being chosen. Tenants on it keep it.
func (s *Service) RetirePlan(ctx context.Context, by core.Actor, plan int64) (Plan, error) {
	return s.setRetired(ctx, by, plan, true, "plan.retire")
}

// ReopenPlan lets a retired plan be chosen again.
func (s *Service) ReopenPlan(ctx context.Context, by core.Actor, plan int64) (Plan, error) {
	return s.setRetired(ctx, by, plan, false, "plan.reopen")
}

func (s *Service) setRetired(ctx context.Context, by core.Actor, plan int64, retired bool, action string) (Plan, error) {
	if err := by.RequireAdmin(); err != nil {
		return Plan{}, err
	}
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) (Plan, error) {
		p, err := db.One[Plan](ctx, tx, lockPlanSQL, db.Args{"id": plan})
		if err != nil || p.Retired == retired {
			return p, err
		}
		p.Retired = retired
		err = errors.Join(
			db.Queue(tx, retirePlanSQL, db.Args{"id": plan, "retired": retired}),
			audit.Write(tx, by, audit.Entry{
				Action: action, Subject: "plan", ID: idText(plan), Name: p.Name,
				Old: map[string]any{"retired": !retired}, New: map[string]any{"retired": retired},
			}),
		)
		return p, err
	})
}

// DeletePlan deletes a plan that was never used; others are refused with ErrPlanInUse.
func (s *Service) DeletePlan(ctx context.Context, by core.Actor, plan int64) error {
	if err := by.RequireAdmin(); err != nil {
		return err
	}
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		p, err := db.One[Plan](ctx, tx, lockPlanSQL, db.Args{"id": plan})
		if err != nil {
			return err
		}
		if _, err := db.Exec(ctx, tx, deletePlanSQL, db.Args{"id": plan}); err != nil {
			if db.Violates(err, "tenant_plan_id_fkey") || db.Violates(err, "billing_period_plan_id_fkey") {
				return ErrPlanInUse
			}
			return err
		}
		return audit.Write(tx, by, audit.Entry{Action: "plan.delete", Subject: "plan", ID: idText(plan), Name: p.Name, Old: p.facts()})
	})
}

// refuseDuplicateName turns the database's refusal of a duplicate name into one of the field.
func refuseDuplicateName(err error) error {
	if db.Violates(err, "plan_name_key") {
		return core.Invalid(core.Fields{"name": {core.Duplicate}})
	}
	return err
}

func (p Plan) args() db.Args {
	return db.Args{
		"name": p.Name, "monthly": p.MonthlyCents, "yearly": p.YearlyCents, "currency": p.Currency,
		"customers": p.CustomersLimit, "staff": p.StaffLimit, "sends": p.SendsLimit,
	}
}

// facts returns what the audit log says about a plan.
func (p Plan) facts() map[string]any {
	return map[string]any{
		"name": p.Name, "monthly_cents": p.MonthlyCents, "yearly_cents": p.YearlyCents, "currency": p.Currency,
		"customers_limit": p.CustomersLimit, "staff_limit": p.StaffLimit, "sends_limit": p.SendsLimit,
	}
}
