package auth_test

import (
	"encoding/base32"
	"errors"
	"strconv"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/vault"
)

// The secret is stored sealed for its person, and can't be set for a person of another tenant.
func TestEnrolTOTP(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	by, stranger := dbtest.Tenant(t, d), dbtest.Tenant(t, d)
	keys, err := vault.New([]string{"a secret of thirty-two characters"})
	if err != nil {
		t.Fatal(err)
	}
	enrol := func(by core.Actor, person int64, secret string) error {
		_, err := db.In(t.Context(), d.Tenant(by), func(tx *db.Tx) (int, error) {
			return 0, auth.EnrolTwoFactor(t.Context(), tx, by, keys, person, secret)
		})
		return err
	}
	secret := auth.NewTOTPSecret()
	if raw, err := base32.StdEncoding.DecodeString(secret); err != nil || len(raw) != 20 || secret == auth.NewTOTPSecret() {
		t.Errorf("secret %q, %v", secret, err)
	}
	if err := enrol(by, by.StaffID, secret); err != nil {
		t.Fatal(err)
	}
	if err := enrol(stranger, by.StaffID, "theirs"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a stranger's person: %v, want ErrNotFound", err)
	}
	var sealed []byte
	if err := dbtest.Owner(d).QueryRow(t.Context(), "select totp_secret from loyalty.credential where staff_id = $1", by.StaffID).Scan(&sealed); err != nil {
		t.Fatal(err)
	}
	if stored, err := keys.Open("totp", strconv.FormatInt(by.StaffID, 10), sealed); err != nil || stored != secret {
		t.Errorf("stored %q, %v; want %q", stored, err, secret)
	}
}
