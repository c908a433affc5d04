package staff

import (
	"context"
	"crypto/rand"
	"encoding/base32"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/vault"
)

// totpPurpose is what secrets of second factors are sealed for.
const totpPurpose = "totp"

// NewTOTPSecret makes the secret of a second factor: 160 bits, in the letters that
// authenticator apps read (RFC 6238).
func NewTOTPSecret() string {
	random := make([]byte, 20)
	rand.Read(random) // never fails, says its documentation
	return base32.StdEncoding.EncodeToString(random)
}

// EnrolTOTP gives a person a second factor in the caller's transaction, instead of
// the one they have. The secret is stored sealed.
func EnrolTOTP(ctx context.Context, tx *db.Tx, by core.Actor, keys vault.Keys, person int64, secret string) error {
	sealed, err := keys.Seal(totpPurpose, id(person), secret)
	if err != nil {
		return err
	}
	touched, err := db.Exec(ctx, tx, enrolTOTPSQL, db.Args{"id": person, "tenant": int64(tx.Tenant), "secret": sealed})
	if err != nil {
		return err
	}
	if touched == 0 {
		return core.ErrNotFound
	}
	return audit.Write(tx, by, audit.Entry{Action: "staff.enrol_totp", Subject: "staff", ID: id(person)})
}
