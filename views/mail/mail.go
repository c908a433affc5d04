// Package mail is the HTML of mails. Its surprising rule: styles are written on the
// elements, since many mail programs drop everything else; the style sheet in
// the head only adds the dark colours, for those that keep it.
package mail

// Frame is what every mail has around its content.
type Frame struct {
	Subject string
	Preview string // the line that an inbox shows beside the subject
	Service string // host name of the service that sends
	To      string // address of the recipient
	Reason  string // why they get it
}

// Warning tells somebody of what was done in their name, in case it was not them.
type Warning struct {
	Frame
	Greeting string
	Intro    string
	Facts    []Fact
	Groups   []Group // where there are several of a kind
	More     string  // that there are others besides the groups; "" for none
	Fine     string  // what to do if all is well
	Alarm    string  // the heading of what to do if not
	Steps    []string
}

// Notice tells somebody what there is for them to do, and where.
type Notice struct {
	Frame
	Greeting string
	Intro    string
	Facts    []Fact
	Action   string // what to do
	Address  string // where
	Fine     string
}

// Group is one of several things, and its facts.
type Group struct {
	Title string
	Facts []Fact
}

// Fact is a line of a small list.
type Fact struct{ Name, Value string }

// Voucher brings a customer their voucher, in the name and the colour of its business.
type Voucher struct {
	Subject  string
	Preview  string // the line that an inbox shows beside the subject
	Business string
	Fill     string // the business's colour
	OnFill   string // black or white, whichever is readable on it
	Logo     bool   // it has one, in the picture LogoName

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

// The pictures inside a voucher's mail.
const (
	QRName   = "qr.png"
	LogoName = "logo.png"
)

// Card brings a customer the link to their card, in the name of its business.
type Card struct {
	Subject  string
	Preview  string // the line that an inbox shows beside the subject
	Business string
	Fill     string // of the head
	OnFill   string // black or white, whichever is readable on it

	Greeting string
	Intro    string
	URL      string // of the card
	Fine     string
	Reason   string // why they get it
}
