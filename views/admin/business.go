package admin

import "example.com/loyalty/views/ui"

// PhoneConflict is why the country can't be changed: customers who would have the same phone number, or one
// whose number can't be read.
type PhoneConflict struct {
	Customers []PhoneCustomer
	Merge     string // path to merge the two; "" for one
}

// PhoneCustomer is a customer with their phone number.
type PhoneCustomer struct{ Name, Phone, Path string }

// Business is the settings page with three forms: details, consent and branding.
type Business struct {
	Settings
	Address string // host of its panel and pages

	Problem  *ui.Problem
	Began    string
	Name     ui.Field
	Country  ui.Field
	Phones   []PhoneConflict
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
