package vault_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"example.com/loyalty/core/vault"
)

func keys(t *testing.T, secrets ...string) vault.Keys {
	t.Helper()
	k, err := vault.New(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const (
	oldSecret = "an-old-secret-of-at-least-32-characters"
	newSecret = "a-new-secret-of-at-least-32-characters!"
)

// "LOYALTY_SECRET (comma-separated, the first writes, all read"
func TestTheFirstSecretWritesAllRead(t *testing.T) {
	t.Parallel()
	before, after, without := keys(t, oldSecret), keys(t, newSecret, oldSecret), keys(t, newSecret)
	sealed, err := before.Seal("totp", "7", "JBSWY3DPEHPK3PXP")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("JBSWY3DP")) {
		t.Error("the sealed value contains the text")
	}
	for name, k := range map[string]vault.Keys{"the secret itself": before, "a second secret": after} {
		if text, err := k.Open("totp", "7", sealed); err != nil || text != "JBSWY3DPEHPK3PXP" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	resealed, err := after.Seal("totp", "7", "x")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := without.Open("totp", "7", resealed); err != nil || text != "x" {
		t.Errorf("the first secret does not write: %q, %v", text, err)
	}
	if _, err := without.Open("totp", "7", sealed); !errors.Is(err, vault.ErrSealed) {
		t.Errorf("a secret that was dropped still reads: %v", err)
	}
}

// A value sealed for one purpose and owner opens for no other, nor after a change.
func TestWhatDoesNotOpen(t *testing.T) {
	t.Parallel()
	k := keys(t, newSecret)
	sealed, err := k.Seal("totp", "7", "secret")
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(sealed)
	damaged[len(damaged)-1] ^= 1
	for name, c := range map[string]struct {
		purpose, owner string
		sealed         []byte
	}{
		"another purpose": {"recovery", "7", sealed},
		"another owner":   {"totp", "8", sealed},
		"damaged":         {"totp", "7", damaged},
		"cut off":         {"totp", "7", sealed[:5]},
		"nothing":         {"totp", "7", nil},
	} {
		if _, err := k.Open(c.purpose, c.owner, c.sealed); !errors.Is(err, vault.ErrSealed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	again, err := k.Seal("totp", "7", "secret")
	if err != nil || bytes.Equal(again, sealed) {
		t.Errorf("sealed twice it looks the same, %v", err)
	}
	// "Refuse under 32 characters": the key of an empty secret could be guessed.
	for _, secrets := range [][]string{nil, {""}, {newSecret[:31]}, {newSecret, ""}, {newSecret, newSecret[:31]}} {
		if _, err := vault.New(secrets); err == nil || strings.Contains(err.Error(), "a-new") {
			t.Errorf("a vault of %q: %v", secrets, err)
		}
	}
}

// "`loyalty secret rotate` reseals what is stored": a value of the first secret stays, one of an older secret
// is sealed again, and one that no secret opens is an error.
func TestReseal(t *testing.T) {
	t.Parallel()
	before, both, after := keys(t, oldSecret), keys(t, newSecret, oldSecret), keys(t, newSecret)
	sealed, err := before.Seal("totp", "7", "JBSWY3DPEHPK3PXP")
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := both.Reseal("totp", "7", sealed)
	if err != nil || fresh == nil {
		t.Fatalf("resealed: %x, %v", fresh, err)
	}
	if text, err := after.Open("totp", "7", fresh); err != nil || text != "JBSWY3DPEHPK3PXP" {
		t.Errorf("the new secret opens %q, %v", text, err)
	}
	if again, err := both.Reseal("totp", "7", fresh); err != nil || again != nil {
		t.Errorf("resealed again: %x, %v", again, err)
	}
	if _, err := after.Reseal("totp", "7", sealed); !errors.Is(err, vault.ErrSealed) {
		t.Errorf("without the old secret: %v", err)
	}
}
