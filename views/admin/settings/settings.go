// Package settings is the HTML of the settings of a business.
package settings

import (
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Business is the settings page with its forms.
type Business struct {
	panel.Settings
	Stored                     tenant.Settings
	Palette                    tenant.Palette // of the stored colour
	Host                       string         // of its panel and pages
	Details, Joining, Branding ui.Form

	Countries, Currencies []ui.Option
	TimeZones             []ui.Group
	Phones                []panel.PhoneConflict
}

// LocationList is the list of locations, with a form that adds one.
type LocationList struct {
	panel.Frame
	List    []location.Location
	Form    ui.Form
	FormKey string
	Rename  LocationRename
}

// LocationRename is the form that renames a location, in its line of the list.
type LocationRename struct {
	ID   int64
	Form ui.Form // nil: none is being renamed
}

// Paper is a size of paper.
type Paper string

// The sizes of posters.
const (
	A4 Paper = "A4"
	A5 Paper = "A5"
)

// Poster invites customers to join.
type Poster struct {
	panel.Frame
	Offer   format.Offer
	QR      ui.QR
	Address string // of the page where they join
	Paper   Paper
}

// Billing is a business's plan, usage, invoices and billing details.
type Billing struct {
	panel.Settings
	Account  billing.Account
	Uses     []usage.Use
	Invoices []billing.Invoice
	Pager    ui.Pager
	Form     ui.Form // of the details
}

// Programme shows how points and stamps expire.
type Programme struct {
	panel.Settings
	Rules programme.Settings
}

// RuleForm changes how a unit expires.
type RuleForm struct {
	panel.Settings
	Stored programme.Rule
	Form   ui.Form
}

// RulePreview is what a change would do.
type RulePreview struct {
	panel.Settings
	programme.Preview
	Sent []ui.Pair // the form
}
