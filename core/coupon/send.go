package coupon

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/tenant"
)

// Segment names the customers that a send is for (specification §2).
type Segment string

// The four segments.
const (
	All            Segment = "all"             // every active customer
	LongStanding   Segment = "long_standing"   // customers of more than 90 days, counted in the tenant's days
	RecentPurchase Segment = "recent_purchase" // customers with a completed transaction in the last 30 times 24 hours
	Manual         Segment = "manual"          // exactly the customers named
)

const (
	longStandingDays     = 90
	recentPurchasePeriod = 30 * 24 * time.Hour
)

// Refusals of a send. Redeeming a voucher refuses an inactive coupon as well.
var (
	ErrInactive   = core.Refuse("coupon-inactive", "This coupon is no longer active.")
	ErrExpired    = core.Refuse("coupon-expired", "This coupon has expired.")
	ErrNotStarted = core.Refuse("coupon-not-started", "This coupon has not started yet.")
)

// Send describes a send to be confirmed.
type Send struct {
	Segment   Segment
	Customers []string // ULIDs, of a manual segment
	FormKey   string   // of the form that confirms it: sent twice, it is one send
}

// Sending is a send and how far it is.
type Sending struct {
	ID              core.ID
	CouponID        core.ID
	Segment         Segment
	Status          SendStatus
	Matched         int64 // members of the segment
	Sent            int64 // vouchers made
	SkippedInactive int64
	SkippedLimit    int64 // members who hold as many vouchers as they may
	CreatedAt       time.Time
	EvaluatedAt     *time.Time
}

// SendStatus says how far a send is.
type SendStatus string

// A send waits for its job, which makes the vouchers; mails follow.
const (
	Waiting SendStatus = "waiting"
	Mailing SendStatus = "mailing"
	Done    SendStatus = "done"
)

// Evaluation is the job that makes a send's vouchers.
type Evaluation struct {
	Tenant core.TenantID `json:"tenant"`
	Send   core.ID       `json:"send"`
}

// Kind names the job in the queue.
func (Evaluation) Kind() string { return "coupon_evaluation" }

// Send confirms a send: stores it and queues its job, which evaluates the segment
// once. Confirmed twice with one form key, it is one send. Five round trips, one
// more for a manual segment, and one that wakes the workers unless they were woken a
// tenth of a second ago.
func (s *Service) Send(ctx context.Context, by core.Actor, coupon core.ID, send Send) (Sending, error) {
	if err := by.Require(core.Manager); err != nil {
		return Sending{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Sending, error) {
		c, err := db.One[Coupon](ctx, tx, findSQL, db.Args{"id": coupon})
		if err != nil {
			return Sending{}, err
		}
		members, err := send.validate(ctx, tx)
		if err != nil {
			return Sending{}, err
		}
		if err := c.sendable(tx.Now); err != nil {
			return Sending{}, err
		}
		made, err := db.One[Sending](ctx, tx, insertSendSQL, db.Args{
			"id": core.NewID(tx.Now), "coupon": coupon, "segment": send.Segment, "customers": members, "form_key": send.FormKey,
			"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
		})
		if errors.Is(err, core.ErrNotFound) {
			return db.One[Sending](ctx, tx, findSendByFormSQL, db.Args{"form_key": send.FormKey})
		}
		if err != nil {
			return Sending{}, err
		}
		err = audit.Write(tx, by, audit.Entry{
			Action: "coupon.send", Subject: "coupon", ID: coupon.String(),
			New: map[string]any{"send": made.ID, "segment": send.Segment, "customers": len(members)},
		})
		if err != nil {
			return Sending{}, err
		}
		return made, s.jobs.Add(ctx, tx, Evaluation{Tenant: by.Tenant.ID, Send: made.ID})
	})
}

// LoggedSending is a send, what became of its vouchers so far, and who confirmed it.
type LoggedSending struct {
	Sending
	Redeemed  int64
	ExpiresAt *time.Time // of its vouchers; nil: never
	ActorKind core.ActorKind
	ActorName string
}

// ListSends returns a page of a coupon's sends, the last one first, or core.ErrNotFound.
// One round trip, and a second for an empty page.
func (s *Service) ListSends(ctx context.Context, by core.Actor, coupon core.ID, p core.Page) (core.List[LoggedSending], error) {
	var sends []LoggedSending
	var err error
	if len(p.Unreadable) == 0 {
		statement, args := p.Statement(listSendsSQL, listSendsAfterSQL, listSendsBeforeSQL)
		delete(args, "at") // ids are made at created_at
		args["coupon"] = coupon
		if sends, err = db.ReadAll[LoggedSending](ctx, s.db, by, statement, args); err != nil {
			return core.List[LoggedSending]{}, err
		}
	}
	if len(sends) == 0 {
		// None of a coupon, or of nobody's? That comes before a bad query.
		if _, err := db.ReadOne[Coupon](ctx, s.db, by, findSQL, db.Args{"id": coupon}); err != nil {
			return core.List[LoggedSending]{}, err
		}
	}
	return core.NewList(p, sends, func(s LoggedSending) core.Cursor { return core.Cursor{At: s.CreatedAt, ID: s.ID} }), p.Err()
}

// sendable refuses a coupon that cannot be sent at that instant.
func (c Coupon) sendable(now time.Time) error {
	switch {
	case !c.Active:
		return ErrInactive
	case c.ExpiresAt != nil && !now.Before(*c.ExpiresAt):
		return ErrExpired
	case c.StartsAt != nil && now.Before(*c.StartsAt):
		return ErrNotStarted
	}
	return nil
}

// validate returns the members of a manual segment, each once, nil for the others. One
// that is nobody's refuses the whole send and is named.
func (s Send) validate(ctx context.Context, tx *db.Tx) ([]core.ID, error) {
	check := core.NewCheck(nil)
	core.OneOf(check, "segment", s.Segment, All, LongStanding, RecentPurchase, Manual)
	check.Text("form_key", &s.FormKey, 100)
	if s.Segment != Manual {
		return nil, check.Err()
	}
	if len(s.Customers) == 0 {
		check.Required("customers")
	}
	nobody := func(ulid string) { check.Add("customers", "There is no customer "+ulid+".") }
	members := make([]core.ID, 0, len(s.Customers))
	for _, ulid := range s.Customers {
		id, err := core.ParseID(ulid)
		if err != nil {
			nobody(ulid)
			continue
		}
		members = append(members, id)
	}
	slices.SortFunc(members, func(a, b core.ID) int { return bytes.Compare(a[:], b[:]) })
	members = slices.Compact(members)
	unknown, err := db.All[struct{ ID core.ID }](ctx, tx, unknownCustomersSQL, db.Args{"ids": members})
	if err != nil {
		return nil, err
	}
	for _, u := range unknown {
		nobody(u.ID.String())
	}
	return members, check.Err()
}

func (s *Service) evaluate(ctx context.Context, e Evaluation) error {
	t, err := tenant.ByID(ctx, s.db, e.Tenant)
	if err != nil {
		return err
	}
	_, err = s.Evaluate(ctx, core.System(t, "coupon send"), e.Send)
	return err
}

// evaluationLimit lets one wait for the send before it and then take its own time
// (db.TakeTime), and a little more.
const evaluationLimit = 25 * time.Minute

// Evaluate evaluates a send's segment, once, and makes its vouchers, in one
// transaction under an advisory lock on the coupon: two sends of one coupon wait for
// each other, so that nobody gets more vouchers than max_per_customer, and never for
// a till. However late it runs, the segment is that of the moment the send was
// confirmed. A send that was evaluated is returned as it is.
func (s *Service) Evaluate(ctx context.Context, by core.Actor, send core.ID) (Sending, error) {
	if err := by.Require(core.Manager); err != nil {
		return Sending{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Sending, error) {
		if err := db.TakeTime(tx); err != nil {
			return Sending{}, err
		}
		if err := db.Queue(tx, lockSendsSQL, db.Args{"send": send}); err != nil {
			return Sending{}, err
		}
		state, err := db.One[evaluation](ctx, tx, evaluationSQL, db.Args{"send": send})
		if err != nil {
			return Sending{}, err
		}
		if state.Status != Waiting {
			return db.One[Sending](ctx, tx, findSendSQL, db.Args{"send": send})
		}
		counts, err := db.One[counts](ctx, tx, segments[state.Segment], state.args(send, tx.Now, by.Tenant.TimeZone))
		if err != nil {
			return Sending{}, err
		}
		return db.One[Sending](ctx, tx, evaluatedSQL, db.Args{
			"send": send, "matched": counts.Matched, "sent": counts.Sent,
			"inactive": counts.SkippedInactive, "limit": counts.SkippedLimit,
			"expires_at": state.voucherExpiry(by.Tenant.TimeZone), "now": tx.Now,
		})
	})
}

// args are what the statement of a segment asks for.
func (e evaluation) args(send core.ID, now time.Time, zone *time.Location) db.Args {
	args := db.Args{
		"send": send, "coupon": e.CouponID, "max_per_customer": e.MaxPerCustomer,
		"expires_at": e.voucherExpiry(zone), "now": now,
	}
	switch e.Segment {
	case All:
		args["at"] = e.CreatedAt
	case LongStanding:
		args["before"] = localDay(e.CreatedAt, zone, -longStandingDays)
	case RecentPurchase:
		since := e.CreatedAt.Add(-recentPurchasePeriod)
		args["since"], args["since_id"], args["at"] = since, core.FirstID(since), e.CreatedAt
	case Manual:
	}
	return args
}

// voucherExpiry is the earlier of the coupon's own and the end of the local day so
// many days after the send; nil where there is neither.
func (e evaluation) voucherExpiry(zone *time.Location) *time.Time {
	expiry := e.ExpiresAt
	if e.VoucherValidDays != nil {
		end := localDay(e.CreatedAt, zone, int(*e.VoucherValidDays)+1)
		if expiry == nil || end.Before(*expiry) {
			expiry = &end
		}
	}
	return expiry
}

// localDay is the first instant of the local day so many days from that instant's.
func localDay(instant time.Time, zone *time.Location, days int) time.Time {
	y, m, d := instant.In(zone).Date()
	return core.StartOfDay(y, m, d+days, zone)
}
