package operations

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Health is the page with the state of the installation.
type Health struct {
	panel.Frame
	Alarms []Alarm
	Cards  []HealthCard
	Run    Run
}

// Alarm is a message about something that needs attention.
type Alarm struct {
	Text string
	Bad  bool // an error, not a warning
}

// warnings are shown together; errors have a bar each.
func (v Health) warnings() (list []Alarm) {
	for _, a := range v.Alarms {
		if !a.Bad {
			list = append(list, a)
		}
	}
	return list
}

// HealthCard is a part of the installation.
type HealthCard struct {
	Title   string
	Path    string // its own page; "" for none
	Facts   []ui.Pair
	Unknown string // why the state is unknown; else ""
}

// Run is the last run of the check of all records.
type Run struct {
	Status  ui.Badge
	When    *panel.Moment // nil: it has never run
	By      string        // the person who asked for it; "" for the nightly run
	Error   string
	Unknown string
	Checks  []Check
	Ask     string // the action of "Run check now"; "" while one runs
}

// Check is an invariant and its result.
type Check struct {
	Claim, Counted string
	Wrong          string // "" if it holds
	Examples       []string
}

// AuditLog is the audit log of all tenants and of the platform.
type AuditLog struct {
	panel.Frame
	Subject          ui.Field
	Business, Person ui.Field
	From, To         ui.Field
	Hidden           []ui.Pair
	Actor            string // the only actor; "" for all
	Problem          *ui.Problem
	Rows             []ui.Entry
	Pager            ui.Pager
	Filtered         bool
}

// Deprecations is the page with the deprecated API requests.
type Deprecations struct {
	panel.Frame
	Rows []Deprecation
}

// Deprecation is a deprecated request.
type Deprecation struct {
	Method, Path, Link string
	Sunset, Announced  panel.Moment
	Ended              bool
	Notified           string // number of businesses e-mailed
}

// DeprecationForm is the form that announces a deprecation.
type DeprecationForm struct {
	panel.Frame
	Key                   string
	Problem               *ui.Problem
	Request, Sunset, Link ui.Field
}
