// Package reward keeps rewards, their stock, and redemptions: each exchange of
// points or stamps for one. A redemption takes the cost and a piece of stock in one
// transaction, or neither; both are taken by conditional updates, so of many buyers
// of the last piece one gets it.
package reward

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// Reward is something that points or stamps are exchanged for.
type Reward struct {
	ID          core.ID
	Name        string
	Description *string
	PointsCost  *int64 // either this
	StampsCost  *int64 // or that
	Stock       *int64 // nil: unlimited
	Active      bool
	CreatedAt   time.Time
}

// Price is the cost and its unit.
func (r Reward) Price() (ledger.Unit, int64) {
	if r.StampsCost != nil {
		return ledger.Stamps, *r.StampsCost
	}
	return ledger.Points, *r.PointsCost
}

// New describes a reward to be.
type New struct {
	Name        *string
	Description *string
	PointsCost  *int64
	StampsCost  *int64
	Stock       *int64 // nil: unlimited

	Malformed core.Fields // what the front end could not read
}

const (
	maxName        = 100
	maxDescription = 1000
	maxCost        = 1_000_000_000_000
)

func (n New) validate() (Reward, error) {
	check := core.NewCheck(n.Malformed)
	r := n.read(check)
	return r, check.Err()
}

// read returns the reward that n describes, and notes what is wrong with it.
func (n New) read(check *core.Check) Reward {
	r := Reward{
		Name:        check.Text("name", n.Name, maxName),
		Description: check.OptionalText("description", n.Description, maxDescription),
		PointsCost:  n.PointsCost, StampsCost: n.StampsCost, Stock: n.Stock,
	}
	switch {
	case n.PointsCost != nil && n.StampsCost != nil:
		check.Add("stamps_cost", core.Violation{Rule: "prohibited_with", Other: "points_cost"})
	case n.StampsCost != nil:
		check.Integer("stamps_cost", n.StampsCost, 1, maxCost)
	default:
		check.Integer("points_cost", n.PointsCost, 1, maxCost)
	}
	if n.Stock != nil {
		check.Integer("stock", n.Stock, 0, maxCost)
	}
	return r
}

// Service keeps rewards and redeems them.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// Add makes a reward. Two round trips.
func (s *Service) Add(ctx context.Context, by core.Actor, n New) (Reward, error) {
	if err := by.Require(core.Manager); err != nil {
		return Reward{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Reward, error) {
		r, err := n.validate()
		if err != nil {
			return Reward{}, err
		}
		r, err = db.One[Reward](ctx, tx, insertSQL, db.Args{
			"id": core.NewID(tx.Now), "name": r.Name, "description": r.Description,
			"points_cost": r.PointsCost, "stamps_cost": r.StampsCost, "stock": r.Stock, "now": tx.Now,
		})
		if err != nil {
			return Reward{}, err
		}
		return r, audit.Write(tx, by, audit.Entry{Action: "reward.create", Subject: "reward", ID: r.ID.String(), Name: r.Name, New: r.facts()})
	})
}

// SetActive offers a reward, or no longer. Two round trips, and a third where it is so
// already.
func (s *Service) SetActive(ctx context.Context, by core.Actor, id core.ID, active bool) (Reward, error) {
	if err := by.Require(core.Manager); err != nil {
		return Reward{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Reward, error) {
		r, err := db.One[Reward](ctx, tx, setActiveSQL, db.Args{"id": id, "active": active})
		if errors.Is(err, core.ErrNotFound) {
			// Nothing changed: it is so already, or nobody's.
			return db.One[Reward](ctx, tx, findSQL, db.Args{"id": id})
		}
		if err != nil {
			return Reward{}, err
		}
		return r, logEdit(tx, by, r, map[string]any{"active": !active}, map[string]any{"active": active})
	})
}

// ListActive returns a page of the rewards on offer, newest first. One round trip.
func (s *Service) ListActive(ctx context.Context, by core.Actor, p core.Page) (core.List[Reward], error) {
	return db.ListPage(ctx, s.db, by, activeList, nil, p, Reward.position)
}

func (r Reward) position() core.Cursor { return core.Cursor{At: r.CreatedAt, ID: r.ID} }

// WithCounts is a reward and how often it was exchanged for.
type WithCounts struct {
	Reward
	Pending  int64 // redemptions that wait to be handed over
	Redeemed int64 // redemptions that were not voided, the pending ones among them
}

// Filter picks rewards. Fields that are nil pick all.
type Filter struct {
	Status *string // active or inactive
}

// List returns a page of the rewards that match the filter, newest first. One round
// trip; the redemptions of those on the page are counted.
func (s *Service) List(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[WithCounts], error) {
	check := core.NewCheck(p.Malformed)
	args := db.Args{}
	if f.Status != nil {
		core.OneOf(check, "status", *f.Status, "active", "inactive")
		args[*f.Status] = true
	}
	if err := check.Err(); err != nil {
		return core.List[WithCounts]{}, err
	}
	return db.ListPage(ctx, s.db, by, countedList, args, p, WithCounts.position)
}

// Choice is a reward to choose.
type Choice struct {
	ID     core.ID
	Name   string
	Active bool
}

// Choices returns all rewards by name. A business has some dozens. One round trip.
func (s *Service) Choices(ctx context.Context, by core.Actor) ([]Choice, error) {
	return db.ReadAll[Choice](ctx, s.db, by, namesSQL, nil)
}

// Find returns a reward, or core.ErrNotFound. One round trip.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.ID) (WithCounts, error) {
	return db.ReadOne[WithCounts](ctx, s.db, by, findCountedSQL, db.Args{"id": id})
}

// facts are what the log tells of a reward.
func (r Reward) facts() map[string]any {
	return map[string]any{
		"name": r.Name, "description": r.Description, "points_cost": r.PointsCost, "stamps_cost": r.StampsCost,
		"stock": r.Stock, "active": r.Active,
	}
}
