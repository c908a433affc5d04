// Package location keeps the branches of a tenant. Sales refer to them, so they are never deleted: a
// closed one is inactive and takes no new sales.
package location

import (
	"context"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Location is a branch.
type Location struct {
	ID     int64
	Name   string
	Active bool
}

// New describes a new location.
type New struct {
	Name string

	Malformed core.Fields // what the front end could not read
}

// Edit describes a change of a location: fields that are not set stay as they are.
type Edit struct {
	Name   core.Optional[string]
	Active core.Optional[bool]

	Malformed core.Fields
}

const maxName = 100

func (n New) validate() (name string, err error) {
	check := core.NewCheck(n.Malformed)
	name = check.Text("name", &n.Name, maxName)
	return name, check.Err()
}

func (e Edit) validate(old Location) (Location, error) {
	check := core.NewCheck(e.Malformed)
	l := Location{ID: old.ID, Name: check.Text("name", e.Name.Or(&old.Name), maxName)}
	if active := e.Active.Or(&old.Active); active != nil {
		l.Active = *active
	} else {
		check.Add("active", core.Required)
	}
	return l, check.Err()
}

// Service keeps locations.
type Service struct{ db *db.DB }

// NewService makes the service.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// List returns the tenant's locations by name.
func (s *Service) List(ctx context.Context, by core.Actor) ([]Location, error) {
	return db.All[Location](ctx, s.db.Tenant(by), listSQL, nil)
}

// ListPage returns a page of the tenant's locations, by name.
func (s *Service) ListPage(ctx context.Context, by core.Actor, p core.Page) (core.List[Location], error) {
	return db.ListPage(ctx, s.db, by, pages, nil, p, func(l Location) core.Cursor { return core.NumberCursor(time.Unix(0, 0), l.ID) })
}

// Add creates a location. A duplicate name is refused.
func (s *Service) Add(ctx context.Context, by core.Actor, n New, once *core.Once[Location]) (core.Reply[Location], error) {
	l, err := db.In(ctx, s.db.TenantAs(by, core.Manager), db.Once(ctx, by, once, func(tx *db.Tx) (Location, error) {
		name, err := n.validate()
		if err != nil {
			return Location{}, err
		}
		l, err := db.One[Location](ctx, tx, insertSQL, db.Args{"name": name})
		if err != nil {
			return Location{}, err
		}
		return l, audit.Write(tx, by, audit.Entry{Action: "location.create", Subject: "location", ID: l.idText(), Name: l.Name, New: l.facts()})
	}))
	return l, refuseDuplicateName(err)
}

// Edit changes the fields that are set. A duplicate name is refused.
func (s *Service) Edit(ctx context.Context, by core.Actor, id int64, e Edit) (Location, error) {
	l, err := db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Location, error) {
		// Locked: the audit log must have the values that this edit replaces.
		old, err := db.One[Location](ctx, tx, lockSQL, db.Args{"id": id})
		if err != nil {
			return Location{}, err
		}
		l, err := e.validate(old)
		if err != nil {
			return Location{}, err
		}
		if l, err = db.One[Location](ctx, tx, updateSQL, db.Args{"id": id, "name": l.Name, "active": l.Active}); err != nil {
			return Location{}, err
		}
		return l, audit.Write(tx, by, audit.Entry{
			Action: "location.edit", Subject: "location", ID: l.idText(), Name: l.Name, Old: old.facts(), New: l.facts(),
		})
	})
	return l, refuseDuplicateName(err)
}

func refuseDuplicateName(err error) error {
	if db.Violates(err, "location_name") {
		return core.Invalid(core.Fields{"name": {core.Duplicate}})
	}
	return err
}

func (l Location) idText() string { return strconv.FormatInt(l.ID, 10) }

// facts returns what the audit log says about a location.
func (l Location) facts() map[string]any { return map[string]any{"name": l.Name, "active": l.Active} }
