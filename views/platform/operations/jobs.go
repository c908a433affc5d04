// Package operations is the HTML of operators' pages.
package operations

import (
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Jobs is the page of the job queue.
type Jobs struct {
	panel.Frame
	Refused string // why a job wasn't changed; else ""
	Queues  []Queue
	States  []panel.Choice
	Lanes   []panel.Choice
	Rows    []Job
	Pager   ui.Pager
	Clear   string // the path of the unfiltered list; "" without filters
}

// Queue is the summary of a queue.
type Queue struct {
	Label, Path string
	Current     bool // the list shows this one alone
	Queued      Figure
	Running     Figure
	Failed      Figure
	Pause       string // the action; "" if it is paused
	Resume      string // the action; "" if it isn't paused
	PausedBy    string // the name of the person; "" if it isn't paused
	Oldest      string // how long the oldest job has been due
	Late        bool   // the oldest has been due for too long
}

// Figure is a number with a link to the jobs it counts.
type Figure struct{ Text, Path string }

// Job is a line of the list.
type Job struct {
	ID      string
	Kind    string
	Queue   string
	Tenant  string // "" for the platform
	Status  ui.Badge
	Attempt string       // "7 of 150"; "" before the first
	Moment  panel.Moment // the last or next event
	Created panel.Moment
	Error   string // shortened
	Rest    string // the whole error if Error is shortened; else ""
	Retry   string // the actions; "" if not possible
	Cancel  string
}
