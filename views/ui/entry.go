package ui

// Entry is a line of the audit log.
type Entry struct {
	Icon    string
	Words   []Word // who did what to what
	By      string // what the person is, where it is nobody of the staff
	Whose   string // the business, where there are several; "" where there is one
	When    string
	At      string // for machines
	Address string
	Request string
	Changes []EntryChange
	Made    bool // there was nothing before

	Actor       string
	ActorPath   string // everything they did
	RecordPath  string // everything about the same record; "" where there is none
	RecordLabel string // what that is called; "": "Everything about this"
}

// Word is a part of a sentence. Some lead somewhere.
type Word struct {
	Text, Path string
	Strong     bool
}

// EntryChange is a value that is another one now.
type EntryChange struct{ Field, Old, New string }
