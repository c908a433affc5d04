package auth

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// AddCredential makes the credential of a person who is being added, in the caller's
// transaction. hash is of their password; nil: they are invited and choose one. No round trip.
func AddCredential(tx *db.Tx, person int64, hash *string) error {
	return db.Queue(tx, addCredentialSQL, db.Args{"id": person, "tenant": int64(tx.Tenant), "hash": hash})
}

// ChangePassword sets the actor's password, who gives the current one once more, signs them
// out everywhere and mails them. The proof signs them in again where they are.
func (s *Service) ChangePassword(ctx context.Context, by core.Actor, current, password string) (Proof, error) {
	who, err := s.accountOf(ctx, by)
	if err != nil {
		return Proof{}, err
	}
	if err := checkPassword(password, who.Email, who.Name, by.Tenant.Name); err != nil {
		return Proof{}, err
	}
	counted := confirmTries(by.StaffID)
	if err := s.countAttemptsAlone(ctx, by, counted); err != nil {
		return Proof{}, err
	}
	right, err := s.compare(ctx, by, counted, current, who.PasswordHash)
	if err != nil {
		return Proof{}, err
	}
	if !right {
		return Proof{}, errCurrent
	}
	hash, err := HashPassword(ctx, by.Tenant.ID, password)
	if err != nil {
		return Proof{}, err
	}
	return db.Platform(ctx, s.db, by, func(tx *db.Tx) (Proof, error) {
		if err := forgiveAttemptsThenEnter(tx, by, counted); err != nil {
			return Proof{}, err
		}
		err := setPassword(ctx, tx, by, newPassword{person: who.ID, old: who.PasswordHash, hash: hash}, audit.Entry{Action: "staff.change_password"})
		if err != nil {
			return Proof{}, err
		}
		return Proof{StaffID: who.ID, At: tx.Now, Code: true}, s.mailChange(ctx, tx, by, who.person(), PasswordChanged)
	})
}

var wrongPassword = core.Violation{Rule: "wrong_password"}

var errCurrent = core.Invalid(core.Fields{"current_password": {wrongPassword}})

// forgiveAttemptsThenEnter forgives attempts on an account in a transaction of the platform, which then
// goes on as one of the actor's tenant.
func forgiveAttemptsThenEnter(tx *db.Tx, by core.Actor, counted attempts) error {
	if err := forgiveAttempts(tx, counted); err != nil {
		return err
	}
	return tx.Enter(by.Tenant.ID)
}

// newPassword is a password that is to be set.
type newPassword struct {
	person int64
	old    *string // the hash that it replaces; nil: any
	hash   string
}

// setPassword sets a person's password, if the old one has not changed meanwhile, ends their
// sessions, withdraws open links, and writes the entry into the audit log. In a transaction
// that sees their tenant, or of the platform.
func setPassword(ctx context.Context, tx *db.Tx, by core.Actor, p newPassword, e audit.Entry) error {
	args := personArgs(by, p.person)
	args["old"], args["hash"], args["now"] = p.old, p.hash, tx.Now
	set, err := db.Exec(ctx, tx, setPasswordSQL, args)
	if err != nil {
		return err
	}
	if set == 0 {
		return core.ErrNotFound // deactivated, or changed by another request, meanwhile
	}
	e.Subject, e.ID = "staff", idText(p.person)
	if err := errors.Join(EndSessions(tx, p.person), audit.Write(tx, by, e)); err != nil || tx.Tenant == 0 {
		return err // on the platform there are no links
	}
	return errors.Join(
		db.Queue(tx, withdrawResetsSQL, db.Args{"id": p.person, "now": tx.Now}),
		db.Queue(tx, withdrawInvitationsSQL, db.Args{"id": p.person, "now": tx.Now}),
	)
}

// SetAdminPassword sets the password of a super-admin for the operator, signs them out
// everywhere, forgives failed attempts and mails them. No active super-admin with that e-mail
// address is core.ErrNotFound.
func (s *Service) SetAdminPassword(ctx context.Context, by core.Actor, email, password string) (Person, error) {
	if err := by.RequireAdmin(); err != nil {
		return Person{}, err
	}
	if err := checkPassword(password, email); err != nil {
		return Person{}, err
	}
	hash, err := HashPassword(ctx, 0, password)
	if err != nil {
		return Person{}, err
	}
	return db.Platform(ctx, s.db, by, func(tx *db.Tx) (Person, error) {
		who, err := findByEmail(ctx, tx, core.Tenant{}, email)
		if err != nil {
			return Person{}, err
		}
		if err := forgiveAttempts(tx, confirmTries(who.ID)); err != nil {
			return Person{}, err
		}
		if err := setPassword(ctx, tx, by, newPassword{person: who.ID, hash: hash}, audit.Entry{Action: "staff.reset_password"}); err != nil {
			return Person{}, err
		}
		return who.person(), s.mailChange(ctx, tx, by, who.person(), PasswordSet)
	})
}

// findByEmail finds the account that signs in with an e-mail address at a tenant's host, or at
// the platform's (no tenant), in a transaction of the platform.
func findByEmail(ctx context.Context, tx *db.Tx, t core.Tenant, email string) (account, error) {
	if t.ID == 0 {
		return db.One[account](ctx, tx, adminByEmailSQL, db.Args{"email_key": EmailKey(email)})
	}
	return db.One[account](ctx, tx, accountByEmailSQL, db.Args{"tenant": int64(t.ID), "email_key": EmailKey(email)})
}
