package core

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
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

// Trimmed returns a text without the spaces and invisible characters around it, as they are copied with other
// text: "" if there is nothing to see, as a name without a visible character could be neither read nor clicked.
func Trimmed(s string) string {
	if !strings.ContainsFunc(s, isVisible) {
		return ""
	}
	return strings.TrimFunc(s, func(r rune) bool { return isHidden(r) && !endsEmoji(r) })
}

func isVisible(r rune) bool { return !isHidden(r) }

// isHidden reports whether a character can't be seen: a space, a joiner, a direction mark, a filler. Other control
// characters are not, because they aren't copied with other texts.
func isHidden(r rune) bool {
	return r == brailleBlank || unicode.IsSpace(r) || unicode.In(r, unicode.Z, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

const brailleBlank = '\u2800'

// endsEmoji reports whether a hidden character can be the last of an emoji: a heart in colour, a region's flag.
func endsEmoji(r rune) bool {
	return unicode.Is(unicode.Variation_Selector, r) || '\U000e0020' <= r && r <= '\U000e007f'
}

// Unspaced returns a text without spaces and invisible characters, for what has none, such as a link.
func Unspaced(s string) string {
	return strings.Map(func(r rune) rune {
		if isHidden(r) {
			return -1
		}
		return r
	}, s)
}

// PlainCode returns a code without what people and programs put into it: spaces, invisible characters and hyphens of
// every kind. Letters are capitals, and wide letters and digits ordinary ones.
func PlainCode(s string) string {
	withoutDashes := strings.Map(func(r rune) rune {
		if isDash(r) {
			return -1
		}
		return r
	}, Unspaced(s))
	return strings.ToUpper(ASCIIDigits(norm.NFKC.String(withoutDashes)))
}

func isDash(r rune) bool { return unicode.In(r, unicode.Pd, unicode.Hyphen) || r == '\u2212' }

// OneLine makes one line of a text, for a heading or a name in a sentence of plain text: line breaks, other control
// characters and direction marks become spaces.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || IsDirectionMark(r)
	}), " ")
}

// HasDirectionMark reports whether a text has a character that changes the direction in which it and what follows
// are written: people don't type them into names, and "\u202Egnp.exe" reads as "exe.png".
func HasDirectionMark(s string) bool { return strings.ContainsFunc(s, IsDirectionMark) }

// IsDirectionMark reports whether a character does nothing else.
func IsDirectionMark(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// WithoutDirectionMarks returns a text as it is shown beside others.
func WithoutDirectionMarks(s string) string {
	if !HasDirectionMark(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if IsDirectionMark(r) {
			return -1
		}
		return r
	}, s)
}

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

// TypedNumber returns a number that a person typed or pasted in the characters of a plain keyboard, without
// changing what it means: "２，４５０" becomes "2,450", "−٥" becomes "-5", and every kind of space is a space. Only
// the Arabic decimal mark "٫" stays, because it can't be confused with one between thousands.
func TypedNumber(s string) string {
	return strings.TrimSpace(ASCIIDigits(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Zs, r):
			return ' '
		case unicode.Is(unicode.Cf, r): // direction marks, and spaces of no width
			return -1
		}
		if plain, known := typedMarks[r]; known {
			return plain
		}
		return r
	}, width.Fold.String(s))))
}

var typedMarks = map[rune]rune{
	'−': '-', '﹣': '-', '‐': '-', '‑': '-', '‒': '-', '–': '-', '—': '-', '﹢': '+',
	'’': '\'', '‘': '\'', 'ʼ': '\'', '′': '\'', '٬': '\'',
	'،': ',', '、': ',', '﹐': ',', '。': '.', '﹒': '.', '٪': '%', '﹪': '%', '﹕': ':',
}
