package tenant

import (
	"context"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/usage"
)

// Detail is a tenant as its page of the platform shows it.
type Detail struct {
	Summary
	SuspendedAt   *time.Time
	SuspendReason *string
	CountedAt     *time.Time  // when sales and the last activity were counted; nil: not yet
	LiveTokens    int64       // API tokens that are neither revoked nor expired
	Served        core.Tenant `db:"-"`
	Uses          []usage.Use `db:"-"` // of the plan
	People        []Person    `db:"-"` // owners first
}

// Person is one of a tenant's people.
type Person struct {
	ID         int64
	Name       string
	Email      string
	Role       core.Role
	Active     bool
	Invited    bool       // and has no password yet
	SignedInAt *time.Time `db:"-"` // last time; nil: never
}

// InvitedOwner returns the owner whose invitation can be sent again; nil if an owner has joined.
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

// Find returns a tenant and its usage, for super-admins. Four round trips.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.TenantID) (Detail, error) {
	if err := by.RequireAdmin(); err != nil {
		return Detail{}, err
	}
	found, err := db.One[struct {
		Detail
		ConfirmAboveCents *int64
	}](ctx, s.db.Platform(), detailSQL, db.Args{"id": int64(id), "now": s.db.Now()})
	if err != nil {
		return Detail{}, err
	}
	d := found.Detail
	d.Served, err = Tenant{
		ID: d.ID, Name: d.Name, Slug: d.Slug, TimeZone: d.TimeZone, Currency: d.Currency, Country: d.Country,
		ConfirmAboveCents: found.ConfirmAboveCents,
	}.forServing()
	if err != nil {
		return Detail{}, err
	}
	inside := by
	inside.Tenant = d.Served
	if d.People, err = s.people(ctx, inside); err != nil {
		return Detail{}, err
	}
	d.Uses, err = usage.Uses(ctx, s.db, inside)
	return d, err
}

// people returns a tenant's people and when they signed in.
func (s *Service) people(ctx context.Context, by core.Actor) ([]Person, error) {
	people, err := db.All[Person](ctx, s.db.Tenant(by), peopleSQL, nil)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	signIns, err := db.All[struct {
		ID int64
		At time.Time
	}](ctx, s.db.Tenant(by), signInsSQL, db.Args{"people": ids})
	if err != nil {
		return nil, err
	}
	for _, in := range signIns {
		people[slices.Index(ids, in.ID)].SignedInAt = &in.At
	}
	return people, nil
}
