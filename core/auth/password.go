package auth

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// AddCredential queues the credential of a new person. hash is of their password; nil: they are
// invited and choose one.
func AddCredential(tx *db.Tx, person int64, hash *string) error {
	return db.Queue(tx, addCredentialSQL, db.Args{"id": person, "tenant": int64(tx.Tenant), "hash": hash})
}

// ChangePassword checks the actor's current password, sets a new one, signs them out everywhere and
// mails them. The proof signs them in again where they are.
func (s *Service) ChangePassword(ctx context.Context, by core.Actor, current, password string) (Proof, error) {
	who, err := s.accountOf(ctx, by)
	if err != nil {
		return Proof{}, err
	}
	if err := s.checkPassword(password, who.Person, by.Tenant); err != nil {
		return Proof{}, err
	}
	counted, err := s.confirmPassword(ctx, by, who, current, "current_password")
	if err != nil {
		return Proof{}, err
	}
	hash, err := HashPassword(ctx, by.Tenant.ID, password)
	if err != nil {
		return Proof{}, err
	}
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) (Proof, error) {
		if err := forgiveAndEnter(tx, by, counted); err != nil {
			return Proof{}, err
		}
		err := setPassword(ctx, tx, by, passwordChange{person: who.ID, old: who.PasswordHash, hash: hash}, audit.Entry{Action: "staff.change_password", Name: who.Name})
		if err != nil {
			return Proof{}, err
		}
		return Proof{StaffID: who.ID, At: tx.Now, Code: true}, s.mailChange(ctx, tx, by, who.Person, PasswordChanged)
	})
}

var wrongPassword = core.Violation{Rule: "wrong_password"}

// confirmPassword checks the actor's password once more, and refuses the field where it is wrong.
// The attempt was counted and is to be forgiven.
func (s *Service) confirmPassword(ctx context.Context, by core.Actor, who account, password, field string) (attempts, error) {
	counted := confirmAttempts(by.StaffID)
	if err := s.countAttemptsAlone(ctx, by, counted); err != nil {
		return attempts{}, err
	}
	right, err := s.compare(ctx, by, counted, password, who.PasswordHash)
	if err == nil && !right {
		err = core.Invalid(core.Fields{field: {wrongPassword}})
	}
	return counted, err
}

// forgiveAndEnter forgives attempts in a transaction of the platform, which then enters the actor's
// tenant.
func forgiveAndEnter(tx *db.Tx, by core.Actor, counted attempts) error {
	if err := forgiveAttempts(tx, counted); err != nil {
		return err
	}
	return tx.Enter(by.Tenant.ID)
}

// passwordChange is a person's new password.
type passwordChange struct {
	person int64
	old    *string // the hash it replaces; nil: any
	hash   string
}

// setPassword sets a person's password unless the old one has changed meanwhile, ends their
// sessions, withdraws open links and writes the audit entry. In a transaction of their tenant, or
// of the platform.
func setPassword(ctx context.Context, tx *db.Tx, by core.Actor, p passwordChange, e audit.Entry) error {
	args := personArgs(by, p.person)
	args["old"], args["hash"], args["now"] = p.old, p.hash, tx.Now
	set, err := db.Exec(ctx, tx, setPasswordSQL, args)
	if err != nil {
		return err
	}
	if set == 0 {
		return core.ErrNotFound // deactivated, or changed by another request
	}
	e.Subject, e.ID = "staff", idText(p.person)
	if err := errors.Join(EndSessions(tx, p.person), audit.Write(tx, by, e)); err != nil || tx.Tenant == 0 {
		return err // the platform has no links
	}
	return errors.Join(
		db.Queue(tx, withdrawResetsSQL, db.Args{"id": p.person, "now": tx.Now}),
		db.Queue(tx, withdrawInvitationsSQL, db.Args{"id": p.person, "now": tx.Now}),
	)
}

// SetAdminPassword sets a super-admin's password for the operator, signs them out everywhere,
// forgives failed attempts and mails them. core.ErrNotFound if no active super-admin has the
// e-mail address.
func (s *Service) SetAdminPassword(ctx context.Context, by core.Actor, email, password string) (Person, error) {
	if err := by.RequireAdmin(); err != nil {
		return Person{}, err
	}
	found, err := db.One[account](ctx, s.db.Platform(), adminByEmailSQL, db.Args{"email_key": EmailKey(email)})
	if err != nil {
		return Person{}, err
	}
	if err := s.checkPassword(password, found.Person, core.Tenant{}); err != nil {
		return Person{}, err
	}
	hash, err := HashPassword(ctx, 0, password)
	if err != nil {
		return Person{}, err
	}
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) (Person, error) {
		who, err := findByEmail(ctx, tx, core.Tenant{}, email)
		if err != nil {
			return Person{}, err
		}
		if err := forgiveAttempts(tx, confirmAttempts(who.ID)); err != nil {
			return Person{}, err
		}
		if err := setPassword(ctx, tx, by, passwordChange{person: who.ID, hash: hash}, audit.Entry{Action: "staff.reset_password", Name: who.Name}); err != nil {
			return Person{}, err
		}
		return who.Person, s.mailChange(ctx, tx, by, who.Person, PasswordSet)
	})
}

// IsPassword reports whether a person of a tenant (without one: a super-admin) can sign in with a password. It is for operators, who have
// it from a file of theirs: it is no attempt, so it is neither counted nor logged.
func (s *Service) IsPassword(ctx context.Context, t core.Tenant, email, password string) (bool, error) {
	who, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (account, error) {
		return findByEmail(ctx, tx, t, email)
	})
	if errors.Is(err, core.ErrNotFound) || err == nil && !who.Active {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return passwordMatches(ctx, t.ID, password, who.PasswordHash)
}

// findByEmail finds the account with an e-mail address at a tenant, or on the platform (no tenant),
// in a transaction of the platform.
func findByEmail(ctx context.Context, tx *db.Tx, t core.Tenant, email string) (account, error) {
	if t.ID == 0 {
		return db.One[account](ctx, tx, adminByEmailSQL, db.Args{"email_key": EmailKey(email)})
	}
	return db.One[account](ctx, tx, accountByEmailSQL, db.Args{"tenant": int64(t.ID), "email_key": EmailKey(email)})
}
