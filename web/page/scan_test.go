package page_test

import (
	"strings"
	"testing"

	"example.com/loyalty/web/page"
)

// keyboard is what a device with another layout reads of an American scanner's keys.
type keyboard struct {
	name     string
	keys     map[rune]string // by what an American layout reads; others are the same
	capsLock bool
}

func (k keyboard) reads(text string) string {
	var b strings.Builder
	for _, r := range text {
		s, other := k.keys[r]
		if !other {
			s = string(r)
		}
		if k.capsLock {
			s = strings.Map(func(r rune) rune {
				if upper := strings.ToUpper(string(r)); upper != string(r) {
					return []rune(upper)[0]
				}
				return []rune(strings.ToLower(string(r)))[0]
			}, s)
		}
		b.WriteString(s)
	}
	return b.String()
}

var (
	swedish = map[rune]string{':': "Ö", '/': "-", '-': "+", '=': "´", '?': "_", '&': "/"}
	german  = map[rune]string{':': "Ö", '/': "-", '-': "ß", '=': "´", '?': "_", '&': "/", 'y': "z", 'z': "y", 'Y': "Z", 'Z': "Y"}
	french  = map[rune]string{
		':': "M", '/': "!", '-': ")", '.': ":", '?': "§", 'q': "a", 'a': "q", 'w': "z", 'z': "w", 'm': ",",
		'Q': "A", 'A': "Q", 'W': "Z", 'Z': "W", 'M': "?",
		'1': "&", '2': "é", '3': `"`, '4': "'", '5': "(", '6': "-", '7': "è", '8': "_", '9': "ç", '0': "à",
	}
	spanish = map[rune]string{':': "Ñ", '/': "-", '-': "'"}
	russian = map[rune]string{
		'h': "р", 't': "е", 'p': "з", 's': "ы", ':': "Ж", '/': ".", '.': "ю", '-': "-", 'd': "в", 'e': "у", 'm': "ь", 'o': "щ", 'x': "ч",
		'a': "ф", 'l': "д", 'i': "ш", 'c': "с", 'r': "к", 'v': "м",
	}
)

const ulid, signature = "01JC5X3Q8WYZ4M7N9P2R6S0TVA", "7QW3E9RZ4YM1N5P8S2VX6K0THB"

// "A card's link typed by a scanner with another keyboard layout is recognised as garbled."
func TestALinkOfAnotherKeyboardLayoutIsGarbled(t *testing.T) {
	t.Parallel()
	links := []string{
		"https://demo.example.com/till/c/" + signature,
		"https://demo.localhost:8443/card/" + ulid + "-" + signature,
		"http://demo.example.com/v/" + ulid + "-" + signature + "?from=mail",
	}
	for name, keys := range map[string]map[rune]string{"Swedish": swedish, "German": german, "French": french, "Spanish": spanish, "Russian": russian} {
		for _, capsLock := range []bool{false, true} {
			k := keyboard{name: name, keys: keys, capsLock: capsLock}
			for _, link := range links {
				if typed := k.reads(link); !page.Garbled(typed) {
					t.Errorf("%s, Caps Lock %t: %s isn't recognised", k.name, k.capsLock, typed)
				}
			}
		}
	}
	for _, number := range []string{"7350053850019", "471108", ulid} {
		if typed := (keyboard{keys: french}).reads(number); !page.Garbled(typed) {
			t.Errorf("French: %s isn't recognised", typed)
		}
	}
	for _, link := range links { // Caps Lock alone changes only the case, which doesn't matter
		if typed := (keyboard{capsLock: true}).reads(link); page.Garbled(typed) {
			t.Errorf("Caps Lock: %s is garbled", typed)
		}
	}
}

func TestOtherScansAreNotGarbled(t *testing.T) {
	t.Parallel()
	for _, scan := range []string{
		"", "4711", "7350053850019", "NOT-A-CODE", "ABC-123-XYZ", "https://example.com/a", "HTTP://EXAMPLE.COM", "http", "https", "café", "Crème brûlée",
		"WIFI:S:Guests;T:WPA;P:password;;", "tel:+4684650070", "]C1001234", "x", "---", "O'Neill", ulid, strings.ToLower(signature),
	} {
		if page.Garbled(scan) {
			t.Errorf("%q is recognised as garbled", scan)
		}
	}
}
