package people

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// TokenList is a page of the person's own API tokens.
type TokenList struct {
	panel.Settings
	Rows  []TokenRow
	Pager ui.Pager
	Guide string // the quick start
}

// TokenRow is a row of a list of tokens.
type TokenRow struct {
	Name      string
	Abilities string // "View customers · View reports"
	Created   string
	LastUsed  string
	Expires   string
	Expired   bool
	Revoke    string // path of the confirmation
}

// TokenForm is the form that creates a token.
type TokenForm struct {
	panel.Settings
	Problem   *ui.Problem
	Key       string // form key: sent twice, it runs once
	Name      ui.Field
	Abilities ui.Field
	Expires   ui.Field
}

// TokenCreated shows the secret of a new token.
type TokenCreated struct {
	panel.Settings
	Name    string
	Secret  string
	Curl    string // an example request
	Returns string // "the newest customers"
	Guide   string // the quick start
}
