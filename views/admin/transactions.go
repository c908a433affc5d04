package admin

import "example.com/loyalty/views/ui"

// TransactionList is a page of the sales that pass the filter.
type TransactionList struct {
	Frame
	Status   ui.Field
	Type     ui.Field
	Source   ui.Field
	Location *ui.Field // nil: the business has none
	From, To ui.Field
	Receipt  ui.Field
	Customer string // name of the only customer that is shown; "" for all
	Problem  *ui.Problem
	Hidden   []ui.Pair
	Rows     []TransactionRow
	Pager    ui.Pager
	Filtered bool
}

// TransactionRow is a line of the list.
type TransactionRow struct {
	Path         string
	When         string
	Customer     string
	CustomerPath string
	Type         string
	Spend        string
	Award        string // "+12 points"
	Where        string // "Till, by Maja Sund"
	Voided       bool
	VoidPath     string // "" where it may not be voided
}

// TransactionDetail is all there is to know of a sale.
type TransactionDetail struct {
	Frame
	Customer     string
	CustomerPath string
	Spend        string
	Award        string
	Voided       bool
	VoidPath     string
	Facts        []ui.Pair
	Entries      []LedgerEntry
}

// LedgerEntry is a change of a balance.
type LedgerEntry struct{ When, What, Amount, Balance string }

// TransactionForm records a sale.
type TransactionForm struct {
	Frame
	FormKey  string
	Problem  *ui.Problem
	Chosen   Found // whose sale it is
	Type     ui.Field
	Spend    ui.Field
	Receipt  ui.Field
	Location *ui.Field
	Earns    Earns
	NoTypes  bool // there is nothing yet that earns
	CanAdd   bool // types
}

// TransactionConfirm asks once more before a large sale is recorded.
type TransactionConfirm struct {
	Frame
	Chosen  Found // the customer
	Spend   string
	Award   string
	Type    string
	Ceiling string    // what a sale may be without this question
	Hidden  []ui.Pair // the form as it was sent
	Confirm ui.Pair   // what confirms that amount, and no other
	Correct string    // the name of the button that leads back to the form
}

// Earns says what a sale would earn.
type Earns struct {
	Text string // "24 points"; "" where it cannot be said yet
	Note string
}
