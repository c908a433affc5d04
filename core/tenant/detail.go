package tenant

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/usage"
)

// Detail is a tenant as a page of the platform shows it.
type Detail struct {
	Summary
	SuspendedAt   *time.Time
	SuspendReason *string
	CountedAt     *time.Time // when sales and the last activity were counted; nil: not yet
	Served        core.Tenant
	Uses          []usage.Use // of the plan, as of now
	People        []Person    // owners first
	LiveTokens    int64       // API tokens that are neither revoked nor expired
}

// Person is one of a tenant's people.
type Person struct {
	ID         int64
	Name       string
	Email      string
	Role       core.Role
	Active     bool
	Invited    bool       // they have not chosen a password yet
	SignedInAt *time.Time // last; nil: never
}

// InvitedOwner is the owner to send the invitation to again; nil where an owner has joined.
func (d Detail) InvitedOwner() *Person {
	var invited *Person
	for i, p := range d.People {
		switch {
		case p.Role != core.Owner || !p.Active:
		case !p.Invited:
			return nil
		case invited == nil:
			invited = &d.People[i]
		}
	}
	return invited
}

// detailRow is what is read of a tenant at once.
type detailRow struct {
	Summary
	SuspendedAt       *time.Time
	SuspendReason     *string
	CountedAt         *time.Time
	LiveTokens        int64
	ConfirmAboveCents *int64
}

// Find returns a tenant and how it is used, for super-admins. Three round trips.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.TenantID) (Detail, error) {
	if err := by.RequireAdmin(); err != nil {
		return Detail{}, err
	}
	r, err := db.PlatformOne[detailRow](ctx, s.db, detailSQL, db.Args{"id": int64(id), "now": s.db.Now()})
	if err != nil {
		return Detail{}, err
	}
	d := Detail{
		Summary: r.Summary, SuspendedAt: r.SuspendedAt, SuspendReason: r.SuspendReason, CountedAt: r.CountedAt, LiveTokens: r.LiveTokens,
	}
	d.Served, err = Tenant{
		ID: r.ID, Name: r.Name, Slug: r.Slug, TimeZone: r.TimeZone, Currency: r.Currency, Country: r.Country, ConfirmAboveCents: r.ConfirmAboveCents,
	}.forServing()
	if err != nil {
		return Detail{}, err
	}
	inside := by
	inside.Tenant = d.Served
	if d.People, err = db.ReadAll[Person](ctx, s.db, inside, peopleSQL, nil); err != nil {
		return Detail{}, err
	}
	d.Uses, err = usage.NewMeter(s.db).Uses(ctx, inside)
	return d, err
}
