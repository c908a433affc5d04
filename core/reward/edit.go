package reward

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Edit describes a change of a reward. Fields that are not set stay as they are. ChangeStock and
// SetStock change its stock.
type Edit struct {
	Name        core.Optional[string]
	Description core.Optional[string] // null clears it
	PointsCost  core.Optional[int64]  // null for a cost in stamps
	StampsCost  core.Optional[int64]  // null for a cost in points
	Active      core.Optional[bool]

	Malformed core.Fields // what the front end could not read
}

func (e Edit) validate(old Reward) (Reward, error) {
	check := core.NewCheck(e.Malformed)
	r := New{
		Name: e.Name.Or(&old.Name), Description: e.Description.Or(old.Description),
		PointsCost: e.PointsCost.Or(old.PointsCost), StampsCost: e.StampsCost.Or(old.StampsCost),
	}.read(check)
	if active := e.Active.Or(&old.Active); active != nil {
		r.Active = *active
	} else {
		check.Add("active", core.Required)
	}
	return r, check.Err()
}

// Edit changes the fields that are set. Earlier redemptions keep their cost.
func (s *Service) Edit(ctx context.Context, by core.Actor, id core.ID, e Edit) (Reward, error) {
	return db.InTenantAs(ctx, s.db, by, core.Manager, func(tx *db.Tx) (Reward, error) {
		// Locked, because the audit log must contain the values that this edit replaces.
		old, err := db.One[Reward](ctx, tx, lockSQL, db.Args{"id": id})
		if err != nil {
			return Reward{}, err
		}
		r, err := e.validate(old)
		if err != nil {
			return Reward{}, err
		}
		r, err = db.One[Reward](ctx, tx, updateSQL, db.Args{
			"id": id, "name": r.Name, "description": r.Description, "points_cost": r.PointsCost, "stamps_cost": r.StampsCost,
			"active": r.Active,
		})
		if err != nil {
			return Reward{}, err
		}
		return r, logEdit(tx, by, r, old.facts(), r.facts())
	})
}

// ErrStockChanged refuses a stock count when a till or a colleague has changed the stock meanwhile.
var ErrStockChanged = core.Refuse("stock-changed", "The stock has changed since you looked. Nothing was changed: look again, then correct it.")

// StockChange adds units to a stock or removes some.
type StockChange struct {
	Change *int64 // negative: removes units

	Malformed core.Fields // what the front end could not read
}

// ChangeStock adds units to a stock or removes some, whatever tills take meanwhile. It can't remove more
// than the stock.
func (s *Service) ChangeStock(ctx context.Context, by core.Actor, id core.ID, c StockChange) (Reward, error) {
	return db.InTenantAs(ctx, s.db, by, core.Manager, func(tx *db.Tx) (Reward, error) {
		check := core.NewCheck(c.Malformed)
		change := check.Integer("change", c.Change, -maxCost, maxCost)
		if change == 0 && check.OK("change") {
			check.Add("change", core.NotZero)
		}
		if err := check.Err(); err != nil {
			return Reward{}, err
		}
		r, err := db.One[Reward](ctx, tx, changeStockSQL, db.Args{"id": id, "change": change, "most": int64(maxCost)})
		if errors.Is(err, core.ErrNotFound) {
			return Reward{}, notChanged(ctx, tx, id, change)
		}
		if err != nil {
			return Reward{}, err
		}
		return r, logStock(tx, by, r, new(*r.Stock-change), r.Stock)
	})
}

// notChanged returns why a stock could not be changed.
func notChanged(ctx context.Context, tx *db.Tx, id core.ID, change int64) error {
	r, err := db.One[Reward](ctx, tx, findSQL, db.Args{"id": id})
	if err != nil {
		return err
	}
	refusal := core.Violation{Rule: "unlimited"}
	switch {
	case r.Stock == nil:
	case change > 0:
		refusal = core.Max(maxCost - *r.Stock)
	default:
		refusal = core.Violation{Rule: "max_removed", Limit: *r.Stock}
	}
	return core.Invalid(core.Fields{"change": {refusal}})
}

// StockCount is a counted stock, and the stock that was displayed before.
type StockCount struct {
	Stock *int64 // the new stock; nil: unlimited
	Seen  *int64 // the displayed stock; nil: unlimited

	Malformed core.Fields // what the front end could not read
}

// SetStock sets a stock if it still equals the displayed one, so that a unit that a till took meanwhile
// doesn't reappear. When an unlimited stock becomes limited, every redemption either comes before or
// takes a unit.
func (s *Service) SetStock(ctx context.Context, by core.Actor, id core.ID, c StockCount) (Reward, error) {
	return db.InTenantAs(ctx, s.db, by, core.Manager, func(tx *db.Tx) (Reward, error) {
		check := core.NewCheck(c.Malformed)
		if c.Stock != nil {
			check.Integer("stock", c.Stock, 0, maxCost)
		}
		if err := check.Err(); err != nil {
			return Reward{}, err
		}
		statement, args := setStockSQL, db.Args{"id": id, "stock": c.Stock, "seen": c.Seen}
		if c.Seen == nil {
			statement = limitStockSQL
			delete(args, "seen")
		}
		r, err := db.One[Reward](ctx, tx, statement, args)
		if errors.Is(err, core.ErrNotFound) {
			if _, err := db.One[Reward](ctx, tx, findSQL, db.Args{"id": id}); err != nil {
				return Reward{}, err
			}
			return Reward{}, ErrStockChanged
		}
		if err != nil {
			return Reward{}, err
		}
		return r, logStock(tx, by, r, c.Seen, r.Stock)
	})
}

func logStock(tx *db.Tx, by core.Actor, r Reward, old, now *int64) error {
	return logEdit(tx, by, r, map[string]any{"stock": old}, map[string]any{"stock": now})
}

func logEdit(tx *db.Tx, by core.Actor, r Reward, old, now map[string]any) error {
	return audit.Write(tx, by, audit.Entry{Action: "reward.edit", Subject: "reward", ID: r.ID.String(), Name: r.Name, Old: old, New: now})
}
