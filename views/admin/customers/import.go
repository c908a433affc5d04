package customers

import (
	"strconv"

	"example.com/loyalty/core/importing"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

var importSteps = []string{"File", "Columns", "Check", "Import"}

// FieldNames are the names of the fields that a column of a file can have.
var FieldNames = map[importing.Field]string{
	importing.FirstNameField: "First name", importing.LastNameField: "Last name", importing.FullNameField: "Full name",
	importing.PhoneField: "Phone", importing.EmailField: "E-mail", importing.CreatedAtField: "Customer since",
	importing.PointsField: "Points", importing.StampsField: "Stamps", importing.ExternalIDField: "External ID",
	importing.BirthdayField: "Birthday", importing.LevelField: "Level", importing.ExpiresOnField: "Expires on",
}

func customerCount(n int64) string { return format.Count(n, "customer", "customers") }

func rowCount(n int64) string { return format.Count(n, "row", "rows") }

var importStatuses = map[importing.Status]ui.Badge{
	importing.Uploaded:  {Label: "Uploaded", Tone: ui.Neutral},
	importing.Checking:  {Label: "Checking", Tone: ui.Info},
	importing.Checked:   {Label: "Checked", Tone: ui.Notice},
	importing.Running:   {Label: "Importing", Tone: ui.Info},
	importing.Done:      {Label: "Imported", Tone: ui.Good},
	importing.Cancelled: {Label: "Cancelled", Tone: ui.Neutral},
}

func importStatus(i importing.Import) ui.Badge {
	if i.HeldAt != nil {
		return ui.Badge{Label: "On hold", Tone: ui.Notice}
	}
	return importStatuses[i.Status]
}

// importOutcome sums an import up: "40 customers added".
func importOutcome(i importing.Import) string {
	switch i.Status {
	case importing.Checked:
		return customerCount(i.Created) + " to add"
	case importing.Done, importing.Cancelled, importing.Running:
		return customerCount(i.Created) + " added"
	case importing.Uploaded, importing.Checking:
	}
	return rowCount(i.Rows)
}

// importProgress says how far a check or an import is: "12,000 of 100,000 rows".
func importProgress(i importing.Import) string {
	words := format.Number(i.Done) + " of " + rowCount(i.Rows)
	if i.Status == importing.Running {
		words += ", " + customerCount(i.Created) + " added"
	}
	return words
}

// fileSize writes a number of bytes: 340 kB, 1.2 MB.
func fileSize(n int64) string {
	if n < 1<<20 {
		return format.Number(max(n>>10, 1)) + " kB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MB"
}

// dateFormats are examples of the dates that are read.
func dateFormats(order importing.DateOrder) string {
	if order == importing.MonthFirst {
		return "2026-11-21 or 11/21/2026"
	}
	return "2026-11-21, 21.11.2026 or 21/11/2026"
}
