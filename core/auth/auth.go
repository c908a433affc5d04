// Package auth signs people in and keeps their sessions: passwords, attempts, two-factor, recovery
// codes, invitations and resets. A tenant's people and the platform's super-admins sign in alike;
// core/staff keeps who they are and what they may do.
//
// Its surprising rule: nothing here tells a visitor whether an account exists. An unknown e-mail
// address takes the same time and the same round trips as a wrong password, and gets the same
// answer.
package auth

import (
	"log/slog"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
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
	mails      Mails
	keys       vault.Keys
	addressKey func(address string) string
	log        *slog.Logger

	Host string // of the base URL: a password must not consist of a business's address
}

// NewService makes the service and registers its jobs. addressKey returns the key under which
// attempts from a client's address are counted.
func NewService(
	d *db.DB, jobs *job.Queue, mails Mails, keys vault.Keys, addressKey func(address string) string, log *slog.Logger,
) *Service {
	s := &Service{db: d, jobs: jobs, mails: mails, keys: keys, addressKey: addressKey, log: log}
	job.Handle(jobs, job.Mail, s.SendReset)
	job.Handle(jobs, job.Upkeep, s.deleteOldAttempts)
	job.Handle(jobs, job.Upkeep, s.deleteOldSessions)
	job.Handle(jobs, job.Upkeep, s.deleteOldLinks)
	for _, cleanUp := range []job.Args{deleteOldAttempts{}, deleteOldSessions{}, deleteOldLinks{}} {
		job.Every(jobs, time.Hour, cleanUp)
	}
	return s
}

// Visitor is a person who is not signed in, at the host of a tenant or of the platform.
type Visitor struct {
	Tenant    core.Tenant // zero: the platform
	Address   string
	RequestID string
	Device    string // value of DeviceCookie; "": none
}

// system is the actor of actions before the visitor is known.
func (v Visitor) system(doing string) core.Actor {
	by := core.System(v.Tenant, doing)
	by.Address, by.RequestID = v.Address, v.RequestID
	return by
}

// As returns the visitor as an actor, after they proved to be that person.
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

// account is a person with their credential.
type account struct {
	Person
	Active        bool // the person and their business
	PasswordHash  *string
	PasswordSetAt *time.Time
	TotpSecret    []byte
}

// EmailKey returns the key of an e-mail address (core.EmailKey), or "" for other texts. These find no
// account and are never stored, because people type their password into the wrong field.
func EmailKey(email string) string {
	email = core.Composed(strings.TrimSpace(email))
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email || len(email) > 255 || strings.ContainsRune(email, 0) {
		return ""
	}
	return core.EmailKey(email)
}

// personArgs identify a person of the actor's tenant, or of the platform.
func personArgs(by core.Actor, person int64) db.Args {
	return db.Args{"id": person, "tenant": int64(by.Tenant.ID)}
}

func idText(n int64) string { return strconv.FormatInt(n, 10) }
