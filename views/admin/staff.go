package admin

import "example.com/loyalty/views/ui"

// StaffList is the people of the business.
type StaffList struct {
	Settings
	Rows []StaffRow
}

// StaffRow is a line of the list.
type StaffRow struct {
	Path, Name, Email, Role string
	You                     bool
	Status                  ui.Badge
	TwoFactor               bool
	Tokens                  string // how many live API tokens they have
}

// Invitation invites somebody.
type Invitation struct {
	Settings
	Problem *ui.Problem
	Key     string // makes two clicks one
	Email   ui.Field
	Name    ui.Field
	Role    ui.Field
}

// StaffDetail is one person, and what an owner can do about them. A path that is ""
// leads nowhere: there is nothing to do.
type StaffDetail struct {
	Settings
	Facts   []ui.Pair
	Status  ui.Badge
	Problem *ui.Problem
	Action  string // of the form
	Role    ui.Field
	You     bool
	Tokens  []TokenRow // their live API tokens

	InviteAgain    string
	ResetTwoFactor string
	Deactivate     string
	Activate       string
	RevokeAll      string // the tokens
}
