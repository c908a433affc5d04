package token

import (
	"fmt"
	"hash/crc32"
	"regexp"
	"strings"
	"testing"
)

// A token is its id, 40 characters, and the CRC-32B of these in 8 hex digits.
func TestSecretFormat(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^([A-Za-z0-9]{40})([0-9a-f]{8})$`)
	letters := map[rune]bool{}
	seen := map[secret]bool{}
	for range 1000 {
		s := newSecret()
		parts := form.FindStringSubmatch(string(s))
		if parts == nil || parts[2] != fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(parts[1]))) {
			t.Fatalf("%s is not of the form", s)
		}
		if seen[s] {
			t.Fatalf("%s twice", s)
		}
		seen[s] = true
		for _, r := range parts[1] {
			letters[r] = true
		}
		if id, back, ok := parseToken(s.format(42)); !ok || id != 42 || back != s {
			t.Fatalf("%s reads back as %d, %s, %v", s.format(42), id, back, ok)
		}
		if !s.matches(s.hash()) || s.matches(newSecret().hash()) || s.matches(nil) {
			t.Fatalf("%s matches wrongly", s)
		}
	}
	if len(letters) != 62 {
		t.Errorf("%d different characters are used, want 62", len(letters))
	}
	// CRC-32B of "123456789" is cbf43926 by every table of checksums.
	if got := withChecksum("123456789"); got != "123456789cbf43926" {
		t.Errorf("checksum: %s", got)
	}
}

// Malformed tokens are refused; each token has one spelling.
func TestMalformedTokensAreRefused(t *testing.T) {
	t.Parallel()
	good := withChecksum(strings.Repeat("aB3d", 10))
	text := string(good)
	for name, token := range map[string]string{
		"empty":                "",
		"no bar":               "1" + text,
		"bar alone":            "|",
		"no id":                "|" + text,
		"no secret":            "1|",
		"zero":                 "0|" + text,
		"negative":             "-1|" + text,
		"plus":                 "+1|" + text,
		"leading zero":         "01|" + text,
		"space before":         " 1|" + text,
		"space after the id":   "1 |" + text,
		"space after the bar":  "1| " + text,
		"space after":          "1|" + text + " ",
		"line break":           "1|" + text + "\n",
		"underscore":           "1_0|" + text,
		"hex":                  "0x1|" + text,
		"other digits":         "١|" + text,
		"too large":            "9223372036854775808|" + text,
		"another checksum":     "1|" + text[:40] + "00000000",
		"checksum in capitals": "1|" + text[:40] + strings.ToUpper(text[40:]),
		"one letter wrong":     "1|b" + text[1:],
		"cut off":              "1|" + text[:47],
		"one more":             "1|" + text + "0",
		"two bars":             "1||" + text,
		"other letters":        "1|" + string(withChecksum(strings.Repeat("å", 20))),
		"punctuation":          "1|" + string(withChecksum(strings.Repeat("-", 40))),
	} {
		if id, s, ok := parseToken(token); ok {
			t.Errorf("%s: %q is read as %d, %s", name, token, id, s)
		}
	}
	if strings.ToUpper(text[40:]) == text[40:] {
		t.Fatal("the checksum of this example has no letters; choose another")
	}
	for _, id := range []int64{1, 10, 9223372036854775807} {
		if got, s, ok := parseToken(good.format(id)); !ok || got != id || s != good {
			t.Errorf("%s is not read", good.format(id))
		}
	}
}
