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

// ErrLastOwner refuses to remove a business's last owner. Invited owners don't count.
var ErrLastOwner = core.Refuse("last-owner", "A business needs an owner who can sign in, and this is the only one. Make another person an owner first.")

// Member is a person of the staff, as owners see them.
type Member struct {
	Person
	Active       bool
	Invited      bool       // and has no password yet
	InvitedUntil *time.Time // when their invitation expires; nil: none
	TwoFactor    bool
	LiveTokens   int // API tokens that are neither revoked nor expired
	CreatedAt    time.Time
}

// List returns all people of the actor's tenant by name, active ones first.
func (s *Service) List(ctx context.Context, by core.Actor) ([]Member, error) {
	if err := by.Require(core.Owner); err != nil {
		return nil, err
	}
	return db.All[Member](ctx, s.db.Tenant(by), listSQL, db.Args{"now": s.db.Now()})
}

// Find returns a person of the actor's tenant.
func (s *Service) Find(ctx context.Context, by core.Actor, person int64) (Member, error) {
	if err := by.Require(core.Owner); err != nil {
		return Member{}, err
	}
	return db.One[Member](ctx, s.db.Tenant(by), findSQL, db.Args{"id": person, "now": s.db.Now()})
}

// SetRole changes a person's role from their next request on, and revokes their API tokens. A later
// promotion doesn't restore the tokens.
func (s *Service) SetRole(ctx context.Context, by core.Actor, person int64, role core.Role) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	check := core.NewCheck(nil)
	core.OneOf(check, "role", role, core.Owner, core.Manager, core.Cashier)
	if err := check.Err(); err != nil {
		return err
	}
	return s.changeMember(ctx, by, person, func(tx *db.Tx, who member) error {
		if role == who.Role {
			return nil
		}
		if who.LastOwner {
			return ErrLastOwner
		}
		err := errors.Join(
			db.Queue(tx, setRoleSQL, db.Args{"id": person, "role": role}),
			audit.Write(tx, by, audit.Entry{
				Action: "staff.set_role", Subject: "staff", ID: idText(person), Name: who.Name,
				Old: map[string]any{"role": who.Role}, New: map[string]any{"role": role},
			}),
		)
		if err != nil || who.Role != core.Owner && role != core.Owner {
			return err // only owners have tokens
		}
		// Also after a promotion, in case there are tokens of an earlier role.
		_, err = token.RevokeAll(ctx, tx, by, person)
		return err
	})
}

// Deactivate ends a person's sessions, and stops their sign-ins and tokens at once.
func (s *Service) Deactivate(ctx context.Context, by core.Actor, person int64) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	return s.changeMember(ctx, by, person, func(tx *db.Tx, who member) error {
		if !who.Active {
			return core.ErrNotFound
		}
		if who.LastOwner {
			return ErrLastOwner
		}
		if err := auth.EndSessions(tx, person); err != nil {
			return err
		}
		return setStatus(tx, by, "staff.deactivate", who, "active", "inactive")
	})
}

// Activate lets a deactivated person sign in again, with the password, role and tokens they had. Beyond
// the plan's limit it refuses with usage.ErrLimit.
func (s *Service) Activate(ctx context.Context, by core.Actor, person int64) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	return s.changeMember(ctx, by, person, func(tx *db.Tx, who member) error {
		if who.Active {
			return core.ErrNotFound
		}
		if err := usage.Check(ctx, tx, usage.Staff, 1); err != nil {
			return err
		}
		return setStatus(tx, by, "staff.activate", who, "inactive", "active")
	})
}

func setStatus(tx *db.Tx, by core.Actor, action string, who member, was, is string) error {
	if err := db.Queue(tx, setStatusSQL, db.Args{"id": who.ID, "status": is}); err != nil {
		return err
	}
	return audit.Write(tx, by, audit.Entry{
		Action: action, Subject: "staff", ID: idText(who.ID), Name: who.Name,
		Old: map[string]any{"status": was}, New: map[string]any{"status": is},
	})
}

// member is a person who is being changed.
type member struct {
	ID        int64
	Role      core.Role
	Name      string
	Active    bool
	Joined    bool // has a password
	LastOwner bool `db:"-"` // who can sign in
}

// changeMember runs fn on a person of the actor's tenant, whose row is locked together with the active
// owners': if two owners are removed at once, the second decides after the first.
func (s *Service) changeMember(ctx context.Context, by core.Actor, person int64, fn func(tx *db.Tx, who member) error) error {
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error {
		people, err := db.All[member](ctx, tx, lockPeopleSQL, db.Args{"id": person})
		if err != nil {
			return err
		}
		at := slices.IndexFunc(people, func(m member) bool { return m.ID == person })
		if at < 0 {
			return core.ErrNotFound
		}
		who := people[at]
		who.LastOwner = who.isOwner() &&
			!slices.ContainsFunc(people, func(m member) bool { return m.ID != person && m.isOwner() && m.Joined })
		return fn(tx, who)
	})
}

func (m member) isOwner() bool { return m.Active && m.Role == core.Owner }

// Invite adds a person to the actor's tenant and mails them an invitation. Beyond the plan's limit it
// refuses with usage.ErrLimit.
func (s *Service) Invite(ctx context.Context, by core.Actor, n New, once *core.Once[Person]) (core.Reply[Person], error) {
	if err := by.Require(core.Owner); err != nil {
		return core.Reply[Person]{}, err
	}
	n.Password = "" // the person chooses it
	return db.In(ctx, s.db.Tenant(by), db.Once(ctx, by, once, func(tx *db.Tx) (Person, error) {
		if err := usage.Check(ctx, tx, usage.Staff, 1); err != nil {
			return Person{}, err
		}
		p, err := Add(ctx, tx, by, n)
		if err != nil {
			return Person{}, err
		}
		return p, auth.Invite(ctx, tx, by, s.mails, by.Tenant, p)
	}))
}

// Joining is what an invited person enters.
type Joining struct {
	Name     string
	Password string
}

// Join sets the name and the first password of an invited person, and signs them in. auth.ErrLink if
// the invitation doesn't work.
func (s *Service) Join(ctx context.Context, v auth.Visitor, secret string, j Joining) (auth.SignedIn, error) {
	l, err := s.auth.FindInvitation(ctx, v, secret)
	if err != nil {
		return auth.SignedIn{}, err
	}
	check := core.NewCheck(nil)
	l.Name = check.Text("name", &j.Name, maxName)
	s.auth.CheckPassword(check, j.Password, l.Person, v.Tenant)
	if err := check.Err(); err != nil {
		return auth.SignedIn{}, err
	}
	hash, err := auth.HashPassword(ctx, v.Tenant.ID, j.Password)
	if err != nil {
		return auth.SignedIn{}, err
	}
	by := v.As(l.Person)
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (auth.SignedIn, error) {
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
	return db.Run(ctx, s.db.Within(by), func(tx *db.Tx) error {
		who, err := db.One[member](ctx, tx, lockPersonSQL, db.Args{"id": by.StaffID, "tenant": int64(tx.Tenant)})
		if err != nil || name == who.Name {
			return err
		}
		if err := rename(tx, who.ID, name); err != nil {
			return err
		}
		return audit.Write(tx, by, audit.Entry{
			Action: "staff.rename", Subject: "staff", ID: idText(who.ID), Name: name,
			Old: map[string]any{"name": who.Name}, New: map[string]any{"name": name},
		})
	})
}
