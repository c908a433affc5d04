package admin

import "example.com/loyalty/views/ui"

// TokenList is a page of a person's API tokens.
type TokenList struct {
	Settings
	Rows  []TokenRow
	Pager ui.Pager
}

// TokenRow is a line of the list.
type TokenRow struct {
	Name     string
	Scopes   string // in words
	Created  string
	LastUsed string
	Expires  string // "" for never
	Expired  bool
	Revoke   string // the path that asks
}

// TokenForm makes a token.
type TokenForm struct {
	Settings
	Problem *ui.Problem
	Key     string // makes two clicks one
	Name    ui.Field
	Scopes  ui.Field
	LastDay ui.Field
}

// TokenMade shows the secret of a new token, this once.
type TokenMade struct {
	Settings
	Name   string
	Secret string
	Curl   string // a request that it may make
	Does   string // what comes back: "the newest customers"
}
