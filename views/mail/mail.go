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
	Fine     string // what to do if all is well
	Alarm    string // the heading of what to do if not
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

// Fact is a line of a small list.
type Fact struct{ Name, Value string }
