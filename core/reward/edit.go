package reward

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/picture"
)

// Edit describes a change of a reward. Fields that are not set stay as they are. ChangeStock and
// SetStock change its stock.
type Edit struct {
	Name        core.Optional[string]
	Description core.Optional[string] // null clears it
	PointsCost  core.Optional[int64]  // null for a cost in stamps
	StampsCost  core.Optional[int64]  // null for a cost in points
	CostCents   core.Optional[int64]  // null clears it
	ValueCents  core.Optional[int64]  // null clears it
	Picture     core.Optional[[]byte] // null removes it
	Active      core.Optional[bool]

	MinLevelID     core.Optional[int64]     // null: all customers
	MaxPerCustomer core.Optional[int64]     // null: no limit
	StartsOn       core.Optional[time.Time] // null: no first day
	EndsOn         core.Optional[time.Time] // null: no last day

	Malformed core.Fields // what the front end could not read
}

// validate returns the edited reward. shown is the picture that was uploaded, which readPicture checked.
func (e Edit) validate(old Reward, shown *picture.Picture) (Reward, error) {
	check := core.NewCheck(e.Malformed)
	r := New{
		Name: core.OrZero(e.Name.Or(&old.Name)), Description: core.OrZero(e.Description.Or(old.Description)),
		PointsCost: e.PointsCost.Or(old.PointsCost), StampsCost: e.StampsCost.Or(old.StampsCost), CostCents: e.CostCents.Or(old.CostCents),
		ValueCents: e.ValueCents.Or(old.ValueCents),
		Terms:      Terms{e.MinLevelID.Or(old.MinLevelID), e.MaxPerCustomer.Or(old.MaxPerCustomer), e.StartsOn.Or(old.StartsOn), e.EndsOn.Or(old.EndsOn)},
	}.read(check)
	if r.PictureHash = old.PictureHash; e.Picture.Set {
		r.PictureHash = shown.HexHash()
	}
	if active := e.Active.Or(&old.Active); active != nil {
		r.Active = *active
	} else {
		check.Add("active", core.Required)
	}
	return r, check.Err()
}

// Edit changes the fields that are set. Earlier redemptions keep their cost.
func (s *Service) Edit(ctx context.Context, by core.Actor, id core.ID, e Edit) (Reward, error) {
	if err := by.Require(core.Manager); err != nil {
		return Reward{}, err
	}
	// Read before the reward is locked, because scaling takes a while.
	shown, err := readPicture(ctx, by, core.NewCheck(e.Malformed), e.Picture.Value)
	if refusal := (*core.Error)(nil); errors.As(err, &refusal) && refusal.Kind == core.KindInvalid {
		e.Malformed = refusal.Fields // reported with those of the other fields
	} else if err != nil {
		return Reward{}, err
	}
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (Reward, error) {
		// Locked, because the audit log must contain the values that this edit replaces.
		old, err := db.One[Reward](ctx, tx, lockSQL, db.Args{"id": id})
		if err != nil {
			return Reward{}, err
		}
		r, err := e.validate(old, shown)
		if err != nil {
			return Reward{}, err
		}
		if err := r.checkLevel(ctx, tx, old.Terms); err != nil {
			return Reward{}, err
		}
		r, err = db.One[Reward](ctx, tx, updateSQL, db.Args{
			"min_level": r.MinLevelID, "max_per_customer": r.MaxPerCustomer, "starts_on": r.StartsOn, "ends_on": r.EndsOn,
			"id": id, "name": r.Name, "description": r.Description, "points_cost": r.PointsCost, "stamps_cost": r.StampsCost,
			"cost_cents": r.CostCents, "value_cents": r.ValueCents, "picture": r.PictureHash, "active": r.Active,
		})
		if err != nil {
			return Reward{}, err
		}
		if e.Picture.Set {
			if err := writePicture(tx, id, shown); err != nil {
				return Reward{}, err
			}
		}
		return r, logEdit(tx, by, r, old.facts(), r.facts())
	})
}

// ErrStockChanged refuses a stock count when a till or a colleague has changed the stock meanwhile.
var ErrStockChanged = core.Refuse("stock-changed", "The stock has changed since you looked. Nothing was changed: look again, then correct it.")

// StockChange adds units to a stock or removes some. Violations are of the field "units".
type StockChange struct {
	Change int64 // negative: removes units

	Malformed core.Fields // what the front end could not read
}

// ChangeStock adds units to a stock or removes some, whatever tills take meanwhile. It can't remove more
// than the stock.
func (s *Service) ChangeStock(ctx context.Context, by core.Actor, id core.ID, c StockChange, once *core.Once[Reward]) (core.Reply[Reward], error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (Reward, error) {
		check := core.NewCheck(c.Malformed)
		change := check.Integer("units", &c.Change, -maxCost, maxCost)
		if change == 0 && check.OK("units") {
			check.Add("units", core.NotZero)
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
	}))
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
	return core.Invalid(core.Fields{"units": {refusal}})
}

// StockCount is a counted stock, and the stock that was displayed before. Violations are of the field
// "units".
type StockCount struct {
	Stock *int64 // the new stock; nil: unlimited
	Seen  *int64 // the displayed stock; nil: unlimited

	Malformed core.Fields // what the front end could not read
}

// SetStock sets a stock if it still equals the displayed one, so that a unit that a till took meanwhile
// doesn't reappear. When an unlimited stock becomes limited, every redemption either comes before or
// takes a unit.
func (s *Service) SetStock(ctx context.Context, by core.Actor, id core.ID, c StockCount, once *core.Once[Reward]) (core.Reply[Reward], error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (Reward, error) {
		check := core.NewCheck(c.Malformed)
		if c.Stock != nil {
			check.Integer("units", c.Stock, 0, maxCost)
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
	}))
}

func logStock(tx *db.Tx, by core.Actor, r Reward, old, now *int64) error {
	return logEdit(tx, by, r, map[string]any{"stock": old}, map[string]any{"stock": now})
}

func logEdit(tx *db.Tx, by core.Actor, r Reward, old, now map[string]any) error {
	return audit.Write(tx, by, audit.Entry{Action: "reward.edit", Subject: "reward", ID: r.ID.String(), Name: r.Name, Old: old, New: now})
}
