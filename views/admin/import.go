package admin

import (
	"strconv"

	"example.com/loyalty/views/ui"
)

// ImportStart begins an import, and lists those there were.
type ImportStart struct {
	Frame
	Problem *ui.Problem
	FormKey string
	File    ui.Field
	Hints   []ImportHint
	Rows    []ImportRow
}

// ImportHint says what a column may hold.
type ImportHint struct {
	Name     string
	Words    string
	Required bool
}

// ImportRow is a line of the list.
type ImportRow struct {
	Path    string
	Name    string
	When    string // "12 min ago, by Maja Sund"
	Outcome string
	Status  ui.Badge
}

// ImportPage is an import at one of its steps.
type ImportPage struct {
	Frame
	Steps []ImportStep
	Facts string // of the file

	// The one that the step is about.
	Columns  *ImportColumns
	Progress *ImportProgress
	Result   *ImportResult
}

// ImportStep is a step on the way.
type ImportStep struct {
	Label   string
	Current bool
}

// ImportColumns asks what the columns of a file hold.
type ImportColumns struct {
	Action  string
	Discard string
	Problem *ui.Problem
	Heading ui.Field
	Columns []ui.Field // one for each
	Rows    []ImportPreview
	More    string // how many rows follow
}

// ImportPreview is a row of the file.
type ImportPreview struct {
	Number  string // as in a spreadsheet
	Cells   []string
	Broken  string // why there are none
	Heading bool
}

// ImportProgress is how far a check or an import is.
type ImportProgress struct {
	Path  string // that tells how far it is now
	Title string
	Words string // "12,000 of 100,000 rows"
	Done  string
	Total string
	Stop  string // path
	Label string // of what stops it
}

// ImportResult is what a check found, or an import did.
type ImportResult struct {
	Title   string
	Words   []string
	Figures []ui.Figure

	Run      string // path; "" where there is nothing to import
	RunLabel string
	Change   string // path
	Discard  string // path
	Leave    string // path, once there is nothing to decide
	Another  string // path

	ProblemsTitle string
	ProblemsWords string
	Problems      []ImportProblem
	CSV           string
}

// ImportProblem is what is wrong with a row.
type ImportProblem struct {
	Row    string
	Column string
	Value  string
	Words  string
}

// spans is how many columns a table of the fields has.
func spans(fields []ui.Field) string { return strconv.Itoa(len(fields)) }
