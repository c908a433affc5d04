// Package reports is the HTML of the dashboard and the reports.
package reports

import (
	"github.com/a-h/templ"

	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Dashboard shows the business's figures for a period.
type Dashboard struct {
	panel.Frame
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
	CostNote    string          // says what the costs are
	NoCosts     bool            // no reward has a cost
	NoReward    bool            // there are no rewards yet
	Setup       templ.Component // leads back to the setup guide; nil: it is finished
}

// Choice is a link to a variant of the page.
type Choice struct {
	Label, Path string
	Note        string // below the label
	Current     bool
}

// Amount is a number with its unit: "1,240", "points".
type Amount struct{ Number, Unit, Cost string }

// Activity lists the latest events by day. It refreshes itself.
type Activity struct {
	Path string // polled for new events
	Days []ActivityDay
}

// ActivityDay is the latest events of a day.
type ActivityDay struct {
	Label string // "Today, 21 Nov"
	Total string // "14 sales · € 162.40"; "" if it isn't counted
	Rows  []ActivityRow
}

// ActivityRow is an event, or several sales in one.
type ActivityRow struct {
	ID    string // of the link, which keeps the focus when the list is replaced
	Path  string // the customer's page, or the list of the sales
	Name  string
	Icon  string
	Words string
	Moved string   // the change of the balance
	Tone  ui.Trend // of the change
	At    string   // RFC 3339; "" for several sales
	Clock string
	Time  string // date and time
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

	LastVisit string // its day

	SalesAndPoints string // shown instead of the columns on phones
}
