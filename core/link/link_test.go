package link_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/vault"
)

const (
	oldSecret = "an old secret of thirty-two letters"
	newSecret = "a new secret of thirty-two characters"
)

func maker(t *testing.T, secrets ...string) link.Maker {
	t.Helper()
	keys, err := vault.New(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return link.New(keys)
}

func token(t *testing.T, m link.Maker, id core.ID) string {
	t.Helper()
	token, err := m.Token(link.Voucher, 7, id, 2)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// A token has the record's ULID and a signature, and can be made again without being stored.
func TestATokenNamesItsRecordAndCanBeMadeAgain(t *testing.T) {
	t.Parallel()
	m, id := maker(t, newSecret), core.NewID(time.Now())
	made := token(t, m, id)
	ulid, signature, _ := strings.Cut(made, "-")
	if ulid != id.String() || len(signature) != 26 || made != token(t, m, id) {
		t.Errorf("token = %s", made)
	}
	named, err := link.ParseID(made)
	if err != nil || named != id {
		t.Errorf("names %s, %v", named, err)
	}
	for _, typed := range []string{made, strings.ToLower(made)} {
		if err := m.Check(typed, link.Voucher, 7, id, 2); err != nil {
			t.Errorf("%s = %v", typed, err)
		}
	}
}

// A token is valid for one purpose, tenant, record and version.
func TestATokenOpensOneThing(t *testing.T) {
	t.Parallel()
	m, id := maker(t, newSecret), core.NewID(time.Now())
	other := core.NewID(time.Now())
	made := token(t, m, id)
	for name, err := range map[string]error{
		"another purpose":        m.Check(made, link.Card, 7, id, 2),
		"another tenant":         m.Check(made, link.Voucher, 8, id, 2),
		"another record":         m.Check(other.String()+made[26:], link.Voucher, 7, other, 2),
		"another version":        m.Check(made, link.Voucher, 7, id, 3),
		"another record's token": m.Check(made, link.Voucher, 7, other, 2),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s = %v, want it not found", name, err)
		}
	}
	for i := range made {
		changed := made[:i] + "!" + made[i+1:]
		if err := m.Check(changed, link.Voucher, 7, id, 2); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s = %v", changed, err)
		}
	}
	for _, broken := range []string{"", "-", id.String(), id.String() + "-", made + "0", made[:len(made)-1], "x" + made} {
		if err := m.Check(broken, link.Voucher, 7, id, 2); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%q = %v", broken, err)
		}
	}
}

// The first secret signs; all of them verify.
func TestTokensOfOldSecretsAreValid(t *testing.T) {
	t.Parallel()
	id := core.NewID(time.Now())
	made := token(t, maker(t, oldSecret), id)
	if err := maker(t, newSecret, oldSecret).Check(made, link.Voucher, 7, id, 2); err != nil {
		t.Errorf("with the old secret kept = %v", err)
	}
	if err := maker(t, newSecret).Check(made, link.Voucher, 7, id, 2); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("without the old secret = %v", err)
	}
}
