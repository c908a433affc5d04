// Package staff keeps the people who sign in: owners, managers and cashiers of a
// tenant, and the super-admins of the platform. An e-mail address is unique within
// a tenant, and within the platform.
package staff

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/vault"
)

// Person is somebody who signs in.
type Person struct {
	ID    int64
	Role  core.Role
	Name  string
	Email string
}

const maxName = 100

// Service signs people in, and keeps who they are.
type Service struct {
	db         *db.DB
	jobs       *job.Queue
	mail       *mail.Service
	keys       vault.Keys
	addressKey func(address string) string
	log        *slog.Logger
}

// NewService makes the service and registers its jobs. addressKey is what an address is
// counted under.
func NewService(
	d *db.DB, jobs *job.Queue, m *mail.Service, keys vault.Keys, addressKey func(address string) string, log *slog.Logger,
) *Service {
	s := &Service{db: d, jobs: jobs, mail: m, keys: keys, addressKey: addressKey, log: log}
	job.Handle(jobs, job.Mail, s.Remind)
	job.Handle(jobs, job.Upkeep, s.forgetAttempts)
	job.Every(jobs, river.PeriodicInterval(time.Hour), forgetAttempts{})
	return s
}

// New describes a person to be. Their tenant is the transaction's.
type New struct {
	Role     core.Role
	Name     string
	Email    string
	Password string // "": none yet, they are invited
}

func (n *New) validate(tx *db.Tx) error {
	check := core.NewCheck(nil)
	n.Name = check.Text("name", &n.Name, maxName)
	n.Email = check.Text("email", &n.Email, 255)
	if check.OK("email") && emailKey(n.Email) == "" {
		check.Add("email", core.MustBe("email", "a valid email address"))
	}
	if tx.Tenant == 0 {
		core.OneOf(check, "role", n.Role, core.SuperAdmin)
	} else {
		core.OneOf(check, "role", n.Role, core.Owner, core.Manager, core.Cashier)
	}
	if n.Password != "" {
		if problem := weakness(n.Password, n.Email); problem != "" {
			check.Add("password", problem)
		}
	}
	return check.Err()
}

// Add makes a person in the caller's transaction, and writes so in the log.
func Add(ctx context.Context, tx *db.Tx, by core.Actor, n New) (Person, error) {
	if err := n.validate(tx); err != nil {
		return Person{}, err
	}
	hash, err := hashed(ctx, n.Password)
	if err != nil {
		return Person{}, err
	}
	p, err := db.One[Person](ctx, tx, insertSQL, db.Args{
		"tenant": int64(tx.Tenant), "role": n.Role, "name": n.Name, "email": n.Email,
		"email_key": emailKey(n.Email), "password_hash": hash, "now": tx.Now,
	})
	if db.Violates(err, "staff_email") {
		return Person{}, core.Invalid(core.Fields{"email": {core.Taken("email")}})
	}
	if err != nil {
		return Person{}, err
	}
	return p, audit.Write(tx, by, audit.Entry{
		Action: "staff.create", Subject: "staff", ID: id(p.ID),
		New: map[string]any{"role": p.Role, "name": p.Name, "email": p.Email},
	})
}

// CreateAdmin makes a super-admin.
func CreateAdmin(ctx context.Context, d *db.DB, by core.Actor, n New) (Person, error) {
	n.Role = core.SuperAdmin
	return db.Platform(ctx, d, by, func(tx *db.Tx) (Person, error) { return Add(ctx, tx, by, n) })
}
