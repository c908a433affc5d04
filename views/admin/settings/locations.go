package settings

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// LocationList is the list of locations, with a form that adds one.
type LocationList struct {
	panel.Frame
	Rows    []LocationRow
	Add     ui.Field
	FormKey string
	Problem *ui.Problem
}

// LocationRow is a line of the list.
type LocationRow struct {
	ID     string
	Path   string
	Name   string
	Open   bool
	Sales  string    // the path of its sales
	Rename *ui.Field // the form in place of the name; nil: not being renamed
	Done   string    // the change that was just made
}
