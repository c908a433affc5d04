package core_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/loyalty/core"
)

// Formulas after a semicolon, comma, tab or line break inside a field are made inert, too.
func TestInertCell(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Anna":                   "Anna",
		"":                       "",
		"=1+1":                   "'=1+1",
		"-5":                     "'-5",
		"＝1+1":                   "'＝1+1",
		"Anna;=1+1":              "Anna;'=1+1",
		"Anna,=cmd|' /C calc'!A": "Anna,'=cmd|' /C calc'!A",
		"Anna\t@SUM(A1)":         "Anna\t'@SUM(A1)",
		"Anna\n+1":               "Anna\n'+1",
		"Anna\r-1":               "Anna\r'-1",
		"Anna; =1":               "Anna; '=1",
		`Anna;"=1"`:              `Anna;"'=1"`,
		"a;;=1;=2":               "a;;'=1;'=2",
		"\tx":                    "'\tx",
		"\t=1":                   "'\t'=1",
		"'=1":                    "''=1",
		"'quoted":                "'quoted",
		"a=b":                    "a=b",
		"Smith-Jones, A":         "Smith-Jones, A",
	} {
		got := core.InertCell(text)
		if got != want {
			t.Errorf("InertCell(%q) = %q, want %q", text, got, want)
		}
		if back := core.ReadCell(got); back != text {
			t.Errorf("ReadCell(%q) = %q, want %q", got, back, text)
		}
	}
}

// No part of a cell begins with a formula, however a spreadsheet splits it, and an import reads the
// exported text.
func TestInertCellsAtRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab =+-@＝;,\t\r\n'\""))).Draw(t, "text")
		cell := core.InertCell(text)
		if back := core.ReadCell(cell); back != text {
			t.Fatalf("%q is written %q and read %q", text, cell, back)
		}
		for _, separator := range []string{";", ",", "\t", "\n", "\r", ";\n", ",\n", "\t\n"} {
			for part := range strings.FieldsFuncSeq(cell, func(r rune) bool { return strings.ContainsRune(separator, r) }) {
				if strings.ContainsAny(strings.TrimLeft(part, " \"\t\r\n")[:min(1, len(strings.TrimLeft(part, " \"\t\r\n")))], "=+-@") {
					t.Fatalf("%q, split at %q, has the formula %q", cell, separator, part)
				}
			}
		}
	})
}
