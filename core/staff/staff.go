// Package staff keeps the people who sign in and their roles: owners, managers and cashiers of a
// tenant, and the super-admins of the platform. An e-mail address is unique within a tenant, and
// within the platform. core/auth signs them in.
package staff

import (
	"context"
	"strconv"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
)

// Person is a person who signs in.
type Person = auth.Person

const maxName = 100

// Service adds and changes people.
type Service struct {
	db    *db.DB
	mails auth.Inviter
	auth  *auth.Service
}

// NewService makes the service.
func NewService(d *db.DB, mails auth.Inviter, a *auth.Service) *Service {
	return &Service{db: d, mails: mails, auth: a}
}

// New describes a new person of the transaction's tenant.
type New struct {
	Role     core.Role
	Name     string
	Email    string
	Password string // "": none yet, they are invited
}

func (n *New) validate(tx *db.Tx, t core.Tenant) error {
	check := core.NewCheck(nil)
	n.Name = check.Text("name", &n.Name, maxName)
	n.Email = check.Text("email", &n.Email, 255)
	if check.OK("email") && !core.IsEmail(n.Email) {
		check.Add("email", core.MustBeEmail)
	}
	if tx.Tenant == 0 {
		core.OneOf(check, "role", n.Role, core.SuperAdmin)
	} else {
		core.OneOf(check, "role", n.Role, core.Owner, core.Manager, core.Cashier)
	}
	if n.Password != "" {
		auth.CheckPassword(check, n.Password, n.Email, n.Name, t.Name, t.Slug)
	}
	return check.Err()
}

// Add creates a person in the caller's transaction.
func Add(ctx context.Context, tx *db.Tx, by core.Actor, n New) (Person, error) {
	if err := n.validate(tx, by.Tenant); err != nil {
		return Person{}, err
	}
	var hash *string // nil: they are invited
	if n.Password != "" {
		made, err := auth.HashPassword(ctx, tx.Tenant, n.Password)
		if err != nil {
			return Person{}, err
		}
		hash = &made
	}
	p, err := db.One[Person](ctx, tx, insertSQL, db.Args{
		"tenant": int64(tx.Tenant), "role": n.Role, "name": n.Name, "email": n.Email,
		"email_key": auth.EmailKey(n.Email), "now": tx.Now,
	})
	if db.Violates(err, "staff_email") {
		return Person{}, core.Invalid(core.Fields{"email": {core.Duplicate}})
	}
	if err != nil {
		return Person{}, err
	}
	if err := auth.AddCredential(tx, p.ID, hash); err != nil {
		return Person{}, err
	}
	return p, audit.Write(tx, by, audit.Entry{
		Action: "staff.create", Subject: "staff", ID: idText(p.ID), Name: p.Name,
		New: map[string]any{"role": p.Role, "name": p.Name, "email": p.Email},
	})
}

// CreateAdmin creates a super-admin.
func CreateAdmin(ctx context.Context, d *db.DB, by core.Actor, n New) (Person, error) {
	if err := by.RequireAdmin(); err != nil {
		return Person{}, err
	}
	n.Role = core.SuperAdmin
	return db.In(ctx, d.Platform(), func(tx *db.Tx) (Person, error) { return Add(ctx, tx, by, n) })
}

// FindAdmin returns the super-admin with an e-mail address, or core.ErrNotFound.
func FindAdmin(ctx context.Context, d *db.DB, by core.Actor, email string) (Person, error) {
	if err := by.RequireAdmin(); err != nil {
		return Person{}, err
	}
	return db.One[Person](ctx, d.Platform(), findAdminSQL, db.Args{"email_key": auth.EmailKey(email)})
}

func idText(n int64) string { return strconv.FormatInt(n, 10) }
