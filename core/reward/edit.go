package reward

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Edit describes a change of a reward: fields that are not set stay as they are. Its
// stock is corrected by ChangeStock and SetStock.
type Edit struct {
	Name        core.Optional[string]
	Description core.Optional[string] // null clears it
	PointsCost  core.Optional[int64]  // null where it is to cost stamps
	StampsCost  core.Optional[int64]  // null where it is to cost points
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

// Edit changes the fields that are set. What was redeemed before keeps its cost.
// Three round trips.
func (s *Service) Edit(ctx context.Context, by core.Actor, id core.ID, e Edit) (Reward, error) {
	if err := by.Require(core.Manager); err != nil {
		return Reward{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Reward, error) {
		// Held until the end: the log must name the values this edit replaced.
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

// ErrStockChanged refuses a count of the stock that tills or a colleague have overtaken.
var ErrStockChanged = core.Refuse("stock-changed", "The stock has changed since you looked. Nothing was changed: look again, then correct it.")

// StockChange is so many pieces more, or fewer.
type StockChange struct {
	Change *int64 // below zero: fewer

	Malformed core.Fields // what the front end could not read
}

// ChangeStock adds pieces to a stock or takes some away, whatever tills take
// meanwhile. More than there are cannot be taken away. Two round trips.
func (s *Service) ChangeStock(ctx context.Context, by core.Actor, id core.ID, c StockChange) (Reward, error) {
	if err := by.Require(core.Manager); err != nil {
		return Reward{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Reward, error) {
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

// notChanged says why a stock could not be changed by so many pieces.
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

// StockCount is what somebody counted, and what the stock was said to be when they did.
type StockCount struct {
	Stock *int64 // nil: unlimited from now on
	Seen  *int64 // nil: unlimited until now

	Malformed core.Fields // what the front end could not read
}

// SetStock replaces a stock by what was counted, if it still is what was seen: a piece
// that a till took meanwhile is not brought back. From unlimited, every redemption is
// either made before or takes a piece. Two round trips.
func (s *Service) SetStock(ctx context.Context, by core.Actor, id core.ID, c StockCount) (Reward, error) {
	if err := by.Require(core.Manager); err != nil {
		return Reward{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Reward, error) {
		check := core.NewCheck(c.Malformed)
		if c.Stock != nil {
			check.Integer("stock", c.Stock, 0, maxCost)
		}
		if err := check.Err(); err != nil {
			return Reward{}, err
		}
		statement, args := setStockSQL, db.Args{"id": id, "stock": c.Stock, "seen": c.Seen}
		if c.Seen == nil {
			statement = beginStockSQL
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
