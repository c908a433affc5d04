package page

import (
	"strings"

	"example.com/loyalty/core"
)

// ErrGarbled refuses a code that a scanner typed with another keyboard layout than the device's.
var ErrGarbled = core.Refuse("", "This code arrived garbled: the scanner types with another keyboard layout. Set the scanner to the keyboard layout of this device, then scan again.")

// What "http" becomes if a scanner types it by an American layout and the device reads it by its own. Layouts
// with Latin letters differ in marks: "://" becomes "Ö--" on Swedish and German keyboards, "M!!" on French.
var scannedHTTP = []string{"http", "реез", "ηττπ", "יאאפ", "اففح"}

// Garbled reports whether a scanned text, which is no code or link, is one of another keyboard layout. Which
// one isn't decided, because a wrong guess could be another code.
func Garbled(text string) bool {
	lower := strings.ToLower(text)
	for i, start := range scannedHTTP {
		_, rest, found := strings.Cut(lower, start)
		rest = strings.TrimPrefix(rest, "s")
		if found && (i > 0 || !strings.HasPrefix(rest, "://")) && len(rest) > len("://") {
			return true
		}
	}
	return garbledDigits(text)
}

// azertyDigits are the keys of the digits on a French keyboard without Shift.
var azertyDigits = strings.NewReplacer("&", "1", "é", "2", `"`, "3", "'", "4", "(", "5", "-", "6", "è", "7", "_", "8", "ç", "9", "à", "0", "§", "6", "!", "8", "?", "M", ",", "m")

// garbledDigits reports whether a text is a number or a code whose digits were read by a French or Belgian
// keyboard.
func garbledDigits(text string) bool {
	const shortest = 6
	if strings.ContainsAny(text, "0123456789") {
		return false // a scanner presses the keys of digits without Shift
	}
	digits, all := 0, 0
	for _, r := range azertyDigits.Replace(text) {
		switch {
		case '0' <= r && r <= '9':
			digits++
		case 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z':
		default:
			return false
		}
		all++
	}
	return all >= shortest && (2*digits >= all || all == codeLength && digits > 0)
}

// codeLength is the length of a voucher's code and of the code of a PIN.
const codeLength = 26
