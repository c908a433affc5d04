package token

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// announceEvery is the shortest time between two mails to a person about new tokens: the first
// token is mailed at once, those created within this time are listed in one mail after it.
const announceEvery = time.Hour

// mostTold limits the tokens that a mail lists: a leaked token can create and revoke thousands
// within an hour.
const mostTold = 100

// CreatedEmail tells a person which tokens were created for them, since any leaked token can
// create one with every scope.
type CreatedEmail struct {
	Tenant string // name of the business, or "" for the platform
	Person string
	Tokens []CreatedToken // at least one, the oldest first
	More   int            // how many were created besides these
}

// CreatedToken is a token that was created, and how.
type CreatedToken struct {
	Token     string // its name
	Abilities []Ability
	By        string
	Address   string
	At        time.Time
	Revoked   bool // since then
}

// lastNotice is what a person was told about their tokens.
type lastNotice struct {
	ToldAt  *time.Time // when they were last mailed
	Waiting bool       // there are tokens that they were not told of
}

// Announcement is the job that mails a person the tokens they have not been told about.
type Announcement struct {
	Tenant core.TenantID `json:"tenant"` // 0: the platform
	Person int64         `json:"person"`
}

// Kind names the job in the queue.
func (Announcement) Kind() string { return "token_announcement" }

// ForTenant is whose share of the workers the job takes; 0 for the platform.
func (a Announcement) ForTenant() core.TenantID { return a.Tenant }

// announceNew tells a person about a token that was just created, now or by a job, in the
// transaction that created it. before is what they had been told until then.
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

// nextMailAt is when the person may be mailed again.
func (n lastNotice) nextMailAt() time.Time {
	if n.ToldAt == nil {
		return time.Time{}
	}
	return n.ToldAt.Add(announceEvery)
}

// announce runs the job. If a mail was sent within the hour, by a creation that came before a
// late job, it runs again when that hour is over.
func (s *Service) announce(ctx context.Context, a Announcement) error {
	_, err := db.Within(ctx, s.db, core.System(core.Tenant{ID: a.Tenant}, "new tokens"), func(tx *db.Tx) (int, error) {
		p, err := lockOwner(ctx, tx, a.Person)
		if errors.Is(err, core.ErrNotFound) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		told, err := db.One[lastNotice](ctx, tx, toldSQL, db.Args{"staff": a.Person})
		if err != nil || !told.Waiting {
			return 0, err
		}
		if next := told.nextMailAt(); tx.Now.Before(next) {
			return 0, s.jobs.AddAt(ctx, tx, a, next)
		}
		return 0, s.mailUnannounced(ctx, tx, p)
	})
	return err
}

// unannounced is a token that its person has not been told about.
type unannounced struct {
	Name      string
	Abilities []Ability
	ActorKind core.ActorKind
	ActorName string
	Address   string
	Revoked   bool
	CreatedAt time.Time
}

// mailUnannounced mails a person all tokens they have not been told about. The same transaction marks
// those tokens, so none is mailed twice.
func (s *Service) mailUnannounced(ctx context.Context, tx *db.Tx, p owner) error {
	tokens, err := db.All[unannounced](ctx, tx, tellSQL, db.Args{"staff": p.ID, "now": tx.Now})
	if err != nil || len(tokens) == 0 {
		return err
	}
	l := CreatedEmail{Tenant: p.TenantName, Person: p.Name, More: max(len(tokens)-mostTold, 0)}
	for _, t := range tokens[:len(tokens)-l.More] {
		l.Tokens = append(l.Tokens, CreatedToken{
			Token: t.Name, Abilities: t.Abilities, By: t.creator(), Address: t.Address, At: t.CreatedAt, Revoked: t.Revoked,
		})
	}
	return s.mail.Queue(ctx, tx, p.Email, l)
}

// creator is who created a token, in the words of a mail.
func (t unannounced) creator() string {
	if t.ActorKind == core.ByToken {
		return "the API token “" + t.ActorName + "”"
	}
	return t.ActorName
}
