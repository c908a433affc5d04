package customers

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/panel"
)

// ImportResult is the result of a check or an import.
type ImportResult struct {
	panel.Frame
	Import     importing.Import
	Room       *int64              // how many of the new customers fit the plan; nil: all
	Reading    *importing.Preview  // of a checked file; nil: the file is gone
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
var KeyNames = map[importing.Field]string{
	importing.PhoneField: "phone number", importing.EmailField: "e-mail address", importing.ExternalIDField: "external ID",
}

// planNotice says how many of the new customers fit the plan.
func (v ImportResult) planNotice() panel.PlanNotice {
	n := panel.PlanNotice{Reached: true, Words: importing.FitsPlan(v.Import.Created, *v.Room, format.Number) + ". Upgrade, or shorten the file."}
	if v.May(core.Owner) {
		n.Path = links.Billing
	}
	return n
}

var separators = map[string]string{",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Bar"}

// sharedBy says how many rows share a value: "7 rows share the phone number 000 000 000". Without the value: it was
// blanked when a customer was erased.
func sharedBy(s importing.Shared) string {
	words := format.Count(s.Rows, "row shares", "rows share") + " the " + KeyNames[s.Field]
	if s.Value != "" {
		words += " " + s.Value
	}
	return words
}
