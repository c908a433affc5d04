package auth

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/mail"
)

// InvitationLifetime is how long an invitation can be accepted (decisions §1).
const InvitationLifetime = 7 * 24 * time.Hour

// ErrJoined refuses to invite a person who has a password.
var ErrJoined = core.Refuse("already-joined", "This person has already chosen a password. If they forgot it, they can reset it at the sign-in page.")

// InvitationEmail asks a person to choose a password. Its secret is told in the mail
// alone: what is stored of the invitation is a hash.
type InvitationEmail struct {
	Tenant    string // name of the business
	Slug      string // of its host
	Person    string
	Role      core.Role
	Secret    string
	ExpiresAt time.Time
}

// Invite makes an invitation for a person of the transaction's tenant, mails it to
// them and writes it into the audit log. Their earlier invitations stop working.
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
		Action: "staff.invite", Subject: "staff", ID: idText(p.ID),
		New: map[string]any{"email": p.Email, "expires_at": expires},
	})
	if err != nil {
		return err
	}
	return mails.Queue(ctx, tx, p.Email, InvitationEmail{
		Tenant: t.Name, Slug: t.Slug, Person: p.Name, Role: p.Role, Secret: secret, ExpiresAt: expires,
	})
}

// InviteAgain mails another invitation to a person of the actor's tenant who has not accepted
// theirs.
func (s *Service) InviteAgain(ctx context.Context, by core.Actor, person int64) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		// Held until the end: they may be joining just now.
		who, err := db.One[account](ctx, tx, lockAccountSQL, personArgs(by, person))
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

// AcceptInvitation uses an invitation up and gives the actor, whom it was for, their first
// password, in the caller's transaction of their tenant. The link proved who they are, so they
// are signed in. joined is what the audit log says of them. ErrLink where the invitation was
// accepted or withdrawn meanwhile.
func AcceptInvitation(ctx context.Context, tx *db.Tx, by core.Actor, secret, passwordHash string, joined map[string]any) (Proof, error) {
	used, err := db.Exec(ctx, tx, useInvitationSQL, db.Args{"hash": linkHash(secret), "now": tx.Now})
	if err != nil {
		return Proof{}, err
	}
	if used == 0 {
		return Proof{}, ErrLink
	}
	p := newPassword{person: by.StaffID, hash: passwordHash}
	return Proof{StaffID: by.StaffID, At: tx.Now}, setPassword(ctx, tx, by, p, audit.Entry{Action: "staff.join", New: joined})
}
