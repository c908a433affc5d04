package people

import (
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// StaffList lists the people of the business, and what each role may do.
type StaffList struct {
	panel.Settings
	People []staff.Member
}

// Invitation is the form that invites a person.
type Invitation struct {
	panel.Settings
	Form    ui.Form
	FormKey string
}

// StaffDetail is a person's page.
type StaffDetail struct {
	panel.Settings
	Person staff.Member
	Form   ui.Form
	Tokens []token.Token // live ones
	API    API
}
