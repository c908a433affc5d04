package staff

import (
	"context"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/session"
)

// Visitor is somebody at a tenant's host who is not signed in.
type Visitor struct {
	Tenant    core.Tenant
	Address   string
	RequestID string
}

// by is the visitor as an actor, for what nobody known does.
func (v Visitor) by(doing string) core.Actor {
	by := core.System(v.Tenant, doing)
	by.Address, by.RequestID = v.Address, v.RequestID
	return by
}

// as is the visitor as a person, once they have proved to be that person.
func (v Visitor) as(p Person) core.Actor {
	return core.Actor{
		Kind: core.ByStaff, ID: id(p.ID), Name: p.Name, Tenant: v.Tenant, StaffID: p.ID, Role: p.Role,
		Address: v.Address, RequestID: v.RequestID,
	}
}

// Credentials are what a person signs in with.
type Credentials struct {
	Email    string
	Password string
}

// SignedIn is a person who proved who they are: the proof signs a session in, unless a
// code is needed first, which VerifyCode adds to it.
type SignedIn struct {
	Person
	session.Proof
	NeedsCode bool
}

// CodeTime is how long after the password the code may follow.
const CodeTime = 10 * time.Minute

// The refusals of signing in. There is one for whatever is wrong with the credentials:
// which part it is, a guesser must not learn.
var (
	ErrCredentials = &core.Error{
		Kind:    core.KindUnauthenticated,
		Message: "Nobody can sign in here with this e-mail address and password.",
	}
	ErrSignInAgain = &core.Error{
		Kind:    core.KindUnauthenticated,
		Message: "This took too long, or something has changed meanwhile. Please sign in again.",
	}
)

// How often may be tried to sign in, and to give a code. A code has only a million
// values, of which three are right.
func (s *Service) signInAttempts(v Visitor, email string) (account, address []attempt) {
	return []attempt{try("sign in to", of(v.Tenant, email), 10, 15*time.Minute)},
		[]attempt{try("sign in from", s.addressKey(v.Address), 50, 15*time.Minute)}
}

func (s *Service) codeAttempts(v Visitor, person int64) (account, address []attempt) {
	return []attempt{try("code of", id(person), 5, 15*time.Minute)},
		[]attempt{try("code from", s.addressKey(v.Address), 50, 15*time.Minute)}
}

// of names something that is a tenant's own.
func of(t core.Tenant, what string) string { return strconv.FormatInt(int64(t.ID), 10) + " " + what }

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

// emailKey is what an e-mail address is found by. What is no address finds nobody, and is
// kept nowhere: people type their password into the wrong field.
func emailKey(email string) string {
	email = strings.TrimSpace(email)
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email || len(email) > 255 || strings.ContainsRune(email, 0) {
		return ""
	}
	return strings.ToLower(email)
}

// SignIn checks the credentials of a person of the visitor's tenant: ErrCredentials
// where nobody can sign in with them, and a refusal that says when to try again where
// it was tried too often. Whatever is wrong, the same is done: four round trips, and one
// password hashed.
func (s *Service) SignIn(ctx context.Context, v Visitor, c Credentials) (SignedIn, error) {
	email, by := emailKey(c.Email), v.by("sign-in")
	onAccount, onAddress := s.signInAttempts(v, email)
	var who account
	proved, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (time.Time, error) {
		if err := s.admit(ctx, tx, by, onAccount[0], onAddress[0]); err != nil {
			return time.Time{}, err
		}
		found, err := db.All[account](ctx, tx, accountByEmailSQL, db.Args{"tenant": int64(v.Tenant.ID), "email_key": email})
		if who = (account{}); len(found) > 0 {
			who = found[0]
		}
		return tx.Now, err
	})
	if err != nil {
		return SignedIn{}, err
	}
	// Outside of any transaction: it takes long.
	right, err := matches(ctx, c.Password, who.PasswordHash)
	if err != nil {
		return SignedIn{}, err
	}
	if why := who.refusal(right); why != "" {
		return SignedIn{}, s.refused(ctx, by, who.ID, map[string]any{"email": email, "reason": why}, ErrCredentials)
	}
	in := SignedIn{Person: who.person(), Proof: session.Proof{StaffID: who.ID, At: proved}, NeedsCode: who.TotpSecret != nil}
	if in.NeedsCode {
		return in, nil
	}
	return in, s.signedIn(ctx, v, in.Person, "password", onAccount, onAddress)
}

// refusal says, for the log alone, why a person is not let in.
func (a account) refusal(right bool) string {
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

// refused writes a refusal into the log, where it stays: it is returned after the
// commit. One round trip.
func (s *Service) refused(ctx context.Context, by core.Actor, person int64, facts map[string]any, refusal error) error {
	subject := ""
	if person != 0 {
		subject = id(person)
	}
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		return 0, audit.Write(tx, by, audit.Entry{Action: "staff.sign_in_refused", Subject: "staff", ID: subject, New: facts})
	})
	if err != nil {
		return err
	}
	return refusal
}

// signedIn writes the sign-in into the log, and begins the counts anew. One round trip.
func (s *Service) signedIn(ctx context.Context, v Visitor, p Person, with string, onAccount, onAddress []attempt) error {
	by := v.as(p)
	_, err := db.Platform(ctx, s.db, by, func(tx *db.Tx) (int, error) {
		if err := forgive(tx, onAccount, onAddress); err != nil {
			return 0, err
		}
		return 0, inLog(tx, by, with)
	})
	return err
}

// inLog notes in a transaction of the platform, as that tenant's, that somebody signed in.
func inLog(tx *db.Tx, by core.Actor, with string) error {
	if err := tx.Enter(by.Tenant.ID); err != nil {
		return err
	}
	return audit.Write(tx, by, audit.Entry{Action: "staff.sign_in", Subject: "staff", ID: by.ID, New: map[string]any{"with": with}})
}
