package staff

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/mail"
)

// InvitationLifetime is how long an invitation can be taken up (decisions §1).
const InvitationLifetime = 7 * 24 * time.Hour

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
// them and writes so in the log.
func Invite(ctx context.Context, tx *db.Tx, by core.Actor, mails *mail.Service, t core.Tenant, p Person) error {
	secret := rand.Text() // 130 bits, in letters and digits
	hash := sha256.Sum256([]byte(secret))
	expires := tx.Now.Add(InvitationLifetime)
	err := db.Queue(tx, inviteSQL, db.Args{
		"id": core.NewID(tx.Now), "staff": p.ID, "hash": hash[:], "expires_at": expires, "now": tx.Now,
	})
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
