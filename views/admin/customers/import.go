package customers

import (
	"strconv"

	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// ImportStart is the upload form, with the earlier imports.
type ImportStart struct {
	panel.Frame
	Problem *ui.Problem
	FormKey string
	File    ui.Field
	Rows    []ImportRow

	DateHint string // the formats of dates
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
	panel.Frame
	Step  string // one of importSteps
	Facts string // about the file

	// The step's content: exactly one is set.
	Columns  *ImportColumns
	Progress *ImportProgress
	Result   *ImportResult
}

var importSteps = []string{"File", "Columns", "Check", "Import"}

// ImportColumns says how the file is read, and maps its columns to fields.
type ImportColumns struct {
	Action    string
	Redraw    string // path of this part of the page, as chosen
	Discard   string // path
	Problem   *ui.Problem
	Shown     string // the header row for which the columns are shown
	Encoding  ui.Field
	HeaderRow ui.Field
	Dates     *ui.Field  // nil: no dates that can be read in two orders
	Columns   []ui.Field // one per column
	Rows      []ImportPreview
	Letters   []ImportPreview // further rows, with letters that depend on the encoding
	More      string          // how many rows are shown; "": all
}

// ImportPreview is one of the first rows of the file.
type ImportPreview struct {
	Number string // as in a spreadsheet
	Cells  []string
	Error  string // why the row can't be read
	Header bool

	Skipped bool // a title above the header row
}

// ImportReading says how the checked file was read, with some rows as they will be imported.
type ImportReading struct {
	Facts  []ImportFact
	Rows   []ImportSample
	Change string // path; "": it can't be changed any more
}

// ImportFact is one choice of how a file is read.
type ImportFact struct{ Name, Value, Why string }

// ImportSample is a row as it will be imported.
type ImportSample struct{ Number, Name, Phone, Email, Since, Points, Stamps string }

// ImportProgress is the progress of a check or an import.
type ImportProgress struct {
	Path  string // polled for the progress
	Title string
	Words string // "12,000 of 100,000 rows"
	Done  string
	Total string
	Stop  panel.Action
}

// ImportResult is the result of a check or an import.
type ImportResult struct {
	Title   string
	Words   string
	Figures []ui.Figure
	Actions []panel.Action
	Plan    *panel.PlanNotice // nil: the new customers fit the plan

	Reading *ImportReading // nil: the file is gone

	Continue, Button string // path and label of the button that goes on with it; "" if it isn't on hold

	ProblemsTitle string
	ProblemsWords string
	Problems      []ImportProblem
	CSV           string // path

	Duplicates *ImportDuplicates // nil: none
}

// ImportDuplicates lists rows that aren't imported because they repeat another row or an existing customer.
type ImportDuplicates struct {
	Title  string
	Words  string
	Shared []ImportShared // values that several rows have
	Rows   []ImportDuplicate
}

// ImportShared is a value that several rows have: "7 rows share the phone 000 000 000".
type ImportShared struct {
	Words    string
	Customer *ImportCustomer // who has it; nil: a row
}

// ImportDuplicate is a row that repeats something.
type ImportDuplicate struct {
	Row      string
	Name     string
	Repeats  string // "Row 3"; "": a customer
	Customer *ImportCustomer
	By       string // "Phone"
	Value    string
}

// ImportCustomer links to an existing customer.
type ImportCustomer struct{ Name, Path string }

// ImportProblem is an error in a row.
type ImportProblem struct {
	Row    string
	Column string
	Value  string
	Words  string
}

// columnSpan is the colspan of a cell that spans all columns.
func columnSpan(fields []ui.Field) string { return strconv.Itoa(len(fields)) }
