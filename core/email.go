package core

import (
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
)

// The longest address and local part, in bytes (RFC 5321).
const (
	maxAddress   = 254
	maxLocalPart = 64
	maxLabel     = 63 // of a domain (RFC 1035)
)

// IsEmail reports whether a text is an e-mail address that a mail server could deliver to and that is what it
// looks like. It refuses what standards allow but people don't have: quoted local parts, IP addresses and hosts
// without a dot.
func IsEmail(s string) bool {
	local, domain, found := cutAddress(s)
	if !found || !isLocalPart(local) || strings.ContainsFunc(domain, isForeignToAddress) {
		return false
	}
	ascii, ok := asciiDomain(domain)
	return ok && len(local)+len("@")+len(ascii) <= maxAddress
}

// EmailKey returns the key by which e-mail addresses are compared: both forms of an internationalised domain are
// one address, and so are capitals and small letters. A letter outside ASCII never equals one within: İREM@ and
// irem@ are two mailboxes. Texts that are no address have a key too, because old records may hold them.
func EmailKey(address string) string {
	local, domain, _ := cutAddress(Composed(address))
	folded := Composed(foldLocalPart(local))
	if domain == "" {
		return folded
	}
	ascii, ok := asciiDomain(domain)
	if !ok {
		ascii = strings.ToLower(domain)
	}
	return folded + "@" + ascii
}

// ASCIIEmail returns an address with its domain as mail servers know it: xn--… for letters outside ASCII.
func ASCIIEmail(address string) string {
	local, domain, found := cutAddress(address)
	if ascii, ok := asciiDomain(domain); found && ok {
		return local + "@" + ascii
	}
	return address
}

func cutAddress(s string) (local, domain string, found bool) {
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+1:], true
}

// isLocalPart reports whether a text is what is before the @: words with a dot between each two, of ASCII's
// usual characters and of visible ones beyond.
func isLocalPart(s string) bool {
	if len(s) > maxLocalPart {
		return false
	}
	for word := range strings.SplitSeq(s, ".") {
		if word == "" || strings.ContainsFunc(word, isForeignToLocalPart) {
			return false
		}
	}
	return true
}

func isForeignToLocalPart(r rune) bool {
	if r > unicode.MaxASCII {
		return isForeignToAddress(r)
	}
	isAlphanumeric := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	return !isAlphanumeric && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}

// isForeignToAddress reports whether a character can't be seen, or means nothing.
func isForeignToAddress(r rune) bool { return isHidden(r) || unicode.Is(unicode.C, r) }

// asciiDomain returns the form of a domain that mail servers know, if it is one.
func asciiDomain(s string) (string, bool) {
	ascii, err := idna.Lookup.ToASCII(s)
	if err != nil {
		return "", false
	}
	labels := strings.Split(ascii, ".")
	for _, label := range labels {
		if label == "" || len(label) > maxLabel {
			return "", false
		}
	}
	top := labels[len(labels)-1]
	return ascii, len(labels) > 1 && len(top) > 1 && 'a' <= top[0] && top[0] <= 'z'
}

// foldLocalPart removes the difference of case within ASCII and within what is beyond, not between the two.
func foldLocalPart(s string) string {
	var folded strings.Builder
	for _, r := range s {
		letter := cases.Fold().String(string(r))
		if r > unicode.MaxASCII && strings.ContainsFunc(letter, func(r rune) bool { return r <= unicode.MaxASCII }) {
			letter = string(r)
		}
		folded.WriteString(letter)
	}
	return folded.String()
}
