// Package mail is the HTML of e-mails. Its surprising rule: styles are written on the
// elements, since many mail programs drop everything else; the style sheet in
// the head only adds the dark colours, for programs that keep it.
package mail

// Notice tells people who sign in about something that happened: what to do and where
// (Action, Address), or what to do if they didn't expect it (Alarm, Steps).
type Notice struct {
	Subject  string
	Preview  string // shown beside the subject in an inbox
	Service  string // host name of the service that sends
	To       string // address of the recipient
	Reason   string // why they get it
	Greeting string
	Intro    string
	Facts    []Fact
	Groups   []Group // if it is about several things of a kind
	More     string  // says how many things have no group; "" if all have one
	Action   string  // the button; "" without one
	Address  string  // of the button
	Fine     string  // what to do if nothing is wrong
	Alarm    string  // the heading of Steps
	Steps    []string
}

// Group is one of several things, and its facts.
type Group struct {
	Title string
	Facts []Fact
}

// Fact is a line of a small list.
type Fact struct{ Name, Value string }

// Business is the head of an e-mail that a business sends to a customer.
type Business struct {
	Name   string
	Fill   string // its colour
	OnFill string // black or white, whichever is readable on Fill
	Edge   string // of its border

	Button   string // of buttons, on white
	OnButton string // of text on them
	Mark     string // of lines, on white

	LogoWidth   int  // of the picture LogoName, in pixels on the screen; 0: no logo
	LogoHasName bool // so the name is not repeated
}

// Voucher brings a customer their voucher.
type Voucher struct {
	Business
	Subject     string
	Preview     string // shown beside the subject in an inbox
	Sample      string // says that this is a sample; "" for a customer's own
	Greeting    string
	Message     [][]string // paragraphs of lines
	Worth       string     // "€ 5.00"
	What        string     // "off your order"
	Until       string     // the last day; "" for never
	Code        string
	URL         string // of the voucher
	QRSide      int    // of the picture QRName, in pixels on the screen
	Unsubscribe string // the URL
}

// The pictures inside a voucher's e-mail.
const (
	QRName   = "qr.png"
	LogoName = "logo.png"
)

// LogoHeight is the height of a logo, in pixels on the screen.
const LogoHeight = 40

// Card brings a customer the link to their card.
type Card struct {
	Business
	Subject  string
	Greeting string
	Intro    string
	URL      string // of the card
	Fine     string
	Reason   string // why they get it
}

// Weekly tells owners and managers about last week.
type Weekly struct {
	Subject     string
	Preview     string // shown beside the subject in an inbox
	Business    string
	Greeting    string
	Intro       string
	Week        string // "16–22 Nov"
	Figures     []WeeklyFigure
	Items       []WeeklyItem // what needs attention
	More        string       // says how many items are left out; "" for none
	Action      string
	Address     string // of the button
	Reason      string // why they get it
	Unsubscribe string // the URL
}

// WeeklyFigure is a figure of last week and of the week before.
type WeeklyFigure struct{ Name, Week, Before string }

// WeeklyItem needs attention.
type WeeklyItem struct{ Title, URL string }
