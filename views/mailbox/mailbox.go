// Package mailbox is the HTML of the page that shows the mails of an installation
// without a mail server. Web builds the view models; nothing is decided here.
package mailbox

// Frame is what every page has around its content.
type Frame struct {
	Title       string // of the tab
	Stylesheets []string
	Icon        string
	Script      string // "": none
}

// List is a page of mails, newest first.
type List struct {
	Frame
	Mails []Row
	Newer string // links to the pages beside this one; "" where there is none
	Older string
}

// Row is a mail in the list.
type Row struct {
	Link    string
	Subject string
	To      string
	Written Moment
}

// Moment is an instant, to read and for machines.
type Moment struct{ Text, Machine string }

// Mail is one mail.
type Mail struct {
	Frame
	Subject  string
	To       string
	Written  Moment
	HTML     string // the address of its HTML part
	File     string // the address of what is attached; "" for nothing
	FileName string
	Text     []Span
}

// Span is a piece of text, or a link in it.
type Span struct{ Text, Link string }
