package panel

// TransactionRow is a line of the list.
type TransactionRow struct {
	Path         string
	When         string
	Customer     string
	CustomerPath string
	Type         string
	Location     string
	Spend        string
	Award        string // "+12 points"
	Where        string // "Till, Maja Sund"
	Voided       bool
	VoidPath     string // "" if it can't be voided
}

// LedgerEntry is a change of a balance.
type LedgerEntry struct{ When, What, Amount, Balance string }

// Earns is what a sale would earn.
type Earns struct {
	Text string // "24 points"; "" while unknown
	Note string
}
