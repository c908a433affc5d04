package customer

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/unicode/norm"

	"example.com/loyalty/core"
)

// The rules of a phone number, besides core.MustBePhone.
var (
	OnePhone     = core.Violation{Rule: "one_phone"}     // there are several in the text
	RoundedPhone = core.Violation{Rule: "rounded_phone"} // a spreadsheet left its first digits
)

// The fewest digits of a phone number, and the most by ITU-T E.164.
const (
	minDigits = 3
	maxDigits = 15

	longestRead = 500 // bytes: more are several numbers, or none
)

// phone is a phone number as it is stored.
type phone struct {
	text string // as written, but for what programs put around it
	key  string // by which it is compared: E.164 as dialled in the country and the extension, or else the digits
}

// readPhone reads a phone number as dialled in a country, or says why it can't. It doesn't guess: a wrong key would lead to
// another person, and a second key of one number would create the customer twice.
//
// A number that is longer than the country's has a key, too, because a country may introduce longer ones. The plain digits are
// the key where there is no country, of a number that is shorter than the country's, and of one that is longer than any phone
// number: some programs send the number of a card for customers without a phone.
func readPhone(text, country string) (phone, *core.Violation) {
	p := phone{text: cleanPhone(text)}
	if len(p.text) > longestRead {
		return p, &core.MustBePhone
	}
	number, ext := cutExtension(p.text)
	switch {
	case rounded.MatchString(number):
		return p, &RoundedPhone
	case hasSeveral(number, country):
		return p, &OnePhone
	case phoneLike.MatchString(number):
		p.key = numberKey(number, country)
	}
	if p.key == "" {
		return p, &core.MustBePhone
	}
	if ext != "" {
		p.key += ";ext=" + ext
	}
	return p, nil
}

// numberKey returns the key of a number without its extension, or "".
func numberKey(number, country string) string {
	digits := notDigits.ReplaceAllString(number, "")
	if len(digits) < minDigits {
		return ""
	}
	if strings.Trim(digits, "0") == "" {
		return digits // typed where there is no number: an import then shows which rows share it
	}
	number = dialledAbroad(number, digits, country)
	digits = notDigits.ReplaceAllString(number, "")
	known, reason := parsePhone(number, country)
	switch {
	case known != nil:
		return phonenumbers.Format(known, phonenumbers.E164)
	case beginsWithWhole(number, country) && (len(digits) <= maxDigits || number[0] == '+' || number[0] == '0'):
		return "" // two numbers, and not the number of a card in groups
	case len(digits) > maxDigits:
		return digits
	case reason == phonenumbers.TOO_LONG:
		long, err := phonenumbers.Parse(number, cmp.Or(country, phonenumbers.UNKNOWN_REGION))
		if err == nil {
			return phonenumbers.Format(long, phonenumbers.E164)
		}
	}
	if strings.Contains(number, "+") || country != "" && reason != phonenumbers.TOO_SHORT {
		return ""
	}
	return digits
}

// dialledAbroad returns a number that is dialled with 00 as one with +, which means the same everywhere, also where
// other digits are dialled. More zeros in front are a program's, if what follows is a whole number.
func dialledAbroad(number, digits, country string) string {
	rest, abroad := strings.CutPrefix(digits, "00")
	if !abroad || strings.Contains(number, "+") || isWhole(number, country) {
		return number
	}
	if padded := "+" + strings.TrimLeft(rest, "0"); isWhole(padded, "") && !isWhole("0"+padded[1:], country) {
		return padded
	}
	return "+" + rest
}

// beginsWithWhole reports whether the first words of a text are a whole number, so that the last ones are something else.
func beginsWithWhole(text, country string) bool {
	words := strings.Fields(text)
	for i := 1; i < len(words); i++ {
		if isWhole(strings.Join(words[:i], " "), country) {
			return true
		}
	}
	return false
}

// parsePhone returns a number that is possible in a country, or the reason why not.
func parsePhone(text, country string) (*phonenumbers.PhoneNumber, phonenumbers.ValidationResult) {
	number, err := phonenumbers.Parse(text, cmp.Or(country, phonenumbers.UNKNOWN_REGION))
	if err != nil {
		if errors.Is(err, phonenumbers.ErrTooShortNSN) {
			return nil, phonenumbers.TOO_SHORT
		}
		return nil, phonenumbers.INVALID_COUNTRY_CODE
	}
	switch reason := phonenumbers.IsPossibleNumberWithReason(number); reason {
	case phonenumbers.IS_POSSIBLE, phonenumbers.IS_POSSIBLE_LOCAL_ONLY, phonenumbers.INVALID_LENGTH:
		return number, reason
	default:
		return nil, reason
	}
}

var (
	notDigits = regexp.MustCompile(`[^0-9]+`)

	// phoneLike matches what can be a phone number, or a part of one. A plus is in front of it.
	phoneLike = regexp.MustCompile(`^[\s(]*\+*` + phoneMarks + `*[0-9](?:[0-9]|` + phoneMarks + `)*$`)

	// rounded matches a number as spreadsheets write large ones: 4.67E+10.
	rounded = regexp.MustCompile(`^[+-]?[0-9]+(?:[.,٫][0-9]*)?\s*[eE]\s*[+-]?[0-9]+$`)

	// What spreadsheets and links put around a number.
	wrappedBefore = regexp.MustCompile("^(?:[=\"'`´‘’“”„«»\\s]|(?i:tel|callto)\\b[.:/]*)+")
	wrappedAfter  = regexp.MustCompile("[\"'`´‘’“”«»;,.\\s]+$")

	// A whole number as programs write it that read a spreadsheet: 46705935836.0.
	wholeFraction = regexp.MustCompile(`^(\+?[0-9]{7,})[.,]0+$`)

	// An extension, in several languages and as in links (;ext=101).
	extension = regexp.MustCompile(`(?i)^(.*[0-9)])\s*[,;]?\s*` +
		`(?:ext(?:ension|n)?|x|#|int(?:erno)?|anexo|ramal|poste|ankn(?:ytning)?|durchwahl|dw|wew|toestel|доб)\s*[.:=]?\s*([0-9]{1,9})$`)

	// What people write between two numbers.
	between = regexp.MustCompile(`(?i)[,;|/\\\n\r]+|\s(?:or|and|oder|und|eller|och|ou|et|o|y)\s`)
)

const phoneMarks = `[()\[\]/.~∼ー−\s\p{Z}\p{Pd}]`

// cleanPhone returns a phone number without what programs add when it is copied, and with the usual digits: of
// ="0705935836", of '0705935836, of tel:0705935836 and of full-width digits.
func cleanPhone(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, core.ASCIIDigits(norm.NFKC.String(text)))
	text = wrappedAfter.ReplaceAllString(wrappedBefore.ReplaceAllString(text, ""), "")
	return wholeFraction.ReplaceAllString(text, "$1")
}

// cutExtension cuts the extension of a switchboard off a number: of "08-123 456 00 ext. 101".
func cutExtension(text string) (number, ext string) {
	if m := extension.FindStringSubmatch(text); m != nil {
		return m[1], m[2]
	}
	return text, ""
}

// hasSeveral reports whether a text is more than one number: one of its parts is a whole number, or it is two whole
// ones with a space between them.
func hasSeveral(text, country string) bool {
	parts := between.Split(text, -1)
	if len(parts) > 1 && slices.ContainsFunc(parts, func(part string) bool { return isWhole(part, country) }) {
		return true
	}
	if number, _ := parsePhone(text, country); number != nil {
		return false
	}
	words := strings.Fields(text)
	for i := 1; i < len(words); i++ {
		if isWhole(strings.Join(words[:i], " "), country) && isWhole(strings.Join(words[i:], " "), country) {
			return true
		}
	}
	return false
}

func isWhole(text, country string) bool {
	number, _ := parsePhone(text, country)
	return number != nil && phonenumbers.IsValidNumber(number)
}
