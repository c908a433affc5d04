package platform

import "example.com/loyalty/views/ui"

// Tokens is a page of a super-admin's API tokens.
type Tokens struct {
	Frame
	Rows  []Token
	Pager ui.Pager
}

// Token is a line of the list.
type Token struct {
	Name     string
	Created  string
	LastUsed string
	Expires  string
	Expired  bool
	Revoke   string // the path that asks
}

// TokenForm creates a token.
type TokenForm struct {
	Frame
	Problem *ui.Problem
	Key     string // makes two clicks one
	Name    ui.Field
	Expires ui.Field
}

// TokenCreated shows the secret of a new token, this once.
type TokenCreated struct {
	Frame
	Name   string
	Secret string
	List   string
}
