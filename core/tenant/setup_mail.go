package tenant

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
)

// SetupEmail brings an owner the link to the guide that sets up their business.
type SetupEmail struct {
	Tenant string // name of the business
	Slug   string // of its host
	Person string
}

// setupOwner is the owner who is mailed, and whether they have yet to choose a password.
type setupOwner struct {
	auth.Person
	Invited bool
}

// MailSetupLink mails a tenant's owner the way to set up the business, for super-admins: their
// invitation again while they have no password, else the link to the guide. The owner is the one
// with the tenant's own address, or the first. core.ErrNotFound where there is no such tenant,
// ErrSuspended where the link could not be opened.
func (s *Service) MailSetupLink(ctx context.Context, by core.Actor, id core.TenantID) error {
	if err := by.RequireAdmin(); err != nil {
		return err
	}
	_, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		t, err := db.One[Tenant](ctx, tx, lockSQL, db.Args{"id": id})
		if err != nil {
			return 0, err
		}
		if t.Status == Suspended {
			return 0, ErrSuspended
		}
		served, err := t.forServing()
		if err != nil {
			return 0, err
		}
		if err := tx.Enter(id); err != nil {
			return 0, err
		}
		// Held until the end: they may be choosing their password just now.
		owner, err := db.One[setupOwner](ctx, tx, setupOwnerSQL, db.Args{"email": t.Email})
		if err != nil {
			return 0, err
		}
		if owner.Invited {
			return 0, auth.Invite(ctx, tx, by, s.mail, served, owner.Person)
		}
		err = audit.Write(tx, by, audit.Entry{Action: "tenant.mail_setup", Subject: "tenant", ID: t.subject(), New: map[string]any{"email": owner.Email}})
		if err != nil {
			return 0, err
		}
		return 0, s.mail.Queue(ctx, tx, owner.Email, SetupEmail{Tenant: t.Name, Slug: t.Slug, Person: owner.Name})
	})
	return err
}
