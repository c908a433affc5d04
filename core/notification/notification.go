// Package notification tells owners and managers what needs attention: rewards that run out, coupons
// near their limit, redemptions that wait, sends that failed, people with unusually many voids or
// adjustments, and customers who join unusually fast or fill the plan.
//
// Its surprising rule: a notification is a state, not an event. A job writes one for each cause, once, and
// ends it when the cause is gone. Every read checks the cause as well, so a refilled reward's notification
// is gone at once.
package notification

import (
	"context"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
)

// Kind is what a notification is about.
type Kind string

// The kinds.
const (
	StockLow           Kind = "stock_low"
	StockEmpty         Kind = "stock_empty"
	CouponLimit        Kind = "coupon_limit"        // most of a coupon's redemptions are used
	RedemptionsPending Kind = "redemptions_pending" // for too long; told again every week
	SendFailed         Kind = "send_failed"         // or some of its e-mails
	SendHeld           Kind = "send_held"           // since the business was suspended
	StaffActivity      Kind = "staff_activity"      // unusually many voids, refunds or adjustments in a day
	PlanLimit          Kind = "plan_limit"          // 80 % of the plan's customers
	JoinsFast          Kind = "joins_fast"          // unusually many customers joined online within an hour
)

// Kinds lists all kinds, the most urgent first.
var Kinds = []Kind{PlanLimit, JoinsFast, StockEmpty, StockLow, CouponLimit, RedemptionsPending, SendFailed, SendHeld, StaffActivity}

// lasting is how long a notification about something that can't be undone is listed.
const lasting = 14 * 24 * time.Hour

// Notification is something that needs attention, with its figures at present.
type Notification struct {
	ID        core.ID
	Kind      Kind
	RewardID  *core.ID
	CouponID  *core.ID
	SendID    *core.ID
	StaffID   *int64
	Day       *time.Time // of a person's activity: a midnight in UTC
	Name      string     // of the reward, the coupon or the person
	Figure    int64      // units in stock; redemptions; pending redemptions, PendingLimit + 1 at most; failed e-mails; voids, refunds and adjustments; customers
	Total     int64      // of a coupon and a plan: the limit; of a send: its e-mails; of redemptions: days after which they are told
	Since     *time.Time // when the oldest pending redemption was made
	CreatedAt time.Time
	Unread    bool // this person hasn't seen it before
}

// Counts are the figures beside the navigation: at most CountLimit + 1 each.
type Counts struct {
	Pending int64 // redemptions to fulfil
	Unread  int64 // notifications; 0 for cashiers
}

// CountLimit is how far Counts counts.
const CountLimit = 99

// PendingLimit is how far pending redemptions are counted.
const PendingLimit = 1000

// maxListed is how many notifications a list shows.
const maxListed = 200

// Service reads and writes notifications.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// checkEvery is how often the job looks for causes.
const checkEvery = 15 * time.Minute

// CheckEvery registers the job that looks for causes.
func (s *Service) CheckEvery(jobs *job.Queue) {
	job.HandleWithin(jobs, job.Upkeep, checkEvery, s.checkAll)
	job.Every(jobs, checkEvery, checkNotifications{})
}

// Counts returns the figures beside the navigation, in one round trip.
func (s *Service) Counts(ctx context.Context, by core.Actor) (Counts, error) {
	now := s.db.Now()
	return db.One[Counts](ctx, s.db.Tenant(by), countsSQL, db.Args{
		"staff": by.StaffID, "manages": by.Require(core.Manager) == nil, "now": now, "lasting_since": now.Add(-lasting), "up_to": CountLimit + 1,
	})
}

// List returns the notifications that a person hasn't dismissed, the newest first, and notes that they
// have seen them.
func (s *Service) List(ctx context.Context, by core.Actor) ([]Notification, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) ([]Notification, error) {
		list, err := db.All[Notification](ctx, tx, listSQL, db.Args{
			"staff": by.StaffID, "now": tx.Now, "lasting_since": tx.Now.Add(-lasting), "listed": maxListed,
		})
		if err != nil {
			return nil, err
		}
		for _, n := range list {
			if n.Unread {
				return list, db.Queue(tx, readSQL, db.Args{"staff": by.StaffID, "now": tx.Now})
			}
		}
		return list, nil
	})
}

// Dismiss removes a notification from the person's list. Doing it again changes nothing.
func (s *Service) Dismiss(ctx context.Context, by core.Actor, id core.ID) error {
	_, err := db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (core.ID, error) {
		return db.One[core.ID](ctx, tx, dismissSQL, db.Args{"id": id, "staff": by.StaffID, "now": tx.Now})
	})
	return err
}

// Activity is a void, a refund or an adjustment.
type Activity struct {
	Action       string // "transaction.void", "transaction.refund", "redemption.void" or "customer.adjust"
	CreatedAt    time.Time
	SubjectID    string
	Name         string // of the reward
	CustomerID   *core.ID
	CustomerName string
	SpendCents   *int64  // of a sale
	RefundCents  *int64  // of a refund
	Unit         *string // of an adjustment
	Amount       *int64  // of an adjustment
	Reason       *string
}

// StaffDay is what a notification about a person is about: their voids, refunds and adjustments of a day.
type StaffDay struct {
	StaffID int64
	Name    string
	Day     time.Time  // a midnight in UTC
	Average float64    `db:"-"` // voids, refunds and adjustments a day, in the 30 days before
	List    []Activity `db:"-"` // the newest first, 200 at most
}

// FindStaffDay returns what a notification about a person is about.
func (s *Service) FindStaffDay(ctx context.Context, by core.Actor, id core.ID) (StaffDay, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (StaffDay, error) {
		found, err := db.One[StaffDay](ctx, tx, staffDaySQL, db.Args{"id": id})
		if err != nil {
			return StaffDay{}, err
		}
		d := spanOf(found.Day, by.Tenant.TimeZone)
		var before struct{ Entries int64 }
		err = db.Together(ctx, tx,
			db.AllInto(&found.List, activitySQL, db.Args{"staff": found.StaffID, "actions": unusualActions, "first_id": d.first, "next_id": d.next}),
			db.OneInto(&before, activityBeforeSQL, db.Args{"staff": found.StaffID, "actions": unusualActions, "month_id": d.month, "first_id": d.first}))
		found.Average = float64(before.Entries) / averageDays
		return found, err
	})
}

// Settings are the thresholds of a business.
type Settings struct {
	StockLow      int64 // units
	CouponPercent int64 // of a coupon's limit
	PendingDays   int64 // of a redemption
	StaffDaily    int64 // voids, refunds and adjustments of a person in a day
	StaffFactor   int64 // times the person's own average
}

// SettingsEdit describes a change of settings: fields that are nil stay as they are.
type SettingsEdit struct {
	StockLow, CouponPercent, PendingDays, StaffDaily, StaffFactor core.Optional[int64]

	Malformed core.Fields // what the front end could not read
}

func (e SettingsEdit) validate(old Settings) (Settings, error) {
	check := core.NewCheck(e.Malformed)
	s := Settings{
		StockLow:      check.Integer("stock_low", e.StockLow.Or(&old.StockLow), 0, 1_000_000),
		CouponPercent: check.Integer("coupon_percent", e.CouponPercent.Or(&old.CouponPercent), 1, 100),
		PendingDays:   check.Integer("pending_days", e.PendingDays.Or(&old.PendingDays), 1, 365),
		StaffDaily:    check.Integer("staff_daily", e.StaffDaily.Or(&old.StaffDaily), 1, 10_000),
		StaffFactor:   check.Integer("staff_factor", e.StaffFactor.Or(&old.StaffFactor), 2, 100),
	}
	return s, check.Err()
}

// values returns what the audit log says about settings.
func (s Settings) values() map[string]any {
	return map[string]any{
		"stock_low": s.StockLow, "coupon_percent": s.CouponPercent, "pending_days": s.PendingDays,
		"staff_daily": s.StaffDaily, "staff_factor": s.StaffFactor,
	}
}

// Settings returns the thresholds of the actor's business, for owners.
func (s *Service) Settings(ctx context.Context, by core.Actor) (Settings, error) {
	if err := by.Require(core.Owner); err != nil {
		return Settings{}, err
	}
	return db.One[Settings](ctx, s.db.Tenant(by), settingsSQL, nil)
}

// EditSettings changes thresholds, for owners.
func (s *Service) EditSettings(ctx context.Context, by core.Actor, e SettingsEdit) (Settings, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Owner), func(tx *db.Tx) (Settings, error) {
		// A row to lock: the audit log must have the values that this edit replaces.
		if err := db.Queue(tx, openSettingsSQL, db.Args{"now": tx.Now}); err != nil {
			return Settings{}, err
		}
		old, err := db.One[Settings](ctx, tx, lockSettingsSQL, nil)
		if err != nil {
			return Settings{}, err
		}
		changed, err := e.validate(old)
		if err != nil || changed == old {
			return changed, err
		}
		err = db.Queue(tx, updateSettingsSQL, db.Args{
			"stock_low": changed.StockLow, "coupon_percent": changed.CouponPercent, "pending_days": changed.PendingDays,
			"staff_daily": changed.StaffDaily, "staff_factor": changed.StaffFactor, "now": tx.Now,
		})
		if err != nil {
			return Settings{}, err
		}
		return changed, audit.Write(tx, by, audit.Entry{
			Action: "tenant.edit", Subject: "tenant", ID: idText(int64(by.Tenant.ID)), Name: by.Tenant.Name, Old: old.values(), New: changed.values(),
		})
	})
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }
