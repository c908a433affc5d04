package core

import (
	"regexp"
	"strings"
)

// At the beginning of a cell, spreadsheets take these for a formula; the wide forms are of East Asian
// keyboards. A semicolon, comma, tab or line break can begin a cell, depending on the program.
const formulaMarks = "=+-@＝＋－＠"

var (
	formulaInside  = regexp.MustCompile(`(^|[;,\t\r\n])([ "]*)('*[` + `=+\-@＝＋－＠` + `])`)
	quotedInside   = regexp.MustCompile(`(^|[;,\t\r\n])([ "]*)'('*[` + `=+\-@＝＋－＠` + `])`)
	blankAtFront   = regexp.MustCompile(`^('*[\t\r\n])`)
	quotedAtFront  = regexp.MustCompile(`^'('*[\t\r\n])`)
	couldBeFormula = func(text string) bool { return strings.ContainsAny(text, formulaMarks+"\t\r\n") }
)

// InertCell returns a text as a cell of a CSV file that no spreadsheet runs as a formula: an apostrophe
// precedes each possible formula.
func InertCell(text string) string {
	if !couldBeFormula(text) {
		return text
	}
	return blankAtFront.ReplaceAllString(formulaInside.ReplaceAllString(text, "$1$2'$3"), "'$1")
}

// ReadCell returns the text that InertCell was given.
func ReadCell(cell string) string {
	if !couldBeFormula(cell) {
		return cell
	}
	return quotedInside.ReplaceAllString(quotedAtFront.ReplaceAllString(cell, "$1"), "$1$2$3")
}
