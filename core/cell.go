package core

import (
	"regexp"
	"strings"
)

// What a spreadsheet takes for a formula at the beginning of a cell; the wide forms are
// those of East Asian keyboards. Programs that split a file at other marks than ours see
// the beginning of a cell after a semicolon, comma, tab or line break, too.
const formulaMarks = "=+-@＝＋－＠"

var (
	formulaInside  = regexp.MustCompile(`(^|[;,\t\r\n])([ "]*)('*[` + `=+\-@＝＋－＠` + `])`)
	quotedInside   = regexp.MustCompile(`(^|[;,\t\r\n])([ "]*)'('*[` + `=+\-@＝＋－＠` + `])`)
	blankAtFront   = regexp.MustCompile(`^('*[\t\r\n])`)
	quotedAtFront  = regexp.MustCompile(`^'('*[\t\r\n])`)
	couldBeFormula = func(text string) bool { return strings.ContainsAny(text, formulaMarks+"\t\r\n") }
)

// InertCell returns a text as a cell of a CSV file that no spreadsheet runs as a formula,
// wherever it splits the text: an apostrophe precedes what it could take for one.
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
