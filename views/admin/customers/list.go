package customers

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// CustomerList is a page of the filtered customers.
type CustomerList struct {
	panel.Frame
	Search  ui.Field
	Status  ui.Field
	Sort    string // kept while filtering; "" for the default
	ByName  ui.Heading
	ByAge   ui.Heading
	Tag     ui.Field
	From    ui.Field
	To      ui.Field
	Problem *ui.Problem
	Rows    []CustomerRow
	Pager   ui.Pager

	Filtered bool
	Searched string // the search text; "": none
	AddPath  string // the form to add a customer, prefilled with Searched
	CanEdit  bool
	Exports  *panel.Exports // nil: not for this role
}

// CustomerRow is a row of the list.
type CustomerRow struct {
	Path      string
	Label     string // the name
	Name      []Marked
	Email     []Marked
	Phone     []Marked
	Points    string
	Stamps    string
	Added     string
	LastVisit string
	Status    *ui.Badge // nil: active
	Tags      []string
	Sell      string // path, in a search; "" for an inactive customer
	Redeem    string // likewise
}

// CustomerForm adds or edits a customer.
type CustomerForm struct {
	panel.Frame
	Action  string
	Began   string
	Button  string
	Cancel  string
	BackTo  string // "till": continue the sale there; "": show the customer
	Inline  bool   // shown in place of the customer's card
	Problem *ui.Problem
	panel.CustomerFields
}
