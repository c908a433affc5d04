// Package auth is the HTML of signing in, for every panel: the sign-in pages, and the account
// page on which people look after their own sign-in. Functions of view models, which web/auth
// builds.
package auth

import "example.com/loyalty/views/ui"

// Frame is what a page has around it while no one is signed in: one card in the middle.
type Frame struct {
	Title   string
	Brand   string // whose panel it is: the business, or the platform
	Icon    string // beside the brand
	Class   string // of the body
	Flashes []ui.Flash
	Theme   string
	Assets  ui.Assets
	SignOut string // where a person signs out who can do nothing else yet; "": no one is signed in
}

// Notice says why there is nothing to see, and leads back.
type Notice struct {
	Icon, Title, Words string
	Back, BackLabel    string // Back "": there is nowhere to go
	Request            string // the id to quote; "" where it helps no one
}

// SignIn asks for an e-mail address and a password.
type SignIn struct {
	Frame
	Action   string
	Problem  *ui.Problem
	Email    ui.Field
	Password ui.Field
	To       string // the page to go to afterwards
	Forgot   string // where a password is reset; "": by the operator
}

// Code asks for an authentication code.
type Code struct {
	Frame
	Action   string
	Problem  *ui.Problem
	Code     ui.Field
	Recovery bool   // a recovery code instead of the app's
	Help     string // for a person without either
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

// NewPassword asks a person with a link for a password: of an invitation, or of a reset.
type NewPassword struct {
	Frame
	Problem  *ui.Problem
	Intro    string
	Email    string // of the person
	Name     *ui.Field
	Password ui.Field
	Button   string

	RevokeTokens *ui.Field // a checkbox; nil: they have no API tokens
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
	Sessions        []SessionRow
}

// TwoFactor is the state of a person's two-step verification.
type TwoFactor struct {
	Path     string // of the account
	On       bool
	Required bool   // it can't be turned off
	Codes    string // how many recovery codes are left
	Few      bool   // too few of them
}

// SessionRow is a browser in which a person is signed in.
type SessionRow struct {
	Browser, Address, Seen, Since string
	Current                       bool
	End                           string // the path that ends it
}

// Setup gives an authenticator app its secret.
type Setup struct {
	Action  string
	Intro   string // why; "" where the person asked for it
	Problem *ui.Problem
	QR      ui.QR
	Secret  string // the same, to be typed
	Code    ui.Field
	Button  string
	Cancel  string // "": it is required
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

// RecoveryCodes are shown this once.
type RecoveryCodes struct {
	Intro string
	Codes string // one a line
	Next  string // where to go when they are saved
}
