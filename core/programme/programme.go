// Package programme keeps how points and stamps of a business end: the rule of each unit, what a change of it would do, and the
// jobs that follow from it. core.Expiry computes days, and core/ledger writes what ends.
//
// Its surprising rule: a change never shortens what customers have. New days are for what is earned from then on; the days
// that are stored stay, and a hold delays them.
package programme

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/mail"
)

// Mails queues this package's e-mail. Its words are in web/email.
type Mails interface {
	QueueToCustomer(ctx context.Context, tx *db.Tx, e mail.Email) error
	ExpiryNotice(to string, e NoticeEmail) mail.Email
}

// Service reads and changes rules, and expires what is due.
type Service struct {
	db    *db.DB
	jobs  *job.Queue
	mails Mails
	links link.Maker
	sizes sizes
}

// sizes are how many customers a transaction of a job is about. A till waits for one that expires some hundredths of a second at most.
type sizes struct{ expired, opened, told int }

// NewService makes the service and registers its jobs.
func NewService(d *db.DB, jobs *job.Queue, mails Mails, links link.Maker) *Service {
	s := &Service{db: d, jobs: jobs, mails: mails, links: links, sizes: sizes{expired: 200, opened: 500, told: 50}}
	job.Handle(jobs, job.Upkeep, s.Open)
	job.Handle(jobs, job.Upkeep, s.Expire)
	job.Handle(jobs, job.Sends, s.MailNotices)
	job.Handle(jobs, job.Upkeep, s.findDue)
	job.Every(jobs, time.Hour, findExpiries{})
	return s
}

// At returns the service at another time, for rules that are dated in the past.
func (s *Service) At(instant time.Time) *Service {
	past := *s
	past.db = s.db.At(instant)
	return &past
}

// How long nothing ends, in days.
const (
	firstHold  = core.YearlyNotice // after a rule is set for the first time, or again
	resumeHold = 30                // after a suspension
)

// maxMonths is the longest period of a rule, and maxGrace the longest that a voided redemption returns points for, in days.
const (
	maxMonths = 120
	maxGrace  = 365
)

// ErrChanged refuses a change of a rule that was changed since it was shown.
var ErrChanged = &core.Error{Kind: core.KindRule, Message: "This was changed in the meantime. Check what applies now, then send your change again."}

// Rule is how a unit of a business ends.
type Rule struct {
	Unit ledger.Unit
	core.Expiry
	OpeningExpiresOn *time.Time // the last day of what was there before the first rule; nil: none
	OpeningIdleOn    *time.Time // by which that ends if the customer does nothing; nil: it doesn't
	Version          int64      // 0: there was never a rule
}

// Earned returns the last day of what is earned on a day; by a rule of inactivity, of everything if the customer then
// does nothing. Nil: it never ends.
func (r Rule) Earned(day time.Time) *time.Time {
	last := r.LastDay(day)
	if r.Rule == core.ExpireInactive {
		last = r.IdleDay(day)
	}
	return r.Shown(last)
}

// opening returns the day on which what was there before the first rule ends, or nil.
func (r Rule) opening() *time.Time {
	if r.Rule == core.ExpireInactive && r.OpeningExpiresOn == nil {
		return r.Shown(r.OpeningIdleOn)
	}
	return r.Shown(r.OpeningExpiresOn)
}

// isLike reports whether a rule says the same as another one.
func (r Rule) isLike(other Rule) bool {
	r.Hold, r.HoldsAll, other.Hold, other.HoldsAll = time.Time{}, false, time.Time{}, false
	return r.Expiry == other.Expiry
}

// facts returns what the audit log says about a rule.
func (r Rule) facts() map[string]any {
	facts := map[string]any{"expiry": r.Rule, "grace_days": r.GraceDays}
	switch r.Rule {
	case core.ExpireAfter, core.ExpireInactive:
		facts["months"], facts["round_to"] = r.Months, r.RoundTo
	case core.ExpireYearly:
		facts["yearly_month"], facts["yearly_day"] = int(r.Month), r.Day
	case core.NeverExpire:
	}
	for name, day := range map[string]*time.Time{"before_expires_on": r.OpeningExpiresOn, "before_ends_idle_on": r.OpeningIdleOn, "held_until": &r.Hold} {
		if day != nil && !day.IsZero() {
			facts[name] = day.Format(time.DateOnly)
		}
	}
	return facts
}

// Settings are the rules of a business.
type Settings struct{ Points, Stamps Rule }

// Of returns the rule of a unit.
func (s Settings) Of(unit ledger.Unit) Rule {
	if unit == ledger.Stamps {
		return s.Stamps
	}
	return s.Points
}

func settingsOf(rules []Rule) (s Settings) {
	for _, r := range rules {
		if r.Unit == ledger.Stamps {
			s.Stamps = r
		} else {
			s.Points = r
		}
	}
	return s
}

// Settings returns the rules of the actor's business, for owners.
func (s *Service) Settings(ctx context.Context, by core.Actor) (Settings, error) {
	if err := by.Require(core.Owner); err != nil {
		return Settings{}, err
	}
	rules, err := db.All[Rule](ctx, s.db.Tenant(by), rulesSQL, nil)
	return settingsOf(rules), err
}

// Preview is what a change would do.
type Preview struct {
	Before, After Rule
	Customers     int64      // who have something of the unit
	Amount        int64      // what they have
	Mails         int64      // customers who would be e-mailed: about a first rule
	Earned        *time.Time // the last day of what is earned today (Rule.Earned)
	Opening       *time.Time // the last day of what customers have at a first rule
	FirstEnd      *time.Time // the earliest last day of anything; nil: nothing ends
}

// IsFirst reports whether the unit had no rule before.
func (p Preview) IsFirst() bool { return p.Before.Version == 0 }

// ChangesNothing reports whether the rule stays as it is.
func (p Preview) ChangesNothing() bool { return p.After.isLike(p.Before) }

// Preview returns what a change would do now, for owners, or the refusal of Change. It reads all accounts of the business in one round trip.
func (s *Service) Preview(ctx context.Context, by core.Actor, c Change) (Preview, error) {
	if err := by.Require(core.Owner); err != nil {
		return Preview{}, err
	}
	var rules []Rule
	var have struct {
		Customers, Amount, Mails int64
		FirstOn, FirstIdle       *time.Time
	}
	err := db.Together(ctx, s.db.Tenant(by), db.AllInto(&rules, rulesSQL, nil), db.OneInto(&have, holdingsSQL, db.Args{"unit": c.Unit}))
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Before: settingsOf(rules).Of(c.Unit), Customers: have.Customers, Amount: have.Amount}
	today := core.DateOf(s.db.Now(), by.Tenant.TimeZone)
	if p.After, err = c.change(p.Before, today); err != nil {
		return Preview{}, err
	}
	if c.Version != p.Before.Version && !p.ChangesNothing() {
		return Preview{}, ErrChanged
	}
	p.Earned = p.After.Earned(today)
	days := []*time.Time{p.Earned}
	if p.After.Rule == core.ExpireInactive {
		days = append(days, p.After.Shown(have.FirstIdle))
	}
	if p.IsFirst() {
		p.Mails, p.Opening = have.Mails, p.After.opening()
		days = append(days, p.Opening)
	} else {
		days = append(days, p.After.Shown(have.FirstOn))
	}
	for _, day := range days {
		if day != nil && (p.FirstEnd == nil || day.Before(*p.FirstEnd)) {
			p.FirstEnd = day
		}
	}
	return p, nil
}

// Change changes the rule of a unit, for owners. The same rule again changes nothing; otherwise the rule must still be the one that
// the change was made from (ErrChanged). A first rule also dates what customers have, and e-mails them.
func (s *Service) Change(ctx context.Context, by core.Actor, c Change) (Rule, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Owner), func(tx *db.Tx) (Rule, error) {
		rules, err := db.All[Rule](ctx, tx, rulesSQL, nil)
		if err != nil {
			return Rule{}, err
		}
		old := settingsOf(rules).Of(c.Unit)
		r, err := c.change(old, core.DateOf(tx.Now, by.Tenant.TimeZone))
		if err != nil {
			return Rule{}, err
		}
		if r.isLike(old) {
			return old, nil
		}
		// The statement compares the version with that of the moment.
		r.Version, err = db.One[int64](ctx, tx, writeSQL, r.args(tx, c.Version))
		if errors.Is(err, core.ErrNotFound) {
			return Rule{}, ErrChanged
		}
		if err != nil {
			return Rule{}, err
		}
		was, is := audit.Changed(old.facts(), r.facts())
		err = audit.Write(tx, by, audit.Entry{Action: "programme.edit", Subject: "programme", ID: string(r.Unit), Name: string(r.Unit), Old: was, New: is})
		if err != nil {
			return r, err
		}
		err = Share(tx, by.Tenant.ID)
		if err != nil || old.Version > 0 {
			return r, err
		}
		return r, s.jobs.AddAll(ctx, tx, []job.Args{Opening{by.Tenant.ID, r.Unit}, Notice{by.Tenant.ID, r.Unit}})
	})
}

// args are those of writeSQL. The jobs of a first rule start before the first customer.
func (r Rule) args(tx *db.Tx, version int64) db.Args {
	args := db.Args{
		"unit": r.Unit, "expiry": r.Rule, "months": nil, "round_to": nil, "yearly_month": nil, "yearly_day": nil, "grace_days": r.GraceDays,
		"opening_expires_on": r.OpeningExpiresOn, "opening_idle_on": r.OpeningIdleOn, "first": core.ID{}, "hold_until": nil,
		"version": version, "now": tx.Now,
	}
	switch r.Rule {
	case core.ExpireAfter, core.ExpireInactive:
		args["months"], args["round_to"] = r.Months, r.RoundTo
	case core.ExpireYearly:
		args["yearly_month"], args["yearly_day"] = r.Month, r.Day
	case core.NeverExpire:
	}
	if r.HoldsAll {
		args["hold_until"] = "infinity"
	} else if !r.Hold.IsZero() {
		args["hold_until"] = r.Hold.Format(time.DateOnly)
	}
	return args
}

// Resume has nothing of a business end for a while after its suspension, in the caller's transaction of the platform:
// its customers could spend nothing meanwhile. today is the business's local day.
func Resume(tx *db.Tx, tenant core.TenantID, today time.Time) error {
	err := db.Queue(tx, resumeSQL, db.Args{"tenant": int64(tenant), "until": today.AddDate(0, 0, resumeHold)})
	return errors.Join(err, Share(tx, tenant))
}

// Share queues that requests read a business's rules as they are now. A distributed database has no trigger that does.
func Share(tx *db.Tx, tenant core.TenantID) error {
	return db.Queue(tx, shareSQL, db.Args{"tenant": int64(tenant)})
}
