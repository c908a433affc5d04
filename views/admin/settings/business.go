package settings

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Business is the settings page with three forms: details, consent and branding.
type Business struct {
	panel.Settings
	Address string // host of its panel and pages

	Problem  *ui.Problem
	Began    string
	Name     ui.Field
	Country  ui.Field
	Phones   []panel.PhoneConflict
	TimeZone ui.Field
	Currency ui.Field
	Ceiling  ui.Field // amount above which sales are confirmed

	JoiningProblem *ui.Problem
	JoiningBegan   string
	Consent        ui.Field
	Privacy        ui.Field // link to the privacy policy

	BrandingProblem *ui.Problem
	BrandingBegan   string
	Colour          ui.Field
	Logo            ui.Field
	LogoPath        string   // "": no logo
	Remove          ui.Field // shown if there is a logo
	Preview         BrandingPreview
}

// BrandingPreview shows parts of pages and of an e-mail in the business's colour.
type BrandingPreview struct {
	Business string
	Colour   string // "" for the product's
	CSS      string // of another colour than the saved one; "" for that
	Samples  []BrandingSample
}

// BrandingSample is the preview in one theme.
type BrandingSample struct {
	Theme    string // light or dark
	Title    string
	Adjusted bool // for contrast
}
