package core

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Composed returns a text as it is stored: letters with marks are one character each (Unicode's NFC), however
// they were typed. A Mac's file names have "e" and "¨" for "ë".
func Composed(s string) string { return norm.NFC.String(s) }

// Fold returns the text by which texts are searched, not shown: without differences of case, width and
// composition (NFKC and full case folding). A dotless i is an i, because a folded I can't be told from it.
func Fold(s string) string {
	s = cases.Fold().String(norm.NFKC.String(s))
	// İ folds to an i and a dot above.
	return norm.NFKC.String(dotlessI.Replace(s))
}

var dotlessI = strings.NewReplacer("i\u0307", "i", "ı", "i")

// ASCIIDigits replaces the decimal digits of every script and width by 0 to 9: "２４" and "٢٤" become "24".
func ASCIIDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= unicode.MaxASCII || !unicode.IsDigit(r) {
			return r
		}
		return '0' + digitValue(r)
	}, s)
}

// digitValue returns the value of a decimal digit: Unicode has them in runs from 0 to 9.
func digitValue(r rune) rune {
	for _, run := range unicode.Nd.R16 {
		if rune(run.Lo) <= r && r <= rune(run.Hi) {
			return (r - rune(run.Lo)) % 10
		}
	}
	for _, run := range unicode.Nd.R32 {
		if rune(run.Lo) <= r && r <= rune(run.Hi) {
			return (r - rune(run.Lo)) % 10
		}
	}
	return 0
}
