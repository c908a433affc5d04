package admin

import (
	"strconv"

	"example.com/loyalty/views/ui"
)

// ImportStart is the upload form, with the earlier imports.
type ImportStart struct {
	Frame
	Problem *ui.Problem
	FormKey string
	File    ui.Field
	Rows    []ImportRow
}

// ImportRow is a row of the list of imports.
type ImportRow struct {
	Path    string
	Name    string
	When    string // "12 min ago, by Maja Sund"
	Outcome string
	Status  ui.Badge
}

// ImportPage shows the current step of an import.
type ImportPage struct {
	Frame
	Step  string // one of importSteps
	Facts string // about the file

	// The step's content: exactly one is set.
	Columns  *ImportColumns
	Progress *ImportProgress
	Result   *ImportResult
}

var importSteps = []string{"File", "Columns", "Check", "Import"}

// ImportColumns maps the file's columns to fields.
type ImportColumns struct {
	Action    string
	Discard   string // path
	Problem   *ui.Problem
	HeaderRow ui.Field
	Columns   []ui.Field // one per column
	Rows      []ImportPreview
	More      string // how many rows are shown; "": all
}

// ImportPreview is one of the first rows of the file.
type ImportPreview struct {
	Number string // as in a spreadsheet
	Cells  []string
	Error  string // why the row can't be read
	Header bool
}

// ImportProgress is the progress of a check or an import.
type ImportProgress struct {
	Path  string // polled for the progress
	Title string
	Words string // "12,000 of 100,000 rows"
	Done  string
	Total string
	Stop  Action
}

// ImportResult is the result of a check or an import.
type ImportResult struct {
	Title   string
	Words   string
	Figures []ui.Figure
	Actions []Action

	ProblemsTitle string
	ProblemsWords string
	Problems      []ImportProblem
	CSV           string // path
}

// ImportProblem is an error in a row.
type ImportProblem struct {
	Row    string
	Column string
	Value  string
	Words  string
}

// columnSpan is the colspan of a cell that spans all columns.
func columnSpan(fields []ui.Field) string { return strconv.Itoa(len(fields)) }
