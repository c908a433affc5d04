// Package setup is the HTML of the setup guide.
package setup

import (
	"strconv"

	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Setup is the frame of a page of the guide.
type Setup struct {
	panel.Frame
	Steps          []SetupStep
	Step           string // its name; "" at the end
	Number         int    // of the step; 0 at the end
	Done           int    // steps that are done
	Heading, Intro string
	Problem        *ui.Problem
	FormKey        string
	Began          string
	Action         string
	BackPath       string // "" on the first step
	NextPath       string
	CanSkip        bool
	Links          []SetupLink
}

// where is "Step 2 of 5".
func (v Setup) where() string {
	return "Step " + strconv.Itoa(v.Number) + " of " + strconv.Itoa(len(v.Steps))
}

// SetupStep is a step in the list beside the page.
type SetupStep struct {
	Number, Label, About, Path string
	Current, Done, Skipped     bool
}

func (s SetupStep) state() string {
	switch {
	case s.Done:
		return "done"
	case s.Skipped:
		return "skipped"
	}
	return "to do"
}

// SetupLink leads on from the guide.
type SetupLink struct{ Path, Icon, Label, About string }

// SetupExample shows what the values on the form lead to.
type SetupExample struct {
	Title  string
	Rows   []ui.Pair
	Earned bool // the rows are awards
	Figure string
	Note   string
	Pieces int // sales to draw one by one; 0: none
}

// SetupBusiness is the step of country, currency and time zone.
type SetupBusiness struct {
	Setup
	Country, Currency, TimeZone ui.Field
	Phones                      []panel.PhoneConflict
	Example                     SetupExample
}

// SetupRule is the step of the earning rule.
type SetupRule struct {
	Setup
	Unit, Points, Per ui.Field
	Note              string
	Example           SetupExample
}

// SetupReward is the step of the first reward.
type SetupReward struct {
	Setup
	Name, Cost ui.Field
	UnitCost   ui.Field  // what a reward costs the business
	Usual      *ui.Field // amount of a typical sale; nil for stamps
	Example    SetupExample
}

// SetupPerson is a customer in the guide.
type SetupPerson struct{ Name, Phone, Path string }

// SetupCustomer is the step of the first customer.
type SetupCustomer struct {
	Setup
	panel.CustomerFields
	Missing     []SetupLink  // the step that a customer needs first
	Customer    *SetupPerson // nil: there is none yet
	JoinAddress string
}

// SetupSale is the step of the first sale.
type SetupSale struct {
	Setup
	Missing      []SetupLink // steps that a sale needs first
	Customer     *SetupPerson
	Spend        ui.Field
	Example      SetupExample
	CurrencyNote string
	Recorded     *SetupRecorded // nil: there is none yet
}

// SetupRecorded is the first sale.
type SetupRecorded struct {
	Customer, Spend, Award, Balance string
	Path, CustomerPath              string
}

// SetupBanner leads back to the guide.
type SetupBanner struct {
	Where string // "step 3 of 5"
	Label string // of that step
	Path  string
	Steps []Step
}

// FirstSteps is shown to a new business instead of empty charts.
type FirstSteps struct {
	panel.Frame
	Setup *SetupBanner // nil: the guide is finished or dismissed, or not for this role
	Steps []Step       // those of the guide, or the first three
	Links []SetupLink  // what comes after them
}

// Step is one of the first things to do.
type Step struct {
	Number string
	Title  string
	Words  string
	Path   string
	Button string // "": the title is the link
	Done   bool
	Next   bool // the first one that isn't done
}
