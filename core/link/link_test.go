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

// A token is read as it was meant, however it was copied.
func TestACopiedTokenIsRead(t *testing.T) {
	t.Parallel()
	m, id := maker(t, newSecret), core.NewID(time.Now())
	made := token(t, m, id)
	for _, copied := range []string{
		made + ".", made + ")", made + "/", "<" + made + ">", `"` + made + `",`, " " + made + "\u00a0", made[:9] + "\u200b" + made[9:],
		strings.Replace(made, "-", "\u2011", 1), strings.Replace(made, "-", "–", 1), strings.Replace(made, "-", "", 1), made[:40] + "\r\n" + made[40:],
	} {
		if named, err := link.ParseID(copied); err != nil || named != id {
			t.Errorf("%q names %s, %v", copied, named, err)
		}
		if err := m.Check(copied, link.Voucher, 7, id, 2); err != nil {
			t.Errorf("%q = %v", copied, err)
		}
	}
	for text, want := range map[string]string{
		"https://shop.example/v/" + made: made, "https://shop.example/v/" + made + "?x=1": made, "see https://shop.example/v/" + made + "/ ": made,
		"https://shop.example/v/" + strings.Replace(made, "-", "%2D", 1): made, "https://safe.example/?url=https%3A%2F%2Fshop.example%2Fv%2F" + made + "&data=1": made,
	} {
		if got, found := link.In(text, "/v/"); !found || got != want {
			t.Errorf("in %s: %q, %v", text, got, found)
		}
	}
	// A scanner types capitals while Caps Lock is on, and may begin with a mark of its own.
	for text, want := range map[string]string{
		"HTTPS://DEMO.EXAMPLE.COM/CARD/abc": "abc", "]Q1https://demo.example.com/card/ABC/": "ABC", "İ/card/abc": "abc",
	} {
		if got, found := link.In(text, "/card/"); !found || got != want {
			t.Errorf("%s has %q, %t", text, got, found)
		}
	}
	if got, found := link.In("https://shop.example/card/"+made, "/v/"); found {
		t.Errorf("in a card's link: %q", got)
	}
	for _, other := range []string{"", "-", made[:51], made + "0", made + made} {
		if _, err := link.ParseID(other); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%q = %v", other, err)
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
