package tenant

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
)

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
	return db.RunPlatform(ctx, s.db, by, func(tx *db.Tx) error {
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
		owner, err := db.One[setupOwner](ctx, tx, setupOwnerSQL, db.Args{"email": t.Email})
		if err != nil {
			return err
		}
		if owner.Invited {
			return auth.Invite(ctx, tx, by, s.mail, served, owner.Person)
		}
		err = audit.Write(tx, by, audit.Entry{Action: "tenant.mail_setup", Subject: "tenant", ID: t.subject(), Name: t.Name, New: map[string]any{"email": owner.Email}})
		if err != nil {
			return err
		}
		return s.mail.Queue(ctx, tx, owner.Email, SetupEmail{Tenant: t.Name, Slug: t.Slug, Person: owner.Name})
	})
}
