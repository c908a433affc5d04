package auth

import (
	"context"
	"errors"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// ErrTwoFactorOn refuses to set up two-step verification that is in use: it would replace
// the app without asking for a password or a code.
var ErrTwoFactorOn = core.Refuse("two-step-verification-on", "Two-step verification is on already. Turn it off first to set it up again.")

// ErrTwoFactorOff is two-step verification that is to be turned off and is not on.
var ErrTwoFactorOff = &core.Error{Kind: core.KindNotFound, Message: "Two-step verification is not on."}

// SetupTime is how long a set-up of two-step verification may take, from the password to the code
// that confirms it.
const SetupTime = 10 * time.Minute

// TwoFactor is the state of a person's two-step verification.
type TwoFactor struct {
	On            bool
	Pending       bool // it is being set up
	RecoveryCodes int  // that are left
}

// Setup is what a person gives their authenticator app.
type Setup struct {
	Secret string
	URI    string // the same as an address, for a QR code
}

// Enrolment is two-step verification that was just turned on.
type Enrolment struct {
	RecoveryCodes []string // shown this once

	// Proof signs the person in again where they are: all their sessions ended, since they began
	// without the new codes.
	Proof Proof
}

// TwoFactor returns the state of the actor's two-step verification. One round trip.
func (s *Service) TwoFactor(ctx context.Context, by core.Actor) (TwoFactor, error) {
	return db.ReadOneWithin[TwoFactor](ctx, s.db, by, twoFactorSQL, personArgs(by, by.StaffID))
}

// BeginTwoFactor makes a secret for the actor's two-step verification, which stays off until a
// code confirms that the app has the secret, within SetupTime. Begun again, the secret is another
// one. password is the actor's. Where two-step verification is on, ErrTwoFactorOn.
func (s *Service) BeginTwoFactor(ctx context.Context, by core.Actor, password string) (Setup, error) {
	who, err := s.accountOf(ctx, by)
	if err != nil {
		return Setup{}, err
	}
	if who.TotpSecret != nil {
		return Setup{}, ErrTwoFactorOn
	}
	return s.beginTwoFactor(ctx, by, func(change func(tx *db.Tx) error) error { return s.confirmed(ctx, by, who, password, change) }, false)
}

// BeginRequiredTwoFactor is BeginTwoFactor for a super-admin who signed in just now, with their
// password alone: they need not give it twice.
func (s *Service) BeginRequiredTwoFactor(ctx context.Context, v Visitor, in SignedIn) (Setup, error) {
	if v.Tenant.ID != 0 {
		return Setup{}, core.ErrRole
	}
	by := v.As(in.Person)
	return s.beginTwoFactor(ctx, by, func(change func(tx *db.Tx) error) error {
		_, err := db.Within(ctx, s.db, by, func(tx *db.Tx) (int, error) { return 0, change(tx) })
		return err
	}, false)
}

// beginTwoFactor stores a new secret in the transaction that within opens.
func (s *Service) beginTwoFactor(ctx context.Context, by core.Actor, within func(change func(tx *db.Tx) error) error, renew bool) (Setup, error) {
	secret := NewTOTPSecret()
	sealed, err := s.keys.Seal(totpPurpose, idText(by.StaffID), secret)
	if err != nil {
		return Setup{}, err
	}
	var email string
	err = within(func(tx *db.Tx) (err error) {
		args := personArgs(by, by.StaffID)
		args["secret"], args["renew"], args["now"] = sealed, renew, tx.Now
		email, err = db.Value[string](ctx, tx, beginTwoFactorSQL, args)
		if errors.Is(err, core.ErrNotFound) {
			err = ErrTwoFactorOn
		}
		return err
	})
	if err != nil {
		return Setup{}, err
	}
	return newSetup(by.Tenant, email, secret)
}

// RenewTwoFactor makes a secret with which the actor's two-step verification moves to another
// authenticator app. The one in use works until a code confirms the new one, within SetupTime.
// password is the actor's.
func (s *Service) RenewTwoFactor(ctx context.Context, by core.Actor, password string) (Setup, error) {
	return s.beginTwoFactor(ctx, by, func(change func(tx *db.Tx) error) error { return s.changeTwoFactor(ctx, by, password, change) }, true)
}

// PendingTwoFactor returns the set-up that is under way, to be shown once more: core.ErrNotFound
// where there is none. One round trip.
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

// pendingTwoFactor is a set-up under way.
type pendingTwoFactor struct {
	ID          int64
	Role        core.Role
	Name        string
	Email       string
	On          bool // with another app
	TotpPending []byte
}

func (s *Service) pending(ctx context.Context, by core.Actor) (pendingTwoFactor, error) {
	args := personArgs(by, by.StaffID)
	args["since"] = s.db.Now().Add(-SetupTime)
	return db.ReadOneWithin[pendingTwoFactor](ctx, s.db, by, pendingTwoFactorSQL, args)
}

// ConfirmTwoFactor turns on the two-step verification that was begun, by a code that the app
// shows, ends the person's sessions and mails them.
func (s *Service) ConfirmTwoFactor(ctx context.Context, by core.Actor, code string) (Enrolment, error) {
	p, err := s.pending(ctx, by)
	if err != nil {
		return Enrolment{}, err
	}
	number, found, err := s.stepOf(by.StaffID, p.TotpPending, withoutSeparators(code), s.db.Now())
	if err != nil {
		return Enrolment{}, err
	}
	if !found {
		return Enrolment{}, errCode("code")
	}
	change := TwoFactorOn
	if p.On {
		change = TwoFactorRenewed
	}
	codes, hashes := newRecoveryCodes()
	return db.Within(ctx, s.db, by, func(tx *db.Tx) (Enrolment, error) {
		args := personArgs(by, by.StaffID)
		args["pending"], args["step"], args["since"] = p.TotpPending, number, tx.Now.Add(-SetupTime)
		touched, err := db.Exec(ctx, tx, confirmTwoFactorSQL, args)
		if err != nil {
			return Enrolment{}, err
		}
		if touched == 0 {
			return Enrolment{}, core.ErrNotFound // begun again, or confirmed, meanwhile
		}
		err = errors.Join(
			replaceRecoveryCodes(tx, by.StaffID, hashes),
			EndSessions(tx, by.StaffID),
			audit.Write(tx, by, audit.Entry{Action: "staff.enrol_totp", Subject: "staff", ID: idText(by.StaffID)}),
		)
		if err != nil {
			return Enrolment{}, err
		}
		person := Person{ID: p.ID, Role: p.Role, Name: p.Name, Email: p.Email}
		return Enrolment{codes, Proof{StaffID: by.StaffID, At: tx.Now, Code: true}}, s.mailChange(ctx, tx, by, person, change)
	})
}

// RenewRecoveryCodes makes the actor new recovery codes instead of those they have, and mails
// them. password is the actor's.
func (s *Service) RenewRecoveryCodes(ctx context.Context, by core.Actor, password string) ([]string, error) {
	codes, hashes := newRecoveryCodes()
	who, err := s.accountOf(ctx, by)
	if err != nil {
		return nil, err
	}
	if who.TotpSecret == nil {
		return nil, core.ErrNotFound
	}
	err = s.confirmed(ctx, by, who, password, func(tx *db.Tx) error {
		err := errors.Join(
			replaceRecoveryCodes(tx, by.StaffID, hashes),
			audit.Write(tx, by, audit.Entry{Action: "staff.renew_recovery_codes", Subject: "staff", ID: idText(by.StaffID)}),
		)
		if err != nil {
			return err
		}
		return s.mailChange(ctx, tx, by, who.person(), RecoveryCodesRenewed)
	})
	return codes, err
}

// DisableTwoFactor turns off the actor's two-step verification, and mails them. password is the
// actor's. On the platform it is required: core.ErrRole.
func (s *Service) DisableTwoFactor(ctx context.Context, by core.Actor, password string) error {
	if by.Tenant.ID == 0 {
		return core.ErrRole
	}
	return s.changeTwoFactor(ctx, by, password, func(tx *db.Tx) error { return s.removeTwoFactor(ctx, tx, by, by.StaffID) })
}

// RemoveTwoFactor turns off the two-step verification of a person of the actor's tenant who lost
// their phone, so that they can sign in and set it up again, and mails them.
func (s *Service) RemoveTwoFactor(ctx context.Context, by core.Actor, person int64) error {
	if err := by.Require(core.Owner); err != nil {
		return err
	}
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) { return 0, s.removeTwoFactor(ctx, tx, by, person) })
	return err
}

// ResetTwoFactor turns off, for the operator, the two-step verification of the person with an
// e-mail address at the actor's tenant, or of a super-admin where the actor has none. It ends
// their sessions and mails them. core.ErrNotFound where there is no such person, ErrTwoFactorOff
// where it is off.
func (s *Service) ResetTwoFactor(ctx context.Context, by core.Actor, email string) (Person, error) {
	if by.Kind != core.BySystem {
		return Person{}, core.ErrRole
	}
	return db.Platform(ctx, s.db, by, func(tx *db.Tx) (Person, error) {
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
		return who.person(), EndSessions(tx, who.ID)
	})
}

// removeTwoFactor is core.ErrNotFound where two-step verification is off.
func (s *Service) removeTwoFactor(ctx context.Context, tx *db.Tx, by core.Actor, person int64) error {
	p, err := db.One[Person](ctx, tx, removeTwoFactorSQL, personArgs(by, person))
	if err != nil {
		return err
	}
	err = errors.Join(
		db.Queue(tx, dropRecoveryCodesSQL, db.Args{"id": person}),
		audit.Write(tx, by, audit.Entry{Action: "staff.drop_totp", Subject: "staff", ID: idText(person)}),
	)
	if err != nil {
		return err
	}
	return s.mailChange(ctx, tx, by, p, TwoFactorOff)
}

// changeTwoFactor is confirmed for two-step verification that is on; otherwise core.ErrNotFound.
func (s *Service) changeTwoFactor(ctx context.Context, by core.Actor, password string, change func(tx *db.Tx) error) error {
	who, err := s.accountOf(ctx, by)
	if err != nil {
		return err
	}
	if who.TotpSecret == nil {
		return core.ErrNotFound
	}
	return s.confirmed(ctx, by, who, password, change)
}

// confirmed changes how the actor signs in after they gave their password once more: a person who
// finds a signed-in browser must not, nor one who finds it together with the phone.
func (s *Service) confirmed(ctx context.Context, by core.Actor, who account, password string, change func(tx *db.Tx) error) error {
	counted := confirmTries(by.StaffID)
	if err := s.countAttemptsAlone(ctx, by, counted); err != nil {
		return err
	}
	right, err := s.compare(ctx, by, counted, password, who.PasswordHash)
	if err != nil {
		return err
	}
	if !right {
		return core.Invalid(core.Fields{"confirmation": {wrongPassword}})
	}
	_, err = db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		if err := forgiveAttemptsThenEnter(tx, by, counted); err != nil {
			return 0, err
		}
		return 0, change(tx)
	})
	return err
}

// accountOf is what is known of the actor's person. One round trip.
func (s *Service) accountOf(ctx context.Context, by core.Actor) (account, error) {
	return db.ReadOneWithin[account](ctx, s.db, by, accountSQL, personArgs(by, by.StaffID))
}

// VerifyCode checks the code that follows a person's password: one of their app, or a
// recovery code. No code works twice, however many requests try it at the same time.
// ErrSignInAgain where the password was given too long ago, or has changed since. At
// most six round trips.
func (s *Service) VerifyCode(ctx context.Context, v Visitor, p Proof, code string) (SignedIn, error) {
	by := v.system("sign-in")
	if s.db.Now().Sub(p.At) > CodeTime {
		return SignedIn{}, ErrSignInAgain
	}
	who, err := db.ReadOneWithin[account](ctx, s.db, by, accountSQL, personArgs(by, p.StaffID))
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
	person := v.As(who.person())
	with, err := db.Platform(ctx, s.db, person, func(tx *db.Tx) (string, error) {
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
		return SignedIn{}, s.logRefusedSignIn(ctx, by, who.ID, map[string]any{"email": email, "reason": "wrong code"}, errCode("code"))
	}
	p.Code = true
	return SignedIn{Person: who.person(), Proof: p}, nil
}

// awaitsCode reports whether a code is all that is missing.
func (a account) awaitsCode(p Proof) bool {
	return a.Active && a.TotpSecret != nil && (a.PasswordSetAt == nil || !a.PasswordSetAt.After(p.At))
}

// errCode refuses a code that is wrong or was used before: a guesser must not learn which.
func errCode(field string) error {
	return core.Invalid(core.Fields{field: {core.Violation{Rule: "wrong_code"}}})
}

// withoutSeparators is a code as it is compared: people write it with spaces and dashes.
func withoutSeparators(code string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(strings.TrimSpace(code)))
}

// useCode uses a person's code up and says of what kind it was, or "" where it is wrong, in a
// transaction of the platform. The statement decides which of several requests has it.
func (s *Service) useCode(ctx context.Context, tx *db.Tx, who account, code string) (kind string, err error) {
	code = withoutSeparators(code)
	if !isTOTP(code) {
		used, err := db.Exec(ctx, tx, useRecoveryCodeSQL, db.Args{"id": who.ID, "hash": recoveryHash(code)})
		return kindIf(used, "a recovery code"), err
	}
	number, found, err := s.stepOf(who.ID, who.TotpSecret, code, tx.Now)
	if err != nil || !found {
		return "", err
	}
	used, err := db.Exec(ctx, tx, useStepSQL, db.Args{"id": who.ID, "secret": who.TotpSecret, "step": number})
	return kindIf(used, "a code of their app"), err
}

func kindIf(used int64, kind string) string {
	if used == 0 {
		return ""
	}
	return kind
}
