// Package sales is the HTML of the pages about sales and transaction types.
package sales

import (
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// TransactionList is a page of the sales that match the filters.
type TransactionList struct {
	panel.Frame
	Filter     ui.Form
	Filtered   bool
	OfCustomer bool // the sales of one customer
	OfRecorder bool // the sales that one person or token recorded
	Found      transaction.Found
	Sort       core.Sort
	Date       ui.Heading
	Pager      ui.Pager
	Exports    *panel.Exports

	// Choices of the filters, which a fragment doesn't need.
	Types  []transaction.Type
	Places []location.Location
}

// days are the filters for a range of days. Their labels are shorter where they are shown than in a message about them.
func (v TransactionList) days() (from, to ui.Field) {
	from, to = v.Filter.Field("from", ui.Field{Label: "From"}), v.Filter.Field("to", ui.Field{Label: "To"})
	from.Label, to.Label = "Date", "to"
	return from, to
}

// located reports whether a sale on the page has a location.
func (v TransactionList) located() bool {
	return slices.ContainsFunc(v.Found.Items, func(s transaction.Named) bool { return s.LocationID != nil })
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
	Form    ui.Form
	FormKey string
	Chosen  customer.Customer
	Types   []transaction.Type  // active ones
	Places  []location.Location // open ones
}

// TransactionConfirm asks for confirmation of a large sale.
type TransactionConfirm struct {
	panel.Frame
	Chosen customer.Customer
	Type   transaction.Type
	Spend  int64
	Award  int64
	Sent   []ui.Pair // the submitted form
}

// Fields of the confirmation's buttons: the confirmed amount, and the wish to change it.
const (
	ConfirmedAmount = "confirmed"
	CorrectAmount   = "correct"
)
