package admin

import "example.com/loyalty/views/ui"

// LocationList is the branches of a business, with a form for one more.
type LocationList struct {
	Frame
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
	Rename *ui.Field // it is being renamed
	Done   string    // what was changed just now
}
