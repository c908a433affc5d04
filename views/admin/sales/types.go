package sales

import (
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// TypeList is the list of transaction types.
type TypeList struct {
	panel.Frame
	Types []transaction.Type
}

// TypeForm creates or edits a transaction type.
type TypeForm struct {
	panel.Frame
	Form     ui.Form
	Original string // the values before they are edited
	FormKey  string
	Old      *transaction.Type // nil: a new one
	Earns    format.Award      // of the example
}
