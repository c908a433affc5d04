package ui

// Entry is a line of the audit log.
type Entry struct {
	Icon    string
	Words   []Word // who did what to what
	By      string // "by API token", "by the platform"; "" for staff
	Tenant  string // the business, on the platform's pages; else ""
	Day     string // "Today, 23 Nov"
	When    string // the time of day
	At      string // for machines
	Address string
	Request string
	Changes []EntryChange
	Made    bool // the record is new: there are no old values

	Actor       string
	ActorPath   string // the entries of the same actor
	RecordPath  string // the entries of the same record; "" for none
	RecordLabel string // of that link; "" for the default
}

// Word is a part of a sentence, with an optional link.
type Word struct {
	Text, Path string
	Strong     bool
}

// EntryChange is a changed field.
type EntryChange struct {
	Field, Old, New        string
	OldPicture, NewPicture string // addresses of pictures to show instead of the texts; "" for none
}
