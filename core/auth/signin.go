package auth

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
)

// Credentials are what a person signs in with.
type Credentials struct {
	Email    string
	Password string
}

// Proof says that a person has just proved who they are. A password that is set later
// voids it, and with two-step verification it is worth nothing without a code.
type Proof struct {
	StaffID int64
	At      time.Time
	Code    bool // a code was given, or is not needed: the person was signed in with one
}

// SignedIn is a person who proved who they are: the proof signs a session in, unless a
// code is needed first, which VerifyCode adds to it.
type SignedIn struct {
	Person
	Proof
	NeedsCode bool
}

// CodeTime is how long after the password the code may follow.
const CodeTime = 10 * time.Minute

// The refusals of signing in. There is one for whatever is wrong with the credentials:
// which part it is, a guesser must not learn.
var (
	ErrCredentials = &core.Error{
		Kind:    core.KindUnauthenticated,
		Message: "Incorrect e-mail or password.",
	}
	ErrSignInAgain = &core.Error{
		Kind:    core.KindUnauthenticated,
		Message: "Your sign-in expired. Sign in again.",
	}
)

// SignIn checks the credentials of a person of the visitor's tenant, or of a super-admin:
// ErrCredentials where they are wrong, and a refusal that says when to try again after too many
// attempts. Whatever is wrong, the same is done: four round trips, and one password hashed.
func (s *Service) SignIn(ctx context.Context, v Visitor, c Credentials) (SignedIn, error) {
	email, by := EmailKey(c.Email), v.system("sign-in")
	var who account
	var counted attempts
	proved, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (proved time.Time, err error) {
		who, counted, err = s.admitByEmail(ctx, tx, by, v, signInLimits, email)
		return tx.Now, err
	})
	if err != nil {
		return SignedIn{}, err
	}
	// Outside of any transaction: it takes long.
	right, err := s.compare(ctx, by, counted, c.Password, who.PasswordHash)
	if err != nil {
		return SignedIn{}, err
	}
	if why := who.refusalReason(right); why != "" {
		return SignedIn{}, s.logRefusedSignIn(ctx, by, who.ID, map[string]any{"email": email, "reason": why}, ErrCredentials)
	}
	in := SignedIn{Person: who.person(), Proof: Proof{StaffID: who.ID, At: proved}, NeedsCode: who.TotpSecret != nil}
	if in.NeedsCode {
		return in, nil
	}
	return in, s.logSignIn(ctx, v, in.Person, "password", counted)
}

// admitByEmail finds the account that a visitor tries something on, and counts the attempt. The
// account is zero where there is none: that takes as long. Two round trips.
func (s *Service) admitByEmail(
	ctx context.Context, tx *db.Tx, by core.Actor, v Visitor, l limits, email string,
) (account, attempts, error) {
	who, err := findByEmail(ctx, tx, v.Tenant, email)
	if errors.Is(err, core.ErrNotFound) {
		who, err = account{}, nil
	}
	if err != nil {
		return account{}, attempts{}, err
	}
	counted, err := s.attemptsOn(v, l, email, who)
	if err != nil {
		return account{}, attempts{}, err
	}
	return who, counted, s.countAttempts(ctx, tx, by, counted)
}

// refusalReason says, for the audit log alone, why a person is not signed in.
func (a account) refusalReason(right bool) string {
	switch {
	case a.ID == 0:
		return "no such account"
	case !a.Active:
		return "not active"
	case a.PasswordHash == nil:
		return "invitation not taken up"
	case !right:
		return "wrong password"
	}
	return ""
}

// logRefusedSignIn writes a refusal into the audit log, where it stays: the refusal is returned after the
// commit. One round trip.
func (s *Service) logRefusedSignIn(ctx context.Context, by core.Actor, person int64, facts map[string]any, refusal error) error {
	subject := ""
	if person != 0 {
		subject = idText(person)
	}
	reason, _ := facts["reason"].(string)
	_, err := db.Within(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		return 0, audit.Write(tx, by, audit.Entry{Action: "staff.sign_in_refused", Subject: "staff", ID: subject, New: facts, Reason: reason})
	})
	if err != nil {
		return err
	}
	core.LogRefusal(ctx, "sign-in", slog.String("reason", reason), slog.String("staff", subject), slog.Int64("tenant", int64(by.Tenant.ID)))
	return refusal
}

// logSignIn writes the sign-in into the audit log, and resets the counts. One round trip.
func (s *Service) logSignIn(ctx context.Context, v Visitor, p Person, with string, counted attempts) error {
	by := v.As(p)
	_, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		if err := forgiveAttempts(tx, counted); err != nil {
			return 0, err
		}
		return 0, writeSignIn(tx, by, with)
	})
	return err
}

// writeSignIn writes into the audit log of the person's tenant, or of the platform, that they
// signed in. In a transaction of the platform.
func writeSignIn(tx *db.Tx, by core.Actor, with string) error {
	if err := tx.Enter(by.Tenant.ID); err != nil {
		return err
	}
	return audit.Write(tx, by, audit.Entry{Action: "staff.sign_in", Subject: "staff", ID: by.ID, New: map[string]any{"with": with}})
}
