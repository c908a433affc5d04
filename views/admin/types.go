package admin

import "example.com/loyalty/views/ui"

// TypeList is the kinds of sales.
type TypeList struct {
	Frame
	Rows []TypeRow
}

// TypeRow is a line of the list.
type TypeRow struct {
	Path, Name, Rule, Limits string
	Active                   bool
	SwitchPath               string
}

// TypeForm makes a kind of sale, or changes one.
type TypeForm struct {
	Frame
	Action  string
	Button  string
	FormKey string
	Began   string
	Problem *ui.Problem
	Name    ui.Field
	Unit    ui.Field // points or stamps
	Points  ui.Field
	Per     ui.Field
	Stamps  ui.Field
	Least   ui.Field
	Most    ui.Field
	Active  *ui.Field // of one that exists
	Example ui.Field  // "What would … earn?"
	Earns   Earns
}
