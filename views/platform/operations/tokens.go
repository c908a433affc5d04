package operations

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Tokens is a page of a super-admin's API tokens.
type Tokens struct {
	panel.Frame
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
	Revoke   string // the path of the confirmation
}

// TokenForm creates a token.
type TokenForm struct {
	panel.Frame
	Problem *ui.Problem
	Key     string // the form's key
	Name    ui.Field
	Expires ui.Field
}

// TokenCreated shows the secret of a new token.
type TokenCreated struct {
	panel.Frame
	Name   string
	Secret string
	List   string
}
