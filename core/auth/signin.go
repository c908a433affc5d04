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

// Credentials are what a person types to sign in.
type Credentials struct {
	Email    string
	Password string
}

// Proof says that a person has just proved who they are. Setting a password afterwards voids it,
// and with two-step verification it is not valid without a code.
type Proof struct {
	StaffID int64
	At      time.Time
	Code    bool // a code was given, now or when the person signed in
}

// SignedIn is a person who proved who they are. The proof signs a session in, unless VerifyCode has
// to add a code first.
type SignedIn struct {
	Person
	Proof
	NeedsCode bool
}

// CodeTime is how long a code may follow the password.
const CodeTime = 10 * time.Minute

// Refusals of signing in. All wrong credentials get the same one, so that a guesser doesn't learn
// which part is wrong.
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
// ErrCredentials if they are wrong, and core.KindThrottled after too many attempts. Every refusal
// takes the same round trips, and hashes one password.
func (s *Service) SignIn(ctx context.Context, v Visitor, c Credentials) (SignedIn, error) {
	email, by := EmailKey(c.Email), v.system("sign-in")
	var who account
	var counted attempts
	proved, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (proved time.Time, err error) {
		who, counted, err = s.admitByEmail(ctx, tx, by, v, signInLimits, email)
		return tx.Now, err
	})
	if err != nil {
		return SignedIn{}, err
	}
	// Outside of any transaction, because it is slow.
	right, err := s.compare(ctx, by, counted, c.Password, who.PasswordHash)
	if err != nil {
		return SignedIn{}, err
	}
	if reason := who.refusalReason(right); reason != "" {
		return SignedIn{}, s.logRefusedSignIn(ctx, by, who, email, reason, ErrCredentials)
	}
	in := SignedIn{Person: who.Person, Proof: Proof{StaffID: who.ID, At: proved}, NeedsCode: who.TotpSecret != nil}
	if in.NeedsCode {
		return in, nil
	}
	return in, s.logSignIn(ctx, v, in.Person, "password", counted)
}

// admitByEmail finds the account that a visitor tries something on, and counts the attempt. Where
// there is no account it is zero, and takes as long.
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

// refusalReason returns why a person is not signed in, for the audit log only.
func (a account) refusalReason(right bool) string {
	switch {
	case a.ID == 0:
		return "no such account"
	case !a.Active:
		return "not active"
	case a.PasswordHash == nil:
		return "invitation not accepted"
	case !right:
		return "wrong password"
	}
	return ""
}

// logRefusedSignIn writes a refusal into the audit log and returns it after the commit, so that the
// entry stays.
func (s *Service) logRefusedSignIn(ctx context.Context, by core.Actor, who account, email, reason string, refusal error) error {
	subject := ""
	if who.ID != 0 {
		subject = idText(who.ID)
	}
	err := db.Run(ctx, s.db.Within(by), func(tx *db.Tx) error {
		return audit.Write(tx, by, audit.Entry{
			Action: "staff.sign_in_refused", Subject: "staff", ID: subject, Name: who.Name,
			New: map[string]any{"email": email, "reason": reason}, Reason: reason,
		})
	})
	if err != nil {
		return err
	}
	core.LogRefusal(ctx, "sign-in", slog.String("reason", reason), slog.String("staff", subject), slog.Int64("tenant", int64(by.Tenant.ID)))
	return refusal
}

// logSignIn writes the sign-in into the audit log and forgives the attempts.
func (s *Service) logSignIn(ctx context.Context, v Visitor, p Person, with string, counted attempts) error {
	by := v.As(p)
	return db.Run(ctx, s.db.Platform(), func(tx *db.Tx) error {
		if err := forgiveAttempts(tx, counted); err != nil {
			return err
		}
		return writeSignIn(tx, by, with)
	})
}

// writeSignIn writes a sign-in into the audit log of the person's tenant, or of the platform, in a
// transaction of the platform.
func writeSignIn(tx *db.Tx, by core.Actor, with string) error {
	if err := tx.Enter(by.Tenant.ID); err != nil {
		return err
	}
	return audit.Write(tx, by, audit.Entry{Action: "staff.sign_in", Subject: "staff", ID: by.ID, Name: by.Name, New: map[string]any{"with": with}})
}
