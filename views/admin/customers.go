package admin

import "example.com/loyalty/views/ui"

// CustomerList is a page of the customers that pass the filter.
type CustomerList struct {
	Frame
	Search  ui.Field
	Status  ui.Field
	Sort    ui.Field
	From    ui.Field
	To      ui.Field
	Problem *ui.Problem
	Rows    []CustomerRow
	Pager   ui.Pager

	Filtered bool   // some are left out
	Wanted   string // who was searched for; "" where nobody was
	AddPath  string // the form of a customer to be, which begins with that
	CanEdit  bool
	CSV      string // addresses of the same list as files
	XLSX     string
	Fragment bool // the page's part alone: its way to the files goes along
}

// CustomerRow is a line of the list.
type CustomerRow struct {
	Path      string
	Name      string
	Email     string
	Phone     string
	Points    string
	Stamps    string
	LastVisit string
	Status    *ui.Badge // nil: active, which needs no word
}

// CustomerForm makes a customer, or changes one.
type CustomerForm struct {
	Frame
	Action  string
	Began   string
	Button  string
	Cancel  string
	BackTo  string // where the new customer is wanted: "till"; "" for their page
	Inline  bool   // stands in the place of the customer's card
	Problem *ui.Problem
	First   ui.Field
	Last    ui.Field
	Phone   ui.Field
	Email   ui.Field
}
