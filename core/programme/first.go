package programme

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
)

// noticeRest is the time between two transactions with e-mails, so that the business's other e-mails don't wait behind thousands.
const noticeRest = 2 * time.Second

// Opening is the job that dates what customers had before the first rule of a unit. An account that is touched earlier needs no
// job.
type Opening struct {
	Tenant core.TenantID `json:"tenant"`
	Unit   ledger.Unit   `json:"unit"`
}

// Kind names the job in the queue.
func (Opening) Kind() string { return "open_lots" }

// ForTenant returns the tenant of the job.
func (o Opening) ForTenant() core.TenantID { return o.Tenant }

// errElsewhere undoes a batch that another process has done at the same time.
var errElsewhere = errors.New("programme: another process goes on with this")

// Open dates what customers had before the first rule, in batches, from where an earlier run ended.
func (s *Service) Open(ctx context.Context, o Opening) error {
	t, err := db.FindTenant(ctx, s.db, o.Tenant)
	if err != nil {
		return err
	}
	by := core.Job(t, "points expiry")
	for until := s.db.Now().Add(runTime); s.db.Now().Before(until); {
		done, err := s.openNext(ctx, by, o.Unit)
		if errors.Is(err, errElsewhere) {
			continue
		}
		if err != nil || done {
			return err
		}
	}
	return job.Again(0)
}

func (s *Service) openNext(ctx context.Context, by core.Actor, unit ledger.Unit) (done bool, err error) {
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		// Not locked: the job that expires accounts locks them before the rule, so this one does, too.
		from, err := db.One[struct {
			OpeningExpiresOn, OpeningIdleOn *time.Time
			OpenedTo                        core.ID
		}](ctx, tx, stateSQL, db.Args{"unit": unit})
		if errors.Is(err, core.ErrNotFound) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		var to *core.ID
		if from.OpeningExpiresOn != nil || from.OpeningIdleOn != nil {
			last, err := ledger.OpenBefore(ctx, tx, unit, from.OpeningExpiresOn, from.OpeningIdleOn, from.OpenedTo, s.sizes.opened)
			if err != nil {
				return false, err
			}
			if last != (core.ID{}) {
				to = &last
			}
		}
		opened, err := db.Exec(ctx, tx, openedSQL, db.Args{"unit": unit, "from": from.OpenedTo, "to": to})
		if err == nil && opened == 0 {
			err = errElsewhere
		}
		return to == nil, err
	})
}

// NoticeEmail tells a customer about the first rule of a unit. It isn't marketing: those who unsubscribed get it, too.
type NoticeEmail struct {
	BusinessName string
	Slug         string  // of the business's host
	Colour       *string // "#165c47"; nil: the product's own
	FirstName    string  // "": they joined online, and their phone number is unchecked
	Unit         ledger.Unit
	Balance      int64
	LastDay      *time.Time // of the balance; nil: it never ends
	Expiry       core.Expiry
	CardToken    string
}

// Notice is the job that e-mails a business's customers about the first rule of a unit.
type Notice struct {
	Tenant core.TenantID `json:"tenant"`
	Unit   ledger.Unit   `json:"unit"`
}

// Kind names the job in the queue.
func (Notice) Kind() string { return "expiry_notice" }

// ForTenant returns the tenant whose share of the workers the job uses.
func (n Notice) ForTenant() core.TenantID { return n.Tenant }

// told is a customer to e-mail.
type told struct {
	ID          core.ID
	FirstName   string
	Email       string
	LinkVersion int64
	Balance     int64
}

// MailNotices queues the e-mails to a number of customers, and is queued again until all have theirs. An e-mail and the position
// after it are stored together, so that each customer gets one. A rule that is turned off again stops it.
func (s *Service) MailNotices(ctx context.Context, n Notice) error {
	t, err := db.FindTenant(ctx, s.db, n.Tenant)
	if err != nil {
		return err
	}
	by := core.Job(t, "points expiry")
	done, err := db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (bool, error) {
		// Locked: two jobs at once would e-mail the same customers.
		at, err := db.One[state](ctx, tx, lockStateSQL, db.Args{"unit": n.Unit})
		if errors.Is(err, core.ErrNotFound) || err == nil && (at.ToldTo == nil || at.Rule.Rule == core.NeverExpire) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		var look struct{ Colour *string }
		var page []told
		err = db.Together(ctx, tx, db.OneInto(&look, colourSQL, nil),
			db.AllInto(&page, toldNextSQL, db.Args{"unit": n.Unit, "after": *at.ToldTo, "limit": s.sizes.told}))
		if err != nil {
			return false, err
		}
		for _, c := range page {
			if err := s.mailNotice(ctx, tx, t, at.Rule, look.Colour, c); err != nil {
				return false, err
			}
		}
		if len(page) < s.sizes.told {
			return true, db.Queue(tx, toldSQL, db.Args{"unit": n.Unit, "to": nil})
		}
		return false, db.Queue(tx, toldSQL, db.Args{"unit": n.Unit, "to": page[len(page)-1].ID})
	})
	if err != nil || done {
		return err
	}
	return job.Again(noticeRest)
}

func (s *Service) mailNotice(ctx context.Context, tx *db.Tx, t core.Tenant, r Rule, colour *string, c told) error {
	token, err := s.links.Token(link.Card, t.ID, c.ID, c.LinkVersion)
	if err != nil {
		return err
	}
	return s.mails.QueueToCustomer(ctx, tx, s.mails.ExpiryNotice(c.Email, NoticeEmail{
		BusinessName: t.Name, Slug: t.Slug, Colour: colour, FirstName: c.FirstName, Unit: r.Unit, Balance: c.Balance,
		LastDay: r.opening(), Expiry: r.Expiry, CardToken: token,
	}))
}
