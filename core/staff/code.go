package staff

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"strings"
	"time"

	"github.com/pquerna/otp/hotp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/session"
)

// step is how long a code of an authenticator app is shown (RFC 6238). The one before and
// the one after are taken as well: clocks differ, and typing takes time.
const step = 30 * time.Second

// stepOf finds the step that a secret shows a code in, around an instant.
func stepOf(secret, code string, at time.Time) (number int64, found bool, err error) {
	now := at.Unix() / int64(step/time.Second)
	for _, n := range []int64{now, now - 1, now + 1} {
		shown, err := hotp.GenerateCode(secret, uint64(n)) // not before 1970
		if err != nil {
			return 0, false, err
		}
		if subtle.ConstantTimeCompare([]byte(shown), []byte(code)) == 1 {
			return n, true, nil
		}
	}
	return 0, false, nil
}

// Codes of an app are six digits; a recovery code is sixteen letters and digits.
const (
	appDigits       = 6
	recoveryLetters = 16
	recoveryCodes   = 10
)

// compact is a code as it is compared: people write it with spaces and dashes.
func compact(code string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(strings.TrimSpace(code)))
}

func isOfApp(code string) bool {
	return len(code) == appDigits && strings.Trim(code, "0123456789") == ""
}

// newRecoveryCodes makes the codes and what is stored of them. They have 80 bits of
// chance each, so that a plain hash is enough.
func newRecoveryCodes() (codes []string, hashes [][]byte) {
	for range recoveryCodes {
		code := rand.Text()[:recoveryLetters]
		codes = append(codes, strings.ToLower(code[:4]+"-"+code[4:8]+"-"+code[8:12]+"-"+code[12:]))
		hashes = append(hashes, recoveryHash(code))
	}
	return codes, hashes
}

func recoveryHash(compact string) []byte {
	sum := sha256.Sum256([]byte(compact))
	return sum[:]
}

// VerifyCode checks the code that follows a person's password: one of their app, or a
// recovery code. No code is taken twice, whoever else tries it at the same time.
// ErrSignInAgain where the password was given too long ago or is another one by now. At
// most six round trips.
func (s *Service) VerifyCode(ctx context.Context, v Visitor, p session.Proof, code string) (SignedIn, error) {
	by := v.by("sign-in")
	if s.db.Now().Sub(p.At) > CodeTime {
		return SignedIn{}, ErrSignInAgain
	}
	who, err := db.ReadOne[account](ctx, s.db, by, accountSQL, db.Args{"id": p.StaffID})
	if errors.Is(err, core.ErrNotFound) || err == nil && !who.awaitsCode(p) {
		return SignedIn{}, ErrSignInAgain
	}
	if err != nil {
		return SignedIn{}, err
	}
	onAccount, onAddress := s.codeAttempts(v, who.ID)
	if err := s.admitted(ctx, by, onAccount[0], onAddress[0]); err != nil {
		return SignedIn{}, err
	}
	person := v.as(who.person())
	with, err := db.Platform(ctx, s.db, person, func(tx *db.Tx) (string, error) {
		with, err := s.take(ctx, tx, who, code)
		if err != nil || with == "" {
			return "", err
		}
		signIn, from := s.signInAttempts(v, emailKey(who.Email))
		if err := forgive(tx, append(onAccount, signIn...), append(onAddress, from...)); err != nil {
			return "", err
		}
		return with, inLog(tx, person, "password and "+with)
	})
	switch {
	case err != nil:
		return SignedIn{}, err
	case with == "":
		return SignedIn{}, s.refused(ctx, by, who.ID, map[string]any{"email": emailKey(who.Email), "reason": "wrong code"}, errCode("code"))
	}
	p.Code = true
	return SignedIn{Person: who.person(), Proof: p}, nil
}

// awaitsCode reports whether a code is all that is missing.
func (a account) awaitsCode(p session.Proof) bool {
	return a.Active && a.TotpSecret != nil && (a.PasswordSetAt == nil || !a.PasswordSetAt.After(p.At))
}

// errCode is a code that is wrong or was taken before: a guesser must not learn which.
func errCode(field string) error {
	return core.Invalid(core.Fields{field: {"This code is wrong, or it was used before. An app shows another one every 30 seconds."}})
}

// take takes a person's code and says of what kind it was, or "" where it is none, in a
// transaction of the platform. The statement decides which of several tries has it.
func (s *Service) take(ctx context.Context, tx *db.Tx, who account, code string) (kind string, err error) {
	code = compact(code)
	if !isOfApp(code) {
		taken, err := db.Exec(ctx, tx, takeRecoveryCodeSQL, db.Args{"id": who.ID, "hash": recoveryHash(code)})
		return kindIf(taken, "a recovery code"), err
	}
	number, found, err := s.stepOf(who, who.TotpSecret, code, tx.Now)
	if err != nil || !found {
		return "", err
	}
	taken, err := db.Exec(ctx, tx, takeStepSQL, db.Args{"id": who.ID, "secret": who.TotpSecret, "step": number})
	return kindIf(taken, "a code of their app"), err
}

func kindIf(taken int64, kind string) string {
	if taken == 0 {
		return ""
	}
	return kind
}

// stepOf opens a person's sealed secret and finds the step that it shows a code in.
func (s *Service) stepOf(who account, sealed []byte, code string, at time.Time) (number int64, found bool, err error) {
	secret, err := s.keys.Open(totpPurpose, id(who.ID), sealed)
	if err != nil {
		return 0, false, err
	}
	return stepOf(secret, code, at)
}
