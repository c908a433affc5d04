package customers

import (
	"cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// ImportResult is the result of a check or an import.
type ImportResult struct {
	panel.Frame
	Import     importing.Import
	Room       *int64              // how many of the new customers fit the plan; nil: all
	Reading    *importing.Preview  // of a checked file; nil: the file is gone
	Country    string              // of the business, by name
	Duplicates []importing.Problem // rows that repeat another row or an existing customer
	Shared     []importing.Shared  // values that several rows have
	Problems   []ImportProblem
}

// ImportProblem is an error in a row.
type ImportProblem struct {
	importing.Problem
	Column, Message string
}

// ShownProblems is how many errors, and how many duplicates, the page lists. The CSV file contains all of them.
const ShownProblems = 100

// KeyNames are the names of the fields by which rows and customers are the same.
var KeyNames = map[importing.Field]string{importing.PhoneField: "phone number", importing.EmailField: "e-mail address"}

// planNotice says how many of the new customers fit the plan.
func (v ImportResult) planNotice() panel.PlanNotice {
	n := panel.PlanNotice{Reached: true, Words: importing.FitsPlan(v.Import.Created, *v.Room, format.Number) + ". Upgrade, or shorten the file."}
	if v.May(core.Owner) {
		n.Path = links.Billing
	}
	return n
}

func checkFigures(i importing.Import) []ui.Figure {
	return []ui.Figure{
		{Label: "New", Icon: "user-plus", Value: format.Number(i.Created), Against: "will be added"},
		{Label: "Existing", Icon: "users", Value: format.Number(i.Found), Against: "won't change"},
		{Label: "Duplicates", Icon: "copy", Value: format.Number(i.Repeated), Against: "in this file"},
		{Label: "Errors", Icon: "alert-triangle", Value: format.Number(i.Failed), Against: format.Noun(i.Failed, "row", "rows") + " will be skipped"},
	}
}

func importFigures(i importing.Import) []ui.Figure {
	return []ui.Figure{
		{Label: "Added", Icon: "user-plus", Value: format.Number(i.Created), Against: format.Noun(i.Created, "new customer", "new customers")},
		{Label: "Existing", Icon: "users", Value: format.Number(i.Found), Against: "unchanged, or duplicates"},
		{Label: "Errors", Icon: "alert-triangle", Value: format.Number(i.Failed), Against: format.Noun(i.Failed, "row", "rows") + " skipped"},
	}
}

var separatorNames = map[string]string{",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Bar"}

func separatorName(delimiter string) string {
	return cmp.Or(separatorNames[delimiter], "“"+delimiter+"”")
}

func duplicatesNote(i importing.Import) string {
	words := "Another row or an existing customer has the same phone number or e-mail address. These rows are skipped, and existing customers won't change."
	if i.Found+i.Repeated > ShownProblems {
		words += " The first " + format.Number(ShownProblems) + " rows are shown."
	}
	return words
}

func problemsNote(i importing.Import) string {
	words := "These rows are skipped. Correct them in your file and upload it again."
	if i.Problems > ShownProblems {
		words += " The first " + format.Number(ShownProblems) + " errors are shown."
	}
	if i.Problems >= importing.MaxProblems {
		words += " The CSV file lists every row, but after " + format.Number(importing.MaxProblems) + " errors only the first one per row."
	}
	return words
}

// sharedBy says how many rows share a value: "7 rows share the phone number 000 000 000". Without the value: it was
// blanked when a customer was erased.
func sharedBy(s importing.Shared) string {
	words := format.Count(s.Rows, "row shares", "rows share") + " the " + KeyNames[s.Field]
	if s.Value != "" {
		words += " " + s.Value
	}
	return words
}
