// Package reward keeps rewards, their stock, and redemptions: each exchange of
// points or stamps for one. A redemption takes the cost and a piece of stock in one
// transaction, or neither; both are taken by conditional updates, so of many buyers
// of the last piece one gets it.
package reward

import (
	"context"
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

// price is the cost and its unit.
func (r Reward) price() (ledger.Unit, int64) {
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

	Unreadable core.Fields // what the front end could not read
}

const (
	maxName        = 100
	maxDescription = 1000
	maxCost        = 1_000_000_000_000
)

func (n New) validate() (Reward, error) {
	check := core.NewCheck(n.Unreadable)
	r := Reward{
		Name:        check.Text("name", n.Name, maxName),
		Description: check.OptionalText("description", n.Description, maxDescription),
		PointsCost:  n.PointsCost, StampsCost: n.StampsCost, Stock: n.Stock,
	}
	switch {
	case n.PointsCost != nil && n.StampsCost != nil:
		check.Add("stamps_cost", "The stamps cost field is prohibited when points cost is present.")
	case n.StampsCost != nil:
		check.Integer("stamps_cost", n.StampsCost, 1, maxCost)
	default:
		check.Integer("points_cost", n.PointsCost, 1, maxCost)
	}
	if n.Stock != nil {
		check.Integer("stock", n.Stock, 0, maxCost)
	}
	return r, check.Err()
}

// Service keeps rewards and redeems them.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// Add makes a reward. Two round trips.
func (s *Service) Add(ctx context.Context, by core.Actor, n New) (Reward, error) {
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
		return r, audit.Write(tx, by, audit.Entry{Action: "reward.create", Subject: "reward", ID: r.ID.String(), New: r.facts()})
	})
}

// SetActive offers a reward, or no longer.
func (s *Service) SetActive(ctx context.Context, by core.Actor, id core.ID, active bool) (Reward, error) {
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Reward, error) {
		r, err := db.One[Reward](ctx, tx, setActiveSQL, db.Args{"id": id, "active": active})
		if err != nil {
			return Reward{}, err
		}
		return r, audit.Write(tx, by, audit.Entry{
			Action: "reward.edit", Subject: "reward", ID: id.String(),
			Old: map[string]any{"active": !active}, New: map[string]any{"active": active},
		})
	})
}

// ListActive returns a page of the rewards on offer, newest first. One round trip.
func (s *Service) ListActive(ctx context.Context, by core.Actor, p core.Page) (core.List[Reward], error) {
	if err := p.Err(); err != nil {
		return core.List[Reward]{}, err
	}
	statement, args := p.Statement(listSQL, listAfterSQL, listBeforeSQL)
	rewards, err := db.ReadAll[Reward](ctx, s.db, by, statement, args)
	return core.NewList(p, rewards, func(r Reward) core.Cursor { return core.Cursor{At: r.CreatedAt, ID: r.ID} }), err
}

// facts are what the log tells of a reward.
func (r Reward) facts() map[string]any {
	return map[string]any{
		"name": r.Name, "points_cost": r.PointsCost, "stamps_cost": r.StampsCost, "stock": r.Stock, "active": r.Active,
	}
}
