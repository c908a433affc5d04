package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"strings"
	"time"

	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/vault"
)

// totpPurpose is the purpose for which TOTP secrets are sealed.
const totpPurpose = "totp"

// step is how long an authenticator app shows a code (RFC 6238). The previous and the next code are
// accepted as well: clocks differ, and typing takes time.
const step = 30 * time.Second

const totpDigits = 6

// NewTOTPSecret returns a new secret of 160 bits, in the base 32 that authenticator apps read
// (RFC 6238).
func NewTOTPSecret() string {
	random := make([]byte, 20)
	rand.Read(random) // never fails (crypto/rand)
	return base32.StdEncoding.EncodeToString(random)
}

// EnrolTwoFactor sets a person's two-step verification in the caller's transaction. The secret is
// stored sealed.
func EnrolTwoFactor(ctx context.Context, tx *db.Tx, by core.Actor, keys vault.Keys, person int64, secret string) error {
	sealed, err := keys.Seal(totpPurpose, idText(person), secret)
	if err != nil {
		return err
	}
	touched, err := db.Exec(ctx, tx, enrolTwoFactorSQL, db.Args{"id": person, "tenant": int64(tx.Tenant), "secret": sealed})
	if err != nil {
		return err
	}
	if touched == 0 {
		return core.ErrNotFound
	}
	return audit.Write(tx, by, audit.Entry{Action: "staff.enrol_totp", Subject: "staff", ID: idText(person)})
}

// isTOTP reports whether a code without spaces looks like one of an authenticator app.
func isTOTP(code string) bool {
	return len(code) == totpDigits && strings.Trim(code, "0123456789") == ""
}

// findStep opens a person's sealed secret and finds the step, around an instant, in which it shows
// a code.
func (s *Service) findStep(person int64, sealed []byte, code string, at time.Time) (number int64, found bool, err error) {
	secret, err := s.keys.Open(totpPurpose, idText(person), sealed)
	if err != nil {
		return 0, false, err
	}
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

// platformIssuer is the name that authenticator apps show for the platform.
const platformIssuer = "Loyalty platform"

// newSetup returns a secret in the form that apps read. They separate the business and the e-mail
// address by a colon, so neither may contain one.
func newSetup(t core.Tenant, email, secret string) (Setup, error) {
	raw, err := base32.StdEncoding.DecodeString(secret)
	if err != nil {
		return Setup{}, err
	}
	issuer := t.Name
	if t.ID == 0 {
		issuer = platformIssuer
	}
	plain := strings.NewReplacer(":", " ")
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: plain.Replace(issuer), AccountName: plain.Replace(email), Secret: raw, Period: uint(step / time.Second),
	})
	if err != nil {
		return Setup{}, err
	}
	return Setup{Secret: secret, URI: key.URL()}, nil
}
