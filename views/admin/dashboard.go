package admin

import "example.com/loyalty/views/ui"

// Dashboard is how the business is doing.
type Dashboard struct {
	Frame
	Periods     []Choice
	Period      string // the chosen one
	Days        string // its dates
	Figures     []ui.Figure
	Chart       ui.Chart
	Activity    Activity
	Top         []TopCustomer
	TopPath     string // of the whole report
	Outstanding []Amount
	NoReward    bool         // customers have nothing to spend points on
	Setup       *SetupBanner // nil: nothing is left to set up
}

// Choice is one of several addresses of the same page.
type Choice struct {
	Label, Path string
	Current     bool
}

// Amount is a number with its unit: "1,240", "points".
type Amount struct{ Number, Unit string }

// Activity is what happened lately. It looks again by itself.
type Activity struct {
	Path string // where to ask whether there is more
	Rows []ActivityRow
}

// ActivityRow is one thing that happened.
type ActivityRow struct {
	ID       string // of the link: what has the focus keeps it when the list is new
	Path     string // of the customer
	Customer string
	Words    string
	Ago      string
	At       string // for machines
	Time     string // in full
	Tone     ui.Tone
}

// TopCustomer is a line of the ranking.
type TopCustomer struct {
	Rank   string
	Path   string
	Name   string
	Email  string
	Phone  string
	Sales  string
	Spend  string
	Points string
	Bar    ui.Bar

	SalesAndPoints string // where a phone has no room for their columns
}

// FirstSteps is what a new business sees instead of empty charts.
type FirstSteps struct {
	Frame
	Setup *SetupBanner // nil: nothing is left to set up
	Steps []Step
}

// Step is one of the first things to do.
type Step struct {
	Number string
	Title  string
	Words  string
	Path   string
	Button string
	Done   bool
	Next   bool // the first that is not done
}
