package admin

import "example.com/loyalty/views/ui"

// SignIn asks for an address and a password.
type SignIn struct {
	Door
	Problem  ui.Problem
	Email    ui.Field
	Password ui.Field
	To       string // the page to go to afterwards
}

// Code asks for the second factor.
type Code struct {
	Door
	Problem  ui.Problem
	Code     ui.Field
	Recovery bool // a recovery code instead of the app's
	To       string
}

// Forgot asks whom to send a link.
type Forgot struct {
	Door
	Problem ui.Problem
	Email   ui.Field
}

// NewPassword asks somebody with a link for a password: of an invitation, or of a reset.
type NewPassword struct {
	Door
	Problem  ui.Problem
	Intro    string
	Email    string // whose it is
	Name     *ui.Field
	Password ui.Field
	Button   string

	RevokeTokens *ui.Field // a checkbox; nil: they have no API tokens
}
