// Package auth is the HTML of the sign-in pages and the account page of every panel. web/auth builds the
// view models.
package auth

import (
	"github.com/a-h/templ"

	"example.com/loyalty/views/ui"
)

// Frame is the frame of a page for people who aren't signed in: a card in the middle.
type Frame struct {
	Title   string
	Brand   string // the name of the business or of the platform
	Icon    string // beside the brand
	Class   string // of the body
	Flashes []ui.Flash
	Theme   string
	Assets  ui.Assets
	SignOut string // the action, during a required setup; else ""
}

// Notice is an error page.
type Notice struct {
	Icon, Title, Words string
	Back, BackLabel    string // Back: "" for no link
	Request            string // the id to quote; "" for none
}

// SignIn asks for an e-mail address and a password.
type SignIn struct {
	Frame
	Action   string
	Problem  *ui.Problem
	Email    ui.Field
	Password ui.Field
	To       string // the page to go to afterwards
	Forgot   string // the page to reset a password; "" if the operator resets it
}

// Code asks for an authentication code.
type Code struct {
	Frame
	Action   string
	Problem  *ui.Problem
	Code     ui.Field
	Recovery bool   // a recovery code instead of the app's
	Help     string // for people without either
	To       string
}

// Forgot asks for the address to send a link to.
type Forgot struct {
	Frame
	Action  string
	SignIn  string
	Problem *ui.Problem
	Email   ui.Field
}

// NewPassword asks for a new password, after the link of an invitation or a reset.
type NewPassword struct {
	Frame
	Problem  *ui.Problem
	Intro    string
	Email    string // of the person
	Name     *ui.Field
	Password ui.Field
	Button   string

	RevokeTokens *ui.Field // a checkbox; nil without API tokens
}

// Account is a person's own account.
type Account struct {
	Path            string
	Email           string
	NameProblem     *ui.Problem
	Name            ui.Field
	PasswordProblem *ui.Problem
	Current         ui.Field
	Password        ui.Field
	TwoFactor       TwoFactor
	Card            templ.Component // of the panel; nil: none
	Sessions        []SessionRow
}

// TwoFactor is the state of a person's two-step verification.
type TwoFactor struct {
	Path     string // of the account
	On       bool
	Required bool   // it can't be turned off
	Codes    string // "8 recovery codes"
	Few      bool   // few are left
}

// SessionRow is a browser in which a person is signed in.
type SessionRow struct {
	Browser, Address, Seen, Since string
	Current                       bool
	End                           string // the path that ends it
}

// Setup shows the secret for an authenticator app.
type Setup struct {
	Action  string
	Intro   string // why it is required; else ""
	Problem *ui.Problem
	QR      ui.QR
	Secret  string // the same, to be typed
	Code    ui.Field
	Button  string
	Cancel  string // "" if it is required
}

// Confirmation asks once more for the password or an authentication code.
type Confirmation struct {
	Action  string
	Words   string // what will happen
	Problem *ui.Problem
	Field   ui.Field
	Button  string
	Danger  bool
	Cancel  string
}

// RecoveryCodes are new recovery codes.
type RecoveryCodes struct {
	Intro string
	Codes string // one a line
	Next  string // the page to open next
}
