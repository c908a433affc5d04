package importing

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/loyalty/core"
)

// isName reports whether the field is a person's name, of which an apostrophe in front is a part: "'t Hart".
func (f Field) isName() bool { return f == FirstNameField || f == LastNameField || f == FullNameField }

var (
	asText = regexp.MustCompile(`^=\s*"(.*)"$`) // ="070", which spreadsheets don't calculate with
	// zeroFraction is how spreadsheets write a whole number in a column of numbers. Fewer digits could be a local
	// number in groups.
	zeroFraction = regexp.MustCompile(`^(\+?\d{7,})[.,]0+$`)
)

// clean returns a cell's text without what programs put around it so that a spreadsheet keeps it as it is, and without what a
// spreadsheet added because it took the text for a number.
func (f Field) clean(cell string) string {
	if parts := asText.FindStringSubmatch(cell); parts != nil {
		cell = strings.TrimSpace(strings.ReplaceAll(parts[1], `""`, `"`))
	}
	if f.isName() {
		return cell
	}
	cell = strings.TrimSpace(strings.TrimLeft(cell, "'’"))
	if f == EmailField || f == ExternalIDField {
		return cell
	}
	cell = core.ASCIIDigits(cell)
	if parts := zeroFraction.FindStringSubmatch(cell); parts != nil && f == PhoneField {
		return parts[1]
	}
	return cell
}

var (
	// rounded is a number as spreadsheets write it where the column is too narrow: the last digits are lost.
	rounded = regexp.MustCompile(`^[+-]?\d+([.,٫]\d+)?\s*[eE]\s*[+-]?\d{1,3}$`)
	// failed is what spreadsheets show for a formula that failed, in any language, or in a column that is too narrow.
	failed = regexp.MustCompile(`^(#\p{Lu}[\p{Lu}\d/_.\p{Zs}]*[!?]?|#+|Err:\d{3}|TRUE|FALSE)$`)
)

// damage returns what a program did to a cell before the file was exported; nil: nothing that can be seen.
func (f Field) damage(cell string) *core.Violation {
	switch {
	case !utf8.ValidString(cell), strings.ContainsRune(cell, utf8.RuneError):
		return &core.Violation{Rule: "unreadable"}
	case failed.MatchString(cell):
		return &core.Violation{Rule: "cell_error"}
	case !f.isName() && rounded.MatchString(cell):
		return &core.Violation{Rule: "rounded"}
	}
	return nil
}

var (
	ungrouped  = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "\u2009", "", "'", "", "’", "")
	plain      = regexp.MustCompile(`^[+-]?\d+$`)
	wholePart  = regexp.MustCompile(`^([+-]?\d+)[.,](0|00|0000+)$`)                                    // 12.0; 12.000 may be 12,000
	byPoints   = regexp.MustCompile(`^([+-]?\d{1,3}(?:\.\d{3})+),0+$|^([+-]?\d{1,3}(?:\.\d{3}){2,})$`) // 1.234,00 or 1.234.567
	byCommas   = regexp.MustCompile(`^([+-]?\d{1,3}(?:,\d{3})+)\.0+$|^([+-]?\d{1,3}(?:,\d{3}){2,})$`)
	byIndian   = regexp.MustCompile(`^([+-]?\d{1,2}(?:,\d{2})+,\d{3})(?:\.0+)?$`) // 1,23,456
	separators = strings.NewReplacer(".", "", ",", "")
)

// wholeNumber reads a number without a fraction, or with one of zeros. One comma or point could separate thousands or
// a fraction: where three digits follow it, a wrong guess would be wrong by a factor of a thousand.
func wholeNumber(text string) (int64, bool) {
	text = ungrouped.Replace(core.TypedNumber(text))
	digits := ""
	if plain.MatchString(text) {
		digits = text
	}
	for _, notation := range []*regexp.Regexp{wholePart, byPoints, byCommas, byIndian} {
		if parts := notation.FindStringSubmatch(text); parts != nil {
			digits = parts[1]
			if digits == "" {
				digits = parts[2]
			}
		}
	}
	n, err := strconv.ParseInt(separators.Replace(digits), 10, 64)
	return n, err == nil
}
