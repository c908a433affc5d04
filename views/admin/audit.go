package admin

import "example.com/loyalty/views/ui"

// AuditLog is a page of who did what.
type AuditLog struct {
	Frame
	Subject  ui.Field
	Actor    ui.Field
	From, To ui.Field
	Hidden   []ui.Pair
	Record   string // the only one that is shown; "" for all
	Problem  ui.Problem
	Rows     []AuditRow
	Pager    ui.Pager
	Filtered bool
}

// AuditRow is an entry.
type AuditRow struct {
	Icon    string
	Words   []Word // who did what to what
	By      string // what the person is, where it is nobody of the staff
	When    string
	At      string // for machines
	Address string
	Request string
	Changes []AuditChange
	Made    bool // there was nothing before

	Actor      string
	ActorPath  string // everything they did
	RecordPath string // everything about the same record; "" where there is none
}

// Word is a part of a sentence. Some lead somewhere.
type Word struct {
	Text, Path string
	Strong     bool
}

// AuditChange is a value that is another one now.
type AuditChange struct{ Field, Old, New string }
