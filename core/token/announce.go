package token

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/mail"
)

// announceEvery is the minimum time between two mails to a person about new tokens. The first token is
// mailed at once; those created within this time are listed in one mail after it.
const announceEvery = time.Hour

// maxListed limits the tokens that a mail lists: a leaked token can create and revoke thousands
// within an hour.
const maxListed = 100

// Mails queues this package's e-mails. Their words are in web/email.
type Mails interface {
	Queue(ctx context.Context, tx *db.Tx, e mail.Email) error
	NewTokens(to string, e CreatedEmail) mail.Email
	ExpiringTokens(to string, e ExpiryEmail) mail.Email
}

// CreatedEmail tells a person which tokens were created for them, because a leaked token can create
// others.
type CreatedEmail struct {
	Tenant string // name of the business, or "" for the platform
	Person string
	Tokens []CreatedToken // at least one, the oldest first
	More   int            // number of further tokens
}

// CreatedToken is a new token in a CreatedEmail.
type CreatedToken struct {
	Token     string // its name
	Abilities []Ability
	By        string
	Address   string
	At        time.Time
	Revoked   bool // meanwhile
}

// lastNotice is the last mail to a person about their tokens.
type lastNotice struct {
	ToldAt  *time.Time // nil: none
	Waiting bool       // there are tokens that they were not told about
}

// Announcement is the job that mails a person the tokens they have not been told about.
type Announcement struct {
	Tenant core.TenantID `json:"tenant"` // 0: the platform
	Person int64         `json:"person"`
}

// Kind names the job in the queue.
func (Announcement) Kind() string { return "token_announcement" }

// ForTenant returns the tenant whose share of the workers the job uses; 0 for the platform.
func (a Announcement) ForTenant() core.TenantID { return a.Tenant }

// announceNew mails a person a new token, or queues a job for it, in the transaction that created the
// token. before is the last mail.
func (s *Service) announceNew(ctx context.Context, tx *db.Tx, p owner, before lastNotice) error {
	next := before.nextMailAt()
	switch {
	case !tx.Now.Before(next):
		return s.mailUnannounced(ctx, tx, p)
	case before.Waiting:
		return nil // a job is queued already
	}
	return s.jobs.AddAt(ctx, tx, Announcement{Tenant: tx.Tenant, Person: p.ID}, next)
}

// nextMailAt returns when the person may be mailed again.
func (n lastNotice) nextMailAt() time.Time {
	if n.ToldAt == nil {
		return time.Time{}
	}
	return n.ToldAt.Add(announceEvery)
}

// announce runs the job. If a mail was sent within the hour, because the job is late, it runs again
// when that hour is over.
func (s *Service) announce(ctx context.Context, a Announcement) error {
	return db.Run(ctx, s.db.Within(core.System(core.Tenant{ID: a.Tenant}, "new tokens")), func(tx *db.Tx) error {
		p, err := lockOwner(ctx, tx, a.Person)
		if errors.Is(err, core.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		told, err := db.One[lastNotice](ctx, tx, toldSQL, db.Args{"staff": a.Person})
		if err != nil || !told.Waiting {
			return err
		}
		if next := told.nextMailAt(); tx.Now.Before(next) {
			return s.jobs.AddAt(ctx, tx, a, next)
		}
		return s.mailUnannounced(ctx, tx, p)
	})
}

// unannounced is a token that its person has not been told about.
type unannounced struct {
	CreatedToken
	ActorKind core.ActorKind
}

// mailUnannounced mails a person all tokens they have not been told about, and marks them, so that none
// is mailed twice.
func (s *Service) mailUnannounced(ctx context.Context, tx *db.Tx, p owner) error {
	tokens, err := db.All[unannounced](ctx, tx, tellSQL, db.Args{"staff": p.ID, "now": tx.Now})
	if err != nil || len(tokens) == 0 {
		return err
	}
	e := CreatedEmail{Tenant: p.TenantName, Person: p.Name, More: max(len(tokens)-maxListed, 0)}
	for _, t := range tokens[:len(tokens)-e.More] {
		if t.ActorKind == core.ByToken {
			t.By = "the API token “" + t.By + "”"
		}
		e.Tokens = append(e.Tokens, t.CreatedToken)
	}
	return s.mails.Queue(ctx, tx, s.mails.NewTokens(p.Email, e))
}
