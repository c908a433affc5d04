package platform

import "example.com/loyalty/views/ui"

// Jobs is the page of the job queue.
type Jobs struct {
	Frame
	Refused string // what could not be done, and why
	Queues  []Queue
	States  []Choice
	Lanes   []Choice
	Rows    []Job
	Pager   ui.Pager
	Clear   string // leads to the list without a filter; "" where none is set
}

// Queue is the summary of a queue.
type Queue struct {
	Label, Path string
	Current     bool // the list shows this one alone
	Queued      Figure
	Running     Figure
	Failed      Figure
	Pause       string // where the form is sent to; "" where it is paused
	Resume      string
	PausedBy    string // who paused it; "" for nobody
	Oldest      string // how long the oldest job has been due
	Late        bool   // which is too long
}

// Figure is a number that leads to the jobs it counts.
type Figure struct{ Text, Path string }

// Job is a line of the list.
type Job struct {
	ID       string
	Kind     string
	Queue    string
	Tenant   string // "" is the platform
	Status   ui.Badge
	Attempts string
	Moment   Moment // what happened or will happen last
	Created  Moment
	Error    string // in short
	Rest     string // all of it, where Error is not; else ""
	Retry    string // where the form is sent to; "" where that is not possible
	Cancel   string
}
