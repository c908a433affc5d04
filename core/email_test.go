package core_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core"
)

func TestAddressesThatPeopleHave(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"anna@example.com", "Anna.Berg@Example.COM", "o'neill+till@mail.example.co.uk", "a@b.io", "x_1-2@xn--bcher-kva.example",
		"anna@bücher.example", "zoë@example.com", "İrem@example.com", "почта@пример.рф", "あい@例え.テスト", "1@163.com", "a@1and1.de",
		"!#$%&'*+-/=?^_`{|}~@example.com", strings.Repeat("l", 64) + "@example.com", "a@" + strings.Repeat("d", 63) + ".se",
		"a@bu\u0308cher.example",
	} {
		if !core.IsEmail(address) {
			t.Errorf("%q is refused", address)
		}
	}
}

func TestTextsThatAreNoAddressAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "anna", "@example.com", "anna@", "anna@example", "anna@localhost", "Anna <anna@example.com>", "anna@example.com, bo@example.com", "a@b@example.com",
		`"anna berg"@example.com`, `"anna"@example.com`, `an"na@example.com`, "anna(x)@example.com", `an\na@example.com`, "an,na@example.com", "an:na@example.com", "an;na@example.com", "<anna@example.com>",
		".anna@example.com", "anna.@example.com", "an..na@example.com", "anna@.example.com", "anna@example..com", "anna@example.com.",
		"x@[127.0.0.1]", "x@[IPv6:::1]", "x@127.0.0.1", "x@::1", "x@1.2.3.4567",
		"anna@-example.com", "anna@example-.com", "anna@example.-com", "anna@exa_mple.com", "anna@exa mple.com", "anna@exa!mple.com", "anna@xn--a.example",
		"anna@" + strings.Repeat("d", 64) + ".com", "anna@" + strings.Repeat("d", 70) + ".com", strings.Repeat("l", 65) + "@example.com",
		"a@" + strings.Repeat("ü", 63) + ".com", strings.Repeat("ü", 33) + "@example.com",
		"l@" + strings.Repeat("d.", 126) + "com", "anna@example.c", "anna@example.123", "anna@example.9x",
	} {
		if core.IsEmail(text) {
			t.Errorf("%q is accepted", text)
		}
	}
}

// A space or an invisible character anywhere in an address makes it a different one that looks the same.
func TestHiddenCharactersInAddressesAreRefused(t *testing.T) {
	t.Parallel()
	for _, hidden := range []rune{
		' ', '\t', '\n', '\r', '\v', 0, 0x7f, 0x85, 0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x1680, 0x17b4, 0x180b, 0x180e, 0x2000, 0x2007, 0x200a, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f,
		0x2028, 0x2029, 0x202a, 0x202e, 0x202f, 0x205f, 0x2060, 0x2061, 0x2066, 0x2069, 0x206f, 0x2800, 0x3000, 0x3164, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xe000, 0xe0001, 0xe0041, 0xe0100,
	} {
		for _, address := range []string{"an?na@example.com", "?anna@example.com", "anna?@example.com", "anna@?example.com", "anna@exa?mple.com", "anna@example.?com", "anna@example.com?"} {
			if text := strings.Replace(address, "?", string(hidden), 1); core.IsEmail(text) {
				t.Errorf("%+q is accepted", text)
			}
		}
	}
}

func TestFormsOfOneAddressHaveOneKey(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"anna@example.com", "Anna@Example.COM", "ANNA@EXAMPLE.com"},
		{"anna@bücher.example", "anna@xn--bcher-kva.example", "ANNA@BÜCHER.example", "anna@bu\u0308cher.example", "anna@XN--BCHER-KVA.EXAMPLE"},
		{"zoë@example.com", "ZOË@example.com", "zoe\u0308@example.com"},
		{"παππας@example.com", "ΠΑΠΠΑΣ@example.com"},
		{"anna@example.com", "anna@ｅｘａｍｐｌｅ.com", "anna@example。com"},
		{"anna@exa_mple.com", "ANNA@Exa_mple.com"}, // of an earlier version, which accepted it
		{"anna@exa\u200bmple.com\u2028", "ANNA@exa\u200bmple.com\u2028"},
	} {
		for _, form := range same {
			if got, want := core.EmailKey(form), core.EmailKey(same[0]); got != want {
				t.Errorf("EmailKey(%+q) = %+q, want %+q", form, got, want)
			}
		}
	}
	if got, want := core.EmailKey("ANNA@Bücher.Example"), "anna@xn--bcher-kva.example"; got != want {
		t.Errorf("EmailKey = %q, want %q", got, want)
	}
	for _, two := range [][2]string{
		{"İREM@example.com", "irem@example.com"},
		{"ırem@example.com", "irem@example.com"},
		{"ſam@example.com", "sam@example.com"},
		{"straße@example.com", "strasse@example.com"},
		{"ﬁnn@example.com", "finn@example.com"},
		{"ａnna@example.com", "anna@example.com"},
		{"zoë@example.com", "zoe@example.com"},
		{"a.b@example.com", "ab@example.com"},
		{"anna@faß.example", "anna@fass.example"},
	} {
		if core.EmailKey(two[0]) == core.EmailKey(two[1]) {
			t.Errorf("%q and %q have one key", two[0], two[1])
		}
	}
}

func TestDomainsAreSentInASCII(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"Anna@Example.com": "Anna@example.com", "Anna@Bücher.example": "Anna@xn--bcher-kva.example", "zoë@example.com": "zoë@example.com",
		"no address": "no address", "x@[127.0.0.1]": "x@[127.0.0.1]",
	} {
		if got := core.ASCIIEmail(address); got != want {
			t.Errorf("ASCIIEmail(%q) = %q, want %q", address, got, want)
		}
	}
}
