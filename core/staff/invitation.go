package staff

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/session"
)

// InvitationLifetime is how long an invitation can be taken up (decisions §1).
const InvitationLifetime = 7 * 24 * time.Hour

// ErrJoined is somebody who needs no invitation any more.
var ErrJoined = core.Refuse("already-joined", "This person has chosen a password already. Whoever forgot theirs gets a new one at the sign-in page.")

// InvitationLetter asks a person to choose a password. Its secret is told in the mail
// alone: what is stored of the invitation is a hash.
type InvitationLetter struct {
	Tenant    string // name of the business
	Slug      string // of its host
	Person    string
	Role      core.Role
	Secret    string
	ExpiresAt time.Time
}

// Invite makes an invitation for a person of the transaction's tenant, mails it to
// them and writes so in the log. Their earlier ones work no more.
func Invite(ctx context.Context, tx *db.Tx, by core.Actor, mails *mail.Service, t core.Tenant, p Person) error {
	secret, hash := newLink()
	expires := tx.Now.Add(InvitationLifetime)
	err := errors.Join(
		db.Queue(tx, withdrawInvitationsSQL, db.Args{"id": p.ID, "now": tx.Now}),
		db.Queue(tx, inviteSQL, db.Args{"id": core.NewID(tx.Now), "staff": p.ID, "hash": hash, "expires_at": expires, "now": tx.Now}),
	)
	if err != nil {
		return err
	}
	err = audit.Write(tx, by, audit.Entry{
		Action: "staff.invite", Subject: "staff", ID: id(p.ID),
		New: map[string]any{"email": p.Email, "expires_at": expires},
	})
	if err != nil {
		return err
	}
	return mails.Queue(ctx, tx, p.Email, InvitationLetter{
		Tenant: t.Name, Slug: t.Slug, Person: p.Name, Role: p.Role, Secret: secret, ExpiresAt: expires,
	})
}

// Invite makes a person of the actor's tenant and invites them by mail to choose a
// password.
func (s *Service) Invite(ctx context.Context, by core.Actor, n New) (Person, error) {
	if err := by.Require(core.Owner); err != nil {
		return Person{}, err
	}
	n.Password = "" // theirs to choose
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Person, error) {
		p, err := Add(ctx, tx, by, n)
		if err != nil {
			return Person{}, err
		}
		return p, Invite(ctx, tx, by, s.mail, by.Tenant, p)
	})
}

// InviteAgain mails another invitation to a person who has not taken up theirs.
func (s *Service) InviteAgain(ctx context.Context, by core.Actor, person int64) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		// Held until the end: they may be joining just now.
		who, err := db.One[account](ctx, tx, lockAccountSQL, db.Args{"id": person})
		switch {
		case err != nil:
			return 0, err
		case !who.Active:
			return 0, core.ErrNotFound
		case who.PasswordHash != nil:
			return 0, ErrJoined
		}
		return 0, Invite(ctx, tx, by, s.mail, by.Tenant, who.person())
	})
	return err
}

// FindInvitation tells whom the link of an invitation is for, or ErrLink. One round trip.
func (s *Service) FindInvitation(ctx context.Context, v Visitor, secret string) (Link, error) {
	return findLink[Link](ctx, s, v, findInvitationSQL, secret)
}

// Joining is what an invited person says of themselves.
type Joining struct {
	Name     string
	Password string
}

// TakeInvitation gives an invited person their name and their first password. The
// link proved that they are who was invited, so that they are signed in.
func (s *Service) TakeInvitation(ctx context.Context, v Visitor, secret string, j Joining) (SignedIn, error) {
	l, err := s.FindInvitation(ctx, v, secret)
	if err != nil {
		return SignedIn{}, err
	}
	check := core.NewCheck(nil)
	l.Name = check.Text("name", &j.Name, maxName)
	if problem := weakness(j.Password, l.Email); problem != "" {
		check.Add("password", problem)
	}
	if err := check.Err(); err != nil {
		return SignedIn{}, err
	}
	hash, err := hashed(ctx, j.Password)
	if err != nil {
		return SignedIn{}, err
	}
	by := v.as(l.Person)
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (SignedIn, error) {
		taken, err := db.Exec(ctx, tx, takeInvitationSQL, db.Args{"hash": linkHash(secret), "now": tx.Now})
		if err != nil {
			return SignedIn{}, err
		}
		if taken == 0 {
			return SignedIn{}, ErrLink
		}
		if err := db.Queue(tx, renameSQL, db.Args{"id": l.ID, "name": l.Name}); err != nil {
			return SignedIn{}, err
		}
		joined := SignedIn{Person: l.Person, Proof: session.Proof{StaffID: l.ID, At: tx.Now}}
		return joined, setPassword(ctx, tx, by, nil, *hash, audit.Entry{Action: "staff.join", New: map[string]any{"name": l.Name}})
	})
}
