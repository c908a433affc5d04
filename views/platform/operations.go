package platform

import "example.com/loyalty/views/ui"

// Health is the page of how the installation is.
type Health struct {
	Frame
	Alarms []Alarm
	Cards  []HealthCard
	Run    Run
}

// Alarm is something to look at.
type Alarm struct {
	Text string
	Bad  bool // now; else soon
}

// HealthCard is a part of the installation.
type HealthCard struct {
	Title   string
	Path    string // its own page; "" for none
	Facts   []ui.Pair
	Unknown string // why nothing is known; "" where something is
}

// Run is the last run of the check of all records.
type Run struct {
	Status  ui.Badge
	When    *Moment // nil: it has never run
	By      string  // "" is nobody: the nightly one
	Error   string
	Unknown string
	Checks  []Check
	Ask     string // where "Run now" is sent to; "" while one runs
}

// Check is a thing that must hold, and whether it does.
type Check struct {
	Claim, Counted string
	Wrong          string // "" where it holds
	Examples       []string
}

// AuditLog is the audit log of all tenants and of the platform.
type AuditLog struct {
	Frame
	Subject          ui.Field
	Business, Person ui.Field
	From, To         ui.Field
	Hidden           []ui.Pair
	Actor            string // the only one whose entries are shown; "" for all
	Problem          *ui.Problem
	Rows             []ui.Entry
	Pager            ui.Pager
	Filtered         bool
}

// Deprecations are the requests of the API that are to end.
type Deprecations struct {
	Frame
	Rows []Deprecation
}

// Deprecation is a request that is to end.
type Deprecation struct {
	Method, Path, Link string
	Sunset, Announced  Moment
	Ended              bool
	Notified           string // how many businesses were e-mailed
}

// DeprecationForm announces one.
type DeprecationForm struct {
	Frame
	Key                   string
	Problem               *ui.Problem
	Request, Sunset, Link ui.Field
}
