package core_test

import (
	"testing"
	"unicode"

	"example.com/loyalty/core"
)

func TestTextsThatAreTheSameFoldToTheSame(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"Zoë", "Zoe\u0308", "ZOË"},
		{"İrem Işıl", "irem ışıl", "IREM IŞIL", "irem işil"},
		{"ΠΑΠΠΑΣ", "παππας", "Παππασ"},
		{"Straße", "STRASSE", "strasse"},
		{"Ｙａｍａｄａ", "yamada"},
		{"ﬁnn", "Finn"},
	} {
		for _, text := range same[1:] {
			if got, want := core.Fold(text), core.Fold(same[0]); got != want {
				t.Errorf("Fold(%q) = %q, want %q as of %q", text, got, want, same[0])
			}
		}
	}
	for _, differ := range [][2]string{{"Zoë", "Zoe"}, {"Åsa", "Asa"}, {"Søren", "Soren"}} {
		if core.Fold(differ[0]) == core.Fold(differ[1]) {
			t.Errorf("%q and %q fold to the same", differ[0], differ[1])
		}
	}
}

func TestDigitsOfEveryScriptAreRead(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"２４５０": "2450", "٤٧١١": "4711", "۴۷۱۱": "4711", "४७११": "4711", "12.50": "12.50", "½²x": "½²x", "𝟘𝟡": "09",
	} {
		if got := core.ASCIIDigits(typed); got != want {
			t.Errorf("ASCIIDigits(%q) = %q, want %q", typed, got, want)
		}
	}
	for zero := rune(0); zero <= unicode.MaxRune; zero++ {
		if !unicode.IsDigit(zero) || core.ASCIIDigits(string(zero)) != "0" {
			continue
		}
		for value := rune(0); value <= 9; value++ {
			if got := core.ASCIIDigits(string(zero + value)); got != string('0'+value) {
				t.Errorf("%U is read as %q", zero+value, got)
			}
		}
	}
}
