package admin

import "example.com/loyalty/views/ui"

// Business is the settings of the business.
type Business struct {
	Settings
	Address string // where its panel and pages are; never changes

	Problem  *ui.Problem
	Began    string
	Name     ui.Field
	Country  ui.Field
	TimeZone ui.Field
	Currency ui.Field
	Ceiling  ui.Field // above which a sale is confirmed

	JoiningProblem *ui.Problem
	JoiningBegan   string
	Consent        ui.Field
	Privacy        ui.Field // where the business says how it uses customers' data

	LookProblem *ui.Problem
	LookBegan   string
	Colour      ui.Field
	Logo        ui.Field
	LogoPath    string   // of the picture; "" for none
	Remove      ui.Field // where there is one
}
