// Package mail writes e-mails as text and as HTML. An e-mail is a list of blocks, each of which has both forms, so its
// words are written once, in web/email.
//
// Its surprising rule: styles are written on the elements, since many mail programs drop everything else; the style
// sheet in the head only adds the dark colours, for programs that keep it.
package mail

import (
	"strings"

	"github.com/a-h/templ"
)

// Email is an e-mail to be written.
type Email struct {
	Subject  string
	Preview  string    // shown beside the subject in an inbox
	Brand    string    // above the sheet of an e-mail to people who sign in
	Business *Business // the sender of an e-mail to customers; nil: the installation
	Blocks   []Block
	Footer   Footer
}

// Block is a part of an e-mail.
type Block interface {
	html(sender *Business) templ.Component
	plain(t *text)
}

// Business is a business that sends an e-mail to a customer.
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

// The pictures inside a voucher's e-mail.
const (
	QRName   = "qr.png"
	LogoName = "logo.png"
)

// LogoHeight is the height of a logo, in pixels on the screen.
const LogoHeight = 40

// Footer says who sends an e-mail and why, and can have a link that turns such e-mails off.
type Footer struct {
	Lines       []string
	Label       string // of the link
	Unsubscribe string // the URL; "": no link
}

// footerWords returns the words of the footer before its link.
func (e Email) footerWords() string {
	mark := ""
	if e.Business != nil {
		mark = " ·"
	}
	words := strings.Join(e.Footer.Lines, mark+" ")
	if e.Footer.Unsubscribe != "" {
		words += mark
	}
	return words
}
