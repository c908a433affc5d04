// Package reward keeps rewards, their stock, and redemptions. A redemption takes the cost and a unit of
// stock in one transaction, or neither. Both are conditional updates, so of many buyers of the last
// unit only one gets it.
package reward

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/picture"
)

// Reward is something that customers exchange points or stamps for.
type Reward struct {
	ID          core.ID
	Name        string
	Description *string
	PointsCost  *int64 // either PointsCost
	StampsCost  *int64 // or StampsCost is set
	Stock       *int64 // nil: unlimited
	CostCents   *int64 // what a unit costs the business; nil: not known
	ValueCents  *int64 // what a unit takes off a bill; nil: not known
	PictureHash *string
	Active      bool
	CreatedAt   time.Time
	LowStock    bool // some left, but no more than the business's notifications call low
	Terms
	LevelName *string // of MinLevelID
}

// Price returns the unit and the cost.
func (r Reward) Price() (ledger.Unit, int64) {
	if r.StampsCost != nil {
		return ledger.Stamps, *r.StampsCost
	}
	return ledger.Points, *r.PointsCost
}

// New describes a reward to be created.
type New struct {
	Name        string
	Description string
	PointsCost  *int64
	StampsCost  *int64
	Stock       *int64 // nil: unlimited
	CostCents   *int64
	ValueCents  *int64
	Picture     *[]byte // a PNG, JPEG or WebP file; nil: none
	Terms

	Malformed core.Fields // what the front end could not read
}

const (
	maxName        = 100
	maxDescription = 1000
	maxCost        = 1_000_000_000_000
	pictureSide    = 480 // pixels: shown up to 240 wide, so it is sharp on phones
)

// validate returns the reward that n describes, and its picture as it is stored.
func (n New) validate(ctx context.Context, by core.Actor) (Reward, *picture.Picture, error) {
	check := core.NewCheck(n.Malformed)
	r := n.read(check)
	shown, err := readPicture(ctx, by, check, n.Picture)
	r.PictureHash = shown.HexHash()
	return r, shown, err
}

// readPicture reads an uploaded picture and scales it down. It also returns the check's refusal.
func readPicture(ctx context.Context, by core.Actor, check *core.Check, file *[]byte) (*picture.Picture, error) {
	uploaded, err := picture.Read(ctx, by.Tenant.ID, check, "picture", file, pictureSide)
	if err == nil {
		err = check.Err()
	}
	return uploaded, err
}

// read returns the reward that n describes, and adds violations.
func (n New) read(check *core.Check) Reward {
	r := Reward{
		Name:        check.Text("name", &n.Name, maxName),
		Description: check.OptionalText("description", &n.Description, maxDescription),
		PointsCost:  n.PointsCost, StampsCost: n.StampsCost, Stock: n.Stock, CostCents: n.CostCents, ValueCents: n.ValueCents,
		Terms: n.Terms.read(check),
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
	if n.CostCents != nil {
		check.Integer("cost_cents", n.CostCents, 0, maxCost)
	}
	if n.ValueCents != nil {
		check.Integer("value_cents", n.ValueCents, 1, maxCost)
	}
	return r
}

// Service keeps rewards and redeems them.
type Service struct {
	db     *db.DB
	finder *db.Finder[Redemption]
}

// NewService makes the service.
func NewService(d *db.DB) *Service {
	return &Service{db: d, finder: db.NewFinder(d, findRedemptionSQL, findRedemptionsSQL, func(r Redemption) core.ID { return r.ID })}
}

// Add creates a reward.
func (s *Service) Add(ctx context.Context, by core.Actor, n New, once *core.Once[Reward]) (core.Reply[Reward], error) {
	if err := by.Require(core.Manager); err != nil {
		return core.Reply[Reward]{}, err
	}
	r, shown, err := n.validate(ctx, by)
	if err != nil {
		return core.Reply[Reward]{}, err
	}
	return db.In(ctx, s.db.Tenant(by), db.Once(ctx, by, once, func(tx *db.Tx) (Reward, error) {
		if err := r.checkLevel(ctx, tx, Terms{}); err != nil {
			return Reward{}, err
		}
		r, err := db.One[Reward](ctx, tx, insertSQL, db.Args{
			"min_level": r.MinLevelID, "max_per_customer": r.MaxPerCustomer, "starts_on": r.StartsOn, "ends_on": r.EndsOn,
			"id": core.NewID(tx.Now), "name": r.Name, "description": r.Description,
			"points_cost": r.PointsCost, "stamps_cost": r.StampsCost, "stock": r.Stock, "cost_cents": r.CostCents, "value_cents": r.ValueCents,
			"picture": r.PictureHash, "now": tx.Now,
		})
		if err != nil {
			return Reward{}, err
		}
		if err := writePicture(tx, r.ID, shown); err != nil {
			return Reward{}, err
		}
		return r, audit.Write(tx, by, audit.Entry{Action: "reward.create", Subject: "reward", ID: r.ID.String(), Name: r.Name, New: r.facts()})
	}))
}

// writePicture queues a new picture of a reward; nil: it has none.
func writePicture(tx *db.Tx, id core.ID, shown *picture.Picture) error {
	if shown == nil {
		return db.Queue(tx, deletePictureSQL, db.Args{"id": id})
	}
	return db.Queue(tx, writePictureSQL, db.Args{"id": id, "type": shown.Type, "bytes": shown.Bytes})
}

// Picture returns the picture of a reward by its hash, for everyone: it is on customers' cards. Or
// core.ErrNotFound.
func (s *Service) Picture(ctx context.Context, by core.Actor, id core.ID, hash string) (picture.Picture, error) {
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return picture.Picture{}, core.ErrNotFound
	}
	return db.One[picture.Picture](ctx, s.db.Tenant(by), pictureSQL, db.Args{"id": id, "hash": sum})
}

// SetActive activates or deactivates a reward.
func (s *Service) SetActive(ctx context.Context, by core.Actor, id core.ID, active bool) (Reward, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Reward, error) {
		r, err := db.One[Reward](ctx, tx, setActiveSQL, db.Args{"id": id, "active": active})
		if errors.Is(err, core.ErrNotFound) {
			// The reward already has that state, or doesn't exist.
			return db.One[Reward](ctx, tx, findSQL, db.Args{"id": id})
		}
		if err != nil {
			return Reward{}, err
		}
		return r, logEdit(tx, by, r, map[string]any{"active": !active}, map[string]any{"active": active})
	})
}

// ListActive returns a page of the active rewards, newest first.
func (s *Service) ListActive(ctx context.Context, by core.Actor, p core.Page) (core.List[Reward], error) {
	return db.ListPage(ctx, s.db, by, activeList, nil, p, Reward.position)
}

func (r Reward) position() core.Cursor { return core.Cursor{At: r.CreatedAt, ID: r.ID} }

// WithCounts is a reward with the number of its redemptions.
type WithCounts struct {
	Reward
	Pending  int64
	Redeemed int64 // not voided, including the pending ones
}

// Filter selects rewards. A nil field matches all.
type Filter struct {
	Status *string // active or inactive
}

// List returns a page of the rewards that match the filter, newest first, with the number of their
// redemptions.
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

// Choice is a reward in a selection.
type Choice struct {
	ID     core.ID
	Name   string
	Active bool
}

// Choices returns all rewards by name. A business has some dozens.
func (s *Service) Choices(ctx context.Context, by core.Actor) ([]Choice, error) {
	return db.All[Choice](ctx, s.db.Tenant(by), namesSQL, nil)
}

// Find returns a reward, or core.ErrNotFound.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.ID) (WithCounts, error) {
	return db.One[WithCounts](ctx, s.db.Tenant(by), findCountedSQL, db.Args{"id": id})
}

// FindReward is Find without the counts.
func (s *Service) FindReward(ctx context.Context, by core.Actor, id core.ID) (Reward, error) {
	return db.One[Reward](ctx, s.db.Tenant(by), findSQL, db.Args{"id": id})
}

// facts returns a reward's values for the audit log.
func (r Reward) facts() map[string]any {
	return r.termFacts(map[string]any{
		"name": r.Name, "description": r.Description, "points_cost": r.PointsCost, "stamps_cost": r.StampsCost,
		"stock": r.Stock, "active": r.Active, "cost_cents": r.CostCents, "value_cents": r.ValueCents, "picture": r.PictureHash,
	})
}
