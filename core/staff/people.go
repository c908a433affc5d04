package staff

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/usage"
)

// ErrLastOwner keeps a business from losing its last owner. One who has not accepted their
// invitation does not count.
var ErrLastOwner = core.Refuse("last-owner", "A business needs an owner who can sign in, and this is the only one. Make somebody else an owner first.")

// Member is a person as their owner sees them.
type Member struct {
	Person
	Active       bool
	Invited      bool       // they have not chosen a password yet
	InvitedUntil *time.Time // when their open invitation runs out; nil: there is none
	TwoFactor    bool
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
				Action: "staff.set_role", Subject: "staff", ID: id(person), Name: who.Name,
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
		if err := auth.EndSessions(tx, person); err != nil {
			return err
		}
		return setStatus(tx, by, "staff.deactivate", who, "active", "inactive")
	})
}

// Activate lets a person of the tenant in again who was shut out, with the password, the
// role and the tokens that they had. One who exceeds the plan is refused with usage.ErrLimit.
func (s *Service) Activate(ctx context.Context, by core.Actor, person int64) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	return s.change(ctx, by, person, func(tx *db.Tx, who standing) error {
		if who.Active {
			return core.ErrNotFound
		}
		if err := usage.Check(ctx, tx, usage.Staff, 1); err != nil {
			return err
		}
		return setStatus(tx, by, "staff.activate", who, "inactive", "active")
	})
}

func setStatus(tx *db.Tx, by core.Actor, action string, who standing, was, is string) error {
	if err := db.Queue(tx, setStatusSQL, db.Args{"id": who.ID, "status": is}); err != nil {
		return err
	}
	return audit.Write(tx, by, audit.Entry{
		Action: action, Subject: "staff", ID: id(who.ID), Name: who.Name,
		Old: map[string]any{"status": was}, New: map[string]any{"status": is},
	})
}

// standing is a person in the staff, and whether the business depends on them.
type standing struct {
	member
	lastOwner bool
}

// member is a person whose row is locked until the transaction ends.
type member struct {
	ID     int64
	Role   core.Role
	Name   string
	Active bool
	Joined bool // they have a password
}

// change runs fn on a person of the actor's tenant. Until it is over, they and the owners
// stay as they are: of two owners who are taken away at once, the second waits here, and
// then decides without the first. Two round trips, and those of fn.
func (s *Service) change(ctx context.Context, by core.Actor, person int64, fn func(tx *db.Tx, who standing) error) error {
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		people, err := db.All[member](ctx, tx, lockPeopleSQL, db.Args{"id": person})
		if err != nil {
			return 0, err
		}
		at := slices.IndexFunc(people, func(m member) bool { return m.ID == person })
		if at < 0 {
			return 0, core.ErrNotFound
		}
		who := people[at]
		another := slices.ContainsFunc(people, func(m member) bool { return m.ID != person && m.isOwner() && m.Joined })
		return 0, fn(tx, standing{who, who.isOwner() && !another})
	})
	return err
}

func (m member) isOwner() bool { return m.Active && m.Role == core.Owner }

// Invite adds a person to the actor's tenant and invites them by mail to choose a password.
// One who exceeds the plan is refused with usage.ErrLimit.
func (s *Service) Invite(ctx context.Context, by core.Actor, n New) (Person, error) {
	if err := by.Require(core.Owner); err != nil {
		return Person{}, err
	}
	n.Password = "" // theirs to choose
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Person, error) {
		if err := usage.Check(ctx, tx, usage.Staff, 1); err != nil {
			return Person{}, err
		}
		p, err := Add(ctx, tx, by, n)
		if err != nil {
			return Person{}, err
		}
		return p, auth.Invite(ctx, tx, by, s.mail, by.Tenant, p)
	})
}

// Joining is what an invited person fills in.
type Joining struct {
	Name     string
	Password string
}

// Join gives the person with an invitation their name and their first password, and signs them
// in. auth.ErrLink where the invitation does not work.
func (s *Service) Join(ctx context.Context, v auth.Visitor, secret string, j Joining) (auth.SignedIn, error) {
	l, err := s.auth.FindInvitation(ctx, v, secret)
	if err != nil {
		return auth.SignedIn{}, err
	}
	check := core.NewCheck(nil)
	l.Name = check.Text("name", &j.Name, maxName)
	auth.CheckPassword(check, j.Password, l.Email, l.Name, v.Tenant.Name)
	if err := check.Err(); err != nil {
		return auth.SignedIn{}, err
	}
	hash, err := auth.HashPassword(ctx, v.Tenant.ID, j.Password)
	if err != nil {
		return auth.SignedIn{}, err
	}
	by := v.As(l.Person)
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (auth.SignedIn, error) {
		proof, err := auth.AcceptInvitation(ctx, tx, by, secret, hash, map[string]any{"name": l.Name})
		if err != nil {
			return auth.SignedIn{}, err
		}
		return auth.SignedIn{Person: l.Person, Proof: proof}, rename(tx, l.ID, l.Name)
	})
}

// rename changes a person's name in the caller's transaction.
func rename(tx *db.Tx, person int64, name string) error {
	return db.Queue(tx, renameSQL, db.Args{"id": person, "tenant": int64(tx.Tenant), "name": name})
}

// Rename changes the name of the actor's own person.
func (s *Service) Rename(ctx context.Context, by core.Actor, name string) error {
	check := core.NewCheck(nil)
	name = check.Text("name", &name, maxName)
	if err := check.Err(); err != nil {
		return err
	}
	_, err := db.Within(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		who, err := db.One[member](ctx, tx, lockPersonSQL, db.Args{"id": by.StaffID, "tenant": int64(tx.Tenant)})
		if err != nil || name == who.Name {
			return 0, err
		}
		if err := rename(tx, who.ID, name); err != nil {
			return 0, err
		}
		return 0, audit.Write(tx, by, audit.Entry{
			Action: "staff.rename", Subject: "staff", ID: id(who.ID), Name: name,
			Old: map[string]any{"name": who.Name}, New: map[string]any{"name": name},
		})
	})
	return err
}
