package admin

import "example.com/loyalty/views/ui"

// Dashboard shows the business's figures for a period.
type Dashboard struct {
	Frame
	Periods     []Choice
	Period      string // the selected one
	Days        string // its dates
	Compared    string // with which dates its figures are compared
	Figures     []ui.Figure
	Chart       ui.Chart
	Activity    Activity
	Top         []TopCustomer
	TopPath     string // the full report
	Outstanding []Amount
	NoReward    bool         // there are no rewards yet
	Setup       *SetupBanner // nil: setup is finished
}

// Choice is a link to a variant of the page.
type Choice struct {
	Label, Path string
	Note        string // below the label
	Current     bool
}

// Amount is a number with its unit: "1,240", "points".
type Amount struct{ Number, Unit string }

// Activity lists the latest events. It refreshes itself.
type Activity struct {
	Path string // polled for new events
	Rows []ActivityRow
}

// ActivityRow is an event.
type ActivityRow struct {
	ID       string // of the link, which keeps the focus when the list is replaced
	Path     string // the customer's page
	Customer string
	Words    string
	Ago      string
	At       string // RFC 3339
	Time     string // date and time
	Tone     ui.Tone
}

// TopCustomer is a row of the ranking.
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

	SalesAndPoints string // shown instead of the columns on phones
}

// FirstSteps is shown to a new business instead of empty charts.
type FirstSteps struct {
	Frame
	Setup *SetupBanner // nil: show the steps
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
	Next   bool // the first one that isn't done
}
