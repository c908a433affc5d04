package auth

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// ErrTwoFactorOn refuses to set up two-step verification that is on: it would replace the app.
var ErrTwoFactorOn = core.Refuse("two-step-verification-on", "Two-step verification is already on. Turn it off first to set it up again.")

// ErrTwoFactorOff refuses to turn off two-step verification that is not on.
var ErrTwoFactorOff = &core.Error{Kind: core.KindNotFound, Message: "Two-step verification is not on."}

// SetupTime is how long a set-up may take, from the password to the code that confirms it.
const SetupTime = 10 * time.Minute

// TwoFactor is the state of a person's two-step verification.
type TwoFactor struct {
	On            bool
	Pending       bool // it is being set up
	RecoveryCodes int  // left
}

// Setup is what a person enters in their authenticator app.
type Setup struct {
	Secret string
	URI    string // with the secret, for a QR code
}

// Enrolment is two-step verification that was just turned on.
type Enrolment struct {
	RecoveryCodes []string // shown once
	Proof         Proof    // signs the person in again: all their sessions ended
}

// TwoFactor returns the state of the actor's two-step verification.
func (s *Service) TwoFactor(ctx context.Context, by core.Actor) (TwoFactor, error) {
	return db.One[TwoFactor](ctx, s.db.Within(by), twoFactorSQL, personArgs(by, by.StaffID))
}

// BeginTwoFactor starts the set-up of the actor's two-step verification, which stays off until a
// code confirms within SetupTime that the app has the secret. Starting again replaces the secret.
// password is the actor's. ErrTwoFactorOn if two-step verification is on.
func (s *Service) BeginTwoFactor(ctx context.Context, by core.Actor, password string) (Setup, error) {
	return changeTwoFactor(ctx, s, by, password, false, func(tx *db.Tx, _ account) (Setup, error) { return s.beginSetup(ctx, tx, by, false) })
}

// BeginRequiredTwoFactor is BeginTwoFactor for a super-admin who just signed in with their password
// alone, without asking for it again.
func (s *Service) BeginRequiredTwoFactor(ctx context.Context, v Visitor, in SignedIn) (Setup, error) {
	if v.Tenant.ID != 0 {
		return Setup{}, core.ErrRole
	}
	by := v.As(in.Person)
	return db.In(ctx, s.db.Within(by), func(tx *db.Tx) (Setup, error) { return s.beginSetup(ctx, tx, by, false) })
}

// RenewTwoFactor starts to move the actor's two-step verification to another authenticator app. The
// one in use works until a code confirms the new one, within SetupTime. password is the actor's.
func (s *Service) RenewTwoFactor(ctx context.Context, by core.Actor, password string) (Setup, error) {
	return changeTwoFactor(ctx, s, by, password, true, func(tx *db.Tx, _ account) (Setup, error) { return s.beginSetup(ctx, tx, by, true) })
}

// beginSetup stores a new secret. renew says whether two-step verification may be on.
func (s *Service) beginSetup(ctx context.Context, tx *db.Tx, by core.Actor, renew bool) (Setup, error) {
	secret := NewTOTPSecret()
	sealed, err := s.keys.Seal(totpPurpose, idText(by.StaffID), secret)
	if err != nil {
		return Setup{}, err
	}
	args := personArgs(by, by.StaffID)
	args["secret"], args["renew"], args["now"] = sealed, renew, tx.Now
	email, err := db.One[string](ctx, tx, beginTwoFactorSQL, args)
	if errors.Is(err, core.ErrNotFound) {
		err = ErrTwoFactorOn
	}
	if err != nil {
		return Setup{}, err
	}
	return newSetup(by.Tenant, email, secret)
}

// PendingTwoFactor returns the pending set-up, to show it once more, or core.ErrNotFound.
func (s *Service) PendingTwoFactor(ctx context.Context, by core.Actor) (Setup, error) {
	p, err := s.pending(ctx, by)
	if err != nil {
		return Setup{}, err
	}
	secret, err := s.keys.Open(totpPurpose, idText(by.StaffID), p.TotpPending)
	if err != nil {
		return Setup{}, err
	}
	return newSetup(by.Tenant, p.Email, secret)
}

// pendingTwoFactor is a pending set-up.
type pendingTwoFactor struct {
	Person
	On          bool // with another app
	TotpPending []byte
}

func (s *Service) pending(ctx context.Context, by core.Actor) (pendingTwoFactor, error) {
	args := personArgs(by, by.StaffID)
	args["since"] = s.db.Now().Add(-SetupTime)
	return db.One[pendingTwoFactor](ctx, s.db.Within(by), pendingTwoFactorSQL, args)
}

// ConfirmTwoFactor turns on two-step verification after a code of the app, ends the person's
// sessions and mails them.
func (s *Service) ConfirmTwoFactor(ctx context.Context, by core.Actor, code string) (Enrolment, error) {
	p, err := s.pending(ctx, by)
	if err != nil {
		return Enrolment{}, err
	}
	number, found, err := s.findStep(by.StaffID, p.TotpPending, core.PlainCode(code), s.db.Now())
	if err != nil {
		return Enrolment{}, err
	}
	if !found {
		return Enrolment{}, errWrongCode
	}
	change := TwoFactorOn
	if p.On {
		change = TwoFactorRenewed
	}
	codes, hashes := newRecoveryCodes()
	return db.In(ctx, s.db.Within(by), func(tx *db.Tx) (Enrolment, error) {
		args := personArgs(by, by.StaffID)
		args["pending"], args["step"], args["since"] = p.TotpPending, number, tx.Now.Add(-SetupTime)
		touched, err := db.Exec(ctx, tx, confirmTwoFactorSQL, args)
		if err != nil {
			return Enrolment{}, err
		}
		if touched == 0 {
			return Enrolment{}, core.ErrNotFound // started again or confirmed meanwhile
		}
		err = errors.Join(
			replaceRecoveryCodes(tx, by.StaffID, hashes),
			EndSessions(tx, by.StaffID),
			audit.Write(tx, by, audit.Entry{Action: "staff.enrol_totp", Subject: "staff", ID: idText(by.StaffID), Name: p.Name}),
		)
		if err != nil {
			return Enrolment{}, err
		}
		return Enrolment{codes, Proof{StaffID: by.StaffID, At: tx.Now, Code: true}}, s.mailChange(ctx, tx, by, p.Person, change)
	})
}

// RenewRecoveryCodes replaces the actor's recovery codes and mails them that it was done. password is
// the actor's.
func (s *Service) RenewRecoveryCodes(ctx context.Context, by core.Actor, password string) ([]string, error) {
	codes, hashes := newRecoveryCodes()
	return changeTwoFactor(ctx, s, by, password, true, func(tx *db.Tx, who account) ([]string, error) {
		err := errors.Join(
			replaceRecoveryCodes(tx, by.StaffID, hashes),
			audit.Write(tx, by, audit.Entry{Action: "staff.renew_recovery_codes", Subject: "staff", ID: idText(by.StaffID), Name: who.Name}),
		)
		if err != nil {
			return nil, err
		}
		return codes, s.mailChange(ctx, tx, by, who.Person, RecoveryCodesRenewed)
	})
}

// DisableTwoFactor turns off the actor's two-step verification and mails them. password is the
// actor's. On the platform it is required: core.ErrRole.
func (s *Service) DisableTwoFactor(ctx context.Context, by core.Actor, password string) error {
	if by.Tenant.ID == 0 {
		return core.ErrRole
	}
	_, err := changeTwoFactor(ctx, s, by, password, true, func(tx *db.Tx, who account) (account, error) {
		return who, s.removeTwoFactor(ctx, tx, by, by.StaffID)
	})
	return err
}

// RemoveTwoFactor turns off the two-step verification of a person of the actor's tenant who lost
// their phone, so that they can sign in and set it up again, and mails them.
func (s *Service) RemoveTwoFactor(ctx context.Context, by core.Actor, person int64) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	return db.Run(ctx, s.db.Tenant(by), func(tx *db.Tx) error { return s.removeTwoFactor(ctx, tx, by, person) })
}

// ResetTwoFactor turns off two-step verification for the operator: that of the person with an e-mail
// address at the actor's tenant, or of a super-admin if the actor has none. It ends their sessions
// and mails them. core.ErrNotFound if there is no such person, ErrTwoFactorOff if it is off.
func (s *Service) ResetTwoFactor(ctx context.Context, by core.Actor, email string) (Person, error) {
	if by.Kind != core.BySystem {
		return Person{}, core.ErrRole
	}
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) (Person, error) {
		who, err := findByEmail(ctx, tx, by.Tenant, email)
		if err != nil {
			return Person{}, err
		}
		if err := tx.Enter(by.Tenant.ID); err != nil {
			return Person{}, err
		}
		if who.TotpSecret == nil {
			return Person{}, ErrTwoFactorOff
		}
		if err := s.removeTwoFactor(ctx, tx, by, who.ID); err != nil {
			return Person{}, err
		}
		return who.Person, EndSessions(tx, who.ID)
	})
}

// removeTwoFactor returns core.ErrNotFound if two-step verification is off.
func (s *Service) removeTwoFactor(ctx context.Context, tx *db.Tx, by core.Actor, person int64) error {
	p, err := db.One[Person](ctx, tx, removeTwoFactorSQL, personArgs(by, person))
	if err != nil {
		return err
	}
	err = errors.Join(
		db.Queue(tx, dropRecoveryCodesSQL, db.Args{"id": person}),
		audit.Write(tx, by, audit.Entry{Action: "staff.drop_totp", Subject: "staff", ID: idText(person), Name: p.Name}),
	)
	if err != nil {
		return err
	}
	return s.mailChange(ctx, tx, by, p, TwoFactorOff)
}

// changeTwoFactor changes the actor's two-step verification, which must be on or off, after they
// gave their password once more: a signed-in browser must not be enough, even with the phone.
func changeTwoFactor[T any](
	ctx context.Context, s *Service, by core.Actor, password string, on bool, change func(tx *db.Tx, who account) (T, error),
) (none T, err error) {
	who, err := s.accountOf(ctx, by)
	switch {
	case err != nil:
		return none, err
	case on && who.TotpSecret == nil:
		return none, core.ErrNotFound
	case !on && who.TotpSecret != nil:
		return none, ErrTwoFactorOn
	}
	counted, err := s.confirmPassword(ctx, by, who, password, "confirmation")
	if err != nil {
		return none, err
	}
	return db.In(ctx, s.db.Platform(), func(tx *db.Tx) (T, error) {
		if err := forgiveAndEnter(tx, by, counted); err != nil {
			return none, err
		}
		return change(tx, who)
	})
}

// accountOf returns the actor's account.
func (s *Service) accountOf(ctx context.Context, by core.Actor) (account, error) {
	return db.One[account](ctx, s.db.Within(by), accountSQL, personArgs(by, by.StaffID))
}

// VerifyCode checks the code that follows a person's password: one of their app, or a recovery code.
// No code works twice, even if requests try it at the same time. ErrSignInAgain if the password was
// given too long ago, or has changed since.
func (s *Service) VerifyCode(ctx context.Context, v Visitor, p Proof, code string) (SignedIn, error) {
	by := v.system("sign-in")
	if s.db.Now().Sub(p.At) > CodeTime {
		return SignedIn{}, ErrSignInAgain
	}
	who, err := db.One[account](ctx, s.db.Within(by), accountSQL, personArgs(by, p.StaffID))
	if errors.Is(err, core.ErrNotFound) || err == nil && !who.awaitsCode(p) {
		return SignedIn{}, ErrSignInAgain
	}
	if err != nil {
		return SignedIn{}, err
	}
	email := EmailKey(who.Email)
	counted, err := s.attemptsOn(v, codeLimits, email, who)
	if err != nil {
		return SignedIn{}, err
	}
	signIn, err := s.attemptsOn(v, signInLimits, email, who)
	if err != nil {
		return SignedIn{}, err
	}
	if err := s.countAttemptsAlone(ctx, by, counted); err != nil {
		return SignedIn{}, err
	}
	person := v.As(who.Person)
	with, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (string, error) {
		with, err := s.useCode(ctx, tx, who, code)
		if err != nil || with == "" {
			return "", err
		}
		if err := forgiveAttempts(tx, counted, signIn); err != nil {
			return "", err
		}
		return with, writeSignIn(tx, person, "password and "+with)
	})
	switch {
	case err != nil:
		return SignedIn{}, err
	case with == "":
		return SignedIn{}, s.logRefusedSignIn(ctx, by, who, email, "wrong code", errWrongCode)
	}
	p.Code = true
	return SignedIn{Person: who.Person, Proof: p}, nil
}

// awaitsCode reports whether only a code is missing.
func (a account) awaitsCode(p Proof) bool {
	return a.Active && a.TotpSecret != nil && (a.PasswordSetAt == nil || !a.PasswordSetAt.After(p.At))
}

// errWrongCode refuses a code that is wrong or used: a guesser must not learn which.
var errWrongCode = core.Invalid(core.Fields{"code": {core.Violation{Rule: "wrong_code"}}})

// useCode uses up a person's code in a transaction of the platform and returns its kind, or "" if it
// is wrong. The statement decides which of several requests gets it.
func (s *Service) useCode(ctx context.Context, tx *db.Tx, who account, code string) (kind string, err error) {
	code = core.PlainCode(code)
	kind, statement := "a recovery code", useRecoveryCodeSQL
	args := db.Args{"id": who.ID, "hash": recoveryHash(code)}
	if isTOTP(code) {
		number, found, err := s.findStep(who.ID, who.TotpSecret, code, tx.Now)
		if err != nil || !found {
			return "", err
		}
		kind, statement = "an authentication code", useStepSQL
		args = db.Args{"id": who.ID, "secret": who.TotpSecret, "step": number}
	}
	used, err := db.Exec(ctx, tx, statement, args)
	if used == 0 {
		kind = ""
	}
	return kind, err
}
