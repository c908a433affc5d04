package coupon

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/usage"
)

// Segment names the customers that a send is for (specification §2).
type Segment string

// The four segments.
const (
	All            Segment = "all"             // every active customer
	LongStanding   Segment = "long_standing"   // customers of more than 90 days, counted in the tenant's days
	RecentPurchase Segment = "recent_purchase" // customers with a completed transaction in the last 30 times 24 hours
	Manual         Segment = "manual"          // the customers that are named
)

const (
	longStandingDays     = 90
	recentPurchasePeriod = 30 * 24 * time.Hour
)

// Limits of a send.
const (
	MaxManual  = 5_000                // customers of a manual segment
	maxAhead   = 365 * 24 * time.Hour // until a scheduled send
	maxSubject = 150
	maxMessage = 1000
)

// Refusals of a send. ErrInactive also refuses to redeem a voucher.
var (
	ErrInactive   = core.Refuse("coupon-inactive", "This coupon is no longer active.")
	ErrExpired    = core.Refuse("coupon-expired", "This coupon has expired.")
	ErrNotStarted = core.Refuse("coupon-not-started", "This coupon has not started yet.")
	ErrSendBegun  = core.Refuse("send-begun", "This send has already started.")
)

// Send describes a new send.
type Send struct {
	Segment   Segment
	Customers []string       // ULIDs, of a manual segment
	Audience  daily.Audience // whose customers a manual segment has, instead of named ones; "": none
	At        *time.Time     // nil: now
	Subject   *string        // of the e-mail; nil: the coupon's name
	Message   *string        // above the voucher; nil: the coupon's description
	FormKey   string         // of the form that confirms it: submitted twice, it is one send

	Malformed core.Fields // what the front end could not read
}

// Sending is a send and its progress.
type Sending struct {
	ID              core.ID
	CouponID        core.ID
	CouponName      string
	Segment         Segment
	Audience        *daily.Audience // of a manual segment: who was in it when the send was confirmed; nil: the customers were named
	Status          SendStatus
	Subject         string
	Message         string
	Matched         int64 // members of the segment
	Sent            int64 // vouchers created
	SkippedInactive int64
	SkippedLimit    int64 // members who already hold as many vouchers as allowed
	NoEmail         int64 // vouchers of customers without an e-mail address
	Unsubscribed    int64 // vouchers of customers who get no e-mails
	Mails           int64 // mailed vouchers: Sent without NoEmail and Unsubscribed
	Delivered       int64
	Failed          int64 // not tried again automatically
	SendAt          time.Time
	HeldAt          *time.Time // it was due while the business was suspended, and waits for a decision; nil: not on hold
	CreatedAt       time.Time
	BegunAt         *time.Time // its job started
	EvaluatedAt     *time.Time // its vouchers were created
	EndedAt         *time.Time // done, cancelled or failed
	Failure         *string    // code of the rule that refused it
}

// OnHold reports whether the send waits for a decision, because it was due while the business was suspended.
func (s Sending) OnHold() bool {
	return s.HeldAt != nil && (s.Status == Waiting || s.Status == Mailing)
}

// CanCancel reports whether the send can still be cancelled: its job has not started.
func (s Sending) CanCancel() bool { return s.Status == Waiting && s.BegunAt == nil }

// SendStatus is the progress of a send.
type SendStatus string

// A send waits for its time. Then its job creates the vouchers, and e-mails follow.
const (
	Waiting   SendStatus = "waiting"
	Mailing   SendStatus = "mailing"
	Stopped   SendStatus = "stopped" // its e-mails; the vouchers stay valid
	Done      SendStatus = "done"
	Cancelled SendStatus = "cancelled" // before it started
	Failed    SendStatus = "failed"    // the coupon could not be sent at its time
)

// Evaluation is the job that creates a send's vouchers.
type Evaluation struct {
	Tenant core.TenantID `json:"tenant"`
	Send   core.ID       `json:"send"`
}

// Kind names the job in the queue.
func (Evaluation) Kind() string { return "coupon_evaluation" }

// ForTenant returns the tenant whose share of the workers the job uses.
func (e Evaluation) ForTenant() core.TenantID { return e.Tenant }

// Send stores a send and queues its job, which evaluates the segment once, at the send's time. The
// same form key twice is one send. A send beyond the plan's limit is refused with usage.ErrLimit.
func (s *Service) Send(ctx context.Context, by core.Actor, coupon core.ID, send Send) (Sending, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Sending, error) {
		c, err := db.One[Coupon](ctx, tx, findSQL, db.Args{"id": coupon})
		if err != nil {
			return Sending{}, err
		}
		checked, err := send.validate(ctx, tx, c)
		if err != nil {
			return Sending{}, err
		}
		if err := c.sendable(checked.at); err != nil {
			return Sending{}, err
		}
		sql, args := insertSendSQL, db.Args{"customers": checked.members}
		if send.Audience != "" {
			sql, args = ofAudience(send.Audience, insertLapsedSendSQL, insertGroupSendSQL), send.Audience.Args(tx.Now, by.Tenant.TimeZone)
			args["audience"] = send.Audience
		}
		maps.Copy(args, db.Args{
			"id": core.NewID(tx.Now), "coupon": coupon, "segment": send.Segment, "form_key": send.FormKey,
			"send_at": checked.at, "subject": checked.subject, "message": checked.message,
			"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
		})
		made, err := db.One[Sending](ctx, tx, sql, args)
		if errors.Is(err, core.ErrNotFound) {
			return db.One[Sending](ctx, tx, findSendByFormSQL, db.Args{"form_key": send.FormKey})
		}
		if err != nil {
			return Sending{}, err
		}
		// Counted after the insert: a form that is submitted twice must not be refused.
		if err := usage.Check(ctx, tx, usage.Sends, 0); err != nil {
			return Sending{}, err
		}
		facts := map[string]any{"send": made.ID, "segment": send.Segment, "customers": len(checked.members)}
		if send.Audience != "" {
			facts["audience"] = send.Audience
		}
		if send.At != nil {
			facts["send_at"] = checked.at
		}
		if err := audit.Write(tx, by, audit.Entry{Action: "coupon.send", Subject: "coupon", ID: coupon.String(), Name: c.Name, New: facts}); err != nil {
			return Sending{}, err
		}
		return made, s.jobs.AddAt(ctx, tx, Evaluation{Tenant: by.Tenant.ID, Send: made.ID}, checked.at)
	})
}

// checkedSend is a valid Send.
type checkedSend struct {
	members          []core.ID // of a manual segment, each once; else nil
	at               time.Time
	subject, message string
}

// validate checks a send. An unknown customer in a manual segment refuses the whole send and is
// named.
func (s Send) validate(ctx context.Context, tx *db.Tx, c Coupon) (checkedSend, error) {
	check := core.NewCheck(s.Malformed)
	out := checkedSend{at: tx.Now}
	check.Text("form_key", &s.FormKey, 100)
	out.subject, out.message = s.emailText(check, c)
	if s.At != nil {
		out.at = *s.At
		switch {
		case !out.at.After(tx.Now):
			check.Add("send_at", core.MustBeFuture)
		case out.at.After(tx.Now.Add(maxAhead)):
			check.Add("send_at", core.Violation{Rule: "within_year"})
		}
	}
	members, err := s.members(ctx, tx, check)
	if err != nil {
		return checkedSend{}, err
	}
	out.members = members
	return out, check.Err()
}

// emailText returns the e-mail's subject and message; by default the coupon's name and description.
func (s Send) emailText(check *core.Check, c Coupon) (subject, message string) {
	subject = c.Name
	if s.Subject != nil {
		subject = check.Text("subject", s.Subject, maxSubject)
	}
	own := c.Description
	if s.Message != nil {
		own = check.OptionalText("message", s.Message, maxMessage)
	}
	if own != nil {
		message = *own
	}
	return subject, message
}

// members returns the customers of a manual segment, each once; nil for other segments. It checks the
// segment.
func (s Send) members(ctx context.Context, tx *db.Tx, check *core.Check) ([]core.ID, error) {
	core.OneOf(check, "segment", s.Segment, All, LongStanding, RecentPurchase, Manual)
	if s.Segment != Manual {
		return nil, nil
	}
	if s.Audience != "" {
		if !s.Audience.Known() {
			check.Add("segment", core.InvalidChoice)
		}
		return nil, nil
	}
	if len(s.Customers) == 0 {
		check.Add("customers", core.Required)
		return nil, nil
	}
	members, unknown := parseIDs(s.Customers)
	if len(members) > MaxManual {
		check.Add("customers", core.MaxItems(MaxManual))
		return nil, nil
	}
	missing, err := db.All[struct{ ID core.ID }](ctx, tx, unknownCustomersSQL, db.Args{"ids": members})
	if err != nil {
		return nil, err
	}
	for _, m := range missing {
		unknown = append(unknown, m.ID.String())
	}
	for _, ulid := range unknown {
		check.Add("customers", core.Violation{Rule: "unknown_customer", Other: ulid})
	}
	return members, nil
}

// ofAudience chooses the statement of an audience.
func ofAudience(a daily.Audience, lapsed, group string) string {
	if a.Lapsed() > 0 {
		return lapsed
	}
	return group
}

// parseIDs returns the ULIDs that can be read, sorted, each once, and the texts that can't.
func parseIDs(ulids []string) (ids []core.ID, unreadable []string) {
	ids = make([]core.ID, 0, len(ulids))
	for _, ulid := range ulids {
		id, err := core.ParseID(ulid)
		if err != nil {
			unreadable = append(unreadable, ulid)
			continue
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b core.ID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids), unreadable
}

// sendable refuses a coupon that can't be sent at an instant.
func (c Coupon) sendable(at time.Time) error {
	switch {
	case !c.Active:
		return ErrInactive
	case c.ExpiresAt != nil && !at.Before(*c.ExpiresAt):
		return ErrExpired
	case c.StartsAt != nil && at.Before(*c.StartsAt):
		return ErrNotStarted
	}
	return nil
}

// CancelSend cancels a send that has not started: ErrSendBegun. A cancelled one stays cancelled.
func (s *Service) CancelSend(ctx context.Context, by core.Actor, send core.ID) (Sending, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Sending, error) {
		// The job starts with an update on the same condition, so only one of the two gets the row.
		cancelled, err := db.One[Sending](ctx, tx, cancelSendSQL, db.Args{"send": send, "now": tx.Now})
		if err == nil {
			return cancelled, audit.Write(tx, by, sendEntry("coupon.cancel_send", cancelled))
		}
		if !errors.Is(err, core.ErrNotFound) {
			return Sending{}, err
		}
		found, err := db.One[Sending](ctx, tx, findSendSQL, db.Args{"send": send})
		if err == nil && found.Status != Cancelled {
			err = ErrSendBegun
		}
		return found, err
	})
}

// holdEvaluation has a send whose business is suspended wait for a decision.
func (s *Service) holdEvaluation(ctx context.Context, e Evaluation) error {
	return s.holdSend(ctx, e.Tenant, e.Send)
}

// holdDelivery is holdEvaluation for a send with vouchers whose e-mails aren't all sent.
func (s *Service) holdDelivery(ctx context.Context, d Delivery) error {
	return s.holdSend(ctx, d.Tenant, d.Send)
}

func (s *Service) holdSend(ctx context.Context, t core.TenantID, send core.ID) error {
	return db.Run(ctx, s.db.Tenant(core.System(core.Tenant{ID: t}, "coupon send")), func(tx *db.Tx) error {
		held, err := db.One[Sending](ctx, tx, holdSendSQL, db.Args{"send": send, "now": tx.Now})
		if errors.Is(err, core.ErrNotFound) {
			return nil // it ended, or is on hold
		}
		if err != nil {
			return err
		}
		return audit.Write(tx, core.System(core.Tenant{ID: t}, "suspension"), sendEntry("coupon.hold_send", held))
	})
}

// ContinueSend goes on with a send that is on hold: one without vouchers is sent as if it had been confirmed for
// now. Others stay as they are.
func (s *Service) ContinueSend(ctx context.Context, by core.Actor, send core.ID) (Sending, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Sending, error) {
		continued, err := db.One[Sending](ctx, tx, continueSendSQL, db.Args{"send": send, "now": tx.Now})
		if errors.Is(err, core.ErrNotFound) {
			return db.One[Sending](ctx, tx, findSendSQL, db.Args{"send": send})
		}
		if err != nil {
			return Sending{}, err
		}
		if err := audit.Write(tx, by, sendEntry("coupon.continue_send", continued)); err != nil {
			return Sending{}, err
		}
		if continued.Status == Mailing {
			return continued, s.jobs.Add(ctx, tx, Delivery{Tenant: by.Tenant.ID, Send: send})
		}
		return continued, s.jobs.Add(ctx, tx, Evaluation{Tenant: by.Tenant.ID, Send: send})
	})
}

// sendEntry returns the audit entry of an action on a send.
func sendEntry(action string, s Sending) audit.Entry {
	return audit.Entry{Action: action, Subject: "coupon", ID: s.CouponID.String(), Name: s.CouponName, New: map[string]any{"send": s.ID}}
}

func (s *Service) evaluate(ctx context.Context, e Evaluation) error {
	t, err := db.FindTenant(ctx, s.db, e.Tenant)
	if err != nil {
		return err
	}
	by := core.Job(t, "coupon send")
	// Committed first: from here on the send can't be cancelled, and its page shows that vouchers
	// are being created.
	begun, err := db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (int64, error) {
		return db.Exec(ctx, tx, beginSendSQL, db.Args{"send": e.Send, "now": tx.Now})
	})
	if err != nil || begun == 0 {
		return err // cancelled, on hold, or evaluated by an earlier run
	}
	_, err = s.Evaluate(ctx, by, e.Send)
	return err
}

// evaluationLimit is enough to wait for the previous send of the coupon and then take the same time
// (db.TakeTime).
const evaluationLimit = 25 * time.Minute

// CountedVouchers counts the vouchers that this process created.
var CountedVouchers = db.Metric{Thing: "voucher", Kind: "created"}

// Evaluate evaluates a send's segment once and creates its vouchers and their e-mails, in one
// transaction. An advisory lock makes sends of one coupon wait for each other, so that no customer
// gets more than max_per_customer vouchers; tills don't wait. However late it runs, the segment is
// that of the send's time. If the coupon can't be sent at that time, the send fails. A send that was
// evaluated or is on hold is returned unchanged.
func (s *Service) Evaluate(ctx context.Context, by core.Actor, send core.ID) (Sending, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Sending, error) {
		if err := db.TakeTime(tx); err != nil {
			return Sending{}, err
		}
		if err := db.Queue(tx, lockSendsSQL, db.Args{"send": send}); err != nil {
			return Sending{}, err
		}
		if err := db.Queue(tx, keepMergesFromSendSQL, nil); err != nil {
			return Sending{}, err
		}
		state, err := db.One[evaluation](ctx, tx, evaluationSQL, db.Args{"send": send})
		if err != nil {
			return Sending{}, err
		}
		if state.Status != Waiting || state.HeldAt != nil {
			return db.One[Sending](ctx, tx, findSendSQL, db.Args{"send": send})
		}
		var refusal *core.Error
		if errors.As(state.sendable(state.SendAt), &refusal) {
			return s.failSend(ctx, tx, by, send, refusal)
		}
		args := state.args(by.Tenant.TimeZone)
		args["send"], args["now"], args["expires_at"] = send, tx.Now, state.VoucherExpiry(state.SendAt, by.Tenant.TimeZone)
		counts, err := db.One[Counts](ctx, tx, creations[state.Segment], args)
		if err != nil {
			return Sending{}, err
		}
		sent, err := db.One[Sending](ctx, tx, evaluatedSQL, db.Args{
			"send": send, "matched": counts.Matched, "sent": counts.Sent,
			"inactive": counts.SkippedInactive, "limit": counts.SkippedLimit,
			"no_email": counts.NoEmail, "unsubscribed": counts.Unsubscribed, "mails": counts.Mails(),
			"expires_at": args["expires_at"], "now": tx.Now,
		})
		db.Count(tx, CountedVouchers, sent.Sent)
		if err != nil || sent.Mails == 0 {
			return sent, err
		}
		return sent, s.jobs.Add(ctx, tx, Delivery{Tenant: by.Tenant.ID, Send: send})
	})
}

// failSend ends a send whose coupon can't be sent, and mails the person who confirmed it.
func (s *Service) failSend(ctx context.Context, tx *db.Tx, by core.Actor, send core.ID, why *core.Error) (Sending, error) {
	failed, err := db.One[SendDetail](ctx, tx, failSendSQL, db.Args{"send": send, "failure": why.Code, "now": tx.Now})
	if err != nil {
		return Sending{}, err
	}
	entry := sendEntry("coupon.fail_send", failed.Sending)
	entry.New = map[string]any{"send": failed.ID, "reason": why.Code}
	if err := audit.Write(tx, by, entry); err != nil {
		return Sending{}, err
	}
	return failed.Sending, s.mailSendResult(ctx, tx, by, failed)
}

// args returns the arguments of the segment's statement.
func (e evaluation) args(zone *time.Location) db.Args {
	args := db.Args{"coupon": e.ID, "max_per_customer": e.MaxPerCustomer}
	switch e.Segment {
	case All:
		args["at"] = e.SendAt
	case LongStanding:
		args["before"] = localDay(e.SendAt, zone, -longStandingDays)
	case RecentPurchase:
		since := e.SendAt.Add(-recentPurchasePeriod)
		args["since"], args["since_id"], args["at"] = since, core.FirstID(since), e.SendAt
	case Manual:
		args["customers"] = e.CustomerIDs
	}
	return args
}

// VoucherExpiry returns when vouchers sent at an instant expire: the earlier of the coupon's expiry
// and the end of the local day VoucherValidDays later; nil: never.
func (c Coupon) VoucherExpiry(sent time.Time, zone *time.Location) *time.Time {
	expiry := c.ExpiresAt
	if c.VoucherValidDays != nil {
		end := localDay(sent, zone, int(*c.VoucherValidDays)+1)
		if expiry == nil || end.Before(*expiry) {
			expiry = &end
		}
	}
	return expiry
}

// localDay returns the first instant of the local day that is a number of days from an instant's.
func localDay(instant time.Time, zone *time.Location, days int) time.Time {
	y, m, d := instant.In(zone).Date()
	return core.StartOfDay(y, m, d+days, zone)
}
