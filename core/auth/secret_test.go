package auth_test

import (
	"errors"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/vault"
)

func secretKeys(t *testing.T, secrets ...string) vault.Keys {
	t.Helper()
	keys, err := vault.New(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

const (
	firstSecret  = "the first secret, of 32 characters"
	secondSecret = "the second secret, of 32 characters"
)

// enrol sets up two-step verification for a person of a new business, sealed with the keys.
func enrol(t *testing.T, d *db.DB, keys vault.Keys, secret string) core.Actor {
	t.Helper()
	by := dbtest.Tenant(t, d)
	_, err := db.In(t.Context(), d.Tenant(by), func(tx *db.Tx) (int, error) {
		return 0, auth.EnrolTwoFactor(t.Context(), tx, by, keys, by.StaffID, secret)
	})
	if err != nil {
		t.Fatal(err)
	}
	return by
}

func totpOf(t *testing.T, d *db.DB, keys vault.Keys, person core.Actor) string {
	t.Helper()
	var sealed []byte
	if err := dbtest.Owner(d).QueryRow(t.Context(), "select totp_secret from loyalty.credential where staff_id = $1", person.StaffID).Scan(&sealed); err != nil {
		t.Fatal(err)
	}
	text, err := keys.Open("totp", person.ID, sealed)
	if err != nil && !errors.Is(err, vault.ErrSealed) {
		t.Fatal(err)
	}
	return text
}

// A sealed check in the database detects a wrong secret at the start.
func TestWrongSecretIsRefused(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	first, second := secretKeys(t, firstSecret), secretKeys(t, secondSecret)
	if err := auth.CheckSecret(t.Context(), d, first); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		keys vault.Keys
		want error
	}{
		"the same again":        {first, nil},
		"a new one in front":    {secretKeys(t, secondSecret, firstSecret), nil},
		"a new one behind":      {secretKeys(t, firstSecret, secondSecret), nil},
		"another one":           {second, auth.ErrWrongSecret},
		"its first letters":     {secretKeys(t, firstSecret[:32]), auth.ErrWrongSecret},
		"the same, with spaces": {secretKeys(t, " "+firstSecret), auth.ErrWrongSecret},
	} {
		if err := auth.CheckSecret(t.Context(), d, c.keys); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A rotation reseals the secrets of all tenants and the platform, also pending ones. Afterwards the
// new secret alone opens them. A second run changes nothing.
func TestRotateSecret(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	before, both, after := secretKeys(t, firstSecret), secretKeys(t, secondSecret, firstSecret), secretKeys(t, secondSecret)
	by := core.System(core.Tenant{}, "loyalty secret rotate")
	if err := auth.CheckSecret(t.Context(), d, before); err != nil {
		t.Fatal(err)
	}
	anna, bo := enrol(t, d, before, "JBSWY3DPEHPK3PXP"), enrol(t, d, both, "KRSXG5CTMVRXEZLU")
	// A pending set-up.
	pending, err := before.Seal("totp", bo.ID, "PENDING7WZ6M3KXN")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dbtest.Owner(d).Exec(t.Context(), "update loyalty.credential set totp_pending = $2, totp_pending_at = now() where staff_id = $1", bo.StaffID, pending); err != nil {
		t.Fatal(err)
	}
	done, err := auth.Reseal(t.Context(), d, by, both, false)
	if err != nil || done.Sealed != 2 || done.Current != 1 || len(done.Lost) != 0 {
		t.Fatalf("rotated: %+v, %v", done, err)
	}
	if got := totpOf(t, d, after, anna); got != "JBSWY3DPEHPK3PXP" {
		t.Errorf("Anna's secret is %q", got)
	}
	if got := totpOf(t, d, after, bo); got != "KRSXG5CTMVRXEZLU" {
		t.Errorf("Bo's secret is %q", got)
	}
	var sealed []byte
	if err := dbtest.Owner(d).QueryRow(t.Context(), "select totp_pending from loyalty.credential where staff_id = $1", bo.StaffID).Scan(&sealed); err != nil {
		t.Fatal(err)
	}
	if text, err := after.Open("totp", bo.ID, sealed); err != nil || text != "PENDING7WZ6M3KXN" {
		t.Errorf("Bo's set-up opens as %q, %v", text, err)
	}
	if err := auth.CheckSecret(t.Context(), d, after); err != nil {
		t.Errorf("the new secret alone: %v", err)
	}
	if err := auth.CheckSecret(t.Context(), d, before); !errors.Is(err, auth.ErrWrongSecret) {
		t.Errorf("the old secret alone: %v", err)
	}
	if done, err = auth.Reseal(t.Context(), d, by, after, false); err != nil || done.Sealed != 0 || done.Current != 3 {
		t.Errorf("again: %+v, %v", done, err)
	}
}

// Without the old secret, the rotation refuses, unless "lost" is given: then it names the people
// whose two-step verification is lost.
func TestRotateLostSecret(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	before, after := secretKeys(t, firstSecret), secretKeys(t, secondSecret)
	by := core.System(core.Tenant{}, "loyalty secret rotate")
	if err := auth.CheckSecret(t.Context(), d, before); err != nil {
		t.Fatal(err)
	}
	anna := enrol(t, d, before, "JBSWY3DPEHPK3PXP")
	if _, err := auth.Reseal(t.Context(), d, by, after, false); !errors.Is(err, auth.ErrWrongSecret) {
		t.Fatalf("without the old secret: %v", err)
	}
	done, err := auth.Reseal(t.Context(), d, by, after, true)
	if err != nil || done.Sealed != 0 || len(done.Lost) != 1 || done.Lost[0].Slug != anna.Tenant.Slug || done.Lost[0].Email == "" {
		t.Errorf("lost: %+v, %v", done, err)
	}
	if got := totpOf(t, d, before, anna); got != "JBSWY3DPEHPK3PXP" {
		t.Error("what can't be opened was changed")
	}
	if err := auth.CheckSecret(t.Context(), d, after); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
