// Package sales is the HTML of the pages about sales and transaction types.
package sales

import (
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// TransactionList is a page of the sales that match the filters.
type TransactionList struct {
	panel.Frame
	Status   ui.Field
	Type     ui.Field
	Source   ui.Field
	Location *ui.Field // nil: the business has no locations
	From, To ui.Field
	Date     ui.Heading
	Search   ui.Field
	Notes    []string // where the search left sales out
	Customer string   // name of the filtered customer; "" for all
	Problem  *ui.Problem
	Hidden   []ui.Pair
	List     []transaction.Named
	Pager    ui.Pager
	Filtered bool
	Located  bool // a sale on the page has a location
	Exports  *panel.Exports
}

// TransactionDetail is the page of a sale.
type TransactionDetail struct {
	panel.Frame
	Sale transaction.Detail
	Used []walkin.Used
}

// TransactionForm records a sale.
type TransactionForm struct {
	panel.Frame
	FormKey  string
	Problem  *ui.Problem
	Chosen   customer.Customer // the customer
	Type     ui.Field
	Spend    ui.Field
	Receipt  ui.Field
	Location *ui.Field
	Earns    panel.Earns
	NoTypes  bool // there is no active transaction type
	CanAdd   bool // the role may create types
}

// TransactionConfirm asks for confirmation of a large sale.
type TransactionConfirm struct {
	panel.Frame
	Chosen  customer.Customer // the customer
	Spend   string
	Award   string
	Type    string
	Ceiling string    // sales above it need confirmation
	Hidden  []ui.Pair // the submitted form
	Confirm ui.Pair   // the field that confirms exactly this amount
	Correct string    // name of the button back to the form
}
