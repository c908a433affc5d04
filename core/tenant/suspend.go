package tenant

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/programme"
)

// maxReason is the length of the reason for a suspension, in characters.
const maxReason = 500

// Refusals of suspending and reactivating.
var (
	ErrSuspended    = core.Refuse("tenant-suspended", "This business is already suspended.")
	ErrNotSuspended = core.Refuse("tenant-not-suspended", "This business is not suspended.")
)

// SuspensionEmail tells a tenant's owner that it was suspended, and why, or reactivated.
type SuspensionEmail struct {
	Tenant string // name of the business
	Slug   string // of its host
	Reason string
	Over   bool // the business was reactivated
}

// Suspend stops a tenant's sign-ins and tokens at once, and mails its owner the reason: ErrSuspended.
// Its data stays, its customers can still see what they have, and it isn't billed meanwhile.
func (s *Service) Suspend(ctx context.Context, by core.Actor, id core.TenantID, reason string) (Tenant, error) {
	check := core.NewCheck(nil)
	why := check.Text("reason", &reason, maxReason)
	if err := check.Err(); err != nil {
		return Tenant{}, err
	}
	return s.setStatus(ctx, by, id, Suspended, ErrSuspended, &why)
}

// Reactivate ends a tenant's suspension and mails its owner: ErrNotSuspended. The days of the
// suspension aren't billed.
func (s *Service) Reactivate(ctx context.Context, by core.Actor, id core.TenantID) (Tenant, error) {
	return s.setStatus(ctx, by, id, Active, ErrNotSuspended, nil)
}

func (s *Service) setStatus(ctx context.Context, by core.Actor, id core.TenantID, to Status, already error, reason *string) (Tenant, error) {
	if err := by.RequireAdmin(); err != nil {
		return Tenant{}, err
	}
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) (Tenant, error) {
		old, err := db.One[Tenant](ctx, tx, lockSQL, db.Args{"id": id})
		if err != nil {
			return Tenant{}, err
		}
		if old.Status == to {
			return Tenant{}, already
		}
		t, err := update(ctx, tx, old, Edit{Status: core.Set(string(to))}, reason)
		if err != nil {
			return Tenant{}, err
		}
		entry := audit.Entry{
			Action: "tenant.suspend", Subject: "tenant", ID: t.subject(), Name: t.Name,
			New: map[string]any{"reason": reason, "email": t.Email},
		}
		email := SuspensionEmail{Tenant: t.Name, Slug: t.Slug}
		if to == Active {
			entry.Action, entry.New, email.Over = "tenant.reactivate", map[string]any{"email": t.Email}, true
			err = resume(ctx, tx, t)
		} else {
			email.Reason = *reason
		}
		return t, errors.Join(err, s.mails.Queue(ctx, tx, s.mails.Suspension(t.Email, email)), audit.Write(tx, by, entry))
	})
}

// resume starts again what stood still while a tenant was suspended: its bills, and what ends of its customers.
func resume(ctx context.Context, tx *db.Tx, t Tenant) error {
	if err := billing.Resume(ctx, tx, t.ID); err != nil {
		return err
	}
	zone, err := core.Zone(t.TimeZone)
	if err != nil {
		return err
	}
	return programme.Resume(tx, t.ID, core.DateOf(tx.Now, zone))
}

// Suspension is what everyone can know about a suspended business: never the reason.
type Suspension struct {
	Mailed  bool   // the owner was mailed the reason
	Contact string // e-mail address of the platform; "": none
}

// FindSuspension returns what everyone can know about a business's suspension, or core.ErrNotFound if
// it is active.
func (s *Service) FindSuspension(ctx context.Context, slug string) (Suspension, error) {
	return db.One[Suspension](ctx, s.db.Platform(), suspensionSQL, db.Args{"slug": slug})
}
