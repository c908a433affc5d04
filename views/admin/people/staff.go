package people

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// StaffList lists the people of the business, and what each role may do.
type StaffList struct {
	panel.Settings
	Rows  []StaffRow
	Roles []ui.Option
}

// StaffRow is a row of the list.
type StaffRow struct {
	Path, Name, Email, Role string
	You                     bool
	Status                  ui.Badge
	TwoFactor               bool
	Tokens                  string // number of live API tokens
}

// Invitation is the form that invites a person.
type Invitation struct {
	panel.Settings
	Problem *ui.Problem
	Key     string // form key: sent twice, it runs once
	Email   ui.Field
	Name    ui.Field
	Role    ui.Field
}

// StaffDetail is a person's page.
type StaffDetail struct {
	panel.Settings
	Facts     []ui.Pair
	Status    ui.Badge
	Actions   []panel.Action
	Problem   *ui.Problem
	Action    string // of the form
	Role      ui.Field
	You       bool
	Tokens    []TokenRow // live ones
	RevokeAll string     // path, if there are tokens
}
