package sales

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// TypeList is the list of transaction types.
type TypeList struct {
	panel.Frame
	Rows []TypeRow
}

// TypeRow is a line of the list.
type TypeRow struct {
	Path, Name, Rule, Limits string
	Active                   bool
}

// TypeForm creates or edits a transaction type.
type TypeForm struct {
	panel.Frame
	Action           string
	Button           string
	FormKey          string
	Began            string
	Problem          *ui.Problem
	Name             ui.Field
	Unit             ui.Field // points or stamps
	Points, Spend    ui.Field // points for every amount spent
	Stamps           ui.Field
	Minimum, Maximum ui.Field
	Active           *ui.Field   // nil for a new type
	Example          ui.Field    // the amount of the previewed sale
	Earns            panel.Earns // what that sale earns
}
