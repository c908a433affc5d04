package staff

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/session"
	"example.com/loyalty/core/token"
)

// ErrLastOwner keeps a business from being nobody's. Who was invited and has not come
// could not help.
var ErrLastOwner = core.Refuse("last-owner", "A business needs an owner who can sign in, and this is the only one. Make somebody else an owner first.")

// Member is a person as their owner sees them.
type Member struct {
	Person
	Active       bool
	Invited      bool       // they have not chosen a password yet
	InvitedUntil *time.Time // when their open invitation runs out; nil: there is none
	SecondFactor bool
	LiveTokens   int // API tokens that are neither revoked nor expired
	CreatedAt    time.Time
}

// List returns the people of the actor's tenant: who is active first, by name. They are
// few: all at once. One round trip.
func (s *Service) List(ctx context.Context, by core.Actor) ([]Member, error) {
	if err := by.Require(core.Owner); err != nil {
		return nil, err
	}
	return db.ReadAll[Member](ctx, s.db, by, listSQL, db.Args{"now": s.db.Now()})
}

// Find returns one person of the actor's tenant. One round trip.
func (s *Service) Find(ctx context.Context, by core.Actor, person int64) (Member, error) {
	if err := by.Require(core.Owner); err != nil {
		return Member{}, err
	}
	return db.ReadOne[Member](ctx, s.db, by, findSQL, db.Args{"id": person, "now": s.db.Now()})
}

// SetRole gives a person of the tenant another role, from their next request on. Their API
// tokens are revoked for good: a later promotion brings none back.
func (s *Service) SetRole(ctx context.Context, by core.Actor, person int64, role core.Role) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	check := core.NewCheck(nil)
	core.OneOf(check, "role", role, core.Owner, core.Manager, core.Cashier)
	if err := check.Err(); err != nil {
		return err
	}
	return s.change(ctx, by, person, func(tx *db.Tx, who standing) error {
		if role == who.Role {
			return nil
		}
		if who.lastOwner {
			return ErrLastOwner
		}
		err := errors.Join(
			db.Queue(tx, setRoleSQL, db.Args{"id": person, "role": role}),
			audit.Write(tx, by, audit.Entry{
				Action: "staff.set_role", Subject: "staff", ID: id(person),
				Old: map[string]any{"role": who.Role}, New: map[string]any{"role": role},
			}),
		)
		if err != nil || who.Role != core.Owner && role != core.Owner {
			return err // neither role has tokens
		}
		// A promotion revokes, too, in case tokens are left over from an earlier role.
		_, err = token.RevokeAll(ctx, tx, by, person)
		return err
	})
}

// Deactivate shuts a person of the tenant out: their sessions end, and their sign-ins and
// tokens stop at once.
func (s *Service) Deactivate(ctx context.Context, by core.Actor, person int64) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	return s.change(ctx, by, person, func(tx *db.Tx, who standing) error {
		if !who.Active {
			return core.ErrNotFound
		}
		if who.lastOwner {
			return ErrLastOwner
		}
		if err := session.EndAll(tx, person); err != nil {
			return err
		}
		return setStatus(tx, by, "staff.deactivate", person, "active", "inactive")
	})
}

// Activate lets a person of the tenant in again who was shut out, with the password, the
// role and the tokens that they had.
func (s *Service) Activate(ctx context.Context, by core.Actor, person int64) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	return s.change(ctx, by, person, func(tx *db.Tx, who standing) error {
		if who.Active {
			return core.ErrNotFound
		}
		return setStatus(tx, by, "staff.activate", person, "inactive", "active")
	})
}

func setStatus(tx *db.Tx, by core.Actor, action string, person int64, was, is string) error {
	if err := db.Queue(tx, setStatusSQL, db.Args{"id": person, "status": is}); err != nil {
		return err
	}
	return audit.Write(tx, by, audit.Entry{
		Action: action, Subject: "staff", ID: id(person),
		Old: map[string]any{"status": was}, New: map[string]any{"status": is},
	})
}

// standing is a person, and whether the business depends on them.
type standing struct {
	account
	lastOwner bool
}

// change runs fn on a person of the actor's tenant. Until it is over, they and the owners
// stay as they are: of two owners who are taken away at once, the second waits here, and
// then decides without the first. Two round trips, and those of fn.
func (s *Service) change(ctx context.Context, by core.Actor, person int64, fn func(tx *db.Tx, who standing) error) error {
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		people, err := db.All[account](ctx, tx, lockPeopleSQL, db.Args{"id": person})
		if err != nil {
			return 0, err
		}
		at := slices.IndexFunc(people, func(a account) bool { return a.ID == person })
		if at < 0 {
			return 0, core.ErrNotFound
		}
		who := people[at]
		another := slices.ContainsFunc(people, func(a account) bool { return a.ID != person && a.isOwner() && a.PasswordHash != nil })
		return 0, fn(tx, standing{who, who.isOwner() && !another})
	})
	return err
}

func (a account) isOwner() bool { return a.Active && a.Role == core.Owner }

// Rename changes the name of the actor's own person.
func (s *Service) Rename(ctx context.Context, by core.Actor, name string) error {
	check := core.NewCheck(nil)
	name = check.Text("name", &name, maxName)
	if err := check.Err(); err != nil {
		return err
	}
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		who, err := db.One[account](ctx, tx, lockAccountSQL, db.Args{"id": by.StaffID})
		if err != nil || name == who.Name {
			return 0, err
		}
		if err := db.Queue(tx, renameSQL, db.Args{"id": who.ID, "name": name}); err != nil {
			return 0, err
		}
		return 0, audit.Write(tx, by, audit.Entry{
			Action: "staff.rename", Subject: "staff", ID: id(who.ID),
			Old: map[string]any{"name": who.Name}, New: map[string]any{"name": name},
		})
	})
	return err
}
