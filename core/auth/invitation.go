package auth

import (
	"context"
	"errors"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
)

// InvitationLifetime is how long an invitation can be accepted (decisions §1).
const InvitationLifetime = 7 * 24 * time.Hour

// ErrJoined refuses to invite a person who has a password.
var ErrJoined = core.Refuse("already-joined", "This person has already chosen a password. If they forgot it, they can reset it at the sign-in page.")

// Inviter queues invitations.
type Inviter interface {
	Queue(ctx context.Context, tx *db.Tx, e mail.Email) error
	Invitation(to string, e InvitationEmail) mail.Email
}

// InvitationEmail asks a person to choose a password. Only the mail has the secret; a hash of it is
// stored.
type InvitationEmail struct {
	Tenant    string // name of the business
	Slug      string // of its host
	Person    string // "": not known yet
	Role      core.Role
	Secret    string
	ExpiresAt time.Time
}

const ownerOf = "Owner of "

// OwnerOf returns the name of a business's owner until they enter their own.
func OwnerOf(tenant string) string {
	const maxName = 100
	name := []rune(ownerOf + tenant)
	return string(name[:min(len(name), maxName)])
}

// EnteredName returns the name that a person of the staff entered or was added with, or "" if they have only the one
// that OwnerOf gave them.
func (p Person) EnteredName() string {
	if p.Role == core.Owner && strings.HasPrefix(p.Name, ownerOf) {
		return ""
	}
	return p.Name
}

// Invite mails an invitation to a person of the transaction's tenant and writes it into the audit
// log. Their earlier invitations stop working.
func Invite(ctx context.Context, tx *db.Tx, by core.Actor, mails Inviter, t core.Tenant, p Person) error {
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
		Action: "staff.invite", Subject: "staff", ID: idText(p.ID), Name: p.Name,
		New: map[string]any{"email": p.Email, "expires_at": expires},
	})
	if err != nil {
		return err
	}
	return mails.Queue(ctx, tx, mails.Invitation(p.Email, InvitationEmail{
		Tenant: t.Name, Slug: t.Slug, Person: p.EnteredName(), Role: p.Role, Secret: secret, ExpiresAt: expires,
	}))
}

// InviteAgain mails another invitation to a person of the actor's tenant who has not accepted
// theirs.
func (s *Service) InviteAgain(ctx context.Context, by core.Actor, person int64) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		// Locked: the person may be joining at the same time.
		who, err := db.One[account](ctx, tx, lockAccountSQL, personArgs(by, person))
		switch {
		case err != nil:
			return err
		case !who.Active:
			return core.ErrNotFound
		case who.PasswordHash != nil:
			return ErrJoined
		}
		return Invite(ctx, tx, by, s.mails, by.Tenant, who.Person)
	})
}

// FindInvitation returns the invited person of a link, or ErrLink.
func (s *Service) FindInvitation(ctx context.Context, v Visitor, secret string) (Link, error) {
	return findLink[Link](ctx, s, v, findInvitationSQL, secret)
}

// AcceptInvitation uses up an invitation and sets the actor's first password, in the caller's
// transaction. The proof signs them in: the link proved who they are. joined is what the audit log
// says about them. ErrLink if the invitation was accepted or withdrawn meanwhile.
func AcceptInvitation(ctx context.Context, tx *db.Tx, by core.Actor, secret, passwordHash string, joined map[string]any) (Proof, error) {
	used, err := db.Exec(ctx, tx, useInvitationSQL, db.Args{"hash": linkHash(secret), "now": tx.Now})
	if err != nil {
		return Proof{}, err
	}
	if used == 0 {
		return Proof{}, ErrLink
	}
	p := passwordChange{person: by.StaffID, hash: passwordHash}
	return Proof{StaffID: by.StaffID, At: tx.Now}, setPassword(ctx, tx, by, p, audit.Entry{Action: "staff.join", Name: by.Name, New: joined})
}

// deleteOldLinks is the job that deletes invitations and resets that expired a while ago. The audit
// log keeps who was invited and who asked for a reset.
type deleteOldLinks struct{}

// Kind names the job in the queue.
func (deleteOldLinks) Kind() string { return "delete_old_links" }

// KindAliases has the name that earlier builds queue it under.
func (deleteOldLinks) KindAliases() []string { return []string{"forget_links"} }

// linksKept is how long an invitation or a reset is kept after it expired.
const linksKept = 30 * 24 * time.Hour

func (s *Service) deleteOldLinks(ctx context.Context, _ deleteOldLinks) error {
	return job.Drain(ctx, s.db, func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.One[int64](ctx, tx, deleteOldLinksSQL, db.Args{"before": tx.Now.Add(-linksKept), "up_to": job.Batch})
	})
}
