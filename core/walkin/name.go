package walkin

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"example.com/loyalty/core"
)

// maxVisitorName is the length of a whole name.
const maxVisitorName = 50

// VisitorName is the violation of a name with characters that names of people don't have. Visitors are strangers: what they
// type is shown to the staff and written in the business's e-mails. Staff and the API may write any name.
var VisitorName = core.Violation{Rule: "visitor_name"}

// isName reports whether a text has only letters, marks, spaces, hyphens, apostrophes and full stops, and no web address.
func isName(text string) bool {
	return !strings.ContainsFunc(text, isForeignToName) && !hasWebAddress(text)
}

// isForeignToName reports whether a character is in no name. Catalan has a dot within l·l, Japanese one between the words
// of a foreign name, and Persian and Indian names have joiners between letters.
func isForeignToName(r rune) bool {
	return !unicode.In(r, unicode.L, unicode.M, unicode.Zs, unicode.Join_Control) &&
		!strings.ContainsRune("-\u2010\u2011'\u2018\u2019\u00b4`\u05f3\u05f4.\u00b7\u30fb", r)
}

// hasWebAddress reports whether a mail program could make a link of a word: www.example, example.com. Initials and
// titles keep their full stops, also without a space behind them: A.P.J.Abdul, St.Clair.
func hasWebAddress(text string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		word = strings.Trim(word, ".")
		if strings.HasPrefix(word, "www.") {
			return true
		}
		if ascii, err := idna.ToASCII(word); err == nil {
			word = ascii
		}
		suffix, official := publicsuffix.PublicSuffix(word)
		before, found := strings.CutSuffix(word, "."+suffix)
		if !official || !found {
			continue
		}
		for label := range strings.SplitSeq(before, ".") {
			if utf8.RuneCountInString(label) > 1 {
				return true
			}
		}
	}
	return false
}
