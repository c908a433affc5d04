// Package link makes and checks the tokens of links: for customers to a voucher, to their card and to
// unsubscribe, for staff to turn the weekly e-mail off. A token is the record's ULID and a signature; nothing is stored, so the same link can be
// mailed again (decisions §1).
//
// A token is valid for one purpose, one tenant and one version of its record. Raising the version
// revokes all earlier links.
package link

import (
	"crypto/subtle"
	"encoding/base32"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"example.com/loyalty/core"
	"example.com/loyalty/core/vault"
)

// Purpose is what a link opens.
type Purpose string

// The purposes.
const (
	Voucher     Purpose = "voucher"
	Card        Purpose = "card"
	Unsubscribe Purpose = "unsubscribe"
	WeeklyMail  Purpose = "weekly_mail" // turns it off for a person of the staff
)

// Maker makes and checks tokens with the installation's secrets.
type Maker struct{ keys vault.Keys }

// New returns a Maker.
func New(keys vault.Keys) Maker { return Maker{keys} }

// signatureLength is in characters of base 32: 130 bits.
const signatureLength = 26

const ulidLength = 26 // in characters

// Crockford's alphabet, as in ULIDs, has no characters that look alike.
var encoding = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// Token returns the token of a record: 26 characters of ULID, a hyphen, 26 of signature.
func (m Maker) Token(p Purpose, tenant core.TenantID, id core.ID, version int64) (string, error) {
	signature, err := m.keys.Sign("link", message(p, tenant, id, version))
	if err != nil {
		return "", err
	}
	return id.String() + "-" + encode(signature), nil
}

// ParseID returns the record of a token, without checking its signature, or core.ErrNotFound if the text
// is not a token.
func ParseID(token string) (core.ID, error) {
	ulid, _, ok := cut(token)
	if !ok {
		return core.ID{}, core.ErrNotFound
	}
	return core.ParseID(ulid)
}

// cut returns the two parts of a token as it is copied from an e-mail: with a full stop or a bracket behind it, with
// another kind of hyphen, broken by invisible characters or spaces, in either case.
func cut(token string) (ulid, signature string, ok bool) {
	letters := core.PlainCode(strings.TrimFunc(token, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}))
	if len(letters) != ulidLength+signatureLength {
		return "", "", false
	}
	return letters[:ulidLength], letters[ulidLength:], true
}

// In returns the token in what a person typed, scanned or pasted: what follows a path such as "/v/" in a link,
// even one that a mail program wrapped in its own. A text without that path has none.
func In(text, path string) (token string, found bool) {
	text = core.Unspaced(text)
	lower := asciiLower(text) // a scanner types capitals while Caps Lock is on
	for _, escaped := range []string{path, url.QueryEscape(path)} {
		if at := strings.LastIndex(lower, asciiLower(escaped)); at >= 0 {
			return tokenAtStart(text[at+len(escaped):]), true
		}
	}
	return "", false
}

// asciiLower keeps the position of every byte, unlike strings.ToLower.
func asciiLower(text string) string {
	lower := []byte(text)
	for i, b := range lower {
		if 'A' <= b && b <= 'Z' {
			lower[i] = b + 'a' - 'A'
		}
	}
	return string(lower)
}

func tokenAtStart(text string) string {
	if unescaped, err := url.PathUnescape(text); err == nil {
		text = unescaped
	}
	if end := strings.IndexAny(text, "/?#&"); end >= 0 {
		text = text[:end]
	}
	return text
}

// ErrReplaced refuses a link of an earlier version. It is also a core.ErrNotFound, for callers to whom both are alike.
var ErrReplaced = &core.Error{Kind: core.KindNotFound, Message: "This link was replaced.", Cause: core.ErrNotFound}

// rememberedVersions is how many earlier versions of a link are told from forged ones.
const rememberedVersions = 100

// Check returns core.ErrNotFound unless the token was made for this purpose, tenant,
// record and version by one of the installation's secrets: ErrReplaced if it was made for an earlier version. Letters
// can be of either case.
func (m Maker) Check(token string, p Purpose, tenant core.TenantID, id core.ID, version int64) error {
	named, err := ParseID(token)
	if err != nil || named != id {
		return core.ErrNotFound
	}
	_, given, _ := cut(token)
	for at := version; at >= max(0, version-rememberedVersions); at-- {
		signed, err := m.signed(given, message(p, tenant, id, at))
		switch {
		case err != nil:
			return err
		case signed && at == version:
			return nil
		case signed:
			return ErrReplaced
		}
	}
	return core.ErrNotFound
}

// signed reports whether a signature is one of a message.
func (m Maker) signed(given, message string) (bool, error) {
	signatures, err := m.keys.Signatures("link", message)
	valid := 0
	for _, signature := range signatures {
		valid |= subtle.ConstantTimeCompare([]byte(given), []byte(encode(signature)))
	}
	return valid == 1, err
}

func encode(signature []byte) string { return encoding.EncodeToString(signature)[:signatureLength] }

func message(p Purpose, tenant core.TenantID, id core.ID, version int64) string {
	return strings.Join([]string{
		string(p), strconv.FormatInt(int64(tenant), 10), id.String(), strconv.FormatInt(version, 10),
	}, " ")
}
