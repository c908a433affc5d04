// Package auth signs people in and keeps who is signed in: passwords, attempts, two-factor,
// recovery codes, invitations, resets and sessions. A tenant's people and the super-admins of
// the platform sign in alike; who they are and what they may do is core/staff's.
//
// Its surprising rule: nothing here tells a visitor whether an account exists. An unknown
// e-mail address costs the same time, the same round trips and the same answer as a wrong
// password.
package auth

import (
	"log/slog"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	mails "example.com/loyalty/core/mail"
	"example.com/loyalty/core/vault"
)

// Person is a person who signs in.
type Person struct {
	ID    int64
	Role  core.Role
	Name  string
	Email string
}

// Service signs people in and out.
type Service struct {
	db         *db.DB
	jobs       *job.Queue
	mail       *mails.Service
	keys       vault.Keys
	addressKey func(address string) string
	log        *slog.Logger
}

// NewService makes the service and registers its jobs. addressKey is what attempts from a
// client's address are counted under.
func NewService(
	d *db.DB, jobs *job.Queue, m *mails.Service, keys vault.Keys, addressKey func(address string) string, log *slog.Logger,
) *Service {
	s := &Service{db: d, jobs: jobs, mail: m, keys: keys, addressKey: addressKey, log: log}
	job.Handle(jobs, job.Mail, s.SendReset)
	job.Handle(jobs, job.Upkeep, s.forgetAttempts)
	job.Handle(jobs, job.Upkeep, s.forgetSessions)
	job.Every(jobs, river.PeriodicInterval(time.Hour), forgetAttempts{})
	job.Every(jobs, river.PeriodicInterval(time.Hour), forgetSessions{})
	job.Handle(jobs, job.Upkeep, s.forgetLinks)
	job.Every(jobs, river.PeriodicInterval(time.Hour), forgetLinks{})
	return s
}

// Visitor is a person who is not signed in, at the host of a tenant or of the platform.
type Visitor struct {
	Tenant    core.Tenant // zero: the platform
	Address   string
	RequestID string
	Device    string // the value of DeviceCookie; "": the browser has none
}

// system is the actor of what is done before it is known who the visitor is.
func (v Visitor) system(doing string) core.Actor {
	by := core.System(v.Tenant, doing)
	by.Address, by.RequestID = v.Address, v.RequestID
	return by
}

// As is the visitor as an actor, after they proved to be that person.
func (v Visitor) As(p Person) core.Actor {
	by := core.Actor{
		Kind: core.ByStaff, ID: idText(p.ID), Name: p.Name, Tenant: v.Tenant, StaffID: p.ID, Role: p.Role,
		Address: v.Address, RequestID: v.RequestID,
	}
	if v.Tenant.ID == 0 {
		by.Kind = core.ByAdmin
	}
	return by
}

// account is what is known of a person who wants to sign in.
type account struct {
	ID            int64
	Role          core.Role
	Name          string
	Email         string
	Active        bool // and their business is
	PasswordHash  *string
	PasswordSetAt *time.Time
	TotpSecret    []byte
}

func (a account) person() Person { return Person{ID: a.ID, Role: a.Role, Name: a.Name, Email: a.Email} }

// EmailKey is what an e-mail address is found by: lower case, or "" for what is no address.
// That finds no account and is stored nowhere: people type their password into the wrong field.
func EmailKey(email string) string {
	email = strings.TrimSpace(email)
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email || len(email) > 255 || strings.ContainsRune(email, 0) {
		return ""
	}
	return strings.ToLower(email)
}

// personArgs name a person of the actor's tenant, or of the platform.
func personArgs(by core.Actor, person int64) db.Args {
	return db.Args{"id": person, "tenant": int64(by.Tenant.ID)}
}

func idText(n int64) string { return strconv.FormatInt(n, 10) }
