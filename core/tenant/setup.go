package tenant

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
)

// Step is a step of the guide that sets up a new business.
type Step string

// The steps, in their order.
const (
	BusinessStep Step = "business" // country, currency and time zone
	RuleStep     Step = "rule"     // what a sale earns
	RewardStep   Step = "reward"
	CustomerStep Step = "customer"
	SaleStep     Step = "sale"
)

// Steps are all steps of the guide, in their order.
var Steps = []Step{BusinessStep, RuleStep, RewardStep, CustomerStep, SaleStep}

// Setup is a business's progress in the guide. Records count wherever they were created: in the guide,
// on another page or by the API.
type Setup struct {
	BusinessAt *time.Time // when country, currency and time zone were confirmed
	RuleID     *int64     // of the first active transaction type
	RewardID   *core.ID   // of the first active reward
	CustomerID *core.ID   // of the first active customer
	SaleID     *core.ID   // of the first sale
	Skipped    []string   // steps, as their names
	StepsDone  int        // when last stored
	FinishedAt *time.Time // completed or dismissed
}

// Done reports whether a step is done.
func (s Setup) Done(step Step) bool {
	return map[Step]bool{
		BusinessStep: s.BusinessAt != nil, RuleStep: s.RuleID != nil, RewardStep: s.RewardID != nil,
		CustomerStep: s.CustomerID != nil, SaleStep: s.SaleID != nil,
	}[step]
}

// DoneOrSkipped reports whether a step is done or was skipped.
func (s Setup) DoneOrSkipped(step Step) bool {
	return s.Done(step) || slices.Contains(s.Skipped, string(step))
}

// Next returns the first step that is neither done nor skipped, or "".
func (s Setup) Next() Step { return s.NextAfter("") }

// NextAfter returns the first step after a step that is neither done nor skipped; otherwise the first
// one before it; otherwise "".
func (s Setup) NextAfter(step Step) Step {
	at := slices.Index(Steps, step) + 1
	for _, next := range slices.Concat(Steps[at:], Steps[:at]) {
		if !s.DoneOrSkipped(next) {
			return next
		}
	}
	return ""
}

// CountDone returns the number of steps that are done.
func (s Setup) CountDone() (n int) {
	for _, step := range Steps {
		if s.Done(step) {
			n++
		}
	}
	return n
}

// Left returns the steps that aren't done, also those that were skipped.
func (s Setup) Left() []Step {
	return slices.DeleteFunc(slices.Clone(Steps), s.Done)
}

// Finished reports whether the guide was completed or dismissed.
func (s Setup) Finished() bool { return s.FinishedAt != nil }

// Setup returns the progress of the actor's business in the guide, for its owners, and stores it if it
// changed.
func (s *Service) Setup(ctx context.Context, by core.Actor) (Setup, error) {
	if err := by.Require(core.Owner); err != nil {
		return Setup{}, err
	}
	found, err := db.One[Setup](ctx, s.db.Tenant(by), setupSQL, nil)
	if err != nil || found.StepsDone == found.CountDone() && (found.Finished() || len(found.Left()) > 0) {
		return found, err
	}
	return s.moveSetup(ctx, by, func(*Setup, time.Time) {})
}

// ConfirmBusiness stores that an owner confirmed country, currency and time zone.
func (s *Service) ConfirmBusiness(ctx context.Context, by core.Actor) (Setup, error) {
	return s.moveSetup(ctx, by, func(at *Setup, now time.Time) {
		if at.BusinessAt == nil {
			at.BusinessAt = &now
		}
	})
}

// SkipSetupStep skips a step, for owners. It can still be done later. The step of the country can't be
// skipped without one (customer.ErrNoCountry).
func (s *Service) SkipSetupStep(ctx context.Context, by core.Actor, step Step) (Setup, error) {
	if !slices.Contains(Steps, step) {
		return Setup{}, core.ErrNotFound
	}
	if step == BusinessStep && by.Tenant.Country == "" {
		return Setup{}, customer.ErrNoCountry
	}
	return s.moveSetup(ctx, by, func(at *Setup, _ time.Time) {
		if !slices.Contains(at.Skipped, string(step)) {
			at.Skipped = append(at.Skipped, string(step))
		}
	})
}

// DismissSetup ends the guide, for owners.
func (s *Service) DismissSetup(ctx context.Context, by core.Actor) (Setup, error) {
	return s.moveSetup(ctx, by, func(at *Setup, now time.Time) {
		if at.FinishedAt == nil {
			at.FinishedAt = &now
		}
	})
}

// moveSetup changes the stored progress, and finishes the guide when every step is done.
func (s *Service) moveSetup(ctx context.Context, by core.Actor, change func(at *Setup, now time.Time)) (Setup, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Owner), func(tx *db.Tx) (Setup, error) {
		// Locks the row, so that two tabs finish the guide only once.
		if err := db.Queue(tx, openSetupSQL, db.Args{"now": tx.Now}); err != nil {
			return Setup{}, err
		}
		at, err := db.One[Setup](ctx, tx, setupSQL, nil)
		if err != nil {
			return Setup{}, err
		}
		finished := at.Finished()
		change(&at, tx.Now)
		return at, at.store(tx, by, finished)
	})
}

// store writes the progress, and an audit entry if the guide was just finished.
func (s *Setup) store(tx *db.Tx, by core.Actor, finished bool) error {
	if s.FinishedAt == nil && len(s.Left()) == 0 {
		s.FinishedAt = &tx.Now
	}
	s.StepsDone = s.CountDone()
	err := db.Queue(tx, updateSetupSQL, db.Args{
		"business_at": s.BusinessAt, "skipped": s.Skipped, "steps_done": s.StepsDone, "finished_at": s.FinishedAt, "now": tx.Now,
	})
	if err != nil || finished || s.FinishedAt == nil {
		return err
	}
	return audit.Write(tx, by, audit.Entry{
		Action: "tenant.finish_setup", Subject: "tenant", ID: idText(by.Tenant.ID), Name: by.Tenant.Name,
		New: map[string]any{"steps_done": s.StepsDone},
	})
}

// FinishSetup queues that a business needs no guide, because its creator also fills it.
func FinishSetup(tx *db.Tx, t core.TenantID) error {
	return db.Queue(tx, finishSetupSQL, db.Args{"id": t, "now": tx.Now})
}

// SetupEmail sends an owner the link to the guide.
type SetupEmail struct {
	Tenant string // name of the business
	Slug   string // of its host
	Person string
}

// setupOwner is the owner who is mailed.
type setupOwner struct {
	auth.Person
	Invited bool // and has no password yet
}

// MailSetupLink mails a tenant's owner the link to the guide, or their invitation again while they
// have no password, for super-admins. The owner is the one with the tenant's e-mail address, or else
// the first. core.ErrNotFound if there is no such tenant, ErrSuspended if it is suspended.
func (s *Service) MailSetupLink(ctx context.Context, by core.Actor, id core.TenantID) error {
	if err := by.RequireAdmin(); err != nil {
		return err
	}
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		t, err := db.One[Tenant](ctx, tx, lockSQL, db.Args{"id": id})
		if err != nil {
			return err
		}
		if t.Status == Suspended {
			return ErrSuspended
		}
		served, err := t.forServing()
		if err != nil {
			return err
		}
		if err := tx.Enter(id); err != nil {
			return err
		}
		// Locked: they may be choosing their password at the same time.
		owner, err := db.One[setupOwner](ctx, tx, setupOwnerSQL, db.Args{"email_key": core.EmailKey(t.Email)})
		if err != nil {
			return err
		}
		if owner.Invited {
			return auth.Invite(ctx, tx, by, s.mails, served, owner.Person)
		}
		err = audit.Write(tx, by, audit.Entry{Action: "tenant.mail_setup", Subject: "tenant", ID: t.subject(), Name: t.Name, New: map[string]any{"email": owner.Email}})
		if err != nil {
			return err
		}
		return s.mails.Queue(ctx, tx, s.mails.Setup(owner.Email, SetupEmail{Tenant: t.Name, Slug: t.Slug, Person: owner.Name}))
	})
}
