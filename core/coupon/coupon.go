// Package coupon keeps coupons, sends them to segments of customers as vouchers, and redeems
// vouchers. A voucher past its expiry is read as expired; the stored status follows later.
package coupon

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/link"
)

// BenefitType says what a voucher gives.
type BenefitType string

// The types. Points, stamps and rewards are granted here; the cashier applies percent and amount.
const (
	Points  BenefitType = "points"
	Stamps  BenefitType = "stamps"
	Percent BenefitType = "percent"
	Amount  BenefitType = "amount"
	Reward  BenefitType = "reward"
)

// Benefit is what a voucher gives: a number of points, stamps, percent or cents, or a reward.
type Benefit struct {
	BenefitType     BenefitType
	BenefitValue    *int64   // nil for a reward
	BenefitRewardID *core.ID // of a reward
}

// Coupon is a benefit that a tenant sends to customers.
type Coupon struct {
	ID          core.ID
	Name        string
	Description *string
	Benefit
	MaxPerCustomer   int64
	MaxRedemptions   *int64 // in total; nil: no limit
	RedemptionsCount int64
	StartsAt         *time.Time // not sent before
	ExpiresAt        *time.Time // not sent after, and the latest expiry of its vouchers
	VoucherValidDays *int64
	MinLevelID       *int64  // the lowest level whose customers can redeem its vouchers; nil: all
	LevelName        *string // of MinLevelID
	Active           bool
	CreatedAt        time.Time
}

// New describes a new coupon.
type New struct {
	Name             string
	Description      string
	BenefitType      string
	BenefitValue     *int64
	BenefitRewardID  *core.ID
	MaxPerCustomer   *int64 // nil: 1
	MaxRedemptions   *int64
	StartsAt         *time.Time
	ExpiresAt        *time.Time
	VoucherValidDays *int64
	MinLevelID       *int64

	Malformed core.Fields // what the front end could not read
}

const (
	maxName        = 100
	maxDescription = 1000
	maxNumber      = 1_000_000_000_000
)

// read returns the coupon that n describes, and adds what is wrong with it to the check.
func (n New) read(check *core.Check) Coupon {
	c := Coupon{
		Name:           check.Text("name", &n.Name, maxName),
		Description:    check.OptionalText("description", &n.Description, maxDescription),
		MaxPerCustomer: 1, MaxRedemptions: n.MaxRedemptions,
		StartsAt: n.StartsAt, ExpiresAt: n.ExpiresAt, VoucherValidDays: n.VoucherValidDays,
		MinLevelID: n.MinLevelID,
	}
	if n.MaxPerCustomer != nil {
		c.MaxPerCustomer = check.Integer("max_per_customer", n.MaxPerCustomer, 1, maxNumber)
	}
	if n.MaxRedemptions != nil {
		check.Integer("max_redemptions", n.MaxRedemptions, 1, maxNumber)
	}
	if n.VoucherValidDays != nil {
		check.Integer("voucher_valid_days", n.VoucherValidDays, 1, 36_500)
	}
	if n.StartsAt != nil && n.ExpiresAt != nil && !n.ExpiresAt.After(*n.StartsAt) {
		check.Add("expires_at", core.Violation{Rule: "after_start"})
	}
	c.Benefit = n.benefit(check)
	return c
}

func (n New) benefit(check *core.Check) Benefit {
	b := Benefit{BenefitType: BenefitType(check.Text("benefit_type", &n.BenefitType, 20))}
	if !check.OK("benefit_type") {
		return b
	}
	switch b.BenefitType {
	case Reward:
		if n.BenefitRewardID == nil {
			check.Add("benefit_reward_ulid", core.Required)
		}
		b.BenefitRewardID = n.BenefitRewardID
	case Percent:
		check.Integer("benefit_value", n.BenefitValue, 1, 100)
		b.BenefitValue = n.BenefitValue
	case Points, Stamps:
		check.Integer("benefit_value", n.BenefitValue, 1, ledger.MaxAward)
		b.BenefitValue = n.BenefitValue
	case Amount:
		check.Integer("benefit_value", n.BenefitValue, 1, maxNumber)
		b.BenefitValue = n.BenefitValue
	default:
		check.Add("benefit_type", core.InvalidChoice)
	}
	return b
}

// Service keeps coupons, sends them and redeems vouchers.
type Service struct {
	db    *db.DB
	jobs  *job.Queue
	mails Mails
	links link.Maker
	log   *slog.Logger
	tests *limit.Window // of test mails
	paces sync.Map      // *rate.Limiter by tenant
}

// NewService makes the service and registers its jobs.
func NewService(d *db.DB, jobs *job.Queue, mails Mails, links link.Maker, log *slog.Logger) *Service {
	s := &Service{db: d, jobs: jobs, mails: mails, links: links, log: log, tests: limit.NewWindow(testMails, testMailWindow, d.Now)}
	job.HandleWithin(jobs, job.Sends, evaluationLimit, job.OrHold(s.evaluate, s.holdEvaluation))
	job.Handle(jobs, job.Sends, job.OrHold(s.deliver, s.holdDelivery))
	job.Handle(jobs, job.Mail, s.sendTest)
	job.Handle(jobs, job.Upkeep, s.expire)
	job.Every(jobs, 10*time.Minute, voucherExpiry{})
	job.Handle(jobs, job.Upkeep, s.tendSends)
	job.Every(jobs, time.Minute, sendUpkeep{})
	return s
}

// ShareLimits lets the limit of test mails count in Redis, if r isn't nil. It must be called before the service
// is used.
func (s *Service) ShareLimits(r *limit.Redis) { s.tests.Shared(r, "test-mail") }

// At returns the service at another instant, for the demo, the sandbox and tests.
func (s *Service) At(instant time.Time) *Service {
	return &Service{db: s.db.At(instant), jobs: s.jobs, mails: s.mails, links: s.links, log: s.log, tests: s.tests}
}

// Add creates a coupon. One that has ended already couldn't be sent, so its end must lie in the future.
func (s *Service) Add(ctx context.Context, by core.Actor, n New, once *core.Once[Coupon]) (core.Reply[Coupon], error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (Coupon, error) {
		check := core.NewCheck(n.Malformed)
		c := n.read(check)
		if c.ExpiresAt != nil && !c.ExpiresAt.After(tx.Now) && check.OK("expires_at") {
			check.Add("expires_at", core.MustBeFuture)
		}
		if err := cmp.Or(checkReward(ctx, tx, check, c.Benefit), c.checkLevel(ctx, tx, check, nil)); err != nil {
			return Coupon{}, err
		}
		if err := check.Err(); err != nil {
			return Coupon{}, err
		}
		args := c.args()
		args["id"], args["now"] = core.NewID(tx.Now), tx.Now
		c, err := db.One[Coupon](ctx, tx, insertSQL, args)
		if err != nil {
			return Coupon{}, err
		}
		return c, audit.Write(tx, by, audit.Entry{Action: "coupon.create", Subject: "coupon", ID: c.ID.String(), Name: c.Name, New: c.facts()})
	}))
}

// checkReward checks that the reward of a benefit exists.
func checkReward(ctx context.Context, tx *db.Tx, check *core.Check, b Benefit) error {
	if b.BenefitRewardID == nil || !check.OK("benefit_reward_ulid") {
		return nil
	}
	_, err := db.One[bool](ctx, tx, rewardSQL, db.Args{"reward": *b.BenefitRewardID})
	if errors.Is(err, core.ErrNotFound) {
		check.Add("benefit_reward_ulid", core.InvalidChoice)
		return nil
	}
	return err
}

// checkLevel checks that the coupon can ask for its level.
func (c Coupon) checkLevel(ctx context.Context, tx *db.Tx, check *core.Check, before *int64) error {
	can, err := level.CanAsk(ctx, tx, c.MinLevelID, before)
	if !can && check.OK("min_level_id") {
		check.Add("min_level_id", core.InvalidChoice)
	}
	return err
}

// SetActive activates or deactivates a coupon. Vouchers of an inactive one can't be redeemed.
func (s *Service) SetActive(ctx context.Context, by core.Actor, id core.ID, active bool) (Coupon, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Coupon, error) {
		c, err := db.One[Coupon](ctx, tx, setActiveSQL, db.Args{"id": id, "active": active})
		if errors.Is(err, core.ErrNotFound) {
			// The coupon already has that state, or doesn't exist.
			return db.One[Coupon](ctx, tx, findSQL, db.Args{"id": id})
		}
		if err != nil {
			return Coupon{}, err
		}
		return c, audit.Write(tx, by, audit.Entry{
			Action: "coupon.edit", Subject: "coupon", ID: id.String(), Name: c.Name,
			Old: map[string]any{"active": !active}, New: map[string]any{"active": active},
		})
	})
}

// List returns a page of the coupons, newest first.
func (s *Service) List(ctx context.Context, by core.Actor, p core.Page) (core.List[Coupon], error) {
	return db.ListPage(ctx, s.db, by, couponList, nil, p, Coupon.position)
}

func (c Coupon) position() core.Cursor { return core.Cursor{At: c.CreatedAt, ID: c.ID} }

func (c Coupon) args() db.Args {
	return db.Args{
		"name": c.Name, "description": c.Description,
		"benefit_type": c.BenefitType, "benefit_value": c.BenefitValue, "benefit_reward": c.BenefitRewardID,
		"max_per_customer": c.MaxPerCustomer, "max_redemptions": c.MaxRedemptions, "starts_at": c.StartsAt,
		"expires_at": c.ExpiresAt, "voucher_valid_days": c.VoucherValidDays, "min_level": c.MinLevelID,
	}
}

// facts returns what the audit log says about a coupon.
func (c Coupon) facts() map[string]any {
	facts := map[string]any{
		"name": c.Name, "description": c.Description, "benefit_type": c.BenefitType, "benefit_value": c.BenefitValue, "benefit_reward_ulid": c.BenefitRewardID,
		"max_per_customer": c.MaxPerCustomer, "max_redemptions": c.MaxRedemptions,
		"starts_at": c.StartsAt, "expires_at": c.ExpiresAt, "voucher_valid_days": c.VoucherValidDays, "active": c.Active,
	}
	if c.LevelName != nil {
		facts["level"] = c.LevelName
	}
	return facts
}

// State says whether a coupon can be used, at the moment it is read.
type State string

// The states.
const (
	StateActive   State = "active"
	StateUpcoming State = "upcoming" // starts later
	StateExpired  State = "expired"  // active or not
	StateInactive State = "inactive" // deactivated
)

// CanSend reports whether the coupon can be sent: an upcoming one at a time after its start.
func (s State) CanSend() bool { return s == StateActive || s == StateUpcoming }

// WithCounts is a coupon with its vouchers counted by status, at the moment it is read.
type WithCounts struct {
	Coupon
	State      State
	RewardName *string // of a reward benefit
	Sends      int64
	Sent       int64 // vouchers, of any status
	Pending    int64
	Redeemed   int64
	Expired    int64

	PendingUntil  *time.Time // when the last of the pending vouchers expires; nil: none does, or there is none
	PendingOnward bool       // some of the pending vouchers never expire
}

// Holders counts the customers who hold vouchers of a coupon that can still be redeemed.
type Holders struct {
	Customers, Vouchers int64
	More                bool // there are more, which were not counted
}

// maxHeld ends the count of held vouchers.
const maxHeld = 10_000

// CountHolders counts the holders of a coupon's pending vouchers, up to 10,000 vouchers.
func (s *Service) CountHolders(ctx context.Context, by core.Actor, id core.ID) (Holders, error) {
	h, err := db.One[struct{ Customers, Vouchers int64 }](ctx, s.db.Tenant(by), countHoldersSQL, db.Args{"id": id, "now": s.db.Now(), "limit": maxHeld + 1})
	return Holders{Customers: h.Customers, Vouchers: min(h.Vouchers, maxHeld), More: h.Vouchers > maxHeld}, err
}

// Filter selects coupons. A nil field selects all.
type Filter struct {
	State    *string // active, upcoming, expired or inactive
	Sendable *bool   // true: those that can be sent
}

// ListWithCounts returns a page of the coupons that match the filter, newest first. Its cost does not
// grow with the number of vouchers.
func (s *Service) ListWithCounts(ctx context.Context, by core.Actor, f Filter, p core.Page) (core.List[WithCounts], error) {
	check := core.NewCheck(p.Malformed)
	if f.State != nil {
		core.OneOf(check, "state", State(*f.State), StateActive, StateUpcoming, StateExpired, StateInactive)
	}
	if err := check.Err(); err != nil {
		return core.List[WithCounts]{}, err
	}
	return db.ListPage(ctx, s.db, by, countedList, db.Args{"state": f.State, "sendable": f.Sendable, "now": s.db.Now()}, p, WithCounts.position)
}

// FindCoupon is Find without the counts.
func (s *Service) FindCoupon(ctx context.Context, by core.Actor, id core.ID) (Coupon, error) {
	return db.One[Coupon](ctx, s.db.Tenant(by), findSQL, db.Args{"id": id})
}

// Find returns a coupon, or core.ErrNotFound.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.ID) (WithCounts, error) {
	return db.One[WithCounts](ctx, s.db.Tenant(by), findCountedSQL, db.Args{"id": id, "now": s.db.Now()})
}
