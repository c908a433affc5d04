package customers

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// SearchList is the page of the search without scripts.
type SearchList struct {
	panel.Frame
	Search  ui.Field
	Heading string // why the customers are suggested; "" for results
	Problem *ui.Problem
	Voucher *SearchedVoucher // with the typed code; nil: none
	Rows    []CustomerRow
	Pager   ui.Pager
	Add     string // what was typed, to add a customer by it; "" for suggestions
	AddPath string
}

// SearchResults are the results of the search from every page, in its dialog.
type SearchResults struct {
	Heading   string // "Customers", or why they are suggested
	Count     string // "4 customers"; "" for suggestions
	AllPath   string // lists them; "": all are here
	Customers []SearchedCustomer
	Voucher   *SearchedVoucher // with the typed code; nil: none
	Add       string           // what was typed, to add a customer by it; "" for suggestions
	AddPath   string
}

// SearchedCustomer is a customer in the results.
type SearchedCustomer struct {
	Name, Facts []Marked // "+46 70 112 23 34 · Last visit 2 min ago"
	Label       string   // the name
	Balance     string
	Unit        string
	Status      *ui.Badge // nil: active
	Sell        string    // path; "" for an inactive customer
	Redeem      string    // likewise
	Open        string
}

// SearchedVoucher is the voucher of a code.
type SearchedVoucher struct {
	Code, Words, Path string
	Status            ui.Badge
}

// Marked is a part of a text, marked if it matches the search.
type Marked struct {
	Text   string
	Marked bool
}
